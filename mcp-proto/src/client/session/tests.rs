//! The session against a server that says what a test has it say.

mod answers;
mod asking;
mod bounded;
mod listening;
mod negotiating;
mod oldest;
mod progress;
mod redirects;
mod retrying;
mod sessions;
mod silence;
mod streams;
mod unreadable;

use core::time::Duration;

use serde_json::Value;

use super::Session;
use crate::client::{
    CallId, Carry, ClientError, Config, ErrorKind, Event, ExchangeId, Machine, Method, Open, Output,
};
use crate::model::{Implementation, Json, Operation, Reply, Request};
use crate::revision::{AdapterSet, Revision};
use crate::time::Instant;

/// A session, what it opened, and what it said.
struct Http {
    session: Session,
    now: Instant,
    opened: Vec<Open>,
    closed: Vec<ExchangeId>,
    events: Vec<Event>,
}

const JSON: &[(&str, &str)] = &[("Content-Type", "application/json")];
const EVENTS: &[(&str, &str)] = &[("Content-Type", "text/event-stream")];
const HTML: &[(&str, &str)] = &[("Content-Type", "text/html")];

fn config(revisions: impl IntoIterator<Item = Revision>) -> Config {
    let mut config = Config::new(Implementation::new("client", "1"));
    config.adapters = AdapterSet::of(revisions).unwrap();
    config
}

impl Http {
    fn new(config: Config) -> Self {
        let session = Session::new(config, "http://h/mcp", Instant::ZERO).unwrap();
        let now = Instant::ZERO;
        let mut http =
            Self { session, now, opened: Vec::new(), closed: Vec::new(), events: Vec::new() };
        http.drain();
        http
    }

    /// A session at 2026-07-28 that knows its server.
    fn modern() -> Self {
        Self::modern_with(config([Revision::V2026_07_28]))
    }

    fn modern_with(config: Config) -> Self {
        let mut http = Self::new(config);
        let discover = http.take();
        http.result(
            &discover,
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"}"#,
        );
        http.events.clear();
        http
    }

    /// A session at a handshake revision that the server calls `s1`.
    fn legacy(revision: Revision) -> Self {
        Self::legacy_with(config([revision]), revision)
    }

    fn legacy_with(mut config: Config, revision: Revision) -> Self {
        config.unasked = false;
        let mut http = Self::new(config);
        http.shake("s1", revision);
        http.events.clear();
        http
    }

    /// Answers a handshake that is under way.
    fn shake(&mut self, session: &str, revision: Revision) {
        let initialize = self.take();
        assert_eq!(body(&initialize)["method"], "initialize");
        let headers = [JSON[0], ("Mcp-Session-Id", session)];
        let version = revision.adapter().version;
        let result = format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{"listChanged":true}},"resources":{{"subscribe":true}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#
        );
        let id = &body(&initialize)["id"];
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        self.respond(&initialize, 200, &headers, text.as_bytes());
        let initialized = self.take();
        assert_eq!(body(&initialized)["method"], "notifications/initialized");
        self.respond(&initialized, 202, &[], b"");
    }

    fn drain(&mut self) {
        while let Some(output) = self.session.poll_output() {
            match output {
                Output::Event(event) => self.events.push(event),
                Output::Carry(Carry::Open(open)) => self.opened.push(open),
                Output::Carry(Carry::Close(exchange)) => self.closed.push(exchange),
                Output::Effect(..) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The one exchange that was opened since the last time.
    fn take(&mut self) -> Open {
        self.drain();
        assert_eq!(self.opened.len(), 1, "{:?}", self.opened);
        self.opened.remove(0)
    }

    fn take_all(&mut self) -> Vec<Open> {
        self.drain();
        core::mem::take(&mut self.opened)
    }

    fn call(&mut self, request: Request) -> CallId {
        let call = self.session.call(self.now, request);
        self.drain();
        call
    }

    fn head(&mut self, open: &Open, status: u16, headers: &[(&str, &str)]) {
        self.session.handle_head(self.now, open.exchange, status, headers);
        self.drain();
    }

    fn feed(&mut self, open: &Open, bytes: &str) {
        self.session.handle_body(self.now, open.exchange, bytes.as_bytes());
        self.drain();
    }

    fn end(&mut self, open: &Open) {
        self.session.handle_end(self.now, open.exchange);
        self.drain();
    }

    fn fail(&mut self, open: &Open) {
        self.session.handle_failed(self.now, open.exchange, true, "reset");
        self.drain();
    }

    fn respond(&mut self, open: &Open, status: u16, headers: &[(&str, &str)], body: &[u8]) {
        self.head(open, status, headers);
        self.session.handle_body(self.now, open.exchange, body);
        self.end(open);
    }

    /// Answers a request with this result, as JSON.
    fn result(&mut self, open: &Open, result: &str) {
        let id = &body(open)["id"];
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        self.respond(open, 200, JSON, text.as_bytes());
    }

    /// Answers a request with this error, at this status.
    fn error(&mut self, open: &Open, status: u16, code: i64) {
        let id = &body(open)["id"];
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no"}}}}"#);
        self.respond(open, status, JSON, text.as_bytes());
    }

    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.session.poll_timeout().filter(|at| *at <= until) {
            self.now = self.now.max(at);
            self.session.handle_timeout(self.now);
            assert!(self.session.poll_timeout().is_none_or(|next| next > self.now));
        }
        self.now = until;
        self.drain();
    }

    /// How a call ended, if it did.
    fn ended(&self, call: CallId) -> Option<Result<Reply, ClientError>> {
        let mut ends = self.events.iter().filter_map(|event| match event {
            Event::Ended(id, result) if *id == call => {
                Some(result.clone().map(|reply| (*reply).clone()))
            }
            _ => None,
        });
        let end = ends.next();
        assert!(ends.next().is_none(), "{call} ended twice");
        end
    }

    fn error_of(&self, call: CallId) -> ClientError {
        self.ended(call).expect("it ended").expect_err("it failed")
    }

    fn count(&self, is_one: impl Fn(&Event) -> bool) -> usize {
        self.events.iter().filter(|event| is_one(event)).count()
    }
}

fn body(open: &Open) -> Value {
    serde_json::from_slice(&open.body).unwrap_or(Value::Null)
}

fn header<'a>(open: &'a Open, name: &str) -> Option<&'a str> {
    let mut values = open.headers.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name));
    let value = values.next();
    assert!(values.next().is_none(), "{name} is sent twice");
    value.map(|(_, value)| value.as_str())
}

fn json(text: &str) -> Option<Json> {
    Some(Json::parse(text.to_owned()).unwrap())
}

fn event(id: Option<&str>, data: &str) -> String {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("{id}data: {data}\n\n")
}

fn tool_call() -> Request {
    Request::call_tool("t", None)
}

const DONE: &str = r#"{"resultType":"complete","content":[]}"#;
