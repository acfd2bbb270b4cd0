//! Streams that outlive their connection: written to the hub, and read from there by whoever
//! serves the client now.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use core::time::Duration;
use std::collections::VecDeque;

use super::core::Core;
use super::pending::Waiting;
use crate::effect::{Effect, Reply};
use crate::frame::envelope::RequestId;
use crate::frame::json;
use crate::frame::writer::Object;
use crate::store::{Cursor, HubOp, Read};

/// How many events of one stream are kept.
pub(super) const KEEP: u32 = 1_000;

/// How long events are kept, and so how long after its end a stream can still be fetched.
pub(crate) const EVENT_TTL: Duration = Duration::from_secs(60);

/// One entry of a stream's topic.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A message for the client; the last one ends the stream.
    Message { message: Bytes, last: bool, key: Option<Key> },
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
            Self::Message { message, last, key } => {
                if let Some(Key(key)) = key {
                    entry.number("key", *key);
                }
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
        let key = get("key").and_then(|key| core::str::from_utf8(key).ok()?.parse().ok()).map(Key);
        Some(Self::Message { message, last: get("last") == Some(b"true"), key })
    }
}

/// What is the same for an entry that is on the log twice, because the hub did not say that it took
/// the first. What another worker says in the writer's place has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(pub(crate) u64);

/// The reading side of a stream: what comes after a cursor, until the stream ends or another
/// reader takes over.
#[derive(Debug)]
pub(crate) struct Follow {
    topic: String,
    cursor: Cursor,
    /// What event ids begin with; `None` where events have none.
    name: Option<Name>,
    /// This reader's own name, and whether its entry went by.
    reader: Option<(String, bool)>,
    /// The writer is here, and shows its client what it writes.
    is_writers: bool,
    /// What was read last.
    read: VecDeque<Key>,
}

/// How many entries back one is known again.
const KNOWN_AGAIN: usize = 64;

/// What a reader found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Messages, each with its event id.
    pub(crate) messages: Vec<(Option<String>, Bytes)>,
    /// The stream is over for this reader.
    pub(crate) ended: bool,
}

impl Follow {
    pub(crate) fn new(topic: String, cursor: Cursor, name: Option<Name>) -> Self {
        Self { topic, cursor, name, reader: None, is_writers: false, read: VecDeque::new() }
    }

    /// The same, of the log that its own exchange writes.
    pub(crate) fn of_writer(self) -> Self {
        Self { is_writers: true, ..self }
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
        self.name.as_ref().map(|name| name.event_id(&self.cursor))
    }

    /// The id of the event of a message; `None` where it has no place.
    pub(crate) fn id_of(&self, at: Option<&Cursor>, last: bool) -> Option<String> {
        let name = self.name.as_ref()?;
        match last {
            true => Some(name.ended().event_id(at?)),
            false => Some(name.event_id(at?)),
        }
    }

    /// Whether the client has got what has this key.
    fn is_known(&mut self, key: Option<Key>) -> bool {
        let Some(key) = key else { return false };
        if self.is_writers || self.read.contains(&key) {
            return true;
        }
        if self.read.len() == KNOWN_AGAIN {
            self.read.pop_front();
        }
        self.read.push_back(key);
        false
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
                Some(Entry::Message { key, .. }) if self.is_known(key) => {}
                Some(Entry::Message { message, last, .. }) => {
                    found.messages.push((self.id_of(Some(&cursor), last), message));
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

/// How event ids name a stream: by its key, and by the request that it answers, as long as it did
/// not. So whoever serves the rest can tell what became of that request, though nothing else is
/// known of the stream any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    key: String,
    awaits: Awaits,
}

/// What a stream has not said yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Awaits {
    /// The answer to this request.
    One(RequestId),
    /// Answers; to what is in the stream's record.
    Recorded,
    /// Nothing: it has ended, or it never does.
    Nothing,
}

/// The longest id of a request that is told, in bytes of JSON: a UUID's.
const MOST_REQUEST: usize = 38;

impl Name {
    /// A new name of a stream that answers `request`, or more than that.
    pub(crate) fn mint(random: &[u8; 32], request: Option<&RequestId>) -> Self {
        let key = super::session::mint(random).chars().take(22).collect();
        let request = request.filter(|request| request.as_json().len() <= MOST_REQUEST).cloned();
        Self { key, awaits: request.map_or(Awaits::Recorded, Awaits::One) }
    }

