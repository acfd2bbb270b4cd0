//! One HTTP/1.1 connection: framing, and one exchange after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use super::core::Core;
use super::exchange::Buffers;
use super::machine::IDS;
use super::{AskId, CallId, Endpoint, HttpExchange, HttpRefusal, Machine, Notice, Output};
use crate::effect::{EffectError, EffectId, Reply};
use crate::frame::http1::server::{Event, Server};
use crate::frame::http1::{Closing, KEEP, Refusal, RequestHead};
use crate::model::{InputRequest, LogMessage, Outcome, Progress};
use crate::revision::Published;
use crate::time::{Instant, earlier};

/// One HTTP/1.1 connection that serves an [`Endpoint`]; see [`Machine`] for how to drive it.
#[derive(Debug)]
pub struct Connection {
    endpoint: Endpoint,
    peer: Option<Arc<str>>,
    http: Server,
    now: Instant,
    /// The exchange whose response is being sent. Its place is kept from one to the next, and
    /// given up when the connection is idle, so that idle connections are small.
    current: Option<Box<Option<HttpExchange<RequestHead>>>>,
    /// Exchanges whose response is complete and whose calls go on.
    behind: Vec<HttpExchange<RequestHead>>,
    exchanges: u64,
    outputs: VecDeque<Output>,
    /// What the last exchange worked with, empty.
    buffers: Buffers,
}

impl Connection {
    /// A connection that was accepted at `now`.
    pub fn new(endpoint: Endpoint, now: Instant) -> Self {
        Self {
            http: Server::new(now, endpoint.limits().http),
            endpoint,
            peer: None,
            now,
            current: None,
            behind: Vec::new(),
            exchanges: 0,
            outputs: VecDeque::new(),
            buffers: Buffers::default(),
        }
    }

    /// The same, with its peer at that network address. A store may charge it for what is kept of
    /// peers that nobody knows ([`SessionOp::Create`](crate::store::SessionOp::Create)).
    #[must_use]
    pub fn of_peer(mut self, peer: impl Into<Arc<str>>) -> Self {
        self.peer = Some(peer.into());
        self
    }

    /// Its settings, with what it declares now.
    #[cfg(feature = "service")]
    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Bytes of its peer's, and for it, that it holds.
    #[cfg(feature = "service")]
    pub(crate) fn held(&self) -> usize {
        self.http.held() + self.exchanges().map(HttpExchange::held).sum::<usize>()
    }

    /// The head of the request that a call came with.
    pub fn request(&self, call: CallId) -> Option<&RequestHead> {
        Some(self.exchanges().find(|exchange| exchange.owns_call(call))?.head())
    }

    /// Moves what happened from framing to the exchange and back, until nothing happens.
    fn pump(&mut self) {
        loop {
            self.flush();
            let Some(event) = self.http.poll_event() else { break };
            match event {
                Event::Head(head) => self.begin(head),
                Event::Body(chunk) => self.with(|exchange, now| exchange.handle_body(now, chunk)),
                Event::End => self.with(|exchange, now| exchange.handle_eof(now)),
                Event::Refused(refusal) => self.refused(refusal),
                Event::Aborted(_) => self.with(|exchange, now| exchange.handle_closed(now)),
            }
        }
        self.sweep();
        self.collect();
    }

    fn begin(&mut self, head: RequestHead) {
        let core = Core::new(self.endpoint.clone(), self.now, self.exchanges << IDS)
            .of_peer(self.peer.clone());
        self.exchanges += 1;
        let buffers = core::mem::take(&mut self.buffers);
        let exchange = HttpExchange::with_buffers(core, head, buffers);
        if exchange.wants_input() {
            self.http.send_continue();
        }
        match &mut self.current {
            Some(place) => **place = Some(exchange),
            None => self.current = Some(Box::new(Some(exchange))),
        }
    }

    fn refused(&mut self, refusal: Refusal) {
        if let Some(exchange) = current(&mut self.current) {
            return exchange.handle_refused(refusal);
        }
        let notice = Notice::of_framing(refusal).map(super::Event::Notice);
        self.outputs.extend(notice.map(Output::Event));
        let mut body = Vec::new();
        let refusal = HttpRefusal::Framing(refusal);
        refusal.write_body(None, &mut body);
        let headers = [("Content-Type", "application/json")];
        // The connection may be gone already; then nobody is left to be told.
        let _ = self.http.reply(self.now, refusal.status(), headers, &body);
    }

    fn with(&mut self, act: impl FnOnce(&mut HttpExchange<RequestHead>, Instant)) {
        if let Some(exchange) = current(&mut self.current) {
            act(exchange, self.now);
        }
    }

    /// The exchange whose id this is.
    fn of(&mut self, id: u64) -> Option<&mut HttpExchange<RequestHead>> {
        let number = id >> IDS;
        self.exchanges_mut().find(|exchange| exchange.first_id() >> IDS == number)
    }

    fn exchanges(&self) -> impl Iterator<Item = &HttpExchange<RequestHead>> {
        self.current.iter().flat_map(|place| place.iter()).chain(&self.behind)
    }

    fn exchanges_mut(&mut self) -> impl Iterator<Item = &mut HttpExchange<RequestHead>> {
        self.current.iter_mut().flat_map(|place| place.iter_mut()).chain(&mut self.behind)
    }

