//! One HTTP exchange: a request in, calls and effects out, a reply out.
//!
//! ```text
//!  head ─▶ gate ─▶ who calls ─▶ body ─▶ session ─▶ revision ─▶ plan ─▶ calls ─▶ reply
//!          403     401, 403     413      404        400         │
//!                                                               └▶ answers, listens, updates
//! ```

mod admit;
mod batching;
mod body;
mod listen;
mod message;
mod output;
mod stages;
mod streams;

use bytes::Bytes;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;

use super::accept::Accept;
use super::asks::{self, Ask};
use super::batch::Batch;
use super::core::Core;
use super::endpoint::Route;
use super::hold::Hold;
use super::lease::{Lease, Vigil};
use super::listening::Listening;
use super::pending::Waiting;
use super::reply::Reply;
use super::stream::Follow;
use super::task::Task;
use super::{
    Answered, AskId, CallId, Endpoint, HttpRefusal, HttpRequest, Machine, Output, ResponseHead,
};
use crate::effect::{EffectError, EffectId, Reply as EffectReply};
use crate::frame::envelope::RequestId;
use crate::frame::http1::{self, Closing};
use crate::model::{InputRequest, LogMessage, Outcome, Progress};
use crate::revision::{Adapter, AskBy, Published, Resumption};
use crate::time::{Instant, earlier};
use admit::Admission;
use batching::Rest;
use body::Body;
use output::Sink;
use stages::Stage;

/// One HTTP exchange. It sees a head and body chunks, never a socket, so that any HTTP server
/// can drive it; [`Connection`](super::Connection) drives it for HTTP/1.1.
///
/// It is a [`Machine`] whose input is the request's body, and whose output that of the response.
/// Beside what every machine has, it takes chunks as they are ([`handle_body`](Self::handle_body))
/// and refusals of HTTP's own ([`handle_refused`](Self::handle_refused)), and gives the response's
/// head ([`poll_head`](Self::poll_head)). The service layer drives it under web frameworks, with
/// the feature `tower`.
///
/// An exchange whose response is complete may still be busy: a call goes on whose result can be
/// fetched elsewhere.
#[derive(Debug)]
pub struct HttpExchange<H> {
    core: Core,
    head: H,
    admission: Admission,
    stage: Stage,
    reply: Reply,
    /// The session that the request named, once it was found.
    session: Option<Arc<str>>,
    hold: Option<Hold>,
    tasks: SmallVec<[Task; 1]>,
    batch: Option<Batch>,
    /// What is to be done before its calls run.
    rest: Option<Box<Rest>>,
    asks: Vec<Ask>,
    route: Route,
    /// Where messages go.
    sink: Sink,
    /// The stream begins with an event that has an id and no data.
    primed: bool,
    /// The log that the reply is read from.
    follow: Option<Box<Follow>>,
    /// The promise that the log gets a last message.
    lease: Option<Box<Lease>>,
    /// An eye on the promise of the worker that writes the log that is read here.
    vigil: Option<Box<Vigil>>,
    listening: Option<Box<Listening>>,
    /// When an undecided reply becomes a stream, or an open stream gets a sign of life.
    timer: Option<Instant>,
    /// The server shuts down.
    closing: bool,
    /// Bytes of the request, which its calls hold.
    weight: usize,
}

/// What an exchange works with, empty, for the next one of its connection.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    outputs: VecDeque<Output>,
    body: Vec<u8>,
}

impl<H: HttpRequest> HttpExchange<H> {
    /// An exchange that begins at `now` with this head.
    pub fn new(endpoint: &Endpoint, now: Instant, head: H) -> Self {
        let core = Core::new(endpoint.clone(), now, 0);
        Self::with_buffers(core, head, Buffers::default())
    }

    pub(crate) fn with_buffers(core: Core, head: H, buffers: Buffers) -> Self {
        let Buffers { outputs, body } = buffers;
        let core = core.with_outputs(outputs);
        let queued = core.endpoint.limits().queued_bytes;
        let mut exchange = Self {
            reply: Reply::new(Accept::read(&head), queued, body),
            core,
            head,
            admission: Admission::Open,
            stage: Stage::Body(Body::default()),
            session: None,
            hold: None,
            tasks: SmallVec::new(),
            batch: None,
            rest: None,
            asks: Vec::new(),
            route: Route::Mcp,
            sink: Sink::Wire,
            primed: false,
            follow: None,
            lease: None,
            vigil: None,
            listening: None,
            timer: None,
            closing: false,
            weight: 0,
        };
        exchange.begin();
        exchange
    }

    /// The request's head, with everything that it carries.
    pub fn head(&self) -> &H {
        &self.head
    }

