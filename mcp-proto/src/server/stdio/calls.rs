//! Calls from their start to their reply.

use super::{Ask, Running, Stdio};
use crate::effect::Reply;
use crate::frame::envelope::RequestId;
use crate::frame::writer;
use crate::model::Call;
use crate::revision::{Adapter, Refused};
use crate::server::CallId;
use crate::server::calls::Last;
use crate::server::intake::{self, Answer};
use crate::server::task::Task;

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
        ask.adapter.write_cancelled(&mut self.out, &ask.request, None);
        self.out.push(b'\n');
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

    /// Without an id, an error is a message that older clients take for a broken one (C05).
    pub(super) fn refuse_in(&mut self, adapter: &Adapter, refused: &Refused, batch: Option<u64>) {
        if refused.id.is_some() || adapter.error_without_id {
            self.expect(batch);
            self.send(batch, |out| {
                adapter.write_failure(out, refused.id.as_ref(), &refused.failure);
            });
        }
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
