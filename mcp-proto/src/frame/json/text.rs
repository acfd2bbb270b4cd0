//! Strings: finding their end, their escapes, writing them.

use std::borrow::Cow;

use super::ScanErrorKind;

/// The text of a JSON string (quotes included, white space around it allowed). Borrowed where it
/// has no escape; `None` where the value is no valid string.
pub fn string(value: &[u8]) -> Option<Cow<'_, str>> {
    let inside = value.trim_ascii().strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    unescape(inside)
}

/// Appends `text` as a JSON string, escaping only what must be.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    if plain_run(text.as_bytes()).len == text.len() {
        out.reserve(text.len() + 2);
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        // Writing to a vector cannot fail.
        let _ = serde_json::to_writer(out, text);
    }
}

/// The text between a string's quotes, unescaped. `None` where it could not stand there.
pub(super) fn unescape(inside: &[u8]) -> Option<Cow<'_, str>> {
    let first = plain_run(inside).len;
    if first == inside.len() {
        return std::str::from_utf8(inside).ok().map(Cow::Borrowed);
    }
    let mut decoded = String::with_capacity(inside.len());
    let mut rest = inside;
    loop {
        let (plain, after) = rest.split_at_checked(plain_run(rest).len)?;
        decoded.push_str(std::str::from_utf8(plain).ok()?);
        if after.is_empty() {
            return Some(Cow::Owned(decoded));
        }
        let (len, character) = escape(after).ok()?;
        decoded.push(character);
        rest = after.get(len..)?;
    }
}

/// The escape that `bytes` begin with: its length, and what it stands for.
pub(super) fn escape(bytes: &[u8]) -> Result<(usize, char), ScanErrorKind> {
    let short = match bytes {
        [b'\\', b'u', ..] => return unicode_escape(bytes),
        [b'\\', b'b', ..] => '\u{8}',
        [b'\\', b'f', ..] => '\u{c}',
        [b'\\', b'n', ..] => '\n',
        [b'\\', b'r', ..] => '\r',
        [b'\\', b't', ..] => '\t',
        [b'\\', itself @ (b'"' | b'\\' | b'/'), ..] => char::from(*itself),
        _ => return Err(ScanErrorKind::Syntax),
    };
    Ok((2, short))
}

fn unicode_escape(bytes: &[u8]) -> Result<(usize, char), ScanErrorKind> {
    let first = hex4(bytes).ok_or(ScanErrorKind::Syntax)?;
    if let Some(character) = char::from_u32(first) {
        return Ok((6, character));
    }
    let low = bytes.get(6..).and_then(hex4).filter(|low| (0xDC00..0xE000).contains(low));
    // Two low halves come out beyond the last character, so they are none.
    low.and_then(|low| char::from_u32(0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00)))
        .map(|character| (12, character))
        .ok_or(ScanErrorKind::LoneSurrogate)
}

/// A JSON text with each escape of half a surrogate pair replaced by that of U+FFFD.
pub(crate) fn without_lone_surrogates(text: &[u8]) -> Vec<u8> {
    let mut mended = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (before, escaped) = rest.split_at(at);
        mended.extend_from_slice(before);
        let (len, kept) = match escape(escaped) {
            Ok((len, _)) => (len, escaped.get(..len)),
            Err(ScanErrorKind::LoneSurrogate) => (6, Some(&b"\\ufffd"[..])),
            Err(_) => (1, escaped.get(..1)),
        };
        mended.extend_from_slice(kept.unwrap_or_default());
        rest = escaped.get(len..).unwrap_or_default();
    }
    mended.extend_from_slice(rest);
    mended
}

/// The four digits of a `\uXXXX` that `bytes` begin with.
fn hex4(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |value, digit| Some(value << 4 | char::from(*digit).to_digit(16)?))
}

/// How a string goes on before something has to be looked at.
pub(super) struct Run {
    /// Bytes before the first quote, backslash or control character.
    pub(super) len: usize,
    /// Whether they are ASCII.
    pub(super) ascii: bool,
}

/// Eight bytes at a time: most of a message's bytes pass through here.
#[inline]
pub(super) fn plain_run(bytes: &[u8]) -> Run {
    let (words, tail) = bytes.as_chunks::<8>();
    let (mut len, mut high) = (0, 0);
    for word in words {
        let word = u64::from_le_bytes(*word);
        match special(word).trailing_zeros() {
            64 => high |= word,
            bit => {
                let before = bit & !7;
                high |= word & ((1 << before) - 1);
                return Run { len: len + before as usize / 8, ascii: high & HIGH == 0 };
            }
        }
        len += 8;
    }
    for &byte in tail {
        if matches!(byte, b'"' | b'\\' | ..0x20) {
            break;
        }
        high |= u64::from(byte);
        len += 1;
    }
    Run { len, ascii: high & HIGH == 0 }
}

const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// A word whose lowest set bit lies in the first byte that is a quote, a backslash or a control
/// character; 0 where there is none. (Borrows spoil only bytes above a real hit.)
fn special(word: u64) -> u64 {
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word & HIGH;
    let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    is(b'"') | is(b'\\') | below(word, 0x20)
}
