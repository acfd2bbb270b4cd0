//! Newline framing, as on stdio (R24-STDIO-02): one message a line.

use std::fmt;

use bytes::Bytes;

use super::envelope::Outline;

#[cfg(test)]
mod tests;

/// Cuts a byte stream into lines, incrementally.
///
/// A line ends in LF or CR LF; the last one may end with the stream. Blank lines are skipped, and
/// so is a byte order mark at the very start. Only the line that is not complete yet is held, never
/// more of it than the limit, and no byte is looked at twice. Nothing is lost between calls,
/// whatever becomes of the read that they came from.
///
/// ```
/// # use mcp_proto::frame::lines::LineDecoder;
/// let mut lines = LineDecoder::default();
/// let mut input: &[u8] = b"{\"a\":1}\r\n\n{\"b\"";
/// assert_eq!(lines.next(&mut input).unwrap().unwrap(), "{\"a\":1}");
/// assert!(lines.next(&mut input).is_none()); // the rest is kept
/// input = b":2}\n";
/// assert_eq!(lines.next(&mut input).unwrap().unwrap(), "{\"b\":2}");
/// ```
#[derive(Debug)]
pub struct LineDecoder {
    limit: usize,
    at_start: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Within a line of which these bytes have arrived, no line feed among them.
    Line(Vec<u8>),
    /// Within a line that is too long, until it is known what it was about.
    TooLong(Box<Outline>),
    /// Within a line that was reported as too long.
    Skipping,
}

/// The peer sent a line beyond the limit. It is reported once, as soon as it is known which message
/// it was or that it is none, at its end at the latest. The rest of it is skipped, and the next line
/// is read as usual.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineTooLong {
    /// The limit, in bytes without the line's end.
    pub limit: usize,
    /// What could be told of the message: whom to answer, or which call has no other answer.
    pub outline: Outline,
}

impl fmt::Display for LineTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the peer sent a line of more than {} bytes", self.limit)
    }
}

impl std::error::Error for LineTooLong {}

impl LineDecoder {
    /// The default limit: 4 MiB.
    pub const DEFAULT_LIMIT: usize = 4 << 20;

    /// A decoder of lines of at most `limit` bytes, line end not counted.
    pub fn new(limit: usize) -> Self {
        LineDecoder { limit, at_start: true, state: State::Line(Vec::new()) }
    }

    /// Takes from `input` up to the end of the next line, and yields that line without its end.
    /// `None`: all of the input is taken and no line is complete.
    ///
    /// # Errors
    /// [`LineTooLong`], once per such line; call again for what follows.
    pub fn next(&mut self, input: &mut &[u8]) -> Option<Result<Bytes, LineTooLong>> {
        while !input.is_empty() {
            let line_feed = memchr::memchr(b'\n', input);
            let (piece, rest) = input.split_at_checked(line_feed.unwrap_or(input.len()))?;
            *input = rest.get(1..).unwrap_or_default();
            let is_whole = line_feed.is_some();
            let limit = self.limit;
            let line = match &mut self.state {
                State::Line(held) if exceeds(limit, held, piece) => {
                    self.at_start = false;
                    let mut outline = Box::<Outline>::default();
                    outline.read_until_settled(held);
                    outline.read_until_settled(piece);
                    self.state = State::TooLong(outline);
                    match self.report(is_whole) {
                        Some(report) => return Some(Err(report)),
                        None => continue,
                    }
                }
                State::Line(held) if !is_whole => {
                    hold(held, piece, limit);
                    continue;
                }
                State::Line(held) if held.is_empty() => Bytes::copy_from_slice(piece),
                State::Line(held) => {
                    hold(held, piece, limit);
                    Bytes::from(std::mem::take(held))
                }
                State::TooLong(outline) => {
                    outline.read_until_settled(piece);
                    match self.report(is_whole) {
                        Some(report) => return Some(Err(report)),
                        None => continue,
                    }
                }
                State::Skipping => {
                    if is_whole {
                        self.state = State::Line(Vec::new());
                    }
                    continue;
                }
            };
            if let Some(line) = self.trim(line) {
                return Some(Ok(line));
            }
        }
        None
    }

    /// The report on a line that is too long, once it is due.
    fn report(&mut self, is_whole: bool) -> Option<LineTooLong> {
        let State::TooLong(outline) = &mut self.state else { return None };
        if !is_whole && !outline.is_settled() {
            return None;
        }
        let outline = std::mem::take(outline.as_mut());
        self.state = if is_whole { State::Line(Vec::new()) } else { State::Skipping };
        Some(LineTooLong { limit: self.limit, outline })
    }

    /// The stream has ended: yields what it ended in, if that was a line without its end.
    ///
    /// # Errors
    /// [`LineTooLong`], where that line was too long and was not reported yet.
    pub fn finish(&mut self) -> Option<Result<Bytes, LineTooLong>> {
        match std::mem::replace(&mut self.state, State::Line(Vec::new())) {
            State::Line(held) => self.trim(Bytes::from(held)).map(Ok),
            State::TooLong(outline) => {
                Some(Err(LineTooLong { limit: self.limit, outline: *outline }))
            }
            State::Skipping => None,
        }
    }

    /// How many bytes of an incomplete line are held.
    pub fn held(&self) -> usize {
        match &self.state {
            State::Line(held) => held.len(),
            State::TooLong(_) | State::Skipping => 0,
        }
    }

    /// A line without CR and byte order mark; `None` if it is blank.
    fn trim(&mut self, mut line: Bytes) -> Option<Bytes> {
        if std::mem::take(&mut self.at_start) && line.starts_with(b"\xef\xbb\xbf") {
            line = line.slice(3..);
        }
        if line.ends_with(b"\r") {
            line.truncate(line.len() - 1);
        }
        (!line.trim_ascii().is_empty()).then_some(line)
    }
}

impl Default for LineDecoder {
    fn default() -> Self {
        LineDecoder::new(LineDecoder::DEFAULT_LIMIT)
    }
}

/// Whether a line that begins with `held` and goes on with `piece` is too long. A CR at its end
/// does not count: it may be half of the line's end.
fn exceeds(limit: usize, held: &[u8], piece: &[u8]) -> bool {
    let last = piece.last().or(held.last());
    let len = held.len() + piece.len() - usize::from(last == Some(&b'\r'));
    len > limit
}

/// Appends, growing by doubling but never beyond what the limit allows.
fn hold(held: &mut Vec<u8>, piece: &[u8], limit: usize) {
    let needed = held.len() + piece.len();
    if needed > held.capacity() {
        let doubled = held.capacity().saturating_mul(2).min(limit.saturating_add(1));
        held.reserve_exact(needed.max(doubled) - held.len());
    }
    held.extend_from_slice(piece);
}
