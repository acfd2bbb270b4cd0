//! Where an exchange's messages go: straight to the client, or to a log that is read from
//! anywhere.

use std::collections::VecDeque;

use super::stages::Stage;
use super::{HttpExchange, HttpRequest};
use crate::frame::envelope::RequestId;
use crate::model::{Call, Failure};
use crate::revision::Adapter;
use crate::server::calls::Last;
use crate::server::intake::{self, Answer};
use crate::server::producer::Producer;
use crate::server::stream::{Entry, Name};
use crate::server::{Bound, CallId, HttpRefusal, Notice};

/// Where messages go.
#[derive(Debug)]
pub(super) enum Sink {
    /// To the client of this exchange.
    Wire,
    /// To a log that is being opened. What was said meanwhile waits.
    Opening {
        step: Opening,
        waiting: VecDeque<Entry>,
        /// The client is to be sent away once it can come back.
        interrupted: bool,
    },
    /// To a stream's log, which this exchange reads too while its client is there.
    Log(Producer),
    /// To a session's stream, which another exchange reads.
    Session(Producer),
    /// To nobody: the last word was said by another worker.
    Nowhere,
}

#[derive(Debug)]
pub(super) enum Opening {
    /// A name for the stream.
    Naming,
    /// Where it begins.
    Positioning(Name),
}

impl Sink {
    /// Nothing is on its way.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::Wire | Self::Nowhere => true,
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
            Sink::Nowhere => false,
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
            Sink::Wire => {
                if !self.reply.notify(write) {
                    self.core.notice(Notice::Bound(Bound::Queued));
                }
            }
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
        let entry = Entry::Message { message: message.into(), last, key: None };
        self.push_entry(entry);
    }

    pub(super) fn push_entry(&mut self, entry: Entry) {
        match &mut self.sink {
            Sink::Wire | Sink::Nowhere => {}
            Sink::Opening { waiting, .. } => waiting.push_back(entry),
            Sink::Log(producer) => producer.push(&mut self.core, entry),
            Sink::Session(producer) => {
                // A session's stream outlives each of its calls.
                if let Entry::Message { message, .. } = entry {
                    let entry = Entry::Message { message, last: false, key: None };
                    producer.push(&mut self.core, entry);
                }
            }
        }
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
        let published = self.listed(&answer);
        self.last(|out| intake::write(&published, adapter, call, answer, out));
    }

    pub(super) fn fail(&mut self, adapter: &Adapter, id: Option<&RequestId>, failure: &Failure) {
        self.last(|out| adapter.write_failure(out, id, failure));
    }

    pub(super) fn refuse(&mut self, refusal: &HttpRefusal, id: Option<&RequestId>) {
        if let Some(notice) = Notice::of(refusal, &self.head) {
            self.core.notice(notice);
        }
        self.reply.refuse(refusal, id);
        self.finish();
    }

    pub(super) fn finish(&mut self) {
        if self.tasks.is_empty() {
            self.stage = Stage::Done;
        }
        self.start_timer();
    }
}
