//! One HTTP/1.1 connection: framing, and one exchange after the other.

use std::sync::Arc;

use super::exchange::Recycled;
use super::{CallId, Endpoint, HttpExchange, HttpRefusal, Machine, Output};
use crate::effect::{EffectError, EffectId, Reply};
use crate::frame::http1::server::{Event, Server};
use crate::frame::http1::{Closing, Refusal, RequestHead};
use crate::model::{LogMessage, Outcome, Progress};
use crate::revision::Published;
use crate::time::{Instant, earlier};

/// One HTTP/1.1 connection that serves an [`Endpoint`]; see [`Machine`] for how to drive it.
#[derive(Debug)]
pub struct Connection {
    endpoint: Endpoint,
    published: Arc<Published>,
    http: Server,
    now: Instant,
    state: State,
}

/// Boxed, so that an idle connection is small.
#[derive(Debug)]
enum State {
    /// Between exchanges. What the last one left to be said is in here.
    Idle(Recycled),
    Busy(Box<HttpExchange<RequestHead>>),
}

impl Connection {
    /// A connection that was accepted at `now`.
    pub fn new(endpoint: Endpoint, now: Instant) -> Self {
        let published = endpoint.published().clone();
        let http = Server::new(now, endpoint.limits().http);
        Self { endpoint, published, http, now, state: State::Idle(Recycled::default()) }
    }

    /// The head of the request whose calls are running.
    pub fn request(&self) -> Option<&RequestHead> {
        match &self.state {
            State::Idle(_) => None,
            State::Busy(exchange) => Some(exchange.head()),
        }
    }

    /// Moves what happened from framing to the exchange and back, until nothing happens.
    fn pump(&mut self) {
        loop {
            self.flush();
            let Some(event) = self.http.poll_event() else { break };
            match event {
                Event::Head(head) => self.begin(head),
                Event::Body(chunk) => self.with(|exchange, now| exchange.handle_body(now, chunk)),
                Event::End => self.with(|exchange, now| exchange.handle_end(now)),
                Event::Refused(refusal) => self.refused(refusal),
                Event::Aborted(_) => self.with(|exchange, now| exchange.handle_closed(now)),
            }
        }
    }

    fn begin(&mut self, head: RequestHead) {
        let State::Idle(recycled) = &mut self.state else { return };
        let recycled = core::mem::take(recycled);
        let published = self.published.clone();
        let exchange = HttpExchange::recycled(&self.endpoint, published, self.now, head, recycled);
        if exchange.wants_body() {
            self.http.send_continue();
        }
        self.state = State::Busy(Box::new(exchange));
    }

    fn refused(&mut self, refusal: Refusal) {
        match &mut self.state {
            State::Busy(exchange) => exchange.handle_refused(refusal),
            State::Idle(_) => {
                let mut body = Vec::new();
                let refusal = HttpRefusal::Framing(refusal);
                refusal.write_body(None, &mut body);
                let headers = [("Content-Type", "application/json")];
                // The connection may be gone already; then nobody is left to be told.
                let _ = self.http.reply(self.now, refusal.status(), headers, &body);
            }
        }
    }

    fn with(&mut self, act: impl FnOnce(&mut HttpExchange<RequestHead>, Instant)) {
        if let State::Busy(exchange) = &mut self.state {
            act(exchange, self.now);
        }
    }

    /// Whether further output may wait for the reader.
    fn has_room(&self) -> bool {
        self.http.pending_output() < self.endpoint.limits().queued_bytes
    }

    /// Hands the exchange's output to framing. An open stream waits behind a reader that stalls,
    /// so that its own bound can act.
    fn flush(&mut self) {
        let stalled = !self.has_room();
        let State::Busy(exchange) = &mut self.state else { return };
        // Every error means that the exchange is over; the event that says so is on its way.
        if let Some(head) = exchange.poll_head() {
            let headers = head.headers.iter().map(|(name, value)| (*name, value.as_bytes()));
            let _ = self.http.respond(head.status, headers, head.length);
        }
        let complete = exchange.is_complete();
        if !exchange.body().is_empty() && (complete || !stalled) {
            let _ = self.http.write_body(exchange.body());
            exchange.body().clear();
        }
        if complete {
            let state = core::mem::replace(&mut self.state, State::Idle(Recycled::default()));
            if let State::Busy(exchange) = state {
                self.state = State::Idle(exchange.into_recycled());
            }
            if self.http.finish(self.now).is_err() {
                self.http.abort(self.now);
            }
        }
    }
}

impl Machine for Connection {
    fn handle_input(&mut self, now: Instant, input: &[u8]) -> usize {
        self.now = self.now.max(now);
        let mut taken = 0;
        while let Some(rest) = input.get(taken..).filter(|rest| !rest.is_empty())
            && self.has_room()
        {
            let more = self.http.handle_input(self.now, rest);
            self.pump();
            if more == 0 {
                break;
            }
            taken += more;
        }
        taken
    }

    fn handle_eof(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.http.handle_eof(self.now);
        self.pump();
    }

    fn handle_closed(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.http.handle_closed(self.now);
        self.pump();
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.http.handle_timeout(self.now);
        self.with(|exchange, now| exchange.handle_timeout(now));
        self.pump();
    }

    fn handle_reply(&mut self, now: Instant, id: EffectId, reply: Result<Reply, EffectError>) {
        self.now = self.now.max(now);
        self.with(|exchange, now| exchange.handle_reply(now, id, reply));
        self.pump();
    }

    fn handle_published(&mut self, now: Instant, published: Arc<Published>) {
        self.now = self.now.max(now);
        self.published = published;
    }

    fn respond(&mut self, call: CallId, outcome: Outcome) {
        self.with(|exchange, _| exchange.respond(call, outcome));
        self.pump();
    }

    fn progress(&mut self, call: CallId, progress: Progress) {
        self.with(|exchange, _| exchange.progress(call, progress));
        self.pump();
    }

    fn log(&mut self, call: CallId, message: LogMessage) {
        self.with(|exchange, _| exchange.log(call, message));
        self.pump();
    }

    fn close(&mut self) {
        self.http.close(self.now);
        self.pump();
    }

    fn poll_output(&mut self) -> Option<Output> {
        match &mut self.state {
            State::Idle(recycled) => recycled.outputs.pop_front(),
            State::Busy(exchange) => exchange.poll_output(),
        }
    }

    fn transmit(&mut self, out: &mut Vec<u8>) {
        self.http.transmit(out);
        // What waited behind a stalled reader; it moves bytes and decides nothing.
        self.flush();
        self.http.transmit(out);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let exchange = match &self.state {
            State::Idle(_) => None,
            State::Busy(exchange) => exchange.poll_timeout(),
        };
        earlier(self.http.poll_timeout(), exchange)
    }

    /// False while enough was sent ahead, or while a reader that stalls leaves too much output
    /// waiting.
    fn wants_input(&self) -> bool {
        self.http.wants_input() && self.has_room()
    }

    fn closing(&self) -> Closing {
        self.http.closing()
    }
}
