//! Streams that outlive their connection: written to the hub, and read from there by whoever
//! serves the client now.

use bytes::Bytes;
use core::time::Duration;
use std::collections::VecDeque;

use super::core::Core;
use super::pending::Waiting;
use crate::effect::{Effect, Reply};
use crate::frame::json;
use crate::frame::writer::Object;
use crate::store::{Cursor, HubOp, Read};

/// How many events of one stream are kept.
const KEEP: u32 = 1_000;

/// How often an entry is published that the hub fails to take.
const TRIES: u8 = 3;

/// How long events are kept, and so how long after its end a stream can still be fetched.
pub(crate) const EVENT_TTL: Duration = Duration::from_secs(60);

/// One entry of a stream's topic.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A message for the client; the last one ends the stream.
    Message { message: Bytes, last: bool },
    /// A reader that takes over: older ones end.
    Reader(String),
    /// The stream ends without a last message: what it was for was cancelled.
    End,
}

impl Entry {
    pub(crate) fn encode(&self) -> Bytes {
        let mut out = Vec::new();
        let mut entry = Object::begin(&mut out);
        match self {
            Self::Message { message, last } => {
                entry.boolean("last", *last).raw("message", message);
            }
            Self::Reader(reader) => {
                entry.string("reader", reader);
            }
            Self::End => {
                entry.boolean("end", true);
            }
        }
        entry.end();
        out.into()
    }

    pub(crate) fn decode(entry: &Bytes) -> Option<Self> {
        json::scan(entry, &json::ScanLimits::depth(256)).ok()?;
        let members = json::members(entry);
        let get = |name| members.get(entry, name).map(|span| span.of(entry));
        if let Some(reader) = get("reader") {
            return Some(Self::Reader(json::string(reader)?.into_owned()));
        }
        if get("end").is_some() {
            return Some(Self::End);
        }
        let message = entry.slice_ref(get("message")?);
        Some(Self::Message { message, last: get("last") == Some(b"true") })
    }
}

/// The writing side of a stream: publishes one entry after the other, in order.
#[derive(Debug)]
pub(crate) struct Producer {
    topic: String,
    queue: VecDeque<Bytes>,
    queued: usize,
    /// What the hub is taking now, and how often it failed to.
    publishing: Option<OnTheWay>,
    /// What the hub keeps; `None` where others write there too.
    kept: Option<Kept>,
}

#[derive(Debug)]
struct OnTheWay {
    message: Bytes,
    keep: u32,
    tries: u8,
}

/// The sizes of the entries that the hub keeps.
#[derive(Debug, Default)]
struct Kept {
    sizes: VecDeque<usize>,
    bytes: usize,
    /// Entries had to go already.
    is_full: bool,
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// It is on the log, or is being put there.
    Yes,
    /// The hub does not take it: the stream has a gap there.
    Lost,
}

impl Producer {
    /// Of a stream that nobody else writes to.
    pub(crate) fn new(topic: String) -> Self {
        Self { kept: Some(Kept::default()), ..Self::shared(topic) }
    }

    /// Of a stream that others write to as well.
    pub(crate) fn shared(topic: String) -> Self {
        Self { topic, queue: VecDeque::new(), queued: 0, publishing: None, kept: None }
    }

    /// Bytes that wait for the hub.
    pub(crate) fn queued(&self) -> usize {
        self.queued
    }

    /// Nothing waits to be published.
    pub(crate) fn is_idle(&self) -> bool {
        self.publishing.is_none()
    }

    pub(crate) fn push(&mut self, core: &mut Core, entry: &Entry) {
        let entry = entry.encode();
        self.queued += entry.len();
        self.queue.push_back(entry);
        self.publish(core);
    }

    /// The hub's answer. What it fails to take is offered again a few times.
    pub(crate) fn settle(&mut self, core: &mut Core, reply: Option<&Reply>) -> Written {
        let failed = !matches!(reply, Some(Reply::Published(_)));
        match self.publishing.take() {
            Some(OnTheWay { message, keep, tries }) if failed && tries < TRIES => {
                self.emit(core, OnTheWay { message, keep, tries: tries + 1 });
                Written::Yes
            }
            _ => {
                self.publish(core);
                if failed { Written::Lost } else { Written::Yes }
            }
        }
    }

    fn publish(&mut self, core: &mut Core) {
        if self.publishing.is_none()
            && let Some(message) = self.queue.pop_front()
        {
            self.queued -= message.len();
            let most = core.endpoint.limits().queued_bytes / 2;
            let keep = self.kept.as_mut().map_or(KEEP, |kept| kept.add(message.len(), most));
            self.emit(core, OnTheWay { message, keep, tries: 1 });
        }
    }

    fn emit(&mut self, core: &mut Core, on_the_way: OnTheWay) {
        let (topic, message) = (self.topic.clone(), on_the_way.message.clone());
        let keep = on_the_way.keep;
        self.publishing = Some(on_the_way);
        let publish = HubOp::Publish { topic, message, ttl: EVENT_TTL, keep };
        core.emit(Effect::Hub(publish), Waiting::Producer);
    }
}

