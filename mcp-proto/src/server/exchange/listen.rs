//! Streams that a client opens for itself: its session's own, one that is taken up again, that of
//! HTTP+SSE.

use super::admit::single;
use super::output::Sink;
use super::stages::{Held, Listen, ListenStep, SseStep, Stage};
use super::{HttpExchange, HttpRequest};
use crate::effect::{Effect, Reply};
use crate::frame::coding::Coding;
use crate::frame::envelope::RequestId;
use crate::model::{Call, Filter};
use crate::revision::{Adapter, Incoming, Resumption};
use crate::server::HttpRefusal;
use crate::server::calls::Last;
use crate::server::listening::{Control, Listening, SESSION_STREAM};
use crate::server::pending::Waiting;
use crate::server::producer::Producer;
use crate::server::session::{self, Session};
use crate::server::stream::{self, Awaits, Follow, Name};
use crate::store::HubOp;

impl<H: HttpRequest> HttpExchange<H> {
    /// GET: the session's own stream, or one that is taken up again.
    pub(super) fn listen(&mut self) {
        match self.session_id() {
            // Clients that look for a stream before their handshake know what 405 means.
            Ok(None) => self.refuse(&HttpRefusal::Stream(self.allowed_methods(false)), None),
            _ if !self.reply.accept().stream => self.refuse(&HttpRefusal::NotAcceptable, None),
            _ => self.find_session(Held::Listen),
        }
    }

    pub(super) fn begin_listening(&mut self, session: Session) {
        let adapter = self.core.endpoint.adapters().by_version(&session.version).copied();
        let Some(adapter) = adapter else { return self.refuse(&HttpRefusal::Session, None) };
        self.primed = adapter.resumption == Resumption::Primed;
        let last = match (adapter.resumption, single(&self.head, "Last-Event-ID")) {
            (_, Err(refusal)) => return self.refuse(&refusal, None),
            (Resumption::None, _) => None,
            (_, Ok(id)) => id.and_then(stream::parse_event_id),
        };
        let after = match last {
            Some((stream, cursor)) if stream.key() == SESSION_STREAM => Some(cursor),
            Some((stream, cursor)) => {
                let lost = match stream.awaits() {
                    Awaits::One(request) => {
                        let mut out = Vec::new();
                        adapter.write_failure(&mut out, Some(request), &Last::failure());
                        Some(out.into())
                    }
                    Awaits::Recorded => None,
                    Awaits::Nothing => {
                        // It has ended.
                        self.reply.open();
                        self.reply.end();
                        return self.finish();
                    }
                };
                let follow = Follow::new(self.stream_topic(&stream), cursor, Some(stream));
                self.stage = Stage::Resume(Box::new((follow, lost)));
                return self.core.emit(Effect::Random, Waiting::Stage);
            }
            None => None,
        };
        let listen = Listen { adapter, session, after, step: ListenStep::Naming };
        self.stage = Stage::Listen(Box::new(listen));
        self.core.emit(Effect::Random, Waiting::Stage);
    }

    /// The topic of a stream of this session: its name alone opens nothing.
    pub(super) fn stream_topic(&self, stream: &Name) -> String {
        let session = self.session.as_deref().unwrap_or_default();
        self.core.scope.key("stream", &format!("{session}.{}", stream.key()))
    }

    pub(super) fn settle_listen(&mut self, mut listen: Box<Listen>, reply: Reply) {
        let id = self.session.clone().unwrap_or_default();
        let topic = self.core.scope.key("session", &id);
        match (listen.step, reply) {
            (ListenStep::Naming, Reply::Random(random)) => {
                let name = session::mint(&random);
                let announce = Control::Stream(name.clone()).publish(topic);
                listen.step = ListenStep::Announcing(name);
                self.stage = Stage::Listen(listen);
                self.core.emit(Effect::Hub(announce), Waiting::Stage);
            }
            (ListenStep::Announcing(name), Reply::Published(behind)) => {
                let Listen { adapter, session, after, .. } = *listen;
                let key = self.core.scope.key("session", &id);
                let listening = Listening::by_session(
                    &mut self.core,
                    adapter,
                    (key, &session),
                    (topic, behind),
                    name,
                    after,
                );
                self.listening = Some(Box::new(listening));
                self.stage = Stage::Running;
                self.reply.open();
                self.start_timer();
            }
            (step, _) => {
                listen.step = step;
                self.fail_store(&Stage::Listen(listen));
            }
        }
    }

