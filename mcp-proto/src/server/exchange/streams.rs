//! Streams: opening one, reading it from its log, ending it before its time.

use bytes::Bytes;
use std::collections::VecDeque;

use super::output::{Opening, Sink};
use super::{HttpExchange, HttpRequest};
use crate::effect::{Effect, Reply};
use crate::revision::{Adapter, Resumption};
use crate::server::calls::Last;
use crate::server::endpoint::Route;
use crate::server::lease::{Found, Lease, Vigil};
use crate::server::pending::Waiting;
use crate::server::producer::{Producer, Written};
use crate::server::stream::{self, Awaits, Entry, Follow, Name};
use crate::store::{Cursor, HubOp};

impl<H: HttpRequest> HttpExchange<H> {
    // ---- opening ----

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
            self.sink = Sink::Opening {
                step: Opening::Naming,
                waiting: VecDeque::new(),
                interrupted: false,
            };
            self.primed = adapter.is_some_and(|it| it.resumption == Resumption::Primed);
            self.core.emit(Effect::Random, Waiting::Producer);
        } else {
            self.reply.open();
        }
        self.start_timer();
    }

    pub(super) fn settle_sink(&mut self, reply: Option<Reply>) {
        match (&mut self.sink, reply) {
            (Sink::Opening { step: step @ Opening::Naming, .. }, Some(Reply::Random(random))) => {
                let only = self.tasks.first().filter(|_| self.batch.is_none());
                let name = Name::mint(&random, only.map(|task| &task.in_flight.request));
                *step = Opening::Positioning(name.clone());
                let topic = self.stream_topic(&name);
                self.core.emit(Effect::Hub(HubOp::Position { topic }), Waiting::Producer);
            }
            (
                Sink::Opening { step: Opening::Positioning(name), waiting, interrupted },
                Some(Reply::Position(at)),
            ) => {
                let (name, waiting) = (name.clone(), core::mem::take(waiting));
                let interrupted = *interrupted;
                let topic = self.stream_topic(&name);
                let is_recorded = *name.awaits() == Awaits::Recorded;
                let follow = Follow::new(topic.clone(), at, Some(name)).of_writer();
                self.sink = Sink::Log(Producer::new(topic.clone()));
                if !self.tasks.is_empty() {
                    let last_word = self.last_word();
                    let mut lease = Lease::new(&self.core, topic, last_word.into());
                    if is_recorded {
                        // Nothing but the record says what the stream answers.
                        lease.hurry(&mut self.core);
                    }
                    self.lease = Some(Box::new(lease));
                }
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
                if interrupted {
                    self.interrupt();
                }
            }
            // Without a log there is still the client.
            (Sink::Opening { waiting, .. }, _) => {
                let waiting = core::mem::take(waiting);
                self.sink = Sink::Wire;
                self.reply.open();
                for entry in waiting {
                    match entry {
                        Entry::Message { message, last, .. } => {
                            self.reply.replay(None, &message);
                            if last {
                                self.reply.end();
                            }
                        }
                        _ => self.reply.end(),
                    }
                }
            }
            (Sink::Log(producer) | Sink::Session(producer), reply) => {
                let written = producer.settle(&mut self.core, reply);
                let is_over = producer.is_idle() && self.tasks.is_empty();
                self.settle_written(written, is_over);
            }
            (Sink::Wire | Sink::Nowhere, _) => {}
        }
        self.start_timer();
    }

    /// Shows an entry to the client that reads this very log here: sooner than it would be read,
    /// and whether or not it can be. False where there is no such client.
    fn show(&mut self, at: Option<Cursor>, entry: Entry) -> bool {
        let Some(follow) = &self.follow else { return false };
        let ends = match entry {
            Entry::Message { .. } if self.reply.is_stalled() => {
                self.interrupt();
                return false;
            }
            Entry::Message { message, last, .. } => {
                let id = follow.id_of(at.as_ref(), last);
                self.reply.replay(id.as_deref(), &message);
                last
            }
            Entry::End => true,
            Entry::Reader(_) => false,
        };
        if ends {
            self.stop_reading();
            self.reply.end();
            if self.tasks.is_empty() {
                self.finish();
            }
        }
        true
    }

    /// What the hub did not take, a client that is there gets all the same. Where it is not, and the
    /// last entry was among that, the promise of it is left behind, so that a client that comes back
    /// is told.
    fn settle_written(&mut self, written: Written, is_over: bool) {
        if let Some((cursor, entry)) = written.at {
            self.show(Some(cursor), entry);
        }
        let is_told = written.lost.into_iter().all(|entry| self.show(None, entry));
        if is_over && is_told {
            self.keep_promise();
        } else if is_over {
            self.lease = None;
            self.core.abandon(Waiting::Lease);
            self.interrupt();
        }
    }

    fn keep_promise(&mut self) {
        if let Some(lease) = self.lease.take() {
            lease.keep(&mut self.core);
        }
    }

    /// What the client is told if this worker does not live to say it: the calls may have run.
    fn last_word(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let lost = Last::lost();
        let written = self.tasks.iter().map(|task| {
            let mut error = Vec::new();
            task.in_flight.write(&self.core.published, &lost, &mut error);
            error
        });
        if self.batch.is_some() {
            crate::frame::writer::array(&mut out, written, |error, out| {
                out.extend_from_slice(&error);
            });
        } else {
            out.extend(written.flatten());
        }
        out
    }

    pub(super) fn settle_lease(&mut self, reply: Option<Reply>) {
        let Some(lease) = &mut self.lease else { return };
        if lease.settle(&mut self.core, reply) {
            // Somebody said the last word in this worker's place; nothing more is said.
            self.lease = None;
            self.sink = Sink::Nowhere;
            while let Some(task) = self.tasks.pop() {
                self.drop_task(task);
            }
            self.batch = None;
            self.finish();
        }
    }

    // ---- reading ----

    /// Takes a stream up again, from `after` on.
    pub(super) fn resume(&mut self, mut follow: Follow, lost: Option<Bytes>, reader: String) {
        let vigil = Vigil::new(&self.core, follow.topic().to_owned(), lost);
        self.vigil = Some(Box::new(vigil));
        follow.take_over(&mut self.core, reader);
        self.follow = Some(Box::new(follow));
        self.reply.open();
        self.start_timer();
    }

    pub(super) fn settle_vigil(&mut self, reply: Option<Reply>) {
        let Some(vigil) = &mut self.vigil else { return };
        match vigil.settle(&mut self.core, reply) {
            Found::Nothing => {}
            Found::Over => {
                self.stop_reading();
                self.reply.end();
                self.finish();
            }
            Found::Lost(message) => {
                if let Some(follow) = &self.follow {
                    let entry = Entry::Message { message, last: true, key: None };
                    let publish = stream::publish(follow.topic().to_owned(), &entry);
                    self.core.emit(Effect::Hub(publish), Waiting::Nothing);
                }
            }
        }
    }

    pub(super) fn settle_follow(&mut self, reply: Option<Reply>) {
        let Some(follow) = &mut self.follow else { return };
        let found = follow.settle(&mut self.core, reply);
        for (id, message) in &found.messages {
            if self.reply.is_stalled() {
                // What the reader misses is on the log, if it comes back.
                self.interrupt();
                self.start_timer();
                return;
            }
            self.reply.replay(id.as_deref(), message);
        }
        if found.ended {
            self.stop_reading();
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
        let primes = listening.adapter.resumption == Resumption::Primed;
        if let Some(place) = heard.place.filter(|_| primes) {
            self.reply.prime(&place, self.retry());
        }
        for (id, message) in &heard.messages {
            if self.reply.is_stalled() {
                self.interrupt();
                return self.start_timer();
            }
            self.reply.replay(id.as_deref(), message);
        }
        if heard.ended {
            self.stop_reading();
            self.reply.end();
            self.finish();
        }
        self.start_timer();
    }

    // ---- ending ----

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
                    self.finish();
                }
                None => self.interrupt(),
            }
        } else if self.vigil.is_some() {
            // A stream that was taken up again, and whose call may run anywhere.
            self.interrupt();
        }
    }

    /// Ends the client's stream, though what it is about goes on: the client comes back. A
    /// stream that cannot be taken up again, and that calls wait for, is not touched.
    pub(super) fn interrupt(&mut self) {
        match &mut self.sink {
            Sink::Opening { interrupted, .. } => *interrupted = true,
            Sink::Wire if !self.tasks.is_empty() => {}
            _ => {
                if let Some(lease) = &mut self.lease {
                    lease.hurry(&mut self.core);
                }
                let retry = self.primed.then(|| self.retry());
                self.reply.interrupt(retry);
                self.stop_reading();
                if self.tasks.is_empty() {
                    self.finish();
                }
            }
        }
    }

    /// Nobody is there any more to read for.
    pub(super) fn stop_reading(&mut self) {
        if self.follow.take().is_some() {
            self.core.abandon(Waiting::Follow);
        }
        if self.vigil.take().is_some() {
            self.core.abandon(Waiting::Vigil);
        }
        if let Some(listening) = self.listening.take() {
            self.core.abandon(listening.waiting());
        }
        if self.route == Route::SseStream {
            self.forget_session();
        }
    }

    fn retry(&self) -> u64 {
        u64::try_from(self.core.endpoint.limits().retry.as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn start_timer(&mut self) {
        let limits = self.core.endpoint.limits();
        let silence = if self.reply.is_stream() {
            Some(limits.heartbeat)
        } else if !self.tasks.is_empty()
            && matches!(self.sink, Sink::Wire)
            && self.reply.is_undecided()
            && self.reply.can_stream()
        {
            Some(limits.undecided)
        } else {
            None
        };
        // Only what the client sees begins the silence anew.
        let spoke = self.reply.has_spoken();
        let running = self.timer.filter(|_| !spoke);
        let now = self.core.now;
        self.timer = silence.map(|silence| running.unwrap_or(now + silence));
    }
}
