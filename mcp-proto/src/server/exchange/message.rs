//! From a body to calls, answers and updates.

use bytes::Bytes;
use std::sync::Arc;

use super::stages::{Handshake, Held, Stage, Then};
use super::{HttpExchange, HttpRequest, Task};
use crate::effect::Effect;
use crate::frame::envelope::RequestId;
use crate::model::{Call, Failure, FailureKind, Operation};
use crate::revision::{
    self, Adapter, Context, Decoded, Established, Incoming, Mirrors, Preamble, Published,
    Selection, Transport, check_parameters,
};
use crate::server::HttpRefusal;
use crate::server::endpoint::Route;
use crate::server::intake::{self, Answer, Plan};
use crate::server::pending::Waiting;
use crate::server::session::{self, Session, SessionChange};
use crate::server::{asks, watch};

impl<H: HttpRequest> HttpExchange<H> {
    pub(super) fn read_message(&mut self, body: Bytes) {
        let limits = self.core.endpoint.limits().read();
        match revision::read(body, &limits) {
            Ok(incoming) if self.route == Route::SseMessages => {
                self.find_session(Held::Message(incoming));
            }
            Ok(incoming) => self.select(incoming, None),
            Err(refused) => {
                self.core.notices(&refused);
                let adapter = *self.core.endpoint.adapters().fallback();
                self.fail(&adapter, refused.id(), &refused.failure);
            }
        }
    }

    /// Selects the revision and goes on with it, or asks for the session's record first.
    pub(super) fn select(&mut self, incoming: Incoming, session: Option<Session>) {
        let endpoint = self.core.endpoint.clone();
        let adapters = endpoint.adapters();
        let over_sse = self.route == Route::SseMessages;
        let established = match &session {
            // A session of HTTP+SSE begins before its handshake.
            Some(session) if session.version.is_empty() => Established::None,
            Some(session) => match adapters.by_version(&session.version) {
                Some(adapter) => Established::Adapter(adapter),
                None => return self.refuse(&HttpRefusal::Session, id_of(&incoming)),
            },
            None => match self.session_id() {
                Ok(None) => Established::None,
                Ok(Some(_)) => Established::Pending,
                Err(refusal) => return self.refuse(&refusal, id_of(&incoming)),
            },
        };
        let context = Context {
            pin: self.pin(),
            mirrors: if over_sse { Mirrors::default() } else { Mirrors::of(&self.head) },
            established,
            require_session: endpoint.shared().require_session,
            ..Context::new(if over_sse { Transport::HttpSse } else { Transport::Http })
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
            Selection::Adapter(adapter) => match incoming {
                Incoming::One(ref message) => self.receive(adapter, message, session),
                Incoming::Batch(batch) => self.receive_batch(adapter, batch, session),
            },
        }
    }

    fn receive(&mut self, adapter: &Adapter, message: &Preamble, session: Option<Session>) {
        match adapter.decode(message, session.as_ref().map(|session| &session.client)) {
            Decoded::Call(call) if call.is_notification() => self.notified(&call, session),
            Decoded::Call(call) => self.dispatch(adapter, call, session),
            Decoded::Answered(answered) => self.deliver(adapter, answered),
            Decoded::Cancelled { request, .. } => self.cancel_elsewhere(&request),
            Decoded::Ignored => self.accept(),
            Decoded::Refused(refused) => {
                self.fail(adapter, refused.id(), &refused.failure);
            }
        }
    }

    /// A notification: the end of a handshake is kept, since streams wait for it.
    fn notified(&mut self, call: &Call, session: Option<Session>) {
        match session {
            Some(session) if session.is_new && completes(call) => {
                self.update(vec![(None, SessionChange::Complete)], Then::Accept);
            }
            _ => self.accept(),
        }
    }

    /// Tells a call whose it is.
    pub(super) fn introduce(&self, call: &mut Call, session: Option<&Session>) {
        call.session = session.zip(self.session.as_ref()).map(|(session, id)| {
            crate::model::SessionRef::new(
                self.core.scope.key("session", id),
                session.values.clone(),
            )
        });
        call.principal = self.core.principal.clone();
    }

    fn dispatch(&mut self, adapter: &Adapter, mut call: Call, session: Option<Session>) {
        self.introduce(&mut call, session.as_ref());
        let (endpoint, published) = (&self.core.endpoint, &self.core.published);
        let unasked = intake::without_asking(endpoint, published, adapter, &call);
        let adapter = unasked.as_ref().unwrap_or(adapter);
        let plan = intake::plan(&self.core.published, adapter, &call);
        if self.core.principal.is_some() && matches!(plan, Plan::Run | Plan::Update(_)) {
            let published = Arc::clone(&self.core.published);
            let scopes = published.catalog().scopes(&call);
            if self.lacks(scopes) {
                return self.refuse_scope(scopes.iter().cloned());
            }
        }
        match plan {
            Plan::Answer(answer) => self.answer(adapter, &call, answer),
            Plan::Run => self.run_one(adapter, call),
            Plan::Listen(mut filter) => {
                let published = Arc::clone(&self.core.published);
                filter.uris.retain(|uri| !self.lacks(published.catalog().scopes_at(uri)));
                self.listen_by_request(adapter, &call, filter);
            }
            Plan::Handshake => self.shake(adapter, call, session),
            Plan::Update(_) if self.session.is_none() => {
                // Without a session there is nowhere to keep it, and nothing to be gained by an
                // error: each request stands for itself.
                self.answer(adapter, &call, Answer::Empty);
            }
            Plan::Update(change) => {
                self.update(
                    vec![(None, change)],
                    Then::Answer(*adapter, Box::new(call), Answer::Empty),
                );
            }
        }
    }

