//! One HTTP exchange of Streamable HTTP: a request in, calls and effects out, a reply out.

use bytes::{Bytes, BytesMut};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;

use super::accept::{self, Accept};
use super::calls::InFlight;
use super::gate::Refused;
use super::intake::{self, Answer, Plan};
use super::pending::Pending;
use super::reply::Reply;
use super::session::{self, Session};
use super::{CallId, Endpoint, Event, HttpRefusal, HttpRequest, Output, ResponseHead};
use crate::effect::{Effect, EffectError, EffectId, Reply as EffectReply};
use crate::frame::envelope::RequestId;
use crate::model::{Call, Failure, FailureKind, LogMessage, Operation, Outcome, Progress};
use crate::revision::{
    self, Adapter, Context, Decoded, Established, Incoming, Mirrors, Preamble, Published,
    Selection, Transport, check_parameters,
};
use crate::store::SessionOp;
use crate::time::{Instant, earlier};

/// One HTTP exchange. It sees a head and body chunks, never a socket, so that any HTTP server
/// can drive it; [`Connection`](super::Connection) drives it for HTTP/1.1.
///
/// - in: [`handle_body`](Self::handle_body), [`handle_end`](Self::handle_end),
///   [`handle_closed`](Self::handle_closed), [`handle_timeout`](Self::handle_timeout),
///   [`handle_reply`](Self::handle_reply)
/// - commands: [`respond`](Self::respond), [`progress`](Self::progress), [`log`](Self::log)
/// - out: [`poll_output`](Self::poll_output), [`poll_head`](Self::poll_head),
///   [`transmit`](Self::transmit)
/// - state: [`poll_timeout`](Self::poll_timeout), [`wants_body`](Self::wants_body),
///   [`is_complete`](Self::is_complete)
///
/// The rules of [`Machine`](super::Machine) hold here too.
#[derive(Debug)]
pub struct HttpExchange<H> {
    endpoint: Endpoint,
    published: Arc<Published>,
    head: H,
    now: Instant,
    stage: Stage,
    reply: Reply,
    /// When an undecided reply becomes a stream, or an open stream gets a sign of life.
    timer: Option<Instant>,
    /// A session was named or made, so that the client could come back.
    has_session: bool,
    recycled: Recycled,
}

/// What an exchange hands on to the next one of its connection: buffers, and where ids go on.
#[derive(Debug)]
pub(crate) struct Recycled {
    pub(crate) outputs: VecDeque<Output>,
    pub(crate) body: Vec<u8>,
    pub(crate) pending: Pending<Waiting>,
    pub(crate) next_call: u64,
}

impl Default for Recycled {
    fn default() -> Self {
        Self { outputs: VecDeque::new(), body: Vec::new(), pending: Pending::new(0), next_call: 0 }
    }
}

/// What an effect is waited for.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// The session that the request names.
    Session,
    /// Random bytes for a new session's id.
    SessionId,
    /// The new session, to be stored under this id.
    Created(String),
    /// The session with a new log level.
    Saved,
    /// The session's end.
    Deleted,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "every exchange with a call gets to the large one")]
enum Stage {
    /// The body is arriving.
    Body(Body),
    /// The session's record is being read, and then this goes on.
    Session(Box<Held>),
    /// A handshake is being kept.
    Handshake(Box<Handshake>),
    /// A log level is being kept; tries so far.
    SetLogLevel(Box<SetLogLevel>),
    /// A session is being ended.
    Delete,
    /// The application is running these.
    Running(Running),
    /// Nothing is left to be decided.
    Done,
}

/// The body so far. The usual one comes in one piece, which is kept as it is.
#[derive(Debug)]
enum Body {
    Piece(Bytes),
    Pieces(BytesMut),
}

/// What waits for the session's record.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it is boxed, and the large one is the rule")]
enum Held {
    Message(Incoming),
    Delete,
}

#[derive(Debug)]
struct Handshake {
    adapter: Adapter,
    call: Call,
    session: Session,
    tries: u8,
}

#[derive(Debug)]
struct SetLogLevel {
    adapter: Adapter,
    call: Call,
    level: crate::model::LogLevel,
    tries: u8,
}

#[derive(Debug)]
struct Running {
    calls: SmallVec<[InFlight; 1]>,
    batch: Option<Batch>,
}

