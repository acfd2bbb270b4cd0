//! A pair of byte streams with one message per line.

mod calls;
mod receive;

use std::collections::VecDeque;
use std::sync::Arc;

use super::core::Core;
use super::listening::Listening;
use super::pending::Waiting;
use super::subscriptions::Subscriptions;
use super::task::Task;
use super::{Answered, AskId, CallId, Endpoint, Machine, Output};
use crate::effect::{Effect, EffectError, EffectId, Reply};
use crate::frame::envelope::RequestId;
use crate::frame::http1::Closing;
use crate::frame::lines::LineDecoder;
use crate::model::{Call, ClientProfile, InputRequest, LogMessage, Outcome, Progress};
use crate::revision::{Adapter, AskBy, Published};
use crate::time::{Instant, earlier};

/// A server on a pair of byte streams, with one message per line (R24-STDIO-02): stdin and
/// stdout, a socket, a pipe. See [`Machine`] for how to drive it.
///
/// Calls run concurrently; when too many do, further ones are parked, and refused once too many
/// are. What could let them go on (answers to questions, cancellations, the end of the input) is
/// read behind any number of calls. Only output that waits for its reader holds input up. After
/// the end of the input the calls that run get a grace, then they are cancelled (R26-STDIO-16).
#[derive(Debug)]
pub struct Stdio {
    core: Core,
    lines: LineDecoder,
    established: Option<Handshake>,
    running: Vec<Running>,
    parked: VecDeque<Parked>,
    parked_bytes: usize,
    batches: Vec<Batch>,
    asks: Vec<Ask>,
    listening: Vec<Listening>,
    out: Vec<u8>,
    life: Life,
    skipped: Skipped,
    /// When an error without id was sent last.
    unaddressed: Option<Instant>,
}

/// What was skipped, and is told of now and then.
#[derive(Debug, Default)]
struct Skipped {
    told: Option<Instant>,
    /// How much was skipped since.
    since: u64,
}

/// What the client's handshake settled for this stream.
#[derive(Debug)]
struct Handshake {
    adapter: Adapter,
    client: ClientProfile,
    /// The resources that the client subscribed to.
    subscriptions: Subscriptions,
}

#[derive(Debug)]
struct Running {
    task: Task,
    batch: Option<u64>,
}

#[derive(Debug)]
struct Parked {
    adapter: Adapter,
    call: Call,
    batch: Option<u64>,
}

/// A batch whose replies leave as one line, once all are there.
#[derive(Debug)]
struct Batch {
    id: u64,
    waiting: usize,
    replies: Vec<Vec<u8>>,
}

/// A question that the client shows. Its answer comes on this stream, and on no other.
#[derive(Debug)]
struct Ask {
    id: AskId,
    call: CallId,
    adapter: Adapter,
    step: AskStep,
    until: Instant,
}

#[derive(Debug)]
enum AskStep {
    /// It needs an id that is unique in the server (R2511-ELIC-17), not only on this stream.
    Minting(InputRequest),
    /// It was sent under this id.
    Sent(RequestId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Open,
    /// No further input; calls may run until then.
    Draining(Instant),
    /// Everything is said.
    Flushing,
    Closed,
}

impl Stdio {
    /// A stream that begins at `now`.
    pub fn new(endpoint: Endpoint, now: Instant) -> Self {
        Self {
            lines: LineDecoder::new(endpoint.limits().message),
            core: Core::new(endpoint, now, 0),
            established: None,
            running: Vec::new(),
            parked: VecDeque::new(),
            parked_bytes: 0,
            batches: Vec::new(),
            asks: Vec::new(),
            listening: Vec::new(),
            out: Vec::new(),
            life: Life::Open,
            skipped: Skipped::default(),
            unaddressed: None,
        }
    }

    /// Its settings.
    #[cfg(feature = "service")]
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.core.endpoint
    }

    /// Whether a message may wait for the reader, before a result.
    fn has_room(&self) -> bool {
        self.out.len() < self.core.endpoint.limits().queued_bytes
    }