    /// A part of the request's body.
    pub fn handle_body(&mut self, now: Instant, chunk: Bytes) {
        self.core.at(now);
        let most = self.core.endpoint.limits().message;
        let Stage::Body(body) = &mut self.stage else { return };
        if body.len().saturating_add(chunk.len()) > most {
            return self.handle_refused(http1::Refusal::BodyTooLarge);
        }
        body.add(chunk);
    }

    /// HTTP framing refused the rest of the request.
    pub fn handle_refused(&mut self, refusal: http1::Refusal) {
        if matches!(self.stage, Stage::Body(_)) {
            self.refuse(&HttpRefusal::Framing(refusal), None);
        }
    }

    /// The response's head, once it is decided; it comes once, before any byte of the body.
    pub fn poll_head(&mut self) -> Option<ResponseHead> {
        self.reply.poll_head()
    }

    /// The response is complete: what [`transmit`](Self::transmit) gives now is the last of it.
    pub fn is_complete(&self) -> bool {
        self.reply.is_complete()
    }

    /// When a body that comes at this pace is too slow.
    #[cfg(feature = "tower")]
    pub(crate) fn body_deadline(&self, pace: &crate::pace::Pace) -> Instant {
        let limits = self.core.endpoint.limits().http;
        pace.deadline(limits.body_time, limits.body_rate)
    }

    pub(crate) fn body(&mut self) -> &mut Vec<u8> {
        self.reply.body()
    }

    pub(crate) fn first_id(&self) -> u64 {
        self.core.first_id()
    }

    /// Whether the call is one of this exchange's.
    pub(crate) fn owns_call(&self, call: CallId) -> bool {
        self.tasks.iter().any(|task| task.in_flight.call == call)
    }

    /// Moves what there is to say to the end of `outputs`.
    pub(crate) fn move_outputs(&mut self, outputs: &mut VecDeque<Output>) {
        self.core.move_outputs(outputs);
    }

    /// The buffers of an exchange that ends, for the next one. What there still is to say goes to
    /// `outputs`.
    pub(crate) fn take_buffers(&mut self, outputs: &mut VecDeque<Output>) -> Buffers {
        self.core.move_outputs(outputs);
        let body =
            Some(core::mem::take(self.reply.body())).filter(|it| it.capacity() <= http1::KEEP);
        Buffers { outputs: self.core.take_outputs(), body: body.unwrap_or_default() }
    }

    /// Bytes of the client's request, and for it, that the exchange holds.
    #[cfg(feature = "service")]
    pub(crate) fn held(&self) -> usize {
        let request = match &self.stage {
            Stage::Body(body) => body.len(),
            Stage::Done => 0,
            _ => self.weight,
        };
        let queued = match &self.sink {
            Sink::Log(producer) | Sink::Session(producer) => producer.queued(),
            Sink::Wire | Sink::Opening { .. } | Sink::Nowhere => 0,
        };
        request + queued + self.reply.queued()
    }

    /// The bounds that it keeps.
    #[cfg(feature = "service")]
    pub(crate) fn limits(&self) -> &super::Limits {
        self.core.endpoint.limits()
    }

    // ---- effects ----

    /// Hands the answer to an effect to the part that waits for it; `None` where there is none.
    fn settle(&mut self, waiting: Waiting, reply: Option<EffectReply>) {
        match waiting {
            Waiting::Principal => self.settle_admission(reply),
            Waiting::Stage => self.settle_stage(reply),
            Waiting::Task(call) => self.settle_task(call, reply),
            Waiting::Claim(call) => {
                if let Some(task) = self.tasks.iter_mut().find(|it| it.in_flight.call == call) {
                    task.settle_claim(&mut self.core, reply);
                }
            }
            Waiting::Watch(call) => self.settle_watch(call, reply),
            Waiting::Ask(ask) => self.settle_ask(ask, reply),
            Waiting::Producer => self.settle_sink(reply),
            Waiting::Follow => self.settle_follow(reply),
            Waiting::Listen(_) => self.settle_listening(reply),
            Waiting::Lease => self.settle_lease(reply),
            Waiting::Vigil => self.settle_vigil(reply),
            Waiting::Hold => self.settle_hold(reply),
            Waiting::Nothing => {}
        }
        self.end_what_waits();
    }

    /// What only waits, and would begin to now that the server shuts down, ends at once.
    fn end_what_waits(&mut self) {
        if self.closing {
            self.end_listening();
        }
    }

    // ---- calls ----

    /// Gives a call up: nothing more is sent for it.
    fn drop_task(&mut self, task: Task) {
        self.take_back_all(task.in_flight.call);
        task.abandon(&mut self.core);
    }