/// The replies of a batch so far, in the order of its requests.
#[derive(Debug, Default)]
struct Batch {
    replies: Vec<(Option<RequestId>, Vec<u8>)>,
}

/// How often a write that lost a race is tried again before the store counts as failed.
const MOST_TRIES: u8 = 8;

impl<H: HttpRequest> HttpExchange<H> {
    /// An exchange that begins at `now` with this head.
    pub fn new(endpoint: &Endpoint, now: Instant, head: H) -> Self {
        Self::recycled(endpoint, endpoint.published().clone(), now, head, Recycled::default())
    }

    pub(crate) fn recycled(
        endpoint: &Endpoint,
        published: Arc<Published>,
        now: Instant,
        head: H,
        mut recycled: Recycled,
    ) -> Self {
        let body = core::mem::take(&mut recycled.body);
        let queued = endpoint.limits().queued_bytes;
        let mut exchange = Self {
            reply: Reply::new(Accept::read(&head), queued, body),
            endpoint: endpoint.clone(),
            published,
            head,
            now,
            stage: Stage::Body(Body::default()),
            timer: None,
            has_session: false,
            recycled,
        };
        exchange.admit();
        exchange
    }

    /// The request's head, with everything that it carries.
    pub fn head(&self) -> &H {
        &self.head
    }

    // ---- in ----

    /// A part of the request's body.
    pub fn handle_body(&mut self, now: Instant, chunk: Bytes) {
        self.now = self.now.max(now);
        let Stage::Body(body) = &mut self.stage else { return };
        if body.len() + chunk.len() > self.endpoint.limits().message {
            let refusal = crate::frame::http1::Refusal::BodyTooLarge;
            return self.refuse(HttpRefusal::Framing(refusal), None);
        }
        body.add(chunk);
    }

    /// The request is complete.
    pub fn handle_end(&mut self, now: Instant) {
        self.now = self.now.max(now);
        let Stage::Body(body) = &mut self.stage else { return };
        let message = core::mem::take(body).into_bytes();
        self.stage = Stage::Done;
        let limits = self.endpoint.limits();
        match revision::read(message, &limits.read()) {
            Ok(incoming) => self.route(incoming, None),
            Err(refused) => {
                let adapter = *self.endpoint.adapters().fallback();
                self.fail(&adapter, refused.id.as_ref(), &refused.failure);
            }
        }
    }

    /// HTTP framing refused the rest of the request.
    pub fn handle_refused(&mut self, refusal: crate::frame::http1::Refusal) {
        if matches!(self.stage, Stage::Body(_)) {
            self.refuse(HttpRefusal::Framing(refusal), None);
        }
    }

    /// The client is gone. Where the revision says so, or where nobody could ever fetch the
    /// result, that cancels its calls (R26-HTTP-16, R2503-HTTP-16).
    pub fn handle_closed(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.recycled.outputs.extend(self.recycled.pending.abandon());
        if let Stage::Running(running) = &self.stage {
            for call in &running.calls {
                if call.adapter.disconnect_cancels || !self.has_session {
                    self.recycled.outputs.push_back(Output::Event(Event::Cancelled(call.call)));
                }
            }
        }
        self.stage = Stage::Done;
        self.reply.end();
        self.timer = None;
    }