    /// Whether further output may wait for the reader.
    fn has_room(&self) -> bool {
        self.http.pending_output() < self.endpoint.limits().queued_bytes
    }

    /// Hands the exchange's output to framing. An open stream waits behind a reader that stalls,
    /// so that its own bound can act.
    fn flush(&mut self) {
        let stalled = !self.has_room();
        let Some(exchange) = current(&mut self.current) else { return };
        // Every error means that the exchange is over; the event that says so is on its way.
        if let Some(head) = exchange.poll_head() {
            let headers = head.headers.iter().map(|(name, value)| (*name, value.as_bytes()));
            let _ = self.http.respond(head.status, headers, head.length);
        }
        let complete = exchange.is_complete();
        if !exchange.body().is_empty() && (complete || !stalled) {
            let _ = self.http.write_body(exchange.body());
            let body = exchange.body();
            body.clear();
            if body.capacity() > KEEP {
                *body = Vec::new();
            }
        }
        if complete {
            self.retire();
            if self.http.finish(self.now).is_err() {
                self.http.abort(self.now);
            }
        }
    }

    /// The exchange's response is complete: it goes on behind the next one, or hands on its
    /// buffers.
    fn retire(&mut self) {
        let Some(place) = &mut self.current else { return };
        match &mut **place {
            Some(exchange) if exchange.is_idle() => {
                self.buffers = exchange.take_buffers(&mut self.outputs);
                **place = None;
            }
            _ => self.behind.extend(place.take()),
        }
    }

    /// Takes what exchanges have to say as soon as they have said it, so that what comes first
    /// does not depend on when it is fetched.
    fn collect(&mut self) {
        let current = self.current.iter_mut().flat_map(|place| place.iter_mut());
        for exchange in current.chain(&mut self.behind) {
            exchange.move_outputs(&mut self.outputs);
        }
    }

    /// Lets go of exchanges that went on and are over now.
    fn sweep(&mut self) {
        while let Some(index) = self.behind.iter().position(|exchange| exchange.is_idle()) {
            self.behind.swap_remove(index).move_outputs(&mut self.outputs);
        }
    }
}

/// The exchange in its place. A field of its own, so that others can be used beside it.
fn current(
    place: &mut Option<Box<Option<HttpExchange<RequestHead>>>>,
) -> Option<&mut HttpExchange<RequestHead>> {
    place.as_mut()?.as_mut().as_mut()
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
        let now = self.now;
        self.exchanges_mut().for_each(|exchange| exchange.handle_timeout(now));
        self.pump();
        if self.current.as_ref().is_some_and(|place| place.is_none()) {
            self.current = None;
        }
    }

    fn handle_reply(&mut self, now: Instant, id: EffectId, reply: Result<Reply, EffectError>) {
        self.now = self.now.max(now);
        let now = self.now;
        if let Some(exchange) = self.of(id.0) {
            exchange.handle_reply(now, id, reply);
        }
        self.pump();
    }

    fn handle_published(&mut self, now: Instant, published: Arc<Published>) {
        self.now = self.now.max(now);
        self.endpoint = self.endpoint.with_published(published);
    }

    fn respond(&mut self, call: CallId, outcome: Outcome) {
        if let Some(exchange) = self.of(call.0) {
            exchange.respond(call, outcome);
        }
        self.pump();
    }

    fn progress(&mut self, call: CallId, progress: Progress) {
        if let Some(exchange) = self.of(call.0) {
            exchange.progress(call, progress);
        }
        self.pump();
    }

    fn log(&mut self, call: CallId, message: LogMessage) {
        if let Some(exchange) = self.of(call.0) {
            exchange.log(call, message);
        }
        self.pump();
    }

    fn ask(&mut self, call: CallId, request: InputRequest) -> AskId {
        let ask = match self.of(call.0) {
            Some(exchange) => exchange.ask(call, request),
            None => super::core::unsupported(&mut self.outputs, call),
        };
        self.pump();
        ask
    }

    fn withdraw(&mut self, ask: AskId) {
        if let Some(exchange) = self.of(ask.0) {
            exchange.withdraw(ask);
        }
        self.pump();
    }

    fn suspend(&mut self, call: CallId) {
        if let Some(exchange) = self.of(call.0) {
            exchange.suspend(call);
        }
        self.pump();
    }

    fn close_stream(&mut self, call: CallId) {
        if let Some(exchange) = self.of(call.0) {
            exchange.close_stream(call);
        }
        self.pump();
    }

    fn close(&mut self) {
        self.exchanges_mut().for_each(Machine::close);
        self.http.close(self.now);
        self.pump();
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn transmit(&mut self, out: &mut Vec<u8>) {
        self.http.transmit(out);
        // What waited behind a stalled reader; it moves bytes and decides nothing.
        self.flush();
        self.http.transmit(out);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.exchanges().fold(self.http.poll_timeout(), |soonest, exchange| {
            earlier(soonest, exchange.poll_timeout())
        })
    }

    /// False while enough was sent ahead, or while a reader that stalls leaves too much output
    /// waiting.
    fn wants_input(&self) -> bool {
        self.http.wants_input() && self.has_room()
    }

    fn closing(&self) -> Closing {
        self.http.closing()
    }

    fn is_idle(&self) -> bool {
        self.outputs.is_empty() && self.exchanges().next().is_none()
    }
}
