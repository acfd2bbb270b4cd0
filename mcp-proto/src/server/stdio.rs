//! A pair of byte streams with one message per line.

use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;

use super::calls::InFlight;
use super::intake::{self, Answer, Plan};
use super::{CallId, Endpoint, Event, Machine, Output};
use crate::effect::{EffectError, EffectId, Reply};
use crate::frame::envelope::RequestId;
use crate::frame::http1::Closing;
use crate::frame::lines::LineDecoder;
use crate::model::{Call, ClientProfile, Failure, FailureKind, LogMessage, Outcome, Progress};
use crate::revision::{
    self, Adapter, Context, Decoded, Established, Incoming, Preamble, Published, Refused,
    Selection, Transport,
};
use crate::time::Instant;

/// A server on a pair of byte streams, with one message per line (R24-STDIO-02): stdin and
/// stdout, a socket, a pipe. See [`Machine`] for how to drive it.
///
/// Calls run concurrently; when too many do, further ones are parked, while everything else is
/// handled at once. After the end of the input the calls that run get a grace, then they are
/// cancelled (R26-STDIO-16).
#[derive(Debug)]
pub struct Stdio {
    endpoint: Endpoint,
    published: Arc<Published>,
    now: Instant,
    lines: LineDecoder,
    established: Option<Handshake>,
    running: Vec<Running>,
    parked: VecDeque<Parked>,
    parked_bytes: usize,
    batches: Vec<Batch>,
    next_call: u64,
    next_batch: u64,
    outputs: VecDeque<Output>,
    out: Vec<u8>,
    life: Life,
}

/// What the client's handshake settled for this stream.
#[derive(Debug)]
struct Handshake {
    adapter: Adapter,
    client: ClientProfile,
}

