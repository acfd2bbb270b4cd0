//! A client that listens to changes.

use super::core::Core;
use super::pending::Waiting;
use super::session::Session;
use super::stream::Name;
use crate::effect::{Effect, Reply};
use crate::frame::envelope::RequestId;
use crate::frame::json;
use crate::frame::writer::Object;
use crate::model::{Catalog, Change, Filter};
use crate::revision::{Adapter, Resumption};
use crate::store::{self, Cursor, HubOp, Polled, Read, SessionOp};
use bytes::Bytes;
use core::time::Duration;

/// The name of a session's own stream in event ids.
pub(crate) const SESSION_STREAM: &str = "changes";

/// How long what is said to a session's stream is kept.
const CONTROL_TTL: Duration = Duration::from_secs(300);

/// One client that listens: by a request of its own, or through its session's stream.
#[derive(Debug)]
pub(crate) struct Listening {
    id: u64,
    pub(crate) adapter: Adapter,
    filter: Filter,
    changes: Place,
    by: By,
    /// What the effect under way is for.
    step: Step,
}

#[derive(Debug)]
struct Place {
    topic: String,
    cursor: Option<Cursor>,
}

#[derive(Debug)]
enum By {
    Request(RequestId),
    /// Every stream here is one for itself: a process, and not a session that could move.
    Process,
    Session {
        key: String,
        control: Place,
        /// This stream's name; `None` where it is the session's only one, and has no event ids.
        stream: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Of the changes, then of what is said to the session's streams.
    Position,
    Control,
    Poll,
    /// Reading the session's record again.
    Refresh,
}

/// What is said to a session's stream: other streams of the session, and workers, say it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// The session's record changed.
    Refresh,
    /// This stream is the session's now; others end.
    Stream(String),
}

/// What a listener is to be sent.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The event id of the place where it begins to listen.
    pub(crate) place: Option<String>,
    /// Messages, each with its event id, where it has one.
    pub(crate) messages: Vec<(Option<String>, Vec<u8>)>,
    /// It is over: another stream took its place, or there is nothing to listen to any more.
    pub(crate) ended: bool,
}

impl Listening {
    /// By a request (R26-SUBS-01). The acknowledgement comes with the first news.
    pub(crate) fn by_request(
        core: &mut Core,
        adapter: Adapter,
        request: RequestId,
        filter: Filter,
    ) -> Self {
        Self::begin(core, adapter, filter, None, By::Request(request))
    }

    /// By a process whose handshake is done.
    pub(crate) fn by_process(core: &mut Core, adapter: Adapter, filter: Filter) -> Self {
        Self::begin(core, adapter, filter, None, By::Process)
    }

    /// Through its session's stream, from `after` on, or from now on.
    pub(crate) fn by_session(
        core: &mut Core,
        adapter: Adapter,
        session: (String, &Session),
        control: (String, Cursor),
        stream: String,
        after: Option<Cursor>,
    ) -> Self {
        let (key, session) = session;
        let control = Place { topic: control.0, cursor: Some(control.1) };
        let by = By::Session { key, control, stream: Some(stream) };
        Self::begin(core, adapter, session.filter(), after, by)
    }

    /// Through the stream that is the session, before anything was agreed on: the session's
    /// record tells later.
    pub(crate) fn by_stream(core: &mut Core, key: String) -> Self {
        let adapter = *core.endpoint.adapters().fallback();
        let control = Place { topic: key.clone(), cursor: None };
        let by = By::Session { key, control, stream: None };
        Self::begin(core, adapter, Filter::default(), None, by)
    }

    fn begin(
        core: &mut Core,
        adapter: Adapter,
        filter: Filter,
        after: Option<Cursor>,
        by: By,
    ) -> Self {
        let topic = store::topic(&core.scope.namespace, "changes", None);
        let changes = Place { topic, cursor: after };
        let mut listening = Self {
            id: core.id(),
            adapter,
            filter: Filter::default(),
            changes,
            by,
            step: Step::Position,
        };
        listening.set_filter(core.published.catalog(), filter);
        match &listening.by {
            // What was subscribed to since the record was read, and before what is said to the
            // session's streams was listened to, is in the record by now.
            By::Session { control: Place { cursor: Some(_), .. }, .. } => listening.refresh(core),
            _ => listening.poll(core),
        }
        listening
    }

    /// Which effects are this listener's.
    pub(crate) fn waiting(&self) -> Waiting {
        Waiting::Listen(self.id)
    }

    /// The request that listens, where it is one.
    pub(crate) fn request(&self) -> Option<&RequestId> {
        match &self.by {
            By::Request(request) => Some(request),
            _ => None,
        }
    }

    /// Listens to something else from now on: to what of it this server can tell.
    pub(crate) fn set_filter(&mut self, catalog: &Catalog, filter: Filter) {
        let declared = core::mem::replace(&mut self.filter, filter.accepted(catalog));
        // A list that was declared stays so, though it may be empty by now.
        self.filter.tools |= declared.tools;
        self.filter.prompts |= declared.prompts;
        self.filter.resources |= declared.resources;
    }

