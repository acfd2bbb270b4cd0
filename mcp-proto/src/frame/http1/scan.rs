//! Where a head ends.

use memchr::memchr;

/// The search for the blank line that ends a head; it remembers how far it came.
#[derive(Debug, Default)]
pub(super) struct HeadScan {
    scanned: usize,
    line: usize,
}

impl HeadScan {
    /// The head's length once `input` holds all of it. Lines end in CR LF and in nothing else,
    /// and none continues the one before.
    pub(super) fn find_end(&mut self, input: &[u8]) -> Result<Option<usize>, &'static str> {
        while let Some(found) = memchr(b'\n', input.get(self.scanned..).unwrap_or_default()) {
            let lf = self.scanned + found;
            match input.get(self.line..lf) {
                Some([b' ' | b'\t', ..]) => return Err("a header field is folded"),
                Some([b'\r']) => return Ok(Some(lf + 1)),
                Some([text @ .., b'\r']) if memchr(b'\r', text).is_none() => {}
                _ => return Err("a line has a bare CR or LF"),
            }
            self.scanned = lf + 1;
            self.line = lf + 1;
        }
        self.scanned = input.len();
        Ok(None)
    }

    /// Whether the first line is complete.
    pub(super) fn past_first_line(&self) -> bool {
        self.line > 0
    }
}
