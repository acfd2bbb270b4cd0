//! One HTTP exchange as a machine, without HTTP/1.1 around it.

use core::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::effect::{EffectError, EffectId, Reply};
use crate::frame::http1::{Closing, Headers};
use crate::model::{InputRequest, LogMessage, Outcome, Progress};
use crate::revision::Published;
use crate::server::{AskId, CallId, Endpoint, HttpExchange, HttpRequest, Machine, Output};
use crate::time::Instant;

/// A request's head, made by hand.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The method.
    pub method: String,
    /// The target's path.
    pub path: String,
    /// The target's query.
    pub query: Option<String>,
    /// Fields, in order.
    pub headers: Vec<(String, Vec<u8>)>,
}

impl Head {
    /// A POST of JSON to `path`, addressed to `localhost`.
    pub fn post(path: impl Into<String>) -> Self {
        let head = Self { method: "POST".into(), path: path.into(), ..Self::default() };
        head.with("Host", "localhost").with("Content-Type", "application/json")
    }

    /// The same head with one more field.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl fmt::Debug for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        if let Some(query) = &self.query {
            write!(f, "?{query}")?;
        }
        for (name, value) in &self.headers {
            write!(f, "; {name}: {}", value.escape_ascii())?;
        }
        Ok(())
    }
}

impl Headers for Head {
    fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.headers.get_all(name)
    }
}

impl HttpRequest for Head {
    fn method(&self) -> &str {
        &self.method
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    fn authority(&self) -> Option<&str> {
        core::str::from_utf8(self.get("host")?).ok()
    }
}

/// An [`HttpExchange`] in the form of a [`Machine`]: its input is the request's body, which ends
/// with [`handle_eof`](Machine::handle_eof); its output is the response's status and fields, each
/// on a line, a blank line, and the body. `handle_published` does nothing: an exchange goes on
/// with the declarations that it began with.
#[derive(Debug)]
pub struct BareExchange<H> {
    exchange: HttpExchange<H>,
    is_closed: bool,
}

impl<H: HttpRequest> BareExchange<H> {
    /// An exchange that begins at `now` with this head.
    pub fn new(endpoint: &Endpoint, now: Instant, head: H) -> Self {
        Self { exchange: HttpExchange::new(endpoint, now, head), is_closed: false }
    }
}

impl<H: HttpRequest> Machine for BareExchange<H> {
    fn handle_input(&mut self, now: Instant, input: &[u8]) -> usize {
        self.exchange.handle_body(now, Bytes::copy_from_slice(input));
        input.len()
    }

    fn handle_eof(&mut self, now: Instant) {
        self.exchange.handle_eof(now);
    }

    fn handle_closed(&mut self, now: Instant) {
        self.is_closed = true;
        self.exchange.handle_closed(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.exchange.handle_timeout(now);
    }

    fn handle_reply(&mut self, now: Instant, id: EffectId, reply: Result<Reply, EffectError>) {
        self.exchange.handle_reply(now, id, reply);
    }

    fn handle_published(&mut self, _: Instant, _: Arc<Published>) {}

    fn respond(&mut self, call: CallId, outcome: Outcome) {
        self.exchange.respond(call, outcome);
    }

    fn progress(&mut self, call: CallId, progress: Progress) {
        self.exchange.progress(call, progress);
    }

    fn log(&mut self, call: CallId, message: LogMessage) {
        self.exchange.log(call, message);
    }

    fn ask(&mut self, call: CallId, request: InputRequest) -> AskId {
        self.exchange.ask(call, request)
    }

    fn withdraw(&mut self, ask: AskId) {
        self.exchange.withdraw(ask);
    }

    fn suspend(&mut self, call: CallId) {
        self.exchange.suspend(call);
    }

    fn close_stream(&mut self, call: CallId) {
        self.exchange.close_stream(call);
    }

    fn close(&mut self) {
        self.exchange.close();
    }

    fn is_idle(&self) -> bool {
        self.exchange.is_idle()
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.exchange.poll_output()
    }

    fn transmit(&mut self, out: &mut Vec<u8>) {
        if self.is_closed {
            return;
        }
        if let Some(head) = self.exchange.poll_head() {
            out.extend_from_slice(format!("{}\n", head.status).as_bytes());
            for (name, value) in &head.headers {
                out.extend_from_slice(format!("{name}: {value}\n").as_bytes());
            }
            out.push(b'\n');
        }
        self.exchange.transmit(out);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.exchange.poll_timeout()
    }

    fn wants_input(&self) -> bool {
        true
    }

    fn closing(&self) -> Closing {
        match (self.is_closed, self.exchange.is_complete()) {
            (true, _) => Closing::Closed,
            (false, true) => Closing::AfterFlush,
            (false, false) => Closing::Open,
        }
    }
}
