//! What every client machine does, whatever carries its messages.

mod asking;
mod caching;
mod calls;
mod hearing;
mod listening;
mod negotiating;
mod outputs;
mod prompting;
mod retrying;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;

use self::asking::{Asked, Unasked};
use self::calls::{Call, Stage};
pub(super) use self::hearing::Place;
use self::listening::Listener;
pub(super) use self::negotiating::Broken;
use self::outputs::Outputs;
use super::machine::{Event, Output, Server};
use super::negotiation::Negotiation;
use super::retry::Attempts;
use super::timers::Timers;
use super::{AskId, CallId, Carriage, ClientError, Config, ErrorKind, ListenId};
use crate::Printable;
use crate::effect::{Effect, EffectError, EffectId, Reply as EffectReply};
use crate::frame::envelope::RequestId;
use crate::model::mirror::MirroredParam;
use crate::model::{LogLevel, Operation, Request};
use crate::revision::{Adapter, Speaker};
use crate::time::Instant;

/// The part of a client machine that knows no carrier: the application's commands come in, and
/// messages go out by [`Outgoing`].
#[derive(Debug)]
#[allow(unreachable_pub, reason = "named by the sealed part of a public trait")]
pub struct Core {
    pub(super) config: Config,
    pub(super) now: Instant,
    carriage: Carriage,
    life: Life,
    /// Those to reach the server, while it cannot be reached.
    attempts: Attempts,
    server: Option<Arc<Server>>,
    seed: u64,
    next_request: i64,
    next_call: u64,
    next_ask: u64,
    next_listen: u64,
    calls: BTreeMap<CallId, Call>,
    /// Requests that were sent and not answered.
    requests: BTreeMap<i64, Sent>,
    asks: BTreeMap<AskId, Asked>,
    /// Questions that wait until others are answered, in their order.
    unasked: VecDeque<Unasked>,
    listeners: BTreeMap<ListenId, Listener>,
    /// The parameters that calls of a tool repeat in headers.
    mirrored: BTreeMap<String, Vec<MirroredParam>>,
    cache: caching::Cache,
    timers: Timers<Timer>,
    outgoing: VecDeque<Outgoing>,
    outputs: Outputs,
}

/// Where the client stands with its server.
#[derive(Debug)]
enum Life {
    /// Nothing is known, and nobody asked.
    Idle,
    /// Being found out.
    Negotiating(Box<Negotiation>),
    /// The handshake is answered; that it is complete is still to be told.
    Confirming,
    /// Calls are made.
    Open,
    /// Nothing more happens, for this reason.
    Closed(ClientError),
}

/// A request under way.
#[derive(Debug)]
struct Sent {
    purpose: Purpose,
    operation: Operation,
    /// How far it was said to have come.
    reported: Option<f64>,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To find out who the server is.
    Negotiation,
    /// A call, or one round of it.
    Call(CallId),
    /// To learn what calls of this call's tool repeat in headers.
    Refresh(CallId),
    /// A subscription's own request.
    Listen(ListenId),
    /// A part of a subscription that has several.
    Subscribe(ListenId),
    /// Something that nobody waits for.
    Aside,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// The answer to a request is overdue.
    Silence(i64),
    /// A call has taken too long.
    Longest(CallId),
    /// A call goes on.
    Resume(CallId),
    /// A subscription is made again.
    Relisten(ListenId),
    /// The parts of a subscription are not in force in time.
    Establish(ListenId),
    /// The server is looked for again, for those who wait for changes.
    Reconnect,
    /// The server is tried again, for those who ask for it.
    Again,
}

/// Something for the carrier.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// A request.
    Request {
        id: i64,
        body: Bytes,
        /// Headers that repeat parts of it.
        headers: Vec<(String, String)>,
        purpose: Purpose,
    },
    /// The notification that completes a handshake; the core waits to hear that it arrived.
    Initialized(Bytes),
    /// The answer to a request of the server's.
    Answer(Bytes),
    /// Nobody waits for this request any more. The body tells the server so, where that is how the
    /// revision says it.
    Forget { id: i64, body: Option<Bytes> },
    /// Start the server's process again.
    Respawn,
    /// Open the stream of a server of the oldest transport.
    Seek,
    /// A session begins: it may have a stream of its own.
    Begun,
    /// Whether a stream on which the server speaks unasked is wanted.
    Stream(bool),
}

/// The one effect of a client: what its attempts are spread out by.
const SEED: EffectId = EffectId(0);