impl Kept {
    /// How many entries are kept once one of `size` bytes is added, so that together they have
    /// no more than `most` bytes. Readers that take over have entries too, which count only once
    /// the log is full.
    fn add(&mut self, size: usize, most: usize) -> u32 {
        self.sizes.push_back(size);
        self.bytes += size;
        while self.sizes.len() > 1 && (self.bytes > most || self.sizes.len() > KEEP as usize) {
            self.bytes -= self.sizes.pop_front().unwrap_or_default();
            self.is_full = true;
        }
        let own = u32::try_from(self.sizes.len()).unwrap_or(KEEP);
        if self.is_full { own } else { KEEP }
    }
}

/// The reading side of a stream: what comes after a cursor, until the stream ends or another
/// reader takes over.
#[derive(Debug)]
pub(crate) struct Follow {
    topic: String,
    cursor: Cursor,
    /// What event ids begin with; `None` where events have none.
    name: Option<String>,
    /// This reader's own name, and whether its entry went by.
    reader: Option<(String, bool)>,
}

/// What a reader found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Messages, each with its event id.
    pub(crate) messages: Vec<(Option<String>, Bytes)>,
    /// The stream is over for this reader.
    pub(crate) ended: bool,
}

impl Follow {
    pub(crate) fn new(topic: String, cursor: Cursor, name: Option<String>) -> Self {
        Self { topic, cursor, name, reader: None }
    }

    pub(crate) fn topic(&self) -> &str {
        &self.topic
    }

    /// Announces this reader, so that older ones end, and begins to read.
    pub(crate) fn take_over(&mut self, core: &mut Core, reader: String) {
        let publish = publish(self.topic.clone(), &Entry::Reader(reader.clone()));
        self.reader = Some((reader, false));
        core.emit(Effect::Hub(publish), Waiting::Follow);
    }

    /// Reads on.
    pub(crate) fn poll(&self, core: &mut Core) {
        core.poll(vec![(self.topic.clone(), self.cursor.clone())], Waiting::Follow, None);
    }

    /// The id of the place that was reached, for an event without a message.
    pub(crate) fn event_id(&self) -> Option<String> {
        self.name.as_deref().map(|name| event_id(name, &self.cursor))
    }

    /// The hub's answer; reads on unless the stream is over.
    pub(crate) fn settle(&mut self, core: &mut Core, reply: Option<Reply>) -> Found {
        let mut found = Found::default();
        match reply {
            Some(Reply::Published(_)) => {}
            Some(Reply::Polled(polled)) => {
                for topic in polled {
                    match topic.read {
                        Read::Messages { messages, next, .. } => {
                            self.read(messages, &mut found);
                            self.cursor = next;
                        }
                        _ => found.ended = true,
                    }
                }
            }
            // The hub failed: the client comes back with the last id that it saw.
            _ => found.ended = true,
        }
        if !found.ended {
            self.poll(core);
        }
        found
    }

    fn read(&mut self, messages: Vec<(Cursor, Bytes)>, found: &mut Found) {
        for (cursor, entry) in messages {
            match Entry::decode(&entry) {
                Some(Entry::Message { message, last }) => {
                    let id = self.name.as_deref().map(|name| event_id(name, &cursor));
                    found.messages.push((id, message));
                    found.ended = last;
                }
                Some(Entry::Reader(reader)) => match &mut self.reader {
                    Some((own, seen)) if *own == reader => *seen = true,
                    // One that took over before this one did is older.
                    Some((_, false)) => {}
                    _ => found.ended = true,
                },
                Some(Entry::End) => found.ended = true,
                None => {}
            }
            if found.ended {
                return;
            }
        }
    }
}

/// What adds an entry to a stream that another worker writes.
pub(crate) fn publish(topic: String, entry: &Entry) -> HubOp {
    HubOp::Publish { topic, message: entry.encode(), ttl: EVENT_TTL, keep: KEEP }
}

/// The id of an event: its stream, and its place there (R2511-RESUME-03).
pub(crate) fn event_id(stream: &str, cursor: &Cursor) -> String {
    format!("{stream}.{cursor}")
}

/// The stream and place that a `Last-Event-ID` names; `None` where it names none of ours.
pub(crate) fn parse_event_id(id: &[u8]) -> Option<(&str, Cursor)> {
    let (stream, cursor) = core::str::from_utf8(id).ok()?.split_once('.')?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let named = (1..=64).contains(&stream.len()) && stream.bytes().all(is_name);
    named.then_some((stream, Cursor::new(cursor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_back_and_foreign_ones_are_none() {
        for entry in [
            Entry::Message { message: Bytes::from_static(b"{\"a\":1}"), last: false },
            Entry::Message { message: Bytes::from_static(b"{}"), last: true },
            Entry::Reader("r".into()),
            Entry::End,
        ] {
            assert_eq!(Entry::decode(&entry.encode()), Some(entry));
        }
        for foreign in ["", "{}", "[1]", "nonsense"] {
            assert_eq!(Entry::decode(&Bytes::from(foreign)), None, "{foreign}");
        }
    }

    #[test]
    fn a_hostile_event_id_names_no_stream() {
        for id in ["", ".", "a", "a.", ".1", "a b.1", "a\n.1", "é.1"] {
            assert_eq!(parse_event_id(id.as_bytes()), None, "{id}");
        }
        let cursor = Cursor::from(7);
        let id = event_id("s-1", &cursor);
        assert_eq!(parse_event_id(id.as_bytes()), Some(("s-1", cursor)));
    }
}
