//! Calls from their start to their reply.

use super::{Ask, AskStep, Running, Stdio};
use crate::effect::Reply;
use crate::frame::envelope::RequestId;
use crate::frame::writer;
use crate::model::{Call, Failure, FailureKind};
use crate::revision::{Adapter, Refused, Subject};
use crate::server::calls::Last;
use crate::server::intake::{self, Answer};
use crate::server::pending::Waiting;
use crate::server::task::Task;
use crate::server::{Answered, AskId, CallId, Notice, session};
use core::time::Duration;

/// How much time passes between two errors without id, and between two notices of skipped input.
const PAUSE: Duration = Duration::from_secs(1);

impl Stdio {
    pub(super) fn is_in_flight(&self, id: &RequestId) -> bool {
        self.running.iter().any(|running| running.task.in_flight.request == *id)
            || self.parked.iter().any(|parked| parked.call.id() == Some(id))
            || self.listening.iter().any(|listening| listening.request() == Some(id))
    }

    /// Starts parked calls while there is room.
    pub(super) fn unpark(&mut self) {
        while self.running.len() < self.core.endpoint.limits().in_flight {
            let Some(parked) = self.parked.pop_front() else { break };
            self.parked_bytes -= parked.size();
            let can_push = parked.adapter.has_handshake;
            if let Some(task) = Task::begin(&mut self.core, &parked.adapter, parked.call, can_push)
            {
                self.running.push(Running { task, batch: parked.batch });
            }
        }
    }

    /// Cancels a call: nothing more is sent for it (R26-STDIO-14). What is not running is
    /// ignored (R26-CANC-08).
    pub(super) fn cancel(&mut self, request: &RequestId) {
        let is_it = |running: &Running| running.task.in_flight.request == *request;
        if let Some(index) = self.running.iter().position(is_it) {
            let Running { task, batch } = self.running.swap_remove(index);
            self.drop_task(task);
            self.settle_if(batch, None);
        } else if let Some(index) =
            self.parked.iter().position(|parked| parked.call.id() == Some(request))
            && let Some(parked) = self.parked.remove(index)
        {
            self.parked_bytes -= parked.size();
            self.settle_if(parked.batch, None);
        } else if let Some(index) =
            self.listening.iter().position(|listening| listening.request() == Some(request))
        {
            let listening = self.listening.swap_remove(index);
            self.core.abandon(listening.waiting());
        }
        self.unpark();
        self.conclude();
    }

    pub(super) fn cancel_all(&mut self) {
        for Running { task, .. } in core::mem::take(&mut self.running) {
            self.drop_task(task);
        }
        self.parked.clear();
        self.parked_bytes = 0;
        self.batches.clear();
    }

    fn drop_task(&mut self, task: Task) {
        self.take_back_all(task.in_flight.call);
        task.abandon(&mut self.core);
    }

    /// Takes back the questions of a call that is over.
    fn take_back_all(&mut self, call: CallId) {
        while let Some(index) = self.asks.iter().position(|ask| ask.call == call) {
            let ask = self.asks.swap_remove(index);
            self.take_back(&ask);
        }
    }

    /// Tells the client that a question is no longer wanted.
    pub(super) fn take_back(&mut self, ask: &Ask) {
        match &ask.step {
            AskStep::Minting(_) => self.core.abandon(Waiting::Ask(ask.id)),
            AskStep::Sent(request) => {
                ask.adapter.write_cancelled(&mut self.out, request, None);
                self.out.push(b'\n');
            }
        }
    }

    /// Sends a question once there is an id for it.
    pub(super) fn settle_ask(&mut self, id: AskId, reply: Option<Reply>) {
        let Some(index) = self.asks.iter().position(|ask| ask.id == id) else { return };
        let Some(ask) = self.asks.get_mut(index) else { return };
        let running = self.running.iter().find(|it| it.task.in_flight.call == ask.call);
        let client = running.map(|running| running.task.in_flight.capabilities);
        let written = match (&ask.step, reply, client) {
            (AskStep::Minting(question), Some(Reply::Random(random)), Some(client)) => {
                let request = RequestId::from(session::mint(&random).as_str());
                let written = ask.adapter.write_ask(&mut self.out, &request, question, &client);
                written.is_ok().then_some(request)
            }
            _ => None,
        };
        match written {
            Some(request) => {
                self.out.push(b'\n');
                ask.step = AskStep::Sent(request);
            }
            None => {
                self.asks.swap_remove(index);
                self.core.answered(id, Answered::Failed);
            }
        }
    }