    fn settle_task(&mut self, call: CallId, reply: Option<EffectReply>) {
        let Some(task) = self.tasks.iter_mut().find(|task| task.in_flight.call == call) else {
            return;
        };
        if let Some(last) = task.settle(&mut self.core, reply) {
            self.conclude_task(call, &last);
        }
    }

    fn settle_watch(&mut self, call: CallId, reply: Option<EffectReply>) {
        let Some(index) = self.tasks.iter().position(|task| task.in_flight.call == call) else {
            return;
        };
        let cancelled =
            self.tasks.get_mut(index).is_some_and(|task| task.settle_watch(&mut self.core, reply));
        if cancelled {
            let task = self.tasks.remove(index);
            self.drop_task(task);
            self.conclude();
        }
    }

    // ---- questions ----

    fn settle_ask(&mut self, id: AskId, reply: Option<EffectReply>) {
        let Some(index) = self.asks.iter().position(|ask| ask.id == id) else { return };
        let Some(ask) = self.asks.get_mut(index) else { return };
        match ask.settle(&mut self.core, reply) {
            asks::Progress::Waits => {}
            asks::Progress::Send(request) => {
                let (call, adapter, question) = (ask.call, ask.adapter, ask.request.clone());
                let task = self.tasks.iter().find(|task| task.in_flight.call == call);
                let Some(client) = task.map(|task| task.in_flight.capabilities) else { return };
                let mut message = Vec::new();
                match adapter.write_ask(&mut message, &request, &question, &client) {
                    Ok(()) => self.send(message),
                    Err(_) => {
                        let ask = self.asks.swap_remove(index);
                        ask.forget(&mut self.core);
                        self.core.answered(id, Answered::Unsupported);
                    }
                }
            }
            asks::Progress::Over(answered, withdrawn) => {
                let ask = self.asks.swap_remove(index);
                let adapter = ask.adapter;
                ask.forget(&mut self.core);
                self.tell_withdrawn(&adapter, withdrawn);
                self.core.answered(id, answered);
            }
        }
    }

    /// Takes back the questions of a call that is over.
    fn take_back_all(&mut self, call: CallId) {
        while let Some(index) = self.asks.iter().position(|ask| ask.call == call) {
            let ask = self.asks.swap_remove(index);
            self.take_back(ask);
        }
    }

    /// Takes a question back, and tells the client where it was sent it.
    fn take_back(&mut self, ask: Ask) {
        let adapter = ask.adapter;
        let withdrawn = ask.forget(&mut self.core);
        self.tell_withdrawn(&adapter, withdrawn);
    }

    fn tell_withdrawn(&mut self, adapter: &Adapter, request: Option<RequestId>) {
        if let Some(request) = request {
            let mut message = Vec::new();
            adapter.write_cancelled(&mut message, &request, None);
            self.send(message);
        }
    }
}

impl<H: HttpRequest> Machine for HttpExchange<H> {
    /// A part of the request's body; see [`handle_body`](Self::handle_body).
    fn handle_input(&mut self, now: Instant, input: &[u8]) -> usize {
        self.handle_body(now, Bytes::copy_from_slice(input));
        input.len()
    }

    /// The request is complete.
    fn handle_eof(&mut self, now: Instant) {
        self.core.at(now);
        if let Stage::Body(body) = &mut self.stage {
            let body = core::mem::take(body).into_bytes();
            self.stage = Stage::Complete(body);
            self.enter();
            self.end_what_waits();
        }
    }

    /// The client is gone. Where the revision says so, or where nobody could ever fetch the
    /// result, that cancels its calls (R26-HTTP-16, R2503-HTTP-16).
    fn handle_closed(&mut self, now: Instant) {
        self.core.at(now);
        self.reply.end();
        self.stop_reading();
        let has_session = self.session.is_some();
        let ends = |task: &Task| task.in_flight.adapter.disconnect_cancels || !has_session;
        for index in (0..self.tasks.len()).rev() {
            if self.tasks.get(index).is_some_and(ends) {
                let task = self.tasks.remove(index);
                self.drop_task(task);
            }
        }
        self.leave_stage();
        self.timer = None;
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.core.at(now);
        while let Some((waiting, reply)) = self.core.expire() {
            self.settle(waiting, reply);
        }
        if let Some(lease) = &mut self.lease {
            lease.handle_timeout(&mut self.core);
        }
        if let Some(vigil) = &mut self.vigil {
            vigil.handle_timeout(&mut self.core);
        }
        if let (Some(hold), Some(session)) = (&mut self.hold, &self.session) {
            hold.handle_timeout(&mut self.core, session);
        }
        if self.timer.is_some_and(|at| at <= self.core.now) {
            self.timer = None;
            if self.reply.is_stream() {
                self.reply.heartbeat();
            } else {
                self.open_stream();
            }
            self.start_timer();
        }
    }

