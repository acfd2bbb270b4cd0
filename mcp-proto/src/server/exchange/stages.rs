//! What an exchange is about besides calls: sessions, streams, and what it waits for.

use bytes::Bytes;
use std::sync::Arc;

use super::admit::single;
use super::body::Body;
use super::message::id_of;
use super::{HttpExchange, HttpRequest};
use crate::effect::{Effect, Reply};
use crate::frame::envelope::RequestId;
use crate::model::Call;
use crate::revision::{self, Adapter, Incoming};
use crate::server::HttpRefusal;
use crate::server::asks;
use crate::server::endpoint::Route;
use crate::server::hold::Hold;
use crate::server::intake::{self, Answer};
use crate::server::listening::Control;
use crate::server::pending::Waiting;
use crate::server::session::{self, Session, SessionChange};
use crate::server::stream::Follow;
use crate::store::{Cursor, HubOp, Record, SessionOp};

/// Where an exchange stands. Each stage that waits, waits for one effect.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is where every call of a session is")]
pub(super) enum Stage {
    /// The body is arriving.
    Body(Body),
    /// The body is there, and it is not known yet who calls.
    Complete(Bytes),
    /// The record of a session is being read, and then this goes on.
    Session {
        id: Arc<str>,
        held: Held,
    },
    /// A handshake is being kept.
    Handshake(Box<Handshake>),
    /// The new session is being stored under this id.
    Created(Box<Handshake>, String),
    /// The session is being changed.
    Update(Box<Update>),
    /// The record of a question is being read, and then claimed.
    Deliver {
        key: String,
        answered: Box<revision::Answered>,
    },
    Claimed {
        key: String,
        answered: Box<revision::Answered>,
    },
    /// The last thing to do is being published.
    Published,
    /// The session is being forgotten.
    Delete,
    /// A stream for the session's own messages is being opened.
    Listen(Box<Listen>),
    /// A stream is being taken up again; the message that ends it where nothing else is known.
    Resume(Box<(Follow, Option<Bytes>)>),
    /// A stream of HTTP+SSE is being opened.
    Sse(SseStep),
    /// Calls are running, or a client listens.
    Running,
    /// Nothing is left to be decided.
    Done,
}

/// What waits for the session's record.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is the rule")]
pub(super) enum Held {
    Message(Incoming),
    /// A handshake, which must not name a session that lives.
    Handshake(Box<Handshake>),
    Delete,
    Listen,
}

#[derive(Debug)]
pub(super) struct Handshake {
    pub(super) adapter: Adapter,
    pub(super) call: Call,
    pub(super) session: Session,
    pub(super) tries: u8,
}

#[derive(Debug)]
pub(super) struct Update {
    /// Each with the request of a batch that wants it.
    changes: Vec<(Option<RequestId>, SessionChange)>,
    then: Then,
    tries: u8,
    saving: bool,
}

/// What comes after a change.
#[derive(Debug)]
pub(super) enum Then {
    Answer(Adapter, Box<Call>, Answer),
    Batch(Adapter),
    /// It is taken note of.
    Accept,
}

#[derive(Debug)]
pub(super) struct Listen {
    pub(super) adapter: Adapter,
    pub(super) session: Session,
    pub(super) after: Option<Cursor>,
    pub(super) step: ListenStep,
}

#[derive(Debug)]
pub(super) enum ListenStep {
    /// A name for this stream.
    Naming,
    /// Saying that this is the session's stream now.
    Announcing(String),
}

#[derive(Debug)]
pub(super) enum SseStep {
    Naming,
    Creating(String),
    Positioning(String),
}

/// How often a write that lost a race is tried again before the store counts as failed.
const MOST_TRIES: u8 = 8;