    /// Ends the stream once its input ended and nothing runs any more.
    fn conclude(&mut self) {
        if matches!(self.life, Life::Draining(_)) && self.running.is_empty() {
            self.life = Life::Flushing;
        }
    }

    fn drain(&mut self) {
        if self.life == Life::Open {
            self.life = Life::Draining(self.core.now + self.core.endpoint.limits().eof_grace);
            for listening in core::mem::take(&mut self.listening) {
                self.end_listening(&listening);
            }
            // Nobody is left to answer.
            for ask in core::mem::take(&mut self.asks) {
                self.core.answered(ask.id, Answered::TimedOut);
            }
            self.conclude();
        }
    }

    /// The server ends a request that listens: the result first, then the notification, as the
    /// peers in the wild read them (R26-SUBS-12).
    fn end_listening(&mut self, listening: &Listening) {
        self.core.abandon(listening.waiting());
        if let Some(request) = listening.request() {
            let (adapter, published) = (listening.adapter, self.core.published.clone());
            adapter.write_listen_end(&mut self.out, &published, request);
            self.out.push(b'\n');
            adapter.write_cancelled(&mut self.out, request, None);
            self.out.push(b'\n');
        }
    }

    fn settle(&mut self, waiting: Waiting, reply: Option<Reply>) {
        match waiting {
            Waiting::Task(call) => self.settle_task(call, reply),
            Waiting::Claim(call) => {
                let mut running = self.running.iter_mut().map(|running| &mut running.task);
                if let Some(task) = running.find(|it| it.in_flight.call == call) {
                    task.settle_claim(&mut self.core, reply);
                }
            }
            Waiting::Listen(_) => self.settle_listening(waiting, reply),
            Waiting::Ask(ask) => self.settle_ask(ask, reply),
            // The rest is for streams that are not the client's only one.
            _ => {}
        }
    }

    fn settle_listening(&mut self, waiting: Waiting, reply: Option<Reply>) {
        let Some(index) = self.listening.iter().position(|it| it.waiting() == waiting) else {
            return;
        };
        let Some(listening) = self.listening.get_mut(index) else { return };
        let heard = listening.settle(&mut self.core, reply);
        let has_room = self.out.len() < self.core.endpoint.limits().queued_bytes;
        for (_, message) in heard.messages.into_iter().filter(|_| has_room) {
            self.out.extend_from_slice(&message);
            self.out.push(b'\n');
        }
        if heard.ended {
            let listening = self.listening.swap_remove(index);
            self.end_listening(&listening);
        }
    }
}

impl Machine for Stdio {
    fn handle_input(&mut self, now: Instant, input: &[u8]) -> usize {
        self.core.at(now);
        let mut rest = input;
        while self.wants_input() {
            match self.lines.next(&mut rest) {
                None => break,
                Some(line) => self.receive(line),
            }
        }
        input.len() - rest.len()
    }

    fn handle_eof(&mut self, now: Instant) {
        self.core.at(now);
        if self.life == Life::Open
            && let Some(line) = self.lines.finish()
        {
            self.receive(line);
        }
        self.drain();
    }

    fn handle_closed(&mut self, now: Instant) {
        self.core.at(now);
        self.cancel_all();
        self.listening.clear();
        self.core.abandon_all();
        self.out.clear();
        self.life = Life::Closed;
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.core.at(now);
        while let Some((waiting, reply)) = self.core.expire() {
            self.settle(waiting, reply);
        }
        while let Some(ask) = self.asks.iter().position(|ask| ask.until <= self.core.now) {
            let ask = self.asks.swap_remove(ask);
            self.take_back(&ask);
            self.core.answered(ask.id, Answered::TimedOut);
        }
        if let Life::Draining(until) = self.life
            && until <= self.core.now
        {
            self.cancel_all();
            self.life = Life::Flushing;
        }
    }

    fn handle_reply(&mut self, now: Instant, id: EffectId, reply: Result<Reply, EffectError>) {
        self.core.at(now);
        if let Some(waiting) = self.core.settle(id) {
            self.settle(waiting, reply.ok());
        }
    }

