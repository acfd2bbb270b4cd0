//! Where an exchange's messages go: straight to the client, or to a log that is read from
//! anywhere.

use std::collections::VecDeque;

use super::stages::Stage;
use super::{HttpExchange, HttpRequest};
use crate::effect::{Effect, Reply};
use crate::frame::envelope::RequestId;
use crate::model::{Call, Failure};
use crate::revision::{Adapter, Resumption};
use crate::server::calls::Last;
use crate::server::intake::{self, Answer};
use crate::server::pending::Waiting;
use crate::server::stream::{Entry, Follow, Producer};
use crate::server::{CallId, HttpRefusal, session};
use crate::store::HubOp;

/// Where messages go.
#[derive(Debug)]
pub(super) enum Sink {
    /// To the client of this exchange.
    Wire,
    /// To a log that is being opened. What was said meanwhile waits.
    Opening { step: Opening, waiting: VecDeque<Entry> },
    /// To a stream's log, which this exchange reads too while its client is there.
    Log(Producer),
    /// To a session's stream, which another exchange reads.
    Session(Producer),
}

#[derive(Debug)]
pub(super) enum Opening {
    /// A name for the stream.
    Naming,
    /// Where it begins.
    Positioning(String),
}

impl Sink {
    /// Nothing is on its way.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::Wire => true,
            Self::Opening { .. } => false,
            Self::Log(producer) | Self::Session(producer) => producer.is_idle(),
        }
    }
}

impl<H: HttpRequest> HttpExchange<H> {
    // ---- messages ----

    /// Whether a message can reach the client before the result.
    pub(super) fn can_notify(&self) -> bool {
        match &self.sink {
            Sink::Wire => self.reply.can_stream(),
            Sink::Opening { .. } => true,
            Sink::Log(producer) | Sink::Session(producer) => {
                producer.queued() < self.core.endpoint.limits().queued_bytes
            }
        }
    }

    /// A message before the result. It is left out where nothing can carry it, or where too much
    /// waits for a reader that stalls.
    pub(super) fn notify(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if !self.can_notify() {
            return;
        }
        self.open_stream();
        match &self.sink {
            Sink::Wire => self.reply.notify(write),
            _ => {
                let mut message = Vec::new();
                write(&mut message);
                self.push(message, false);
            }
        }
        self.start_timer();
    }

    /// A message before the result that must not be lost.
    pub(super) fn send(&mut self, message: Vec<u8>) {
        self.open_stream();
        match &self.sink {
            Sink::Wire => self.reply.replay(None, &message),
            _ => self.push(message, false),
        }
        self.start_timer();
    }

    /// The last message, which `write` appends, with the status that it returns.
    fn last(&mut self, write: impl FnOnce(&mut Vec<u8>) -> u16) {
        match &self.sink {
            Sink::Wire => self.reply.last(write),
            _ => {
                let mut message = Vec::new();
                write(&mut message);
                self.push(message, true);
            }
        }
        self.finish();
    }

    fn push(&mut self, message: Vec<u8>, last: bool) {
        let entry = Entry::Message { message: message.into(), last };
        self.push_entry(entry);
    }

    fn push_entry(&mut self, entry: Entry) {
        match &mut self.sink {
            Sink::Wire => {}
            Sink::Opening { waiting, .. } => waiting.push_back(entry),
            Sink::Log(producer) => producer.push(&mut self.core, &entry),
            Sink::Session(producer) => {
                // A session's stream outlives each of its calls.
                if let Entry::Message { message, .. } = entry {
                    let entry = Entry::Message { message, last: false };
                    producer.push(&mut self.core, &entry);
                }
            }
        }
    }

    // ---- streams ----