impl<H: HttpRequest> HttpExchange<H> {
    pub(super) fn settle_stage(&mut self, reply: Option<Reply>) {
        let stage = core::mem::replace(&mut self.stage, Stage::Done);
        match (stage, reply) {
            (Stage::Session { id, held }, Some(Reply::Record(record))) => {
                self.found(id, held, record);
            }
            (Stage::Handshake(handshake), Some(Reply::Random(random))) => {
                let id = session::mint(&random);
                self.create_session(&id, &handshake.session);
                self.stage = Stage::Created(handshake, id);
            }
            (Stage::Created(handshake, id), Some(Reply::Created(true))) => {
                self.reply.add_header("Mcp-Session-Id", id);
                self.answer(&handshake.adapter, &handshake.call, Answer::Description);
            }
            (Stage::Created(mut handshake, _), Some(Reply::Created(false)))
                if handshake.tries < MOST_TRIES =>
            {
                handshake.tries += 1;
                self.stage = Stage::Handshake(handshake);
                self.core.emit(Effect::Random, Waiting::Stage);
            }
            (Stage::Update(update), Some(reply)) => self.settle_update(update, reply),
            (Stage::Deliver { key, answered }, Some(Reply::Record(Some(record)))) => {
                let save = SessionOp::Save {
                    id: key.clone(),
                    data: Bytes::from_static(b"{\"answered\":true}"),
                    expected_version: record.version,
                    ttl: self.core.endpoint.limits().ask,
                };
                // An answer counts once.
                let members = crate::frame::json::members(&record.data);
                if members.get(&record.data, "answered").is_none() {
                    self.stage = Stage::Claimed { key, answered };
                    self.core.emit(Effect::Session(save), Waiting::Stage);
                } else {
                    self.delivered();
                }
            }
            (Stage::Claimed { key, answered }, Some(Reply::Saved(true))) => {
                self.stage = Stage::Published;
                let publish = asks::publish(key, &answered);
                self.core.emit(Effect::Hub(publish), Waiting::Stage);
            }
            // Nobody asked, or not any more: it is taken note of, and leaves nothing behind.
            (Stage::Deliver { .. }, Some(Reply::Record(None)))
            | (Stage::Claimed { .. }, Some(Reply::Saved(false)))
            | (Stage::Published, Some(Reply::Published(_))) => self.delivered(),
            (Stage::Delete, Some(Reply::Deleted)) => {
                // The session's streams may be on other workers. They end.
                self.refresh_streams();
                self.reply.empty(204);
                self.finish();
            }
            (Stage::Listen(listen), Some(reply)) => self.settle_listen(listen, reply),
            (Stage::Resume(resumed), Some(Reply::Random(random))) => {
                self.stage = Stage::Running;
                let (follow, lost) = *resumed;
                self.resume(follow, lost, session::mint(&random));
            }
            (Stage::Sse(step), Some(reply)) => self.settle_sse(step, reply),
            // Something else's effect, such as that of a batch's cancellation.
            (Stage::Running, _) => self.stage = Stage::Running,
            (Stage::Done, _) => {}
            (stage, _) => self.fail_store(&stage),
        }
    }

    /// The environment failed: the client learns that it did, not how.
    pub(super) fn fail_store(&mut self, stage: &Stage) {
        let id = match stage {
            Stage::Session { held, .. } => held.id().cloned(),
            Stage::Handshake(handshake) | Stage::Created(handshake, _) => {
                handshake.call.id().cloned()
            }
            Stage::Update(update) => update.id().cloned(),
            _ => None,
        };
        self.refuse(&HttpRefusal::StoreUnavailable, id.as_ref());
    }

    /// The client is gone: what only it waited for is over.
    pub(super) fn leave_stage(&mut self) {
        if !matches!(self.stage, Stage::Running) || self.tasks.is_empty() {
            self.stage = if self.tasks.is_empty() { Stage::Done } else { Stage::Running };
        }
    }

    /// The session of HTTP+SSE is its stream, and ends with it.
    pub(super) fn forget_session(&mut self) {
        if let Some(session) = self.session.take() {
            let id = self.core.scope.key("session", &session);
            self.core.emit(Effect::Session(SessionOp::Delete { id }), Waiting::Nothing);
            let topic = self.core.scope.key("sse", &session);
            self.core.emit(Effect::Hub(HubOp::Delete { topic }), Waiting::Nothing);
        }
    }

    // ---- finding a session ----

    /// The id of the session that the request names.
    pub(super) fn session_id(&self) -> Result<Option<&[u8]>, HttpRefusal> {
        match self.route {
            Route::SseMessages => {
                let pairs = self.head.query().unwrap_or_default().split('&');
                let mut ids = pairs.filter_map(|pair| pair.strip_prefix("session_id="));
                match (ids.next(), ids.next()) {
                    (_, Some(_)) => Err(HttpRefusal::Repeated("session_id")),
                    (id, None) => Ok(id.map(str::as_bytes)),
                }
            }
            _ => single(&self.head, "Mcp-Session-Id"),
        }
    }

    pub(super) fn find_session(&mut self, held: Held) {
        let id: Result<Arc<str>, _> = match self.session_id() {
            Err(refusal) => Err(refusal),
            Ok(None) => Err(HttpRefusal::BadRequest("the session's id is missing")),
            Ok(Some(id)) if session::is_well_formed(id) => Ok(String::from_utf8_lossy(id).into()),
            Ok(Some(_)) => Err(HttpRefusal::BadRequest("the session's id is malformed")),
        };
        match id {
            Ok(id) => {
                self.get_session(&id);
                self.stage = Stage::Session { id, held };
            }
            Err(refusal) => self.refuse(&refusal, held.id()),
        }
    }

    pub(super) fn get_session(&mut self, id: &str) {
        let renew = Some(self.core.endpoint.limits().session_ttl);
        let get = SessionOp::Get { id: self.core.scope.key("session", id), renew };
        self.core.emit(Effect::Session(get), Waiting::Stage);
    }

    /// The session is there, and was renewed just now.
    pub(super) fn hold_session(&mut self, id: Arc<str>) {
        self.session = Some(id);
        self.hold = Some(Hold::new(&self.core));
    }

    /// A session that was lost all the same has nothing more to tell.
    pub(super) fn settle_hold(&mut self, reply: Option<Reply>) {
        if matches!(reply, Some(Reply::Record(None))) && self.listening.is_some() {
            self.stop_reading();
            self.reply.end();
            self.finish();
        }
    }