    /// Time passed.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.now = self.now.max(now);
        while let Some((id, waiting)) = self.recycled.pending.expire(self.now) {
            self.recycled.outputs.push_back(Output::Abandon(id));
            self.settle(waiting, Err(EffectError::TimedOut));
        }
        if self.timer.is_some_and(|at| at <= self.now) {
            if self.reply.is_stream() {
                self.reply.heartbeat();
            } else {
                self.reply.open();
            }
            self.start_timer();
        }
    }

    /// The world's answer to an effect.
    pub fn handle_reply(
        &mut self,
        now: Instant,
        id: EffectId,
        reply: Result<EffectReply, EffectError>,
    ) {
        self.now = self.now.max(now);
        if let Some(waiting) = self.recycled.pending.settle(id) {
            self.settle(waiting, reply);
        }
    }

    // ---- commands ----

    /// The application's answer to a call.
    pub fn respond(&mut self, call: CallId, outcome: Outcome) {
        let Stage::Running(running) = &mut self.stage else { return };
        let Some(index) = running.calls.iter().position(|it| it.call == call) else { return };
        let call = running.calls.swap_remove(index);
        let published = &self.published;
        match &mut running.batch {
            None => self.reply.last(|out| call.write(published, &outcome, out)),
            Some(batch) => {
                let mut reply = Vec::new();
                call.write(published, &outcome, &mut reply);
                batch.fill(&call.request, reply);
            }
        }
        self.conclude();
    }

    /// Reports how far a call has come; see [`Machine::progress`](super::Machine::progress).
    pub fn progress(&mut self, call: CallId, progress: Progress) {
        let Stage::Running(running) = &mut self.stage else { return };
        let Some(call) = running.calls.iter_mut().find(|it| it.call == call) else { return };
        let adapter = call.adapter;
        if self.reply.can_stream()
            && let Some(token) = call.admit(&progress)
        {
            self.reply.notify(|out| adapter.write_progress(out, token, &progress));
            self.start_timer();
        }
    }

    /// Logs to the client; see [`Machine::log`](super::Machine::log).
    pub fn log(&mut self, call: CallId, message: LogMessage) {
        let Stage::Running(running) = &self.stage else { return };
        let Some(call) = running.calls.iter().find(|it| it.call == call) else { return };
        if call.wants(&message) {
            self.reply.notify(|out| call.adapter.write_log(out, &message));
            self.start_timer();
        }
    }

    // ---- out ----

    /// The next thing that the exchange has to say.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.recycled.outputs.pop_front()
    }

    /// The response's head, once it is decided; it comes once, before any byte of the body.
    pub fn poll_head(&mut self) -> Option<ResponseHead> {
        self.reply.poll_head()
    }

    /// Appends the bytes of the response's body that are new to `out`.
    pub fn transmit(&mut self, out: &mut Vec<u8>) {
        out.append(self.reply.body());
    }

    // ---- state ----

    /// When [`handle_timeout`](Self::handle_timeout) is wanted at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        earlier(self.timer, self.recycled.pending.poll_timeout())
    }

    /// Whether the request's body is of any use.
    pub fn wants_body(&self) -> bool {
        matches!(self.stage, Stage::Body(_))
    }

    /// The response is complete: what [`transmit`](Self::transmit) gives now is the last of it.
    pub fn is_complete(&self) -> bool {
        self.reply.is_complete()
    }

    pub(crate) fn body(&mut self) -> &mut Vec<u8> {
        self.reply.body()
    }

    pub(crate) fn into_recycled(self) -> Recycled {
        Recycled { body: self.reply.into_buffer(), ..self.recycled }
    }

    // ---- the head ----

    /// Everything that can be said about the request before its body.
    fn admit(&mut self) {
        let refused = match self.endpoint.gate().check(&self.head) {
            Err(Refused::Host) => Some(HttpRefusal::Host),
            Err(Refused::Origin) => Some(HttpRefusal::Origin),
            Ok(()) if !self.endpoint.is_at(self.head.path()) => Some(HttpRefusal::Path),
            Ok(()) => None,
        };
        if let Some(refusal) = refused {
            return self.refuse(refusal, None);
        }
        self.add_cors();
        let malformed =
            self.head.get("mcp-session-id").is_some_and(|id| !session::is_well_formed(id));
        match self.head.method() {
            "POST" if !self.head.get("content-type").is_some_and(accept::is_json) => {
                self.refuse(HttpRefusal::MediaType, None);
            }
            // Nothing here decodes bodies, so no small body can turn into a large one (C46).
            "POST"
                if self
                    .head
                    .get_all("content-encoding")
                    .any(|it| !it.eq_ignore_ascii_case(b"identity")) =>
            {
                self.refuse(HttpRefusal::ContentCoding, None);
            }
            "POST" if Accept::read(&self.head).is_nothing() => {
                self.refuse(HttpRefusal::NotAcceptable, None);
            }
            "POST" => {}
            "DELETE" if self.endpoint.shared().allow_delete && malformed => {
                self.refuse(HttpRefusal::BadRequest("Mcp-Session-Id is malformed"), None);
            }
            "DELETE" if self.endpoint.shared().allow_delete => self.find_session(Held::Delete),
            "OPTIONS" if self.is_preflight() => self.preflight(),
            _ => self.refuse(HttpRefusal::Method(self.allowed_methods()), None),
        }
    }

    fn allowed_methods(&self) -> &'static str {
        if self.endpoint.shared().allow_delete { "POST, DELETE" } else { "POST" }
    }

    /// CORS headers go to pages of listed origins, and to nobody else.
    fn add_cors(&mut self) {
        let listed = self.head.get("origin").filter(|origin| self.endpoint.gate().lists(origin));
        let Some(origin) = listed.and_then(|origin| core::str::from_utf8(origin).ok()) else {
            return;
        };
        let origin = origin.to_owned();
        self.reply.add_header("Access-Control-Allow-Origin", origin);
        self.reply.add_header("Access-Control-Expose-Headers", "Mcp-Session-Id");
        self.reply.add_header("Vary", "Origin");
    }

    fn is_preflight(&self) -> bool {
        self.head.get("access-control-request-method").is_some()
            && self.head.get("origin").is_some_and(|origin| self.endpoint.gate().lists(origin))
    }

    fn preflight(&mut self) {
        self.reply.add_header("Access-Control-Allow-Methods", self.allowed_methods());
        let wanted = self.head.get("access-control-request-headers").unwrap_or_default();
        let is_list = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_, ".contains(byte);
        if let Ok(wanted) = core::str::from_utf8(wanted)
            && wanted.bytes().all(|byte| is_list(&byte))
        {
            let wanted = wanted.to_owned();
            self.reply.add_header("Access-Control-Allow-Headers", wanted);
        }
        self.reply.empty(204);
        self.stage = Stage::Done;
    }

    // ---- the message ----

    /// Selects the revision and goes on with it, or asks for the session's record first.
    fn route(&mut self, incoming: Incoming, session: Option<Session>) {
        let endpoint = self.endpoint.clone();
        let adapters = endpoint.adapters();
        let id = self.head.get("mcp-session-id");
        let established = match &session {
            Some(session) => match adapters.by_version(&session.version) {
                Some(adapter) => Established::Adapter(adapter),
                None => return self.refuse(HttpRefusal::Session, id_of(&incoming)),
            },
            None if id.is_some() => Established::Pending,
            None => Established::None,
        };
        let context = Context {
            pin: pin(&self.head),
            mirrors: Mirrors::of(&self.head),
            established,
            require_session: endpoint.shared().require_session,
            ..Context::new(Transport::Http)
        };
        let selection = match &incoming {
            Incoming::One(message) => adapters.select(message, &context),
            Incoming::Batch(_) => adapters.select_batch(&context),
        };
        match selection {
            Selection::AwaitSession => self.find_session(Held::Message(incoming)),
            Selection::Refused { adapter, failure } => {
                self.fail(adapter, id_of(&incoming), &failure);
            }
            Selection::Adapter(adapter) => {
                self.has_session = session.is_some();
                match incoming {
                    Incoming::One(message) => self.receive(adapter, &message, session.as_ref()),
                    Incoming::Batch(batch) => self.receive_batch(adapter, batch, session.as_ref()),
                }
            }
        }
    }

    fn receive(&mut self, adapter: &Adapter, message: &Preamble, session: Option<&Session>) {
        match adapter.decode(message, session.map(|session| &session.client)) {
            Decoded::Call(call) if call.is_notification() => self.reply.empty(202),
            Decoded::Call(call) => self.dispatch(adapter, call),
            Decoded::Answered(_) if session.is_none() => {
                let text = "a response answers a question of a session, and none is named";
                self.fail(adapter, None, &Failure::new(FailureKind::Malformed, text));
            }
            Decoded::Cancelled { .. } | Decoded::Answered(_) | Decoded::Ignored => {
                self.reply.empty(202);
            }
            Decoded::Refused(refused) => {
                self.fail(adapter, refused.id.as_ref(), &refused.failure);
            }
        }
    }

    fn dispatch(&mut self, adapter: &Adapter, call: Call) {
        match intake::plan(&self.published, adapter, &call) {
            Plan::Answer(answer) => self.answer(adapter, &call, answer),
            Plan::Run => self.run_one(adapter, call),
            Plan::Handshake => {
                let adapters = self.endpoint.adapters();
                let adapter =
                    intake::negotiated(adapters, pin(&self.head), &call).unwrap_or(*adapter);
                let client = call.client().clone();
                let session = Session { version: adapter.version.into(), client, values: None };
                let handshake = Handshake { adapter, call, session, tries: 0 };
                self.stage = Stage::Handshake(Box::new(handshake));
                self.emit(Effect::Random, Waiting::SessionId);
            }
            Plan::SetLogLevel(_) if !self.has_session => {
                // Without a session there is nowhere to keep it, and nothing to be gained by
                // an error: each request stands for itself.
                self.answer(adapter, &call, Answer::Empty);
            }
            Plan::SetLogLevel(level) => {
                let set = SetLogLevel { adapter: *adapter, call, level, tries: 0 };
                self.stage = Stage::SetLogLevel(Box::new(set));
                self.get_session();
            }
        }
    }

    fn receive_batch(
        &mut self,
        adapter: &Adapter,
        messages: Vec<Result<Preamble, revision::Refused>>,
        session: Option<&Session>,
    ) {
        let mut batch = Batch::default();
        let mut calls: SmallVec<[Call; 4]> = SmallVec::new();
        let client = session.map(|session| &session.client);
        for item in messages {
            match item.map(|message| adapter.decode(&message, client)) {
                Ok(Decoded::Call(call)) if call.is_notification() => {}
                Ok(Decoded::Call(call)) => {
                    calls.extend(batch.add(&self.published, adapter, call));
                }
                Ok(Decoded::Refused(refused)) | Err(refused) => batch.refuse(adapter, refused),
                Ok(_) => {}
            }
        }
        if batch.replies.is_empty() {
            return self.reply.empty(202);
        }
        self.run(adapter, calls, Some(batch));
        self.start_timer();
        self.conclude();
    }

    /// Hands a call to the application, once its headers are known to say what it says.
    fn run_one(&mut self, adapter: &Adapter, call: Call) {
        let tool = match call.operation() {
            Operation::CallTool => self.published.tool(adapter, call.target().unwrap_or_default()),
            _ => None,
        };
        if adapter.mirrors_headers
            && let Some(tool) = tool
            && let Err(failure) = check_parameters(tool, call.arguments(), &self.head)
        {
            return self.fail(adapter, call.id(), &failure);
        }
        let streaming = tool.is_some_and(|tool| tool.streaming);
        self.run(adapter, [call], None);
        if streaming {
            self.reply.open();
        }
        self.start_timer();
    }

    /// Hands calls to the application.
    fn run(
        &mut self,
        adapter: &Adapter,
        calls: impl IntoIterator<Item = Call>,
        batch: Option<Batch>,
    ) {
        let mut running = Running { calls: SmallVec::new(), batch };
        for call in calls {
            let id = CallId(self.recycled.next_call);
            self.recycled.next_call += 1;
            if let Some(in_flight) = InFlight::new(id, *adapter, &call) {
                running.calls.push(in_flight);
                self.recycled.outputs.push_back(Output::Event(Event::Call(id, call)));
            }
        }
        self.stage = Stage::Running(running);
    }

    /// Ends the exchange once nothing is running any more.
    fn conclude(&mut self) {
        let Stage::Running(running) = &mut self.stage else { return };
        if !running.calls.is_empty() {
            return;
        }
        if let Some(batch) = running.batch.take() {
            self.reply.last(|out| batch.write(out));
        }
        self.finish();
    }

    fn finish(&mut self) {
        self.stage = Stage::Done;
        self.timer = None;
    }

    // ---- sessions ----

    fn find_session(&mut self, held: Held) {
        match self.head.get("mcp-session-id").map(session::is_well_formed) {
            None => self.refuse(HttpRefusal::BadRequest("Mcp-Session-Id is missing"), held.id()),
            Some(false) => {
                self.refuse(HttpRefusal::BadRequest("Mcp-Session-Id is malformed"), held.id());
            }
            Some(true) => {
                self.stage = Stage::Session(Box::new(held));
                self.get_session();
            }
        }
    }

    fn get_session(&mut self) {
        let renew = Some(self.endpoint.limits().session_ttl);
        let get = SessionOp::Get { id: self.session_id(), renew };
        self.emit(Effect::Session(get), Waiting::Session);
    }

    fn session_id(&self) -> String {
        let id = self.head.get("mcp-session-id").unwrap_or_default();
        String::from_utf8_lossy(id).into_owned()
    }

    fn emit(&mut self, effect: Effect, waiting: Waiting) {
        let output = self.recycled.pending.emit(self.now, effect, waiting);
        self.recycled.outputs.push_back(output);
    }

    fn settle(&mut self, waiting: Waiting, reply: Result<EffectReply, EffectError>) {
        let stage = core::mem::replace(&mut self.stage, Stage::Done);
        match (stage, waiting, reply) {
            (Stage::Session(held), Waiting::Session, Ok(EffectReply::Record(record))) => {
                match record.and_then(|record| Session::decode(&record.data)) {
                    None => self.refuse(HttpRefusal::Session, held.id()),
                    Some(session) => match *held {
                        Held::Message(incoming) => self.route(incoming, Some(session)),
                        Held::Delete => {
                            self.stage = Stage::Delete;
                            let delete = SessionOp::Delete { id: self.session_id() };
                            self.emit(Effect::Session(delete), Waiting::Deleted);
                        }
                    },
                }
            }
            (Stage::Delete, Waiting::Deleted, Ok(EffectReply::Deleted)) => self.reply.empty(204),
            (Stage::Handshake(handshake), waiting, Ok(reply)) => {
                self.shake(handshake, waiting, reply);
            }
            (Stage::SetLogLevel(set), waiting, Ok(reply)) => {
                self.set_log_level(set, waiting, reply)
            }
            (Stage::Running(running), ..) => self.stage = Stage::Running(running),
            (stage, ..) => self.fail_store(&stage),
        }
    }

    fn shake(&mut self, mut handshake: Box<Handshake>, waiting: Waiting, reply: EffectReply) {
        match (waiting, reply) {
            (Waiting::SessionId, EffectReply::Random(random)) => {
                let id = session::mint(&random);
                let data = handshake.session.encode();
                let ttl = self.endpoint.limits().session_ttl;
                let create = SessionOp::Create { id: id.clone(), data, ttl };
                self.stage = Stage::Handshake(handshake);
                self.emit(Effect::Session(create), Waiting::Created(id));
            }
            (Waiting::Created(id), EffectReply::Created(true)) => {
                self.reply.add_header("Mcp-Session-Id", id);
                self.answer(&handshake.adapter, &handshake.call, Answer::Description);
            }
            (Waiting::Created(_), EffectReply::Created(false)) if handshake.tries < MOST_TRIES => {
                handshake.tries += 1;
                self.stage = Stage::Handshake(handshake);
                self.emit(Effect::Random, Waiting::SessionId);
            }
            _ => self.fail_store(&Stage::Handshake(handshake)),
        }
    }

    fn set_log_level(&mut self, mut set: Box<SetLogLevel>, waiting: Waiting, reply: EffectReply) {
        match (waiting, reply) {
            (Waiting::Session, EffectReply::Record(Some(record))) => {
                let Some(mut session) = Session::decode(&record.data) else {
                    return self.fail_store(&Stage::SetLogLevel(set));
                };
                session.client.log_level = Some(set.level);
                let save = SessionOp::Save {
                    id: self.session_id(),
                    data: session.encode(),
                    expected_version: record.version,
                    ttl: self.endpoint.limits().session_ttl,
                };
                self.stage = Stage::SetLogLevel(set);
                self.emit(Effect::Session(save), Waiting::Saved);
            }
            (Waiting::Session, EffectReply::Record(None)) => {
                self.refuse(HttpRefusal::Session, set.call.id());
            }
            (Waiting::Saved, EffectReply::Saved(true)) => {
                self.answer(&set.adapter, &set.call, Answer::Empty);
            }
            (Waiting::Saved, EffectReply::Saved(false)) if set.tries < MOST_TRIES => {
                set.tries += 1;
                self.stage = Stage::SetLogLevel(set);
                self.get_session();
            }
            _ => self.fail_store(&Stage::SetLogLevel(set)),
        }
    }

    /// The environment failed: the client learns that it did, not how.
    fn fail_store(&mut self, stage: &Stage) {
        let id = match stage {
            Stage::Session(held) => held.id().cloned(),
            Stage::Handshake(handshake) => handshake.call.id().cloned(),
            Stage::SetLogLevel(set) => set.call.id().cloned(),
            _ => None,
        };
        self.refuse(HttpRefusal::StoreUnavailable, id.as_ref());
    }

    // ---- the reply ----

    fn answer(&mut self, adapter: &Adapter, call: &Call, answer: Answer) {
        let published = &self.published;
        self.reply.last(|out| intake::write(published, adapter, call, answer, out));
        self.finish();
    }

    fn fail(&mut self, adapter: &Adapter, id: Option<&RequestId>, failure: &Failure) {
        self.reply.last(|out| adapter.write_failure(out, id, failure));
        self.finish();
    }

    fn refuse(&mut self, refusal: HttpRefusal, id: Option<&RequestId>) {
        self.reply.refuse(&refusal, id);
        self.finish();
    }

    fn start_timer(&mut self) {
        let limits = self.endpoint.limits();
        self.timer = match &self.stage {
            Stage::Running(_) if self.reply.is_stream() => Some(self.now + limits.heartbeat),
            Stage::Running(_) if self.reply.can_stream() => Some(self.now + limits.undecided),
            _ => None,
        };
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Piece(Bytes::new())
    }
}