    fn handle_reply(
        &mut self,
        now: Instant,
        id: EffectId,
        reply: Result<EffectReply, EffectError>,
    ) {
        self.core.at(now);
        if let Some(waiting) = self.core.settle(id) {
            self.settle(waiting, reply.ok());
        }
    }

    /// Nothing: an exchange goes on with the declarations that it began with.
    fn handle_published(&mut self, _: Instant, _: Arc<Published>) {}

    fn respond(&mut self, call: CallId, outcome: Outcome) {
        let Some(task) = self.tasks.iter_mut().find(|task| task.is_running(call)) else { return };
        if let Some(last) = task.respond(&mut self.core, outcome) {
            self.conclude_task(call, &last);
        }
    }

    fn progress(&mut self, call: CallId, progress: Progress) {
        let can = self.can_notify();
        let Some(task) = self.tasks.iter_mut().find(|task| task.is_running(call) && can) else {
            return;
        };
        let adapter = task.in_flight.adapter;
        if let Some(token) = task.in_flight.admit(&progress).cloned() {
            self.notify(|out| adapter.write_progress(out, &token, &progress));
        }
    }

    fn log(&mut self, call: CallId, message: LogMessage) {
        let Some(task) = self.tasks.iter().find(|task| task.is_running(call)) else { return };
        let adapter = task.in_flight.adapter;
        if task.in_flight.wants(&message) {
            self.notify(|out| adapter.write_log(out, &message));
        }
    }

    /// Puts a question to the client; see [`Machine::ask`]. It goes out on
    /// the call's own stream, and its answer may reach any worker.
    fn ask(&mut self, call: CallId, request: InputRequest) -> AskId {
        let id = AskId(self.core.id());
        let task = self.tasks.iter().find(|task| task.is_running(call));
        let adapter = task.map(|task| &task.in_flight).filter(|in_flight| {
            in_flight.adapter.ask_by(&request) == AskBy::Push
                && request.supported_by(&in_flight.capabilities)
                && self.can_notify()
        });
        match (adapter.map(|in_flight| in_flight.adapter), &self.session) {
            (Some(adapter), Some(session)) => {
                let ask = Ask::begin(&mut self.core, (id, call), adapter, session, request);
                self.asks.push(ask);
            }
            _ => self.core.answered(id, Answered::Unsupported),
        }
        id
    }

    fn withdraw(&mut self, ask: AskId) {
        if let Some(index) = self.asks.iter().position(|it| it.id == ask) {
            let ask = self.asks.swap_remove(index);
            self.take_back(ask);
        }
    }

    fn suspend(&mut self, call: CallId) {
        let Some(session) = &self.session else { return };
        if let Some(task) = self.tasks.iter_mut().find(|task| task.is_running(call)) {
            task.watch(&mut self.core, session);
        }
    }

    fn close_stream(&mut self, call: CallId) {
        let primed = |task: &Task| task.in_flight.adapter.resumption == Resumption::Primed;
        if self.tasks.iter().any(|task| task.is_running(call) && primed(task)) {
            self.open_stream();
            self.interrupt();
        }
    }

    /// The server shuts down: what only waits ends now (R26-SUBS-10). Calls go on.
    fn close(&mut self) {
        self.closing = true;
        if let Sink::Log(producer) | Sink::Session(producer) = &mut self.sink {
            producer.hurry();
        }
        self.end_what_waits();
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.core.poll_output()
    }

    /// Appends the bytes of the response's body that are new to `out`.
    fn transmit(&mut self, out: &mut Vec<u8>) {
        out.append(self.reply.body());
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let lease = self.lease.as_deref().and_then(Lease::poll_timeout);
        let vigil = self.vigil.as_deref().and_then(Vigil::poll_timeout);
        let hold = self.hold.filter(|_| self.session.is_some()).map(Hold::poll_timeout);
        let own = earlier(earlier(lease, vigil), earlier(self.timer, hold));
        earlier(own, self.core.poll_timeout())
    }

    /// Whether the request's body is of any use.
    fn wants_input(&self) -> bool {
        matches!(self.stage, Stage::Body(_))
    }

    fn closing(&self) -> Closing {
        if self.is_complete() { Closing::AfterFlush } else { Closing::Open }
    }

    /// Nothing goes on any more: the exchange can be dropped without losing anything.
    fn is_idle(&self) -> bool {
        self.reply.is_complete()
            && self.tasks.is_empty()
            && matches!(self.stage, Stage::Done)
            && self.sink.is_idle()
            && !self.core.is_waiting(Waiting::Nothing)
    }
}