#[derive(Debug)]
struct Running {
    in_flight: InFlight,
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
            published: endpoint.published().clone(),
            lines: LineDecoder::new(endpoint.limits().message),
            endpoint,
            now,
            established: None,
            running: Vec::new(),
            parked: VecDeque::new(),
            parked_bytes: 0,
            batches: Vec::new(),
            next_call: 0,
            next_batch: 0,
            outputs: VecDeque::new(),
            out: Vec::new(),
            life: Life::Open,
        }
    }

    fn receive(&mut self, line: Bytes) {
        let endpoint = self.endpoint.clone();
        let incoming = match revision::read(line, &endpoint.limits().read()) {
            Ok(incoming) => incoming,
            Err(refused) => return self.refuse(&self.spokesman(), refused),
        };
        let established = self.established.as_ref().map(|handshake| handshake.adapter);
        let context = Context {
            established: established.as_ref().map_or(Established::None, Established::Adapter),
            ..Context::new(Transport::Stdio)
        };
        let selection = match &incoming {
            Incoming::One(message) => endpoint.adapters().select(message, &context),
            Incoming::Batch(_) => endpoint.adapters().select_batch(&context),
        };
        match (selection, incoming) {
            (Selection::Adapter(adapter), Incoming::One(message)) => {
                self.decode(adapter, &message, None);
            }
            (Selection::Adapter(adapter), Incoming::Batch(messages)) => {
                self.receive_batch(adapter, messages);
            }
            (Selection::Refused { adapter, failure }, Incoming::One(message)) => {
                if let Some(id) = message.id() {
                    self.refuse(adapter, Refused { id: Some(id.clone()), failure });
                }
            }
            (Selection::Refused { adapter, failure }, Incoming::Batch(_)) => {
                self.refuse(adapter, Refused { id: None, failure });
            }
            // Nothing is ever pending here: a stream has no session's record to wait for.
            (Selection::AwaitSession, _) => {}
        }
    }

    /// Who words a refusal that no revision can be told for.
    fn spokesman(&self) -> Adapter {
        match &self.established {
            Some(handshake) => handshake.adapter,
            None => *self.endpoint.adapters().fallback(),
        }
    }

    fn decode(&mut self, adapter: &Adapter, message: &Preamble, batch: Option<u64>) {
        let client = self.established.as_ref().map(|handshake| &handshake.client);
        match adapter.decode(message, client.filter(|_| adapter.has_handshake)) {
            Decoded::Call(call) if call.is_notification() => {}
            Decoded::Call(call) => self.dispatch(adapter, call, batch),
            Decoded::Cancelled { request, .. } => self.cancel(&request),
            Decoded::Answered(_) | Decoded::Ignored => {}
            Decoded::Refused(refused) => self.refuse_in(adapter, refused, batch),
        }
    }

    fn receive_batch(&mut self, adapter: &Adapter, messages: Vec<Result<Preamble, Refused>>) {
        let id = self.next_batch;
        self.next_batch += 1;
        // Held open while its messages are read, so that it cannot end before they were.
        self.batches.push(Batch { id, waiting: 1, replies: Vec::new() });
        for message in messages {
            match message {
                Ok(message) => self.decode(adapter, &message, Some(id)),
                Err(refused) => self.refuse_in(adapter, refused, Some(id)),
            }
        }
        self.settle(id, None);
    }

    fn dispatch(&mut self, adapter: &Adapter, call: Call, batch: Option<u64>) {
        let Some(id) = call.id() else { return };
        let malformed = |why| Answer::Failure(Failure::new(FailureKind::Malformed, why));
        let plan = match self.is_in_flight(id) {
            true => Plan::Answer(malformed("this id is in use by a call that is running")),
            false => intake::plan(&self.published, adapter, &call),
        };
        match plan {
            Plan::Answer(answer) => self.answer(adapter, &call, answer, batch),
            Plan::Handshake if batch.is_some() => {
                let answer = malformed("initialize stands alone, never in a batch");
                self.answer(adapter, &call, answer, batch);
            }
            Plan::Handshake => {
                let adapters = self.endpoint.adapters();
                let adapter = intake::negotiated(adapters, None, &call).unwrap_or(*adapter);
                let client = call.client().clone();
                self.established = Some(Handshake { adapter, client });
                self.answer(&adapter, &call, Answer::Description, batch);
            }
            Plan::SetLogLevel(level) => {
                if let Some(handshake) = &mut self.established {
                    handshake.client.log_level = Some(level);
                }
                self.answer(adapter, &call, Answer::Empty, batch);
            }
            Plan::Run => {
                self.expect(batch);
                let parked = Parked { adapter: *adapter, call, batch };
                self.parked_bytes += parked.size();
                self.parked.push_back(parked);
                self.unpark();
            }
        }
    }

    fn is_in_flight(&self, id: &RequestId) -> bool {
        self.running.iter().any(|running| running.in_flight.request == *id)
            || self.parked.iter().any(|parked| parked.call.id() == Some(id))
    }

    /// Starts parked calls while there is room.
    fn unpark(&mut self) {
        while self.running.len() < self.endpoint.limits().in_flight {
            let Some(parked) = self.parked.pop_front() else { break };
            self.parked_bytes -= parked.size();
            let id = CallId(self.next_call);
            self.next_call += 1;
            if let Some(in_flight) = InFlight::new(id, parked.adapter, &parked.call) {
                self.running.push(Running { in_flight, batch: parked.batch });
                self.outputs.push_back(Output::Event(Event::Call(id, parked.call)));
            }
        }
    }

    /// Cancels a call: nothing more is sent for it (R26-STDIO-14). What is not running is
    /// ignored (R26-CANC-08).
    fn cancel(&mut self, request: &RequestId) {
        let is_it = |running: &Running| running.in_flight.request == *request;
        if let Some(index) = self.running.iter().position(is_it) {
            let running = self.running.swap_remove(index);
            self.outputs.push_back(Output::Event(Event::Cancelled(running.in_flight.call)));
            self.settle_if(running.batch, None);
        } else if let Some(index) =
            self.parked.iter().position(|parked| parked.call.id() == Some(request))
            && let Some(parked) = self.parked.remove(index)
        {
            self.parked_bytes -= parked.size();
            self.settle_if(parked.batch, None);
        }
        self.unpark();
        self.conclude();
    }

    fn cancel_all(&mut self) {
        for running in self.running.drain(..) {
            self.outputs.push_back(Output::Event(Event::Cancelled(running.in_flight.call)));
        }
        self.parked.clear();
        self.parked_bytes = 0;
        self.batches.clear();
    }

    // ---- writing ----

    fn answer(&mut self, adapter: &Adapter, call: &Call, answer: Answer, batch: Option<u64>) {
        let published = self.published.clone();
        self.expect(batch);
        self.send(batch, |out| {
            intake::write(&published, adapter, call, answer, out);
        });
    }

    fn refuse(&mut self, adapter: &Adapter, refused: Refused) {
        self.refuse_in(adapter, refused, None);
    }

    /// Without an id, an error is a message that older clients take for a broken one (C05).
    fn refuse_in(&mut self, adapter: &Adapter, refused: Refused, batch: Option<u64>) {
        if refused.id.is_some() || adapter.error_without_id {
            self.expect(batch);
            self.send(batch, |out| {
                adapter.write_failure(out, refused.id.as_ref(), &refused.failure);
            });
        }
    }

    /// One more reply of a batch is to come.
    fn expect(&mut self, batch: Option<u64>) {
        if let Some(batch) = self.batches.iter_mut().find(|it| Some(it.id) == batch) {
            batch.waiting += 1;
        }
    }

    fn send(&mut self, batch: Option<u64>, write: impl FnOnce(&mut Vec<u8>)) {
        match batch {
            None => {
                write(&mut self.out);
                self.out.push(b'\n');
            }
            Some(batch) => {
                let mut reply = Vec::new();
                write(&mut reply);
                self.settle(batch, Some(reply));
            }
        }
    }

    fn settle_if(&mut self, batch: Option<u64>, reply: Option<Vec<u8>>) {
        if let Some(batch) = batch {
            self.settle(batch, reply);
        }
    }

    /// A batch has one reply less to wait for. Without any reply there is nothing to send.
    fn settle(&mut self, id: u64, reply: Option<Vec<u8>>) {
        let Some(index) = self.batches.iter().position(|batch| batch.id == id) else { return };
        let Some(batch) = self.batches.get_mut(index) else { return };
        batch.replies.extend(reply);
        batch.waiting -= 1;
        if batch.waiting > 0 {
            return;
        }
        let batch = self.batches.swap_remove(index);
        if !batch.replies.is_empty() {
            crate::frame::writer::array(&mut self.out, &batch.replies, |reply, out| {
                out.extend_from_slice(reply);
            });
            self.out.push(b'\n');
        }
    }

    fn find(&mut self, call: CallId) -> Option<&mut InFlight> {
        let running = self.running.iter_mut().find(|running| running.in_flight.call == call)?;
        Some(&mut running.in_flight)
    }

    /// Whether a message may wait for the reader, before a result.
    fn has_room(&self) -> bool {
        self.out.len() < self.endpoint.limits().queued_bytes
    }

    /// Ends the stream once its input ended and nothing runs any more.
    fn conclude(&mut self) {
        if matches!(self.life, Life::Draining(_)) && self.running.is_empty() {
            self.life = Life::Flushing;
        }
    }

    fn drain(&mut self) {
        if self.life == Life::Open {
            self.life = Life::Draining(self.now + self.endpoint.limits().eof_grace);
            self.conclude();
        }
    }
}