    /// A handshake opens a session; over HTTP+SSE the stream has opened it already.
    fn shake(&mut self, adapter: &Adapter, call: Call, session: Option<Session>) {
        let adapters = self.core.endpoint.adapters();
        let adapter = intake::negotiated(adapters, self.pin(), &call).unwrap_or(*adapter);
        let client = match session::introduced(call.client(), self.core.endpoint.limits()) {
            Ok(client) => client,
            Err(failure) => return self.answer(&adapter, &call, Answer::Failure(failure)),
        };
        let once = !self.core.endpoint.shared().allow_reinitialize;
        if let Some(session) = session.as_ref().filter(|_| self.route == Route::SseMessages) {
            if once && !session.version.is_empty() {
                let failure = Failure::new(FailureKind::Malformed, intake::SHAKEN);
                return self.answer(&adapter, &call, Answer::Failure(failure));
            }
            let client = Box::new(client);
            let change = SessionChange::Negotiated(adapter.version.into(), client, once);
            let then = Then::Answer(adapter, Box::new(call), Answer::Description);
            return self.update(vec![(None, change)], then);
        }
        let owner = self.core.scope.owner.clone();
        let version = adapter.version.into();
        let session = Session { version, client, owner, is_new: true, ..Session::default() };
        let handshake = Box::new(Handshake { adapter, call, session, tries: 0 });
        let may_live = match self.session_id() {
            Ok(id) => id.is_some_and(session::is_well_formed),
            Err(_) => true,
        };
        match once && may_live {
            true => self.find_session(Held::Handshake(handshake)),
            false => self.open_session(handshake),
        }
    }

    pub(super) fn open_session(&mut self, handshake: Box<Handshake>) {
        self.stage = Stage::Handshake(handshake);
        self.core.emit(Effect::Random, Waiting::Stage);
    }

    /// Whether the caller lacks one of these scopes.
    pub(super) fn lacks(&self, scopes: &[String]) -> bool {
        let principal = self.core.principal.as_ref();
        principal.is_some_and(|it| !it.missing(scopes.iter().cloned()).is_empty())
    }

    /// What is listed to the caller: everything, unless it is to be what it may use.
    pub(super) fn listed(&self, answer: &Answer) -> Arc<Published> {
        let (published, endpoint) = (&self.core.published, &self.core.endpoint);
        match (answer, &self.core.principal) {
            (Answer::Listing, Some(principal))
                if endpoint.shared().lists_what_is_allowed
                    && published.catalog().hides_from(principal) =>
            {
                let visible = published.catalog().visible_to(principal);
                Arc::new(Published::new(Arc::new(visible), published.adapters()))
            }
            _ => Arc::clone(published),
        }
    }

    /// Hands a call to the application, once its headers are known to say what it says.
    fn run_one(&mut self, adapter: &Adapter, mut call: Call) {
        let published = self.core.published.clone();
        let tool = published.called(adapter, &call);
        if let Some(tool) = tool.filter(|_| adapter.mirrors_headers)
            && let Err(failure) = check_parameters(tool, call.arguments(), &self.head)
        {
            return self.fail(adapter, call.id(), &failure);
        }
        match intake::take_answers(adapter, tool, &mut call) {
            Ok(()) => self.begin_task(adapter, call, tool.is_some_and(|tool| tool.streaming)),
            Err(failure) => self.answer(adapter, &call, Answer::Failure(failure)),
        }
    }

    fn begin_task(&mut self, adapter: &Adapter, call: Call, streaming: bool) {
        self.stage = Stage::Running;
        match Task::begin(&mut self.core, adapter, call, self.session.is_some()) {
            Some(task) => self.tasks.push(task),
            None => return self.accept(),
        }
        if streaming {
            self.open_stream();
        }
        self.start_timer();
    }

    // ---- what other workers are to know ----

    /// The answer to one of our questions: it counts only while the question's record is live.
    pub(super) fn deliver(&mut self, adapter: &Adapter, answered: revision::Answered) {
        let Some(session) = &self.session else {
            let text = "a response answers a question of a session, and none is named";
            return self.fail(adapter, None, &Failure::new(FailureKind::Malformed, text));
        };
        let Some(id) = &answered.id else { return self.delivered() };
        let question = crate::frame::json::string(id.as_json()).unwrap_or_default().into_owned();
        if !session::is_well_formed(question.as_bytes()) {
            // No question of ours has such an id.
            return self.delivered();
        }
        let key = asks::key(&self.core, session, &question);
        let get = crate::store::SessionOp::Get { id: key.clone(), renew: None };
        self.stage = Stage::Deliver { key, answered: Box::new(answered) };
        self.core.emit(Effect::Session(get), Waiting::Stage);
    }

    fn cancel_elsewhere(&mut self, request: &RequestId) {
        match self.session {
            Some(_) => {
                self.publish_cancel(request, Waiting::Stage);
                self.stage = Stage::Published;
            }
            None => self.accept(),
        }
    }

    pub(super) fn publish_cancel(&mut self, request: &RequestId, waiting: Waiting) {
        if let Some(session) = &self.session {
            let cancel = watch::cancel(&self.core, session, request);
            self.core.emit(Effect::Hub(cancel), waiting);
        }
    }

    /// The revision that the query pins, as in `?mcp=2025-06-18`.
    pub(super) fn pin(&self) -> Option<&str> {
        self.head.query()?.split('&').find_map(|pair| pair.strip_prefix("mcp="))
    }
}

/// Whether that is the end of a handshake.
pub(super) fn completes(call: &Call) -> bool {
    call.operation() == Operation::HandshakeComplete
}

/// The id of what came, where it is one request.
pub(super) fn id_of(incoming: &Incoming) -> Option<&RequestId> {
    match incoming {
        Incoming::One(message) => message.id(),
        Incoming::Batch(_) => None,
    }
}
