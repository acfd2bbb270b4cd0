//! The contract of hubs: an event log by topic, which every worker reads.

use core::fmt;
use core::time::Duration;

use bytes::Bytes;

/// A place in a topic: after some message, or before the first. Printable ASCII, so that it can
/// be the id of a server-sent event. Cursors of one topic order exactly as published.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cursor(String);

impl Cursor {
    /// A cursor as a hub spells it; `None` where it could not be the id of an event: it is empty,
    /// longer than 128 bytes, or not visible ASCII.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        let fits = (1..=128).contains(&text.len());
        (fits && text.bytes().all(|byte| (0x21..=0x7e).contains(&byte))).then_some(Self(text))
    }

    /// The cursor as the hub spelt it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<u64> for Cursor {
    fn from(place: u64) -> Self {
        Self(place.to_string())
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One operation of a hub. Messages are JSON text; topics are opaque and may hold secrets.
///
/// Reading does not consume: every worker sees every message, until it expires.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HubOp {
    /// Appends `message`. Answered by [`Reply::Published`](crate::effect::Reply::Published).
    Publish {
        /// The topic; it begins to exist with its first message.
        topic: String,
        /// JSON text.
        message: Bytes,
        /// How long the message is kept at least.
        ttl: Duration,
        /// How many messages of the topic are kept; older ones are trimmed.
        keep: u32,
    },
    /// Where the topic ends now. To be taken before whatever will trigger a publish, so that
    /// nothing falls between. Answered by [`Reply::Position`](crate::effect::Reply::Position).
    Position {
        /// The topic, whether or not anything was published to it.
        topic: String,
    },
    /// What came after each cursor, as soon as there is anything, or nothing after `wait`.
    /// Answered by [`Reply::Polled`](crate::effect::Reply::Polled).
    Poll {
        /// Topics, and where to read on in each.
        topics: Vec<(String, Cursor)>,
        /// How long to wait for a first message; zero looks once.
        wait: Duration,
    },
    /// Forgets the topic and its messages. Answered by
    /// [`Reply::Deleted`](crate::effect::Reply::Deleted).
    Delete {
        /// The topic.
        topic: String,
    },
}

impl fmt::Debug for HubOp {
    /// Shows what is done and how much, not where: a topic may hold a session's id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Publish { message, ttl, keep, .. } => {
                write!(f, "Publish({} bytes, {ttl:?}, keep {keep})", message.len())
            }
            Self::Position { .. } => f.write_str("Position"),
            Self::Poll { topics, wait } => write!(f, "Poll({} topics, {wait:?})", topics.len()),
            Self::Delete { .. } => f.write_str("Delete"),
        }
    }
}

/// What a poll found in one topic. Topics without news are left out.
#[derive(Clone, PartialEq, Eq)]
pub struct Polled {
    /// The topic.
    pub topic: String,
    /// What was read there.
    pub read: Read,
}

/// What was read after a cursor.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Read {
    /// Messages, oldest first.
    Messages {
        /// Each message, and the place behind it.
        messages: Vec<(Cursor, Bytes)>,
        /// Where to read on.
        next: Cursor,
        /// Messages between the cursor and the first of these were trimmed.
        lost: bool,
    },
    /// The topic never gave that cursor.
    UnknownCursor,
}

impl fmt::Debug for Polled {
    /// Hides the topic: it may hold a session's id.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Polled").field(&self.read).finish()
    }
}

impl fmt::Debug for Read {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Messages { messages, next, lost } => {
                write!(f, "{} messages, next {next}, lost: {lost}", messages.len())
            }
            Self::UnknownCursor => f.write_str("unknown cursor"),
        }
    }
}