    /// Makes the reply a stream, if it can be one and is nothing else yet. A session's stream is
    /// written to a log first, so that it can be taken up again.
    pub(super) fn open_stream(&mut self) {
        if !matches!(self.sink, Sink::Wire)
            || !self.reply.is_undecided()
            || !self.reply.can_stream()
        {
            return;
        }
        let resumable = |adapter: &Adapter| adapter.resumption != Resumption::None;
        let adapter = self.tasks.first().map(|task| task.in_flight.adapter);
        if self.session.is_some() && adapter.as_ref().is_some_and(resumable) {
            self.sink = Sink::Opening { step: Opening::Naming, waiting: VecDeque::new() };
            self.primed = adapter.is_some_and(|it| it.resumption == Resumption::Primed);
            self.core.emit(Effect::Random, Waiting::Producer);
        } else {
            self.reply.open();
        }
        self.start_timer();
    }

    pub(super) fn settle_sink(&mut self, reply: Option<Reply>) {
        match (&mut self.sink, reply) {
            (Sink::Opening { step, .. }, Some(Reply::Random(random)))
                if matches!(step, Opening::Naming) =>
            {
                let name: String = session::mint(&random).chars().take(22).collect();
                *step = Opening::Positioning(name.clone());
                let topic = self.stream_topic(&name);
                self.core.emit(Effect::Hub(HubOp::Position { topic }), Waiting::Producer);
            }
            (
                Sink::Opening { step: Opening::Positioning(name), waiting },
                Some(Reply::Position(at)),
            ) => {
                let (name, waiting) = (core::mem::take(name), core::mem::take(waiting));
                let topic = self.stream_topic(&name);
                let follow = Follow::new(topic.clone(), at, Some(name));
                self.sink = Sink::Log(Producer::new(topic));
                if !self.reply.is_complete() {
                    match follow.event_id().filter(|_| self.primed) {
                        Some(id) => self.reply.open_primed(&id, self.retry()),
                        None => self.reply.open(),
                    }
                    follow.poll(&mut self.core);
                    self.follow = Some(Box::new(follow));
                }
                for entry in waiting {
                    self.push_entry(entry);
                }
            }
            // Without a log there is still the client.
            (Sink::Opening { waiting, .. }, _) => {
                let waiting = core::mem::take(waiting);
                self.sink = Sink::Wire;
                self.reply.open();
                for entry in waiting {
                    match entry {
                        Entry::Message { message, last } => {
                            self.reply.replay(None, &message);
                            if last {
                                self.reply.end();
                            }
                        }
                        _ => self.reply.end(),
                    }
                }
            }
            (Sink::Log(producer) | Sink::Session(producer), _) => producer.settle(&mut self.core),
            (Sink::Wire, _) => {}
        }
        self.start_timer();
    }

    pub(super) fn settle_follow(&mut self, reply: Option<Reply>) {
        let Some(follow) = &mut self.follow else { return };
        let found = follow.settle(&mut self.core, reply);
        for (id, message) in &found.messages {
            self.reply.replay(id.as_deref(), message);
        }
        if self.reply.body().len() > self.core.endpoint.limits().queued_bytes.saturating_mul(4) {
            // The reader stalls. What it misses is on the log, if it comes back.
            self.interrupt();
        } else if found.ended {
            self.follow = None;
            self.reply.end();
            if self.tasks.is_empty() {
                self.finish();
            }
        }
        self.start_timer();
    }

    pub(super) fn settle_listening(&mut self, reply: Option<Reply>) {
        let Some(listening) = &mut self.listening else { return };
        let heard = listening.settle(&mut self.core, reply);
        for (id, message) in &heard.messages {
            self.reply.replay(id.as_deref(), message);
        }
        let stalled =
            self.reply.body().len() > self.core.endpoint.limits().queued_bytes.saturating_mul(4);
        if heard.ended || stalled {
            self.stop_reading();
            self.reply.end();
            self.finish();
        }
        self.start_timer();
    }

