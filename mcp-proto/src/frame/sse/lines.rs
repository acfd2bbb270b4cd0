//! Lines that end with CR, LF or CR LF, from bytes that arrive in any pieces.

/// An incremental line splitter. Each byte is searched once; a line ends at its CR already, and
/// an LF that follows in a later piece is still part of that end.
#[derive(Debug, Default)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    /// Where the current line starts.
    start: usize,
    /// Up to where no line end was found.
    searched: usize,
    /// The last line ended with CR: one LF belongs to it.
    after_cr: bool,
}

impl Lines {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        // Moving the rest only once the consumed part outweighs it keeps the whole linear.
        if self.start > 0 && self.start >= self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line without its end.
    pub(super) fn next_line(&mut self) -> Option<&[u8]> {
        if self.after_cr && self.start < self.bytes.len() {
            self.after_cr = false;
            if self.bytes.get(self.start) == Some(&b'\n') {
                self.start += 1;
                self.searched = self.start;
            }
        }
        let unsearched = self.bytes.get(self.searched..)?;
        let Some(offset) = memchr::memchr2(b'\r', b'\n', unsearched) else {
            self.searched = self.bytes.len();
            self.shrink();
            return None;
        };
        let (start, end) = (self.start, self.searched + offset);
        self.after_cr = self.bytes.get(end) == Some(&b'\r');
        self.start = end + 1;
        self.searched = self.start;
        self.bytes.get(start..end)
    }

    /// How much has no line end yet.
    pub(super) fn unfinished(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Frees what was held.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Gives a large buffer back once nothing is in it: a stream may idle for hours after it.
    fn shrink(&mut self) {
        if self.unfinished() == 0 && self.bytes.capacity() > KEPT_CAPACITY {
            *self = Self { after_cr: self.after_cr, ..Self::default() };
        }
    }
}

/// The buffer that an idle stream may keep, in bytes.
const KEPT_CAPACITY: usize = 1024;

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