    /// What finds the stream within its session.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn awaits(&self) -> &Awaits {
        &self.awaits
    }

    /// The id of an event: its stream, and its place there (R2511-RESUME-03).
    pub(crate) fn event_id(&self, cursor: &Cursor) -> String {
        let key = &self.key;
        match &self.awaits {
            Awaits::One(request) => {
                let request = URL_SAFE_NO_PAD.encode(request.as_json());
                format!("{key}~{request}.{cursor}")
            }
            Awaits::Recorded => format!("{key}~.{cursor}"),
            Awaits::Nothing => format!("{key}.{cursor}"),
        }
    }

    /// The same stream, once it has ended.
    fn ended(&self) -> Self {
        Self { key: self.key.clone(), awaits: Awaits::Nothing }
    }
}

impl From<&str> for Name {
    /// The stream of that key, which answers nothing.
    fn from(key: &str) -> Self {
        Self { key: key.to_owned(), awaits: Awaits::Nothing }
    }
}

/// The stream and place that a `Last-Event-ID` names; `None` where it names none of ours.
pub(crate) fn parse_event_id(id: &[u8]) -> Option<(Name, Cursor)> {
    let (name, cursor) = core::str::from_utf8(id).ok()?.split_once('.')?;
    let (key, awaits) = match name.split_once('~') {
        None => (name, Awaits::Nothing),
        Some((key, "")) => (key, Awaits::Recorded),
        Some((key, request)) => {
            let request = URL_SAFE_NO_PAD.decode(request).ok()?;
            json::scan(&request, &json::ScanLimits::default()).ok()?;
            let request = RequestId::from_json(&request).filter(|_| request.len() <= MOST_REQUEST);
            (key, Awaits::One(request?))
        }
    };
    let is_key = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let named = (1..=64).contains(&key.len()) && key.bytes().all(is_key);
    let name = Name { key: key.to_owned(), awaits };
    named.then_some((name, Cursor::new(cursor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_back_and_foreign_ones_are_none() {
        for entry in [
            Entry::Message {
                message: Bytes::from_static(b"{\"a\":1}"),
                last: false,
                key: Some(Key(u64::MAX)),
            },
            Entry::Message { message: Bytes::from_static(b"{}"), last: true, key: None },
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
        let long = format!("a~{}.1", URL_SAFE_NO_PAD.encode("1".repeat(MOST_REQUEST + 1)));
        let foreign = ["a~e30.1", "a~bnVsbA.1", "a~?.1", "~MQ.1", "~.1", &long]; // {}, null, ..
        for id in ["", ".", "a", "a.", ".1", "a b.1", "a\n.1", "é.1"].into_iter().chain(foreign) {
            assert_eq!(parse_event_id(id.as_bytes()), None, "{id}");
        }
    }

    #[test]
    fn an_event_id_tells_its_stream_and_the_request_until_that_is_answered() {
        let (random, cursor) = ([7; 32], Cursor::from(7));
        for request in ["1", "-5", "\"a.~ b\""] {
            let request = RequestId::from_json(request.as_bytes()).unwrap();
            let name = Name::mint(&random, Some(&request));
            assert_eq!(name.awaits(), &Awaits::One(request));
            for name in [name.ended(), name] {
                let id = name.event_id(&cursor);
                assert_eq!(parse_event_id(id.as_bytes()), Some((name, cursor.clone())));
            }
        }
        let long = RequestId::from("a".repeat(MOST_REQUEST).as_str());
        for request in [None, Some(&long)] {
            let name = Name::mint(&random, request);
            assert_eq!(name.awaits(), &Awaits::Recorded);
            let id = name.event_id(&cursor);
            assert_eq!(parse_event_id(id.as_bytes()), Some((name, cursor.clone())));
        }
    }
}