impl Core {
    pub(super) fn new(config: Config, carriage: Carriage, now: Instant) -> Self {
        Self {
            config,
            now,
            carriage,
            life: Life::Idle,
            attempts: Attempts::default(),
            server: None,
            seed: 0,
            next_request: 1,
            next_call: 0,
            next_ask: 0,
            next_listen: 0,
            calls: BTreeMap::new(),
            requests: BTreeMap::new(),
            asks: BTreeMap::new(),
            unasked: VecDeque::new(),
            listeners: BTreeMap::new(),
            mirrored: BTreeMap::new(),
            cache: caching::Cache::default(),
            timers: Timers::new(),
            outgoing: VecDeque::new(),
            outputs: Outputs::default(),
        }
    }

    /// Asks for what attempts are spread out by.
    pub(super) fn ask_for_seed(&mut self) {
        self.outputs.push(Output::Effect(SEED, Effect::Random));
    }

    pub(super) fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    // ---- commands ----

    pub(super) fn close(&mut self, now: Instant) {
        self.advance(now);
        self.shut(ClientError::never(ErrorKind::Closed));
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
        while let Some(timer) = self.timers.expire(self.now) {
            match timer {
                Timer::Silence(id) => self.silent(id),
                Timer::Longest(call) => {
                    self.drop_call(call, ErrorKind::TimedOut, "it takes too long");
                }
                Timer::Resume(call) => self.dispatch(call),
                Timer::Relisten(listen) => self.relisten(listen),
                Timer::Establish(listen) => self.listening_failed(listen, ErrorKind::TimedOut),
                Timer::Again => self.connect(now),
                Timer::Reconnect if self.listeners.is_empty() => {}
                Timer::Reconnect => self.connect(now),
            }
        }
    }

    pub(super) fn handle_reply(
        &mut self,
        now: Instant,
        id: EffectId,
        reply: Result<EffectReply, EffectError>,
    ) {
        self.advance(now);
        if let (SEED, Ok(EffectReply::Random(bytes))) = (id, reply) {
            self.seed = bytes.iter().take(8).fold(0, |seed, byte| (seed << 8) | u64::from(*byte));
        }
    }

    // ---- out ----