    fn handle_published(&mut self, now: Instant, published: Arc<Published>) {
        self.core.at(now);
        self.core.published = published;
    }

    fn respond(&mut self, call: CallId, outcome: Outcome) {
        let Some(running) = self.running.iter_mut().find(|it| it.task.is_running(call)) else {
            return;
        };
        if let Some(last) = running.task.respond(&mut self.core, outcome) {
            self.conclude_task(call, &last);
        }
    }

    fn progress(&mut self, call: CallId, progress: Progress) {
        if !self.has_room() {
            return;
        }
        let Some(running) = self.running.iter_mut().find(|it| it.task.is_running(call)) else {
            return;
        };
        let in_flight = &mut running.task.in_flight;
        let adapter = in_flight.adapter;
        if let Some(token) = in_flight.admit(&progress) {
            adapter.write_progress(&mut self.out, token, &progress);
            self.out.push(b'\n');
        }
    }

    fn log(&mut self, call: CallId, message: LogMessage) {
        let Some(running) = self.running.iter().find(|it| it.task.is_running(call)) else {
            return;
        };
        let in_flight = &running.task.in_flight;
        if in_flight.wants(&message) && self.has_room() {
            in_flight.adapter.write_log(&mut self.out, &message);
            self.out.push(b'\n');
        }
    }

    fn ask(&mut self, call: CallId, request: InputRequest) -> AskId {
        let id = AskId(self.core.id());
        let running = self.running.iter().find(|it| it.task.is_running(call));
        let asked = running.filter(|_| self.life == Life::Open).and_then(|running| {
            let in_flight = &running.task.in_flight;
            let (adapter, client) = (in_flight.adapter, in_flight.capabilities);
            let can = adapter.ask_by(&request) == AskBy::Push && request.supported_by(&client);
            let wire = RequestId::from(i64::try_from(id.0).unwrap_or(i64::MAX));
            let mut message = Vec::new();
            let written = can && adapter.write_ask(&mut message, &wire, &request, &client).is_ok();
            written.then_some((adapter, wire, message))
        });
        let until = self.core.now + self.core.endpoint.limits().ask;
        match asked {
            Some((adapter, ..)) if adapter.names_elicitation(&request) => {
                let step = AskStep::Minting(request);
                self.asks.push(Ask { id, call, adapter, step, until });
                self.core.emit(Effect::Random, Waiting::Ask(id));
            }
            Some((adapter, wire, message)) => {
                let step = AskStep::Sent(wire);
                self.asks.push(Ask { id, call, adapter, step, until });
                self.out.extend_from_slice(&message);
                self.out.push(b'\n');
            }
            None => self.core.answered(id, Answered::Unsupported),
        }
        id
    }

    fn withdraw(&mut self, ask: AskId) {
        if let Some(index) = self.asks.iter().position(|it| it.id == ask) {
            let ask = self.asks.swap_remove(index);
            self.take_back(&ask);
        }
    }

    fn suspend(&mut self, _: CallId) {
        // Cancellations come on this stream, and on no other.
    }

    fn close_stream(&mut self, _: CallId) {
        // There is no stream but the one.
    }

    fn close(&mut self) {
        self.drain();
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.core.poll_output()
    }

    fn transmit(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.out);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let grace = match self.life {
            Life::Draining(until) => Some(until),
            _ => None,
        };
        let asks = self.asks.iter().map(|ask| Some(ask.until));
        earlier(grace, asks.fold(self.core.poll_timeout(), earlier))
    }

    /// False while a reader that stalls leaves too much output waiting.
    fn wants_input(&self) -> bool {
        self.life == Life::Open && self.has_room()
    }

    fn closing(&self) -> Closing {
        match self.life {
            Life::Open | Life::Draining(_) => Closing::Open,
            Life::Flushing if self.out.is_empty() => Closing::Closed,
            Life::Flushing => Closing::AfterFlush,
            Life::Closed => Closing::Closed,
        }
    }

    fn is_idle(&self) -> bool {
        self.running.is_empty() && self.parked.is_empty()
    }
}