    /// The answer to the effect under way.
    pub(crate) fn settle(&mut self, core: &mut Core, reply: Option<Reply>) -> Heard {
        let mut heard = Heard::default();
        match (self.step, reply) {
            (Step::Position, Some(Reply::Position(cursor))) => {
                heard.place = self.event_id(&cursor);
                self.changes.cursor = Some(cursor);
                if let By::Request(request) = &self.by {
                    let mut message = Vec::new();
                    self.adapter.write_acknowledged(&mut message, request, &self.filter);
                    heard.messages.push((None, message));
                }
                self.poll(core);
            }
            (Step::Control, Some(Reply::Position(cursor))) => {
                if let By::Session { control, .. } = &mut self.by {
                    control.cursor = Some(cursor);
                }
                // What was said before is in the record.
                self.refresh(core);
            }
            (Step::Poll, Some(Reply::Polled(polled))) => self.read(core, polled, &mut heard),
            (Step::Refresh, Some(Reply::Record(record))) => {
                match record.and_then(|record| Session::decode(&record.data)) {
                    Some(session) => {
                        if let Some(adapter) = core.endpoint.adapters().by_version(&session.version)
                        {
                            self.adapter = *adapter;
                            self.set_filter(core.published.catalog(), session.filter());
                        }
                        self.poll(core);
                    }
                    None => heard.ended = true,
                }
            }
            // The hub or the store failed; a client that still listens comes back.
            _ => heard.ended = true,
        }
        heard
    }

    fn read(&mut self, core: &mut Core, polled: Vec<Polled>, heard: &mut Heard) {
        let (changes, said): (Vec<_>, Vec<_>) =
            polled.into_iter().partition(|topic| topic.topic == self.changes.topic);
        let mut refresh = false;
        for topic in said {
            refresh |= self.read_control(topic.read, heard);
        }
        if heard.ended {
            return;
        }
        if refresh {
            // What changed since is read again, by who knows what the session listens to now.
            return self.refresh(core);
        }
        for topic in changes {
            match topic.read {
                Read::Messages { messages, next, .. } => {
                    self.changes.cursor = Some(next);
                    for (cursor, message) in messages {
                        self.hear(&cursor, &message, heard);
                    }
                }
                // A place that never was: begin anew where the topic ends now.
                Read::UnknownCursor => self.changes.cursor = None,
            }
        }
        self.poll(core);
    }

    /// What is said to the session's streams; true where its record is to be read again.
    fn read_control(&mut self, read: Read, heard: &mut Heard) -> bool {
        let By::Session { control, stream, .. } = &mut self.by else { return false };
        let Read::Messages { messages, next, .. } = read else {
            control.cursor = None;
            return false;
        };
        control.cursor = Some(next);
        let mut refresh = false;
        for (_, message) in messages {
            match Control::decode(&message) {
                Some(Control::Refresh) => refresh = true,
                Some(Control::Stream(other)) => {
                    heard.ended |= stream.as_ref().is_some_and(|own| *own != other);
                }
                None => {}
            }
        }
        refresh
    }

    fn hear(&self, cursor: &Cursor, message: &Bytes, heard: &mut Heard) {
        let Some(change) = Change::decode(message).filter(|change| self.filter.wants(change))
        else {
            return;
        };
        let mut out = Vec::new();
        self.adapter.write_change(&mut out, &change, self.request());
        heard.messages.push((self.event_id(cursor), out));
    }

    fn event_id(&self, cursor: &Cursor) -> Option<String> {
        let resumable = self.adapter.resumption != Resumption::None;
        match &self.by {
            By::Session { stream: Some(_), .. } if resumable => {
                Some(Name::from(SESSION_STREAM).event_id(cursor))
            }
            _ => None,
        }
    }

    fn poll(&mut self, core: &mut Core) {
        let Some(cursor) = self.changes.cursor.clone() else {
            self.step = Step::Position;
            let position = HubOp::Position { topic: self.changes.topic.clone() };
            return core.emit(Effect::Hub(position), self.waiting());
        };
        if let By::Session { control: Place { topic, cursor: None }, .. } = &self.by {
            let position = HubOp::Position { topic: topic.clone() };
            self.step = Step::Control;
            return core.emit(Effect::Hub(position), self.waiting());
        }
        self.step = Step::Poll;
        let mut topics = vec![(self.changes.topic.clone(), cursor)];
        if let By::Session { control, .. } = &self.by
            && let Some(cursor) = &control.cursor
        {
            topics.push((control.topic.clone(), cursor.clone()));
        }
        core.poll(topics, self.waiting(), None);
    }

    fn refresh(&mut self, core: &mut Core) {
        if let By::Session { key, .. } = &self.by {
            let renew = Some(core.endpoint.limits().session_ttl);
            let get = SessionOp::Get { id: key.clone(), renew };
            self.step = Step::Refresh;
            core.emit(Effect::Session(get), self.waiting());
        }
    }
}

impl Control {
    /// The operation that says this on a session's topic.
    pub(crate) fn publish(&self, topic: String) -> HubOp {
        let mut message = Vec::new();
        let mut object = Object::begin(&mut message);
        match self {
            Self::Refresh => object.boolean("refresh", true),
            Self::Stream(stream) => object.string("stream", stream),
        };
        object.end();
        HubOp::Publish { topic, message: message.into(), ttl: CONTROL_TTL, keep: 100 }
    }

    fn decode(message: &Bytes) -> Option<Self> {
        json::scan(message, &json::ScanLimits::default()).ok()?;
        let members = json::members(message);
        match members.get(message, "stream") {
            Some(stream) => Some(Self::Stream(json::string(stream.of(message))?.into_owned())),
            None => members.get(message, "refresh").map(|_| Self::Refresh),
        }
    }
}

#[cfg(test)]
mod tests;