impl Parked {
    fn size(&self) -> usize {
        self.call.raw().as_bytes().len()
    }
}

impl Machine for Stdio {
    fn handle_input(&mut self, now: Instant, input: &[u8]) -> usize {
        self.now = self.now.max(now);
        let mut rest = input;
        while self.wants_input() {
            match self.lines.next(&mut rest) {
                None => break,
                Some(Ok(line)) => self.receive(line),
                Some(Err(too_long)) => {
                    let failure = Failure::new(FailureKind::Malformed, too_long.to_string());
                    self.refuse(&self.spokesman(), Refused { id: None, failure });
                }
            }
        }
        input.len() - rest.len()
    }

    fn handle_eof(&mut self, now: Instant) {
        self.now = self.now.max(now);
        if self.life == Life::Open
            && let Some(line) = self.lines.finish()
        {
            self.receive(line);
        }
        self.drain();
    }

    fn handle_closed(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.cancel_all();
        self.out.clear();
        self.life = Life::Closed;
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = self.now.max(now);
        if let Life::Draining(until) = self.life
            && until <= self.now
        {
            self.cancel_all();
            self.life = Life::Flushing;
        }
    }

    fn handle_reply(&mut self, now: Instant, _: EffectId, _: Result<Reply, EffectError>) {
        self.now = self.now.max(now);
    }

    fn handle_published(&mut self, now: Instant, published: Arc<Published>) {
        self.now = self.now.max(now);
        self.published = published;
    }

    fn respond(&mut self, call: CallId, outcome: Outcome) {
        let is_it = |running: &Running| running.in_flight.call == call;
        let Some(index) = self.running.iter().position(is_it) else { return };
        let Running { in_flight, batch } = self.running.swap_remove(index);
        let published = self.published.clone();
        self.send(batch, |out| {
            in_flight.write(&published, &outcome, out);
        });
        self.unpark();
        self.conclude();
    }

    fn progress(&mut self, call: CallId, progress: Progress) {
        let has_room = self.has_room();
        let Some(call) = self.find(call).filter(|_| has_room) else { return };
        let adapter = call.adapter;
        if let Some(token) = call.admit(&progress).cloned() {
            self.send(None, |out| adapter.write_progress(out, &token, &progress));
        }
    }

    fn log(&mut self, call: CallId, message: LogMessage) {
        let has_room = self.has_room();
        let Some(call) = self.find(call).filter(|_| has_room) else { return };
        let adapter = call.adapter;
        if call.wants(&message) {
            self.send(None, |out| adapter.write_log(out, &message));
        }
    }

    fn close(&mut self) {
        self.drain();
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn transmit(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.out);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match self.life {
            Life::Draining(until) => Some(until),
            _ => None,
        }
    }

    /// False while too many calls are parked, or while a reader that stalls leaves too much
    /// output waiting.
    fn wants_input(&self) -> bool {
        let limits = self.endpoint.limits();
        self.life == Life::Open
            && self.parked.len() < limits.parked
            && self.parked_bytes <= limits.message
            && self.has_room()
    }

    fn closing(&self) -> Closing {
        match self.life {
            Life::Open | Life::Draining(_) => Closing::Open,
            Life::Flushing if self.out.is_empty() => Closing::Closed,
            Life::Flushing => Closing::AfterFlush,
            Life::Closed => Closing::Closed,
        }
    }
}
