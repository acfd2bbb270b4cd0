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
    name: Option<Name>,
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
    pub(crate) fn new(topic: String, cursor: Cursor, name: Option<Name>) -> Self {
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
        self.name.as_ref().map(|name| name.event_id(&self.cursor))
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
                    let id = self.name.as_ref().map(|name| match last {
                        true => name.ended().event_id(&cursor),
                        false => name.event_id(&cursor),
                    });
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
