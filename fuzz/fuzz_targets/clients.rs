//! Whatever a server says, a client neither panics nor waits for the past, and each call ends once.
#![no_main]

use core::time::Duration;
use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use mcp_proto::client::{
    CallId, Carry, Config, Event, ExchangeId, Machine, Output, Session, Stdio,
};
use mcp_proto::model::{Filter, Implementation, Json, Operation, Request};
use mcp_proto::time::Instant;

fn config() -> Config {
    let mut config = Config::new(Implementation::new("client", "1"));
    config.capabilities.roots = true;
    config.cache = true;
    config
}

/// What was opened and has not ended, and the calls that have.
#[derive(Default)]
struct Seen {
    open: Vec<ExchangeId>,
    ended: BTreeSet<CallId>,
}

impl Seen {
    fn drain(&mut self, now: Instant, client: &mut dyn Machine) {
        while let Some(output) = client.poll_output() {
            match output {
                Output::Carry(Carry::Open(open)) => self.open.push(open.exchange),
                Output::Carry(Carry::Close(exchange)) => self.open.retain(|it| *it != exchange),
                Output::Event(Event::Ended(call, _)) => assert!(self.ended.insert(call)),
                Output::Event(Event::Ask(ask, _)) => {
                    let roots = Json::parse("{\"roots\":[]}").expect("JSON");
                    client.answer(now, ask, Ok(roots));
                }
                _ => {}
            }
        }
    }
}

fn begin(client: &mut dyn Machine) -> usize {
    let requests = [
        Request::list(Operation::ListTools),
        Request::call_tool("t", None).with_progress(),
        Request::read_resource("a://b"),
        Request::get_prompt("p", None),
        Request::ping(),
    ];
    let calls = requests.len();
    requests.into_iter().for_each(|request| {
        client.call(Instant::ZERO, request);
    });
    client.listen(Instant::ZERO, Filter::lists());
    calls
}

/// Lets everything that waits come to its end.
fn finish(mut now: Instant, client: &mut dyn Machine, seen: &mut Seen, calls: usize) {
    client.close(now);
    seen.drain(now, client);
    while let Some(at) = client.poll_timeout() {
        assert!(at > now, "it waits for the past");
        now = at;
        client.handle_timeout(now);
        seen.drain(now, client);
    }
    assert_eq!(seen.ended.len(), calls);
}

/// Lines: a `~` at the beginning of one lets a second pass.
fn stdio(input: &[u8]) {
    let mut client = Stdio::new(config(), Instant::ZERO);
    let (mut seen, mut now) = (Seen::default(), Instant::ZERO);
    let calls = begin(&mut client);
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        if line.first() == Some(&b'~') {
            now = now + Duration::from_secs(1);
            client.handle_timeout(now);
        }
        client.handle_input(now, line);
        client.handle_respawned(now);
        seen.drain(now, &mut client);
        client.transmit(&mut Vec::new());
    }
    client.handle_eof(now);
    finish(now, &mut client, &mut seen, calls);
}

/// Lines, of which each goes to the oldest exchange: `200 json`, `200 sse`, `404`, `end`, `fail`,
/// `~` for a second, else a piece of the body.
fn session(input: &[u8]) {
    let mut client = Session::new(config(), "http://h/mcp", Instant::ZERO).expect("a URL");
    let (mut seen, mut now) = (Seen::default(), Instant::ZERO);
    let calls = begin(&mut client);
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        seen.drain(now, &mut client);
        let Some(exchange) = seen.open.first().copied() else { break };
        let words = String::from_utf8_lossy(line);
        let mut words = words.split_whitespace();
        let first = words.next().unwrap_or_default();
        match (first, first.parse::<u16>()) {
            ("end", _) => {
                seen.open.remove(0);
                client.handle_end(now, exchange);
            }
            ("fail", _) => {
                seen.open.remove(0);
                client.handle_failed(now, exchange, true, "fails");
            }
            ("~", _) => {
                now = now + Duration::from_secs(1);
                client.handle_timeout(now);
            }
            (_, Ok(status)) => {
                let kind = match words.next() {
                    Some("sse") => "text/event-stream",
                    Some("json") => "application/json",
                    _ => "text/html",
                };
                let headers = [("Content-Type", kind), ("Mcp-Session-Id", "s")];
                client.handle_head(now, exchange, status, &headers[..]);
            }
            _ => client.handle_body(now, exchange, line),
        }
    }
    seen.drain(now, &mut client);
    finish(now, &mut client, &mut seen, calls);
}

fuzz_target!(|input: &[u8]| {
    stdio(input);
    session(input);
});
