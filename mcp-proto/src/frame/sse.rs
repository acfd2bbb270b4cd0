//! Server-Sent Events by the WHATWG grammar (HTML Standard 9.2; R26-HTTP-45, C55, C62, T-36, T-41).
//!
//! Writing: [`Event::encode`] for any event, [`append_message`], [`append_priming`] and
//! [`append_comment`] for the paths where every allocation counts. Reading: [`Decoder`]. A whole
//! response, with its queue, heartbeat and end: [`Stream`].
//!
//! ```
//! use mcp_proto::frame::sse::{Decoder, Event};
//!
//! let mut wire = Vec::new();
//! Event::data("{}").with_id("7")?.encode(&mut wire);
//! assert_eq!(wire, b"id: 7\ndata: {}\n\n");
//!
//! let mut decoder = Decoder::default();
//! decoder.feed(&wire);
//! let event = decoder.next_event().expect("one event")?;
//! assert_eq!(event.message(), Some("{}"));
//! assert_eq!(decoder.last_event_id(), "7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decode;
mod encode;
mod lines;
mod stream;

pub use decode::{Decoder, Limits, SseError};
pub use encode::{append_comment, append_message, append_named, append_priming};
pub use stream::{SendError, Stream, StreamEnd, StreamOptions};

/// One event: what stands between two blank lines of a stream. Every field is optional.
///
/// An event whose data is absent or empty carries an id or a reconnection time but no message
/// (C55, T-36): [`Event::message`] is `None`, and the id still counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    data: Option<String>,
    event: Option<String>,
    id: Option<String>,
    retry: Option<u64>,
    comment: Option<String>,
}

impl Event {
    /// An event with this data. Its lines may end with CR, LF or CR LF; the reader sees LF.
    pub fn data(data: impl Into<String>) -> Self {
        Self { data: Some(data.into()), ..Self::default() }
    }

    /// A comment, which readers skip: the keep-alive of a silent stream.
    pub fn comment(text: impl Into<String>) -> Self {
        Self { comment: Some(text.into()), ..Self::default() }
    }

    /// The event that opens a resumable stream: an id and empty data (T-36).
    pub fn priming(id: impl Into<String>) -> Result<Self, InvalidField> {
        Self::data("").with_id(id)
    }

    /// The same event with a type. An empty type is none: the standard gives both one meaning.
    pub fn with_event(mut self, event: impl Into<String>) -> Result<Self, InvalidField> {
        let event = event.into();
        InvalidField::Event.check(&event)?;
        self.event = Some(event).filter(|event| !event.is_empty());
        Ok(self)
    }

    /// The same event with an id. An empty id resets the reader's last event id.
    pub fn with_id(mut self, id: impl Into<String>) -> Result<Self, InvalidField> {
        let id = id.into();
        InvalidField::Id.check(&id)?;
        self.id = Some(id);
        Ok(self)
    }

    /// The same event with the reconnection time, in milliseconds.
    #[must_use]
    pub fn with_retry(mut self, milliseconds: u64) -> Self {
        self.retry = Some(milliseconds);
        self
    }

    /// The same event with a comment before its fields.
    #[must_use]
    pub fn with_comment(mut self, text: impl Into<String>) -> Self {
        self.comment = Some(text.into());
        self
    }

    /// The data, when it is more than nothing: what a client hands on as a message (C55).
    pub fn message(&self) -> Option<&str> {
        self.data.as_deref().filter(|data| !data.is_empty())
    }

    /// The data as it stood, `Some("")` for a `data` line without text.
    pub fn raw_data(&self) -> Option<&str> {
        self.data.as_deref()
    }

    /// The data by value, empty or not.
    pub fn into_data(self) -> Option<String> {
        self.data
    }

    /// The type; `None` means `message`.
    pub fn event(&self) -> Option<&str> {
        self.event.as_deref()
    }

    /// The id given by this event itself; the one in force is [`Decoder::last_event_id`].
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The reconnection time given by this event, in milliseconds.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// The comment, its lines joined with LF.
    pub fn comment_text(&self) -> Option<&str> {
        self.comment.as_deref()
    }

    /// Appends the event and the blank line that ends it. An event without fields appends nothing.
    pub fn encode(&self, out: &mut Vec<u8>) {
        encode::append(out, self);
    }
}

/// The field that has a CR, LF or NUL and so cannot stand in one line of an event stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidField {
    /// `event`
    Event,
    /// `id`
    Id,
}

impl InvalidField {
    /// Whether `text` can be the value of this field.
    fn check(self, text: &str) -> Result<(), Self> {
        match memchr::memchr3(b'\r', b'\n', 0, text.as_bytes()) {
            Some(_) => Err(self),
            None => Ok(()),
        }
    }
}

impl std::fmt::Display for InvalidField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match self {
            Self::Event => "event",
            Self::Id => "id",
        };
        write!(f, "the {name} field of a server-sent event has a CR, LF or NUL")
    }
}

impl std::error::Error for InvalidField {}

#[cfg(test)]
mod tests;