    /// A request that listens (R26-SUBS-01).
    pub(super) fn listen_by_request(&mut self, adapter: &Adapter, call: &Call, filter: Filter) {
        let Some(id) = call.id().cloned() else { return self.accept() };
        if !self.reply.can_stream() {
            return self.refuse(&HttpRefusal::NotAcceptable, Some(&id));
        }
        let filter = filter.within(self.core.endpoint.limits().subscribed);
        let listening = Listening::by_request(&mut self.core, *adapter, id, filter);
        self.listening = Some(Box::new(listening));
        self.stage = Stage::Running;
        // It idles, and there may be thousands.
        self.reply.set_coding(Coding::Identity);
        self.reply.open();
        self.start_timer();
    }

    // ---- HTTP+SSE ----

    /// The stream of HTTP+SSE: the session, for as long as it is open (R24-SSE-01).
    pub(super) fn open_sse(&mut self) {
        if !self.reply.accept().stream {
            return self.refuse(&HttpRefusal::NotAcceptable, None);
        }
        self.stage = Stage::Sse(SseStep::Naming);
        self.core.emit(Effect::Random, Waiting::Stage);
    }

    pub(super) fn settle_sse(&mut self, step: SseStep, reply: Reply) {
        match (step, reply) {
            (SseStep::Naming, Reply::Random(random)) => {
                let id = session::mint(&random);
                let owner = self.core.scope.owner.clone();
                self.create_session(&id, &Session { owner, ..Session::default() });
                self.stage = Stage::Sse(SseStep::Creating(id));
            }
            (SseStep::Creating(id), Reply::Created(true)) => {
                let topic = self.core.scope.key("sse", &id);
                self.hold_session(id.as_str().into());
                self.stage = Stage::Sse(SseStep::Positioning(id));
                self.core.emit(Effect::Hub(HubOp::Position { topic }), Waiting::Stage);
            }
            (SseStep::Positioning(id), Reply::Position(cursor)) => {
                let topic = self.core.scope.key("sse", &id);
                let follow = Follow::new(topic, cursor, None);
                follow.poll(&mut self.core);
                self.follow = Some(Box::new(follow));
                let key = self.core.scope.key("session", &id);
                self.listening = Some(Box::new(Listening::by_stream(&mut self.core, key)));
                self.stage = Stage::Running;
                self.reply.open();
                let shared = self.core.endpoint.shared();
                let messages = shared.sse.as_ref().map_or("", |paths| paths.messages.as_str());
                let (prefix, mount) = (&shared.prefix, self.head.mount());
                let address = format!("{prefix}{mount}{messages}?session_id={id}");
                self.reply.named("endpoint", address.as_bytes());
                self.start_timer();
            }
            (step, _) => self.fail_store(&Stage::Sse(step)),
        }
    }

    /// A message of HTTP+SSE is accepted at once; what it leads to goes to the session's stream.
    pub(super) fn go_on_elsewhere(&mut self, incoming: &Incoming) {
        let topic = self.core.scope.key("sse", self.session.as_deref().unwrap_or_default());
        // Its reader may be on another worker: only the hub reaches it.
        let patience = self.core.endpoint.limits().session_ttl;
        let first = match incoming {
            Incoming::One(message) => message.id(),
            Incoming::Batch(batch) => batch.iter().find_map(|it| it.as_ref().ok()?.id()),
        };
        // Ids of requests should differ, but a client that uses one again is answered again.
        let mut name = first.map_or(&b""[..], RequestId::as_json).to_vec();
        name.extend(self.core.now.as_micros().to_be_bytes());
        self.sink = Sink::Session(Producer::shared(topic, &name, patience));
        self.reply.empty(202);
    }
}