impl Body {
    fn len(&self) -> usize {
        match self {
            Self::Piece(piece) => piece.len(),
            Self::Pieces(pieces) => pieces.len(),
        }
    }

    fn add(&mut self, chunk: Bytes) {
        match self {
            Self::Piece(piece) if piece.is_empty() => *piece = chunk,
            Self::Piece(piece) => {
                let mut pieces = BytesMut::with_capacity(piece.len() + chunk.len());
                pieces.extend_from_slice(piece);
                pieces.extend_from_slice(&chunk);
                *self = Self::Pieces(pieces);
            }
            Self::Pieces(pieces) => pieces.extend_from_slice(&chunk),
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Piece(piece) => piece,
            Self::Pieces(pieces) => pieces.freeze(),
        }
    }
}

impl Held {
    fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Message(incoming) => id_of(incoming),
            Self::Delete => None,
        }
    }
}

impl Batch {
    /// Takes in one request: its answer if it is known already, else its place among the
    /// replies, and the call to run.
    fn add(&mut self, published: &Published, adapter: &Adapter, call: Call) -> Option<Call> {
        let id = call.id.clone()?;
        let malformed = |why| Answer::Failure(Failure::new(FailureKind::Malformed, why));
        let in_use = self.replies.iter().any(|(other, _)| other.as_ref() == Some(&id));
        let answer = match intake::plan(published, adapter, &call) {
            _ if in_use => malformed("this id is in use in the batch"),
            Plan::Answer(answer) => answer,
            Plan::SetLogLevel(_) => Answer::Empty,
            Plan::Handshake => malformed("initialize stands alone, never in a batch"),
            Plan::Run => {
                self.replies.push((Some(id), Vec::new()));
                return Some(call);
            }
        };
        let mut reply = Vec::new();
        intake::write(published, adapter, &call, answer, &mut reply);
        self.replies.push((Some(id), reply));
        None
    }

    fn refuse(&mut self, adapter: &Adapter, refused: revision::Refused) {
        let mut reply = Vec::new();
        adapter.write_failure(&mut reply, refused.id.as_ref(), &refused.failure);
        self.replies.push((refused.id, reply));
    }

    fn fill(&mut self, id: &RequestId, reply: Vec<u8>) {
        let is_free = |(other, reply): &&mut (Option<RequestId>, Vec<u8>)| {
            other.as_ref() == Some(id) && reply.is_empty()
        };
        if let Some((_, place)) = self.replies.iter_mut().find(is_free) {
            *place = reply;
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> u16 {
        crate::frame::writer::array(out, &self.replies, |(_, reply), out| {
            out.extend_from_slice(reply);
        });
        200
    }
}

/// The revision that the query pins, as in `?mcp=2025-06-18`.
fn pin<H: HttpRequest>(head: &H) -> Option<&str> {
    head.query()?.split('&').find_map(|pair| pair.strip_prefix("mcp="))
}

/// The id of what came, where it is one request.
fn id_of(incoming: &Incoming) -> Option<&RequestId> {
    match incoming {
        Incoming::One(message) => message.id(),
        Incoming::Batch(_) => None,
    }
}
