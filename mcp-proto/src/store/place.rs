//! How a log numbers what is published, and what a reader's cursor means against that.

use core::time::Duration;

use bytes::Bytes;

use super::{Cursor, Read};

/// A place in a topic: the number of a message. A topic's messages have consecutive numbers, so
/// a reader sees from the numbers alone whether it missed one.
///
/// A topic's first message gets the log's clock in microseconds, or anything else that is greater
/// than what an earlier topic of that name reached; so places grow even where a topic was
/// forgotten in between. Zero is before whatever comes first.
pub type Place = u64;

/// What a log holds of one topic after a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What the log knows of the topic itself.
    pub extent: Extent,
    /// The messages after the place, oldest first; a page of them is enough.
    pub messages: Vec<(Place, Bytes)>,
}

/// What a log knows of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The topic's first and last place, whether or not the messages there are still kept.
    /// Deleting a topic takes a place too, which has no message.
    Known {
        /// The place of its first message.
        first: Place,
        /// The last place given.
        last: Place,
    },
    /// Nothing was published there, or it is forgotten.
    Absent {
        /// No topic has given a greater place until now.
        ceiling: Place,
    },
}

impl Extent {
    /// Where a reader who wants only what comes now has to start.
    pub fn end(self) -> Place {
        match self {
            Self::Known { last, .. } => last,
            Self::Absent { .. } => 0,
        }
    }
}

/// How long a log remembers that a topic was deleted. What follows has greater places anyway.
pub const DELETED_FOR: Duration = Duration::from_secs(60);

/// How many messages of a topic a log returns at once.
pub const PAGE_MESSAGES: usize = 256;

/// A log ends a page with the message that reaches this many bytes.
pub const PAGE_BYTES: usize = 1024 * 1024;

/// The place that a cursor names; `None` where no log spells one like that.
pub fn place(cursor: &Cursor) -> Option<Place> {
    let text = cursor.as_str();
    let canonical = text == "0" || text.starts_with(|first: char| matches!(first, '1'..='9'));
    // SQL counts to 2^63.
    text.parse().ok().filter(|place| canonical && i64::try_from(*place).is_ok())
}

/// What a reader at `after` learns from what was found; `None` where there is no news.
pub fn read(after: Place, found: Found) -> Option<Read> {
    let Found { extent, messages } = found;
    let news = |lost| {
        let next = messages.last().map_or(extent.end(), |(last, _)| *last).into();
        let spelt = messages.iter().map(|(place, message)| ((*place).into(), message.clone()));
        Some(Read::Messages { messages: spelt.collect(), next, lost })
    };
    match extent {
        Extent::Absent { .. } if after == 0 => None,
        Extent::Absent { ceiling } if after > ceiling => Some(Read::UnknownCursor),
        Extent::Absent { .. } => news(true),
        Extent::Known { last, .. } if after > last => Some(Read::UnknownCursor),
        Extent::Known { last, .. } if after == last => None,
        Extent::Known { first, .. } => {
            let earlier_topic = 0 < after && after < first;
            let expected = if after < first { first } else { after + 1 };
            news(earlier_topic || messages.first().is_none_or(|(place, _)| *place != expected))
        }
    }
}

/// A short name of a topic, to tell other processes that it has news: the topic itself may be a
/// secret, and too long. Two topics with one bell are looked at once too often, no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bell(u64);

impl Bell {
    /// The bell of a topic: the same in every process and version (FNV-1a, 64 bits).
    pub fn of(topic: &str) -> Self {
        Self(fnv1a(topic.as_bytes()))
    }

    /// Reads what [`Display`](core::fmt::Display) wrote.
    pub fn parse(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

/// A hash of 64 bits that is the same everywhere, and no secret.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

impl core::fmt::Display for Bell {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