    pub(super) fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop()
    }

    pub(super) fn next_outgoing(&mut self) -> Option<Outgoing> {
        self.outgoing.pop_front()
    }

    pub(super) fn emit(&mut self, event: Event) {
        self.outputs.push(Output::Event(event));
    }

    pub(super) fn carry(&mut self, carry: super::Carry) {
        self.outputs.push(Output::Carry(carry));
    }

    /// For a log. As many as there is room for: a server can cause them without end.
    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        if self.has_room() {
            self.emit(Event::Warning(Printable(&warning.into()).to_string()));
        }
    }

    // ---- state ----

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.timers.next()
    }

    pub(super) fn server(&self) -> Option<&Arc<Server>> {
        self.server.as_ref()
    }

    pub(super) fn is_closed(&self) -> bool {
        matches!(self.life, Life::Closed(_))
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.life, Life::Open)
    }

    /// Whether events that a server causes at will may still be queued.
    pub(super) fn has_room(&self) -> bool {
        let limits = &self.config.limits;
        self.outputs.len() < limits.queued && self.outputs.bytes() < limits.queued_bytes
    }

    /// The revision in force, or the one being tried.
    pub(super) fn adapter(&self) -> Option<Adapter> {
        match &self.life {
            Life::Negotiating(negotiation) => Some(*negotiation.adapter()),
            _ => self.server.as_ref().map(|server| server.adapter),
        }
    }

    /// Whether anything that the application called is under way.
    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Whether a request still waits for its answer.
    pub(super) fn awaits(&self, id: i64) -> bool {
        self.requests.contains_key(&id)
    }

    /// Whether a request is that of a subscription, which has no answer for as long as it goes.
    pub(super) fn listens_by(&self, id: i64) -> bool {
        matches!(self.purpose(id), Some(Purpose::Listen(_)))
    }

    pub(super) fn purpose(&self, id: i64) -> Option<Purpose> {
        self.requests.get(&id).map(|sent| sent.purpose)
    }

    // ---- sending ----

    /// Sends a request, which `write` spells, and waits for its answer for so long.
    fn send(
        &mut self,
        purpose: Purpose,
        operation: Operation,
        patience: core::time::Duration,
        headers: Vec<(String, String)>,
        write: impl FnOnce(&mut Vec<u8>, &RequestId, &Speaker<'_>),
    ) -> i64 {
        let id = self.next_request;
        self.next_request += 1;
        let mut body = Vec::new();
        let speaker = Speaker {
            info: self.config.info.as_ref(),
            capabilities: self.config.capabilities,
            extensions: &self.config.extensions,
            log_level: self.config.log_level,
        };
        write(&mut body, &RequestId::from(id), &speaker);
        self.requests.insert(id, Sent { purpose, operation, reported: None });
        self.timers.set(Timer::Silence(id), self.now + patience);
        self.outgoing.push_back(Outgoing::Request { id, body: body.into(), headers, purpose });
        id
    }

    /// Sends a call's request in the revision in force.
    fn send_call(
        &mut self,
        adapter: &Adapter,
        purpose: Purpose,
        request: &Request,
        mirrored: &[MirroredParam],
    ) -> i64 {
        let patience = request.patience.unwrap_or(self.config.limits.patience);
        let headers = adapter.mirror(request, mirrored);
        self.send(purpose, request.operation, patience, headers, |out, id, speaker| {
            adapter.write_call(out, id, request, speaker);
        })
    }

    /// Stops waiting for a request.
    fn settle(&mut self, id: i64) -> Option<Sent> {
        self.timers.clear(Timer::Silence(id));
        self.requests.remove(&id)
    }

    /// Stops waiting for a request, and tells the server. A request that finds out who the server
    /// is is never cancelled (R24-CANC-02, C31).
    fn forget(&mut self, id: i64, reason: &str) {
        let Some(sent) = self.settle(id) else { return };
        let adapter = self.adapter().filter(|_| sent.purpose != Purpose::Negotiation);
        let tells =
            |adapter: &Adapter| self.carriage == Carriage::Stdio || !adapter.disconnect_cancels;
        let body = adapter.filter(tells).map(|adapter| {
            let mut body = Vec::new();
            adapter.write_cancelled(&mut body, &RequestId::from(id), Some(reason));
            Bytes::from(body)
        });
        self.outgoing.push_back(Outgoing::Forget { id, body });
    }

    fn notify(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Bytes {
        let mut body = Vec::new();
        write(&mut body);
        body.into()
    }

    /// A request had no answer for too long.
    fn silent(&mut self, id: i64) {
        let Some(sent) = self.requests.get(&id) else { return };
        match sent.purpose {
            Purpose::Negotiation => {
                self.forget(id, "");
                self.evidence(super::negotiation::Evidence::Silence);
            }
            Purpose::Call(call) | Purpose::Refresh(call) => {
                // The server waits for an answer of ours.
                if self.is_asked(call) {
                    let patience = self.config.limits.patience;
                    return self.timers.set(Timer::Silence(id), self.now + patience);
                }
                self.drop_call(call, ErrorKind::TimedOut, "no answer in time");
            }
            Purpose::Listen(listen) => self.listening_failed(listen, ErrorKind::TimedOut),
            Purpose::Aside => self.forget(id, "no answer in time"),
            Purpose::Subscribe(listen) => {
                self.forget(id, "no answer in time");
                // Who is silent has refused nothing, and nothing is in force.
                self.listening_failed(listen, ErrorKind::TimedOut);
            }
        }
    }

    // ---- ending ----

    /// Ends everything. Calls that were sent may have run.
    pub(super) fn shut(&mut self, error: ClientError) {
        if self.is_closed() {
            return;
        }
        let negotiating = matches!(self.life, Life::Negotiating(_) | Life::Confirming);
        let sent: Vec<_> = self.requests.keys().copied().collect();
        for id in sent {
            self.forget(id, "the client closes");
        }
        for call in self.calls.keys().copied().collect::<Vec<_>>() {
            self.end_by(call, error.kind.clone());
        }
        for listen in self.listeners.keys().copied().collect::<Vec<_>>() {
            self.end_listening(listen, Err(error.clone()));
        }
        self.asks.clear();
        self.unasked.clear();
        self.timers = Timers::new();
        if negotiating {
            self.emit(Event::Unavailable(error.clone()));
        }
        self.life = Life::Closed(error);
        self.emit(Event::Closed);
    }

    /// Ends a call for a reason that has nothing to do with it.
    fn end_by(&mut self, call: CallId, kind: ErrorKind) {
        let Some(found) = self.calls.get(&call) else { return };
        let error = ClientError { kind, ran: found.ran() };
        self.end(call, Err(error));
    }

    /// A number that differs from machine to machine, for spreading attempts out; `n` picks one.
    pub(super) fn jitter(&self, n: u64) -> u64 {
        let mixed = (self.seed ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    }

    /// The least severe log message that is wanted.
    pub(super) fn set_level(&mut self, level: LogLevel) {
        self.config.log_level = Some(level);
    }
}
