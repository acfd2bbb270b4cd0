//! Bytes to events, in any pieces.

use super::Event;
use super::lines::Lines;

const MIB: usize = 1024 * 1024;

/// How much of a stream the decoder holds at most, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// One line without its end.
    pub line: usize,
    /// The text of all fields of one event.
    pub event: usize,
    /// The id of an event. A longer one is left out, as if it were not there: it would be sent
    /// back as a header.
    pub id: usize,
}

impl Default for Limits {
    /// 4 MiB of text, a line that can hold all of it, and ids of 1 KiB.
    fn default() -> Self {
        Self { line: 4 * MIB + "data: ".len(), event: 4 * MIB, id: 1_024 }
    }
}

/// Why a stream cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SseError {
    /// A line is longer than [`Limits::line`], given here.
    LineTooLong(usize),
    /// An event has more text than [`Limits::event`], given here.
    EventTooLong(usize),
}

impl std::fmt::Display for SseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::LineTooLong(limit) => {
                write!(f, "a line of the event stream exceeds {limit} bytes")
            }
            Self::EventTooLong(limit) => {
                write!(f, "an event of the event stream exceeds {limit} bytes")
            }
        }
    }
}

impl std::error::Error for SseError {}

/// An incremental decoder of one event stream (HTML Standard 9.2.6).
///
/// - **in**: [`feed`](Self::feed) bytes in any pieces, then take events until there are none
/// - **out**: [`next_event`](Self::next_event)
/// - **state**: [`last_event_id`](Self::last_event_id), [`reconnection_time`](Self::reconnection_time)
///
/// Decoding happens in `next_event`, so the state is always that of the event just taken. At the
/// end of the stream the decoder is dropped, and with it an incomplete event, as the standard
/// wants. Work is linear in the bytes fed; what is held is bounded by [`Limits`] plus one line
/// and the piece fed last.
#[derive(Debug, Default)]
pub struct Decoder {
    limits: Limits,
    comments: bool,
    lines: Lines,
    past_first_line: bool,
    event: Event,
    /// Bytes of text in `event`.
    held: usize,
    last_event_id: String,
    reconnection_time: Option<u64>,
    failed: Option<SseError>,
}

impl Decoder {
    /// A decoder for a new stream.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Whether comments are kept, as [`Event::comment_text`] of the event they stand in. Off at
    /// first: then a comment is no event.
    #[must_use]
    pub fn comments(mut self, keep: bool) -> Self {
        self.comments = keep;
        self
    }

    /// The id in force before the first event: the one from an earlier connection.
    #[must_use]
    pub fn resume_from(mut self, last_event_id: impl Into<String>) -> Self {
        self.last_event_id = last_event_id.into();
        self
    }

    /// Takes the next piece of the stream. After an error it is ignored.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.lines.feed(bytes);
        }
    }

    /// The next event that has any field, whether or not it has data, or `None` until more is
    /// fed. An error is final and is repeated.
    pub fn next_event(&mut self) -> Option<Result<Event, SseError>> {
        if let Some(error) = self.failed {
            return Some(Err(error));
        }
        match self.read() {
            Ok(event) => event.map(Ok),
            Err(error) => {
                self.failed = Some(error);
                self.lines.clear();
                self.event = Event::default();
                Some(Err(error))
            }
        }
    }

    /// The id to resume from: that of the last event taken that had one; empty for none.
    pub fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    /// The reconnection time that the server asked for last, in milliseconds.
    pub fn reconnection_time(&self) -> Option<u64> {
        self.reconnection_time
    }

    fn read(&mut self) -> Result<Option<Event>, SseError> {
        let limits = self.limits;
        while let Some(mut line) = self.lines.next_line() {
            if line.len() > limits.line {
                return Err(SseError::LineTooLong(limits.line));
            }
            if !std::mem::replace(&mut self.past_first_line, true) {
                line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
            }
            if line.is_empty() {
                self.held = 0;
                let event = std::mem::take(&mut self.event);
                if let Some(id) = &event.id {
                    self.last_event_id.clone_from(id);
                }
                if event != Event::default() {
                    return Ok(Some(event));
                }
                continue;
            }
            self.held += store(&mut self.event, line, limits.id, self.comments);
            if self.held > limits.event.saturating_add(1) {
                return Err(SseError::EventTooLong(limits.event));
            }
            // The standard has the time count at once, even if its event never ends.
            self.reconnection_time = self.event.retry.or(self.reconnection_time);
        }
        match self.lines.unfinished() > limits.line {
            true => Err(SseError::LineTooLong(limits.line)),
            false => Ok(None),
        }
    }
}

/// Puts a line into the event; gives the bytes it takes there, with one for the LF between lines.
fn store(event: &mut Event, line: &[u8], longest_id: usize, comments: bool) -> usize {
    let (name, value) = split(line);
    let text = || String::from_utf8_lossy(value);
    match name {
        b"data" => append(&mut event.data, &text()),
        b"event" => event.event = Some(text().into_owned()).filter(|event| !event.is_empty()),
        b"id" if value.len() <= longest_id && !value.contains(&0) => {
            event.id = Some(text().into_owned())
        }
        b"" if comments => append(&mut event.comment, &text()),
        b"retry" => {
            event.retry = digits(value).or(event.retry);
            return 0;
        }
        _ => return 0,
    }
    value.len() + 1
}

/// Name and value of a line: before and after the first colon, less one space.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b':', line) {
        Some(colon) => {
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default();
            (name, value.strip_prefix(b" ").unwrap_or(value))
        }
        None => (line, b""),
    }
}

fn append(lines: &mut Option<String>, line: &str) {
    match lines {
        Some(text) => {
            text.push('\n');
            text.push_str(line);
        }
        None => *lines = Some(line.to_owned()),
    }
}

/// ASCII digits alone as a number, the largest there is where they say more.
fn digits(text: &[u8]) -> Option<u64> {
    let all = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let add = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    all.then(|| text.iter().fold(0, add))
}