    pub(super) fn create_session(&mut self, id: &str, session: &Session) {
        let create = SessionOp::Create {
            id: self.core.scope.key("session", id),
            data: session.encode(),
            ttl: self.core.endpoint.limits().session_ttl,
            charged_to: self.core.charged_to(),
        };
        self.core.emit(Effect::Session(create), Waiting::Stage);
    }

    /// The record, if it is there and the caller's: what belongs to another is unknown (C49).
    fn found(&mut self, id: Arc<str>, held: Held, record: Option<Record>) {
        let session = record
            .and_then(|record| Session::decode(&record.data))
            .filter(|session| session.owner == self.core.scope.owner);
        let (session, held) = match (session, held) {
            (Some(session), held) => (session, held),
            (None, Held::Handshake(handshake)) => return self.open_session(handshake),
            (None, held) => return self.refuse(&HttpRefusal::Session, held.id()),
        };
        self.hold_session(id);
        match held {
            Held::Message(incoming) => {
                if self.route == Route::SseMessages {
                    self.go_on_elsewhere(&incoming);
                }
                self.select(incoming, Some(session));
            }
            Held::Handshake(handshake) => {
                let refusal = HttpRefusal::BadRequest(intake::SHAKEN);
                self.refuse(&refusal, handshake.call.id());
            }
            Held::Delete => {
                self.stage = Stage::Delete;
                let id =
                    self.core.scope.key("session", self.session.as_deref().unwrap_or_default());
                self.core.emit(Effect::Session(SessionOp::Delete { id }), Waiting::Stage);
            }
            Held::Listen => self.begin_listening(session),
        }
    }

    // ---- changing a session ----

    pub(super) fn update(&mut self, changes: Vec<(Option<RequestId>, SessionChange)>, then: Then) {
        let update = Update { changes, then, tries: 0, saving: false };
        self.stage = Stage::Update(Box::new(update));
        let id = self.session.clone().unwrap_or_default();
        self.get_session(&id);
    }

    fn refresh_streams(&mut self) {
        let id = self.session.as_deref().unwrap_or_default();
        let refresh = Control::Refresh.publish(self.core.scope.key("session", id));
        self.core.emit(Effect::Hub(refresh), Waiting::Nothing);
    }

    /// Read, change, save if nobody else did: tried again from fresh values where somebody did.
    fn settle_update(&mut self, mut update: Box<Update>, reply: Reply) {
        let id = self.session.clone().unwrap_or_default();
        match reply {
            Reply::Record(Some(record)) if !update.saving => {
                let Some(mut session) = Session::decode(&record.data) else {
                    return self.fail_store(&Stage::Update(update));
                };
                let limits = self.core.endpoint.limits();
                let mut refused = Vec::new();
                update.changes.retain(|(id, change)| match session.apply(change, limits) {
                    Ok(()) => true,
                    Err(failure) => {
                        refused.push((id.clone(), failure));
                        false
                    }
                });
                for (id, failure) in refused {
                    match &mut update.then {
                        Then::Answer(_, _, answer) => *answer = Answer::Failure(failure),
                        Then::Batch(adapter) => {
                            if let Some(batch) = &mut self.batch {
                                batch.replace(adapter, id.as_ref(), &failure);
                            }
                        }
                        Then::Accept => {}
                    }
                }
                if update.changes.is_empty() {
                    return self.updated(*update);
                }
                let save = SessionOp::Save {
                    id: self.core.scope.key("session", &id),
                    data: session.encode(),
                    expected_version: record.version,
                    ttl: self.core.endpoint.limits().session_ttl,
                };
                update.saving = true;
                self.stage = Stage::Update(update);
                self.core.emit(Effect::Session(save), Waiting::Stage);
            }
            Reply::Record(None) if !update.saving => {
                self.refuse(&HttpRefusal::Session, update.id());
            }
            Reply::Saved(true) => {
                if update.changes.iter().any(|(_, change)| change.concerns_streams()) {
                    // The session's stream may be on another worker. It hears of it in time.
                    self.refresh_streams();
                }
                self.updated(*update);
            }
            Reply::Saved(false) if update.tries < MOST_TRIES => {
                update.tries += 1;
                update.saving = false;
                self.stage = Stage::Update(update);
                self.get_session(&id);
            }
            _ => self.fail_store(&Stage::Update(update)),
        }
    }

    fn updated(&mut self, update: Update) {
        match update.then {
            Then::Answer(adapter, call, answer) => self.answer(&adapter, &call, answer),
            Then::Batch(_) => self.go_on_with_batch(),
            Then::Accept => self.accept(),
        }
    }
}

impl Update {
    fn id(&self) -> Option<&RequestId> {
        match &self.then {
            Then::Answer(_, call, _) => call.id(),
            Then::Batch(_) | Then::Accept => None,
        }
    }
}

impl Held {
    pub(super) fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Message(incoming) => id_of(incoming),
            Self::Handshake(handshake) => handshake.call.id(),
            Self::Delete | Self::Listen => None,
        }
    }
}
