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
    publishing: bool,
}

impl Producer {
    pub(crate) fn new(topic: String) -> Self {
        Self { topic, queue: VecDeque::new(), queued: 0, publishing: false }
    }

    /// Bytes that wait for the hub.
    pub(crate) fn queued(&self) -> usize {
        self.queued
    }

    /// Nothing waits to be published.
    pub(crate) fn is_idle(&self) -> bool {
        !self.publishing
    }

    pub(crate) fn push(&mut self, core: &mut Core, entry: &Entry) {
        let entry = entry.encode();
        self.queued += entry.len();
        self.queue.push_back(entry);
        self.publish(core);
    }

    /// The hub's answer. A hub that fails loses the entry; the stream goes on.
    pub(crate) fn settle(&mut self, core: &mut Core) {
        self.publishing = false;
        self.publish(core);
    }

    fn publish(&mut self, core: &mut Core) {
        if self.publishing {
            return;
        }
        if let Some(message) = self.queue.pop_front() {
            self.queued -= message.len();
            self.publishing = true;
            let topic = self.topic.clone();
            let publish = HubOp::Publish { topic, message, ttl: EVENT_TTL, keep: KEEP };
            core.emit(Effect::Hub(publish), Waiting::Producer);
        }
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

    /// Announces this reader, so that older ones end, and begins to read.
    pub(crate) fn take_over(&mut self, core: &mut Core, reader: String) {
        let message = Entry::Reader(reader.clone()).encode();
        self.reader = Some((reader, false));
        let topic = self.topic.clone();
        let publish = HubOp::Publish { topic, message, ttl: EVENT_TTL, keep: KEEP };
        core.emit(Effect::Hub(publish), Waiting::Follow);
    }

    /// Reads on.
    pub(crate) fn poll(&self, core: &mut Core) {
        let wait = core.endpoint.limits().hub_poll;
        let poll = HubOp::Poll { topics: vec![(self.topic.clone(), self.cursor.clone())], wait };
        let until = core.now + wait + crate::effect::EFFECT_DEADLINE;
        core.emit_until(Effect::Hub(poll), Waiting::Follow, until);
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
