//! How a process ended, and what it said last.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::process::ExitStatus;

/// Bytes of stderr that are kept.
const BYTES: usize = 4 * 1024;

/// Lines of stderr that are told.
const LINES: usize = 8;

/// What is known of a process's end. Clones are of the same process.
#[derive(Clone, Debug, Default)]
pub(super) struct LastWords(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    status: Option<ExitStatus>,
    /// The end of what was said.
    said: Vec<u8>,
    /// More was said than is kept.
    is_cut: bool,
}

impl LastWords {
    /// The process said this on stderr.
    pub(super) fn said(&self, bytes: &[u8]) {
        let known = &mut *self.lock();
        let bytes = match bytes.len().checked_sub(BYTES) {
            Some(over) => {
                known.is_cut |= over > 0 || !known.said.is_empty();
                known.said.clear();
                bytes.get(over..).unwrap_or_default()
            }
            None => bytes,
        };
        let over = (known.said.len() + bytes.len()).saturating_sub(BYTES);
        known.is_cut |= over > 0;
        known.said.drain(..over);
        known.said.extend_from_slice(bytes);
    }

    /// The process has ended.
    pub(super) fn ended(&self, status: ExitStatus) {
        self.lock().status = Some(status);
    }

    /// How `program` ended, for people.
    pub(super) fn tell(&self, program: &str) -> String {
        let known = self.lock();
        let how = match known.status {
            None => "closed its output".to_owned(),
            Some(status) => match status.code() {
                Some(code) => format!("ended with exit code {code}"),
                // Such as `signal: 9 (SIGKILL)`.
                None => format!("was ended by {}", status.to_string().replacen(": ", " ", 1)),
            },
        };
        let lines = known.lines();
        match lines.is_empty() {
            true => format!("the server `{program}` {how}"),
            false => format!("the server `{program}` {how}; on stderr: {}", lines.join(" | ")),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// The last lines that are not blank. The first one that is kept may lack its beginning.
    fn lines(&self) -> Vec<String> {
        let whole = self.said.split(|byte| *byte == b'\n');
        let mut lines: Vec<_> = whole
            .map(|line| String::from_utf8_lossy(line).trim_end().to_owned())
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(at, line)| if at == 0 && self.is_cut { format!("...{line}") } else { line })
            .collect();
        lines.split_off(lines.len().saturating_sub(LINES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pieces: &[&[u8]]) -> String {
        let words = LastWords::default();
        pieces.iter().for_each(|piece| words.said(piece));
        words.tell("demo")
    }

    #[test]
    fn the_last_lines_are_told_however_they_were_cut() {
        assert_eq!(told(&[]), "the server `demo` closed its output");
        let expected = "the server `demo` closed its output; on stderr: one | two";
        for pieces in [&[&b"one\r\n\n  \ntwo\n"[..]][..], &[b"o", b"ne\ntw", b"o"]] {
            assert_eq!(told(pieces), expected);
        }
        let many: String = (0..2_000).map(|line| format!("line {line}\n")).collect();
        let lines: Vec<_> = (1_992..2_000).map(|line| format!("line {line}")).collect();
        for piece in [1, 7, 4_096, 5_000, many.len()] {
            let pieces: Vec<_> = many.as_bytes().chunks(piece).collect();
            assert!(told(&pieces).ends_with(&format!(": {}", lines.join(" | "))), "{piece}");
        }
    }

    #[test]
    fn what_is_kept_is_bounded_and_need_be_no_text() {
        let long = vec![b'x'; 3 * BYTES];
        for piece in [1, 1_000, long.len()] {
            let words = LastWords::default();
            long.chunks(piece).for_each(|piece| words.said(piece));
            assert_eq!(words.lock().said.len(), BYTES);
            assert!(words.tell("demo").contains("stderr: ...xxx"));
        }
        assert!(told(&[b"\xff\xfe\n"]).ends_with("stderr: \u{fffd}\u{fffd}"));
    }

    #[cfg(unix)]
    #[test]
    fn an_exit_code_and_a_signal_are_named() {
        use std::os::unix::process::ExitStatusExt;
        let told = |status| {
            let words = LastWords::default();
            words.ended(ExitStatus::from_raw(status));
            words.tell("demo")
        };
        assert_eq!(told(3 << 8), "the server `demo` ended with exit code 3");
        assert_eq!(told(0), "the server `demo` ended with exit code 0");
        assert!(told(9).starts_with("the server `demo` was ended by signal 9"));
        assert!(told(11).starts_with("the server `demo` was ended by signal 11"));
    }
}