    pub(super) fn settle_task(&mut self, call: CallId, reply: Option<Reply>) {
        let mut running = self.running.iter_mut();
        let Some(running) = running.find(|it| it.task.in_flight.call == call) else { return };
        if let Some(last) = running.task.settle(&mut self.core, reply) {
            self.conclude_task(call, &last);
        }
    }

    /// The last word on a call.
    pub(super) fn conclude_task(&mut self, call: CallId, last: &Last) {
        self.take_back_all(call);
        let is_it = |running: &Running| running.task.in_flight.call == call;
        let Some(index) = self.running.iter().position(is_it) else { return };
        let Running { task, batch } = self.running.swap_remove(index);
        let published = self.core.published.clone();
        self.send(batch, |out| {
            task.in_flight.write(&published, last, out);
        });
        self.unpark();
        self.conclude();
    }

    // ---- writing ----

    pub(super) fn answer(
        &mut self,
        adapter: &Adapter,
        call: &Call,
        answer: Answer,
        batch: Option<u64>,
    ) {
        let published = self.core.published.clone();
        self.expect(batch);
        self.send(batch, |out| {
            intake::write(&published, adapter, call, answer, out);
        });
    }

    pub(super) fn refuse(&mut self, adapter: &Adapter, refused: &Refused) {
        self.refuse_in(adapter, refused, None);
    }

    /// Refuses under each id that could be read, and skips what must not be answered.
    pub(super) fn refuse_in(&mut self, adapter: &Adapter, refused: &Refused, batch: Option<u64>) {
        let failure = &refused.failure;
        match &refused.subject {
            Subject::Request(id) => self.send_failure(adapter, Some(id), failure, batch),
            Subject::Requests(ids) => {
                ids.iter().for_each(|id| self.send_failure(adapter, Some(id), failure, batch));
            }
            Subject::Unknown if self.may_say(adapter, failure) => {
                self.unaddressed = Some(self.core.now);
                self.send_failure(adapter, None, failure, batch);
            }
            Subject::Response(_) | Subject::Unknown => self.skip(&failure.message),
        }
    }

    /// Whether an error may be sent that has no id. Older clients take it for a broken message
    /// (C05). A peer that answers it, or that only prints, would be answered for ever: what is no
    /// JSON gets none, and the rest gets one in a second.
    fn may_say(&self, adapter: &Adapter, failure: &Failure) -> bool {
        let is_json = failure.kind != FailureKind::Parse;
        let is_due = self.unaddressed.is_none_or(|last| self.core.now >= last + PAUSE);
        adapter.error_without_id && is_json && is_due
    }

    fn send_failure(
        &mut self,
        adapter: &Adapter,
        id: Option<&RequestId>,
        failure: &Failure,
        batch: Option<u64>,
    ) {
        self.expect(batch);
        self.send(batch, |out| {
            adapter.write_failure(out, id, failure);
        });
    }

    /// Takes note of input that nobody can be answered for.
    pub(super) fn skip(&mut self, why: &str) {
        let now = self.core.now;
        if self.skipped.told.is_some_and(|told| now < told + PAUSE) {
            self.skipped.since += 1;
            return;
        }
        let others = core::mem::take(&mut self.skipped.since);
        self.skipped.told = Some(now);
        self.core.notice(Notice::Skipped { why: why.to_owned(), others });
    }

    /// One more reply of a batch is to come.
    pub(super) fn expect(&mut self, batch: Option<u64>) {
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
                self.settle_batch(batch, Some(reply));
            }
        }
    }

    fn settle_if(&mut self, batch: Option<u64>, reply: Option<Vec<u8>>) {
        if let Some(batch) = batch {
            self.settle_batch(batch, reply);
        }
    }

    /// A batch has one reply less to wait for. Without any reply there is nothing to send.
    pub(super) fn settle_batch(&mut self, id: u64, reply: Option<Vec<u8>>) {
        let Some(index) = self.batches.iter().position(|batch| batch.id == id) else { return };
        let Some(batch) = self.batches.get_mut(index) else { return };
        batch.replies.extend(reply);
        batch.waiting -= 1;
        if batch.waiting > 0 {
            return;
        }
        let batch = self.batches.swap_remove(index);
        if !batch.replies.is_empty() {
            writer::array(&mut self.out, &batch.replies, |reply, out| out.extend_from_slice(reply));
            self.out.push(b'\n');
        }
    }
}
