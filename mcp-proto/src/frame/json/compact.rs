//! White space that means nothing.

use super::text;

/// Appends a validated value without the white space between its tokens, so that it is one line
/// (R24-STDIO-02). What is inside strings stays as it is written.
pub fn compact(value: &[u8], out: &mut Vec<u8>) {
    out.reserve(value.len());
    let mut rest = value;
    while let Some((&byte, after)) = rest.split_first() {
        let len = match byte {
            b' ' | b'\n' | b'\r' | b'\t' => {
                rest = after;
                continue;
            }
            b'"' => string_len(rest),
            _ => rest
                .iter()
                .take_while(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b'"'))
                .count(),
        };
        let (token, after) = rest.split_at_checked(len).unwrap_or((rest, b""));
        out.extend_from_slice(token);
        rest = after;
    }
}

/// The length of the string that `bytes` begin with, quotes included.
fn string_len(bytes: &[u8]) -> usize {
    let mut len = 1;
    loop {
        let rest = bytes.get(len..).unwrap_or_default();
        let run = text::plain_run(rest).len;
        match rest.get(run) {
            Some(b'"') => return len + run + 1,
            Some(b'\\') => len += run + 2,
            Some(_) => len += run + 1,
            None => return bytes.len(),
        }
    }
}