    /// The server shuts down: a request that listens gets its result (R26-SUBS-10), a session's
    /// stream the advice to come back.
    pub(super) fn end_listening(&mut self) {
        if let Some(listening) = self.listening.take() {
            self.core.abandon(listening.waiting());
            match listening.request() {
                Some(request) => {
                    let mut message = Vec::new();
                    let published = self.core.published.clone();
                    listening.adapter.write_listen_end(&mut message, &published, request);
                    self.reply.replay(None, &message);
                    self.reply.end();
                }
                None => self.reply.interrupt(self.retry()),
            }
            self.finish();
        } else if self.follow.is_some() && self.tasks.is_empty() {
            self.interrupt();
            self.finish();
        }
    }

    /// Ends the client's stream, though what it is about goes on: the client comes back.
    pub(super) fn interrupt(&mut self) {
        if matches!(self.sink, Sink::Log(_)) || self.tasks.is_empty() {
            self.reply.interrupt(self.retry());
            self.stop_reading();
        }
    }

    /// Nobody is there any more to read for.
    pub(super) fn stop_reading(&mut self) {
        if self.follow.take().is_some() {
            self.core.abandon(Waiting::Follow);
        }
        if let Some(listening) = self.listening.take() {
            self.core.abandon(listening.waiting());
        }
    }

    fn retry(&self) -> u64 {
        u64::try_from(self.core.endpoint.limits().retry.as_millis()).unwrap_or(u64::MAX)
    }

    // ---- ends ----

    /// The last word on a call.
    pub(super) fn conclude_task(&mut self, call: CallId, last: &Last) {
        self.take_back_all(call);
        let Some(index) = self.tasks.iter().position(|task| task.in_flight.call == call) else {
            return;
        };
        let task = self.tasks.remove(index);
        task.end(&mut self.core);
        let published = self.core.published.clone();
        match &mut self.batch {
            Some(batch) => {
                batch.fill(&published, &task, last);
                self.conclude();
            }
            None => self.last(|out| task.in_flight.write(&published, last, out)),
        }
    }

    /// Ends the exchange once nothing is running any more: with the batch's replies, or, where
    /// everything was cancelled, with nothing.
    pub(super) fn conclude(&mut self) {
        if !self.tasks.is_empty() {
            return;
        }
        let mut array = Vec::new();
        match self.batch.take() {
            Some(batch) if batch.write(&mut array) => self.last(|out| {
                out.extend_from_slice(&array);
                200
            }),
            _ => {
                if matches!(self.sink, Sink::Wire) {
                    self.reply.nothing();
                } else {
                    self.push_entry(Entry::End);
                }
                self.finish();
            }
        }
    }

    /// Taken note of; there is nothing to say.
    pub(super) fn accept(&mut self) {
        if matches!(self.sink, Sink::Wire) {
            self.reply.empty(202);
        }
        self.finish();
    }

    pub(super) fn answer(&mut self, adapter: &Adapter, call: &Call, answer: Answer) {
        let published = self.core.published.clone();
        self.last(|out| intake::write(&published, adapter, call, answer, out));
    }

    pub(super) fn fail(&mut self, adapter: &Adapter, id: Option<&RequestId>, failure: &Failure) {
        self.last(|out| adapter.write_failure(out, id, failure));
    }

    pub(super) fn refuse(&mut self, refusal: &HttpRefusal, id: Option<&RequestId>) {
        self.reply.refuse(refusal, id);
        self.finish();
    }

    pub(super) fn finish(&mut self) {
        if self.tasks.is_empty() {
            self.stage = Stage::Done;
        }
        self.start_timer();
    }

    pub(super) fn start_timer(&mut self) {
        let limits = self.core.endpoint.limits();
        self.timer = if self.reply.is_stream() {
            Some(self.core.now + limits.heartbeat)
        } else if !self.tasks.is_empty()
            && matches!(self.sink, Sink::Wire)
            && self.reply.is_undecided()
            && self.reply.can_stream()
        {
            Some(self.core.now + limits.undecided)
        } else {
            None
        };
    }
}
