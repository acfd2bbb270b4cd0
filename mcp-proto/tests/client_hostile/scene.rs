//! One client and one hostile server, in virtual time.

use core::time::Duration;
use std::collections::BTreeMap;

use mcp_proto::client::{CallId, Carry, Event, ExchangeId, Machine, Output, Session};
use mcp_proto::model::{Json, Operation, Request};
use mcp_proto::revision::Revision;
use mcp_proto::time::Instant;

use super::config;
use super::play::Act::{self, Cut, Elsewhere, Encoded, End, Head, Opens, Say};
use super::play::{JSON, Play, Row, at_once, result};

/// Plays every row, and holds what comes of it to what the row says.
pub(crate) fn judge(rows: &[Row], begin: impl Fn(&Row) -> Session) {
    println!("{:44} {:>10} {:>8}  error", "hostile server", "bytes", "seconds");
    for row in rows {
        let mut session = begin(row);
        let request = match row.lists {
            true => Request::list(Operation::ListTools),
            false => Request::call_tool("t", None).with_progress(),
        };
        let call = session.call(Instant::ZERO, request);
        let mut scene = Scene {
            session,
            now: Instant::ZERO,
            agenda: BTreeMap::new(),
            endless: BTreeMap::new(),
            arranged: 0,
            exchanges: 0,
            bytes: 0,
            end: None,
        };
        scene.drain(call, row);
        for _ in 0..200_000 {
            if scene.end.is_some() {
                break;
            }
            scene.step();
            scene.drain(call, row);
        }
        let end = scene.end.clone().unwrap_or_else(|| panic!("{}: it never ended", row.name));
        let time = scene.now.as_micros() / 1_000_000;
        println!("{:44} {:>10} {:>8}  {end}", row.name, scene.bytes, time);
        assert!(end.starts_with(row.ends), "{}: {end}", row.name);
        assert!(scene.bytes <= row.bytes, "{}: {} bytes", row.name, scene.bytes);
        assert!(time <= row.time, "{}: {time} s", row.name);
        // And then it is quiet.
        let now = scene.now;
        scene.session.close(now);
        scene.drain(call, row);
        while let Some(at) = scene.session.poll_timeout() {
            scene.session.handle_timeout(at);
            scene.drain(call, row);
        }
        assert!(scene.session.is_closed(), "{}", row.name);
    }
}

/// A session and its server, in virtual time.
struct Scene {
    session: Session,
    now: Instant,
    agenda: BTreeMap<(Instant, u64), (ExchangeId, Act)>,
    /// What goes on for ever, by exchange.
    endless: BTreeMap<ExchangeId, (Duration, Act)>,
    arranged: u64,
    exchanges: usize,
    bytes: usize,
    end: Option<String>,
}

impl Scene {
    fn arrange(&mut self, at: Instant, exchange: ExchangeId, act: Act) {
        self.arranged += 1;
        self.agenda.insert((at, self.arranged), (exchange, act));
    }

    fn begin(&mut self, exchange: ExchangeId, play: Play) {
        let mut at = self.now;
        let last = play.acts.last().cloned().filter(|_| play.without_end);
        for (pause, act) in play.acts {
            at = at + pause;
            self.arrange(at, exchange, act);
        }
        if let Some(last) = last {
            self.endless.insert(exchange, last);
        }
    }

    fn drain(&mut self, call: CallId, row: &Row) {
        while let Some(output) = self.session.poll_output() {
            match output {
                Output::Carry(Carry::Open(open)) => {
                    let body = String::from_utf8_lossy(&open.body);
                    let is_request = body.contains("\"id\":") && body.contains("\"method\":");
                    if !is_request && !open.body.is_empty() {
                        self.begin(open.exchange, at_once([Head(202, JSON), End]));
                    } else {
                        let play = (row.plays)(&open, self.exchanges);
                        self.exchanges += 1;
                        self.begin(open.exchange, play);
                    }
                }
                Output::Carry(Carry::Close(exchange)) => {
                    self.endless.remove(&exchange);
                    self.agenda.retain(|_, (own, _)| *own != exchange);
                }
                Output::Event(Event::Ended(id, result)) if id == call => {
                    let text = result.err().map_or_else(|| "ok".to_owned(), |it| it.to_string());
                    assert!(self.end.replace(text).is_none(), "{}: it ended twice", row.name);
                }
                Output::Event(Event::Ask(ask, _)) => {
                    let roots = Json::parse("{\"roots\":[]}").unwrap();
                    self.session.answer(self.now, ask, Ok(roots));
                }
                _ => {}
            }
        }
    }

    fn step(&mut self) {
        let due = self.agenda.first_key_value().map(|((at, _), _)| *at);
        let timeout = self.session.poll_timeout();
        let next = [due, timeout].into_iter().flatten().min().expect("something happens");
        self.now = self.now.max(next);
        if due.is_none_or(|at| at > self.now) {
            self.session.handle_timeout(self.now);
            return;
        }
        let Some((_, (exchange, act))) = self.agenda.pop_first() else { return };
        match act {
            Head(status, kind) => {
                self.session.handle_head(self.now, exchange, status, &[("Content-Type", kind)][..]);
            }
            Opens(kind) => {
                let headers = [("Content-Type", kind), ("Mcp-Session-Id", "s")];
                self.session.handle_head(self.now, exchange, 200, &headers[..]);
            }
            Encoded(kind) => {
                let headers = [("Content-Type", kind), ("Content-Encoding", "gzip")];
                self.session.handle_head(self.now, exchange, 200, &headers[..]);
            }
            Elsewhere(status, place) => {
                let headers = [("Content-Type", JSON), ("Location", &*place)];
                self.session.handle_head(self.now, exchange, status, &headers[..]);
            }
            Say(text) => {
                self.bytes += text.len();
                // Small pieces, so that characters are cut apart.
                for piece in text.as_bytes().chunks(if text.len() < 1_024 { 1 } else { 1_021 }) {
                    self.session.handle_body(self.now, exchange, piece);
                }
            }
            End => self.session.handle_end(self.now, exchange),
            Cut => self.session.handle_failed(self.now, exchange, true, "cut"),
        }
        let goes_on = !self.agenda.values().any(|(own, _)| *own == exchange);
        if let Some((pause, act)) = self.endless.get(&exchange).cloned().filter(|_| goes_on) {
            self.arrange(self.now + pause, exchange, act);
        }
    }
}

/// A session that knows its server, which was a good one until then.
pub(crate) fn known(revision: Revision) -> Session {
    let mut session = Session::new(config([revision]), "http://h/", Instant::ZERO).unwrap();
    let description = match revision.adapter().has_handshake {
        true => {
            format!(r#"{{"protocolVersion":"{}","capabilities":{{}}}}"#, revision.adapter().version)
        }
        false => format!(
            r#"{{"supportedVersions":["{}"],"capabilities":{{}}}}"#,
            revision.adapter().version
        ),
    };
    while session.server().is_none() || session.exchanges() > 0 {
        while let Some(output) = session.poll_output() {
            let Output::Carry(Carry::Open(open)) = output else { continue };
            let is_request = String::from_utf8_lossy(&open.body).contains("\"id\":");
            let status = if is_request { 200 } else { 202 };
            let headers = [("Content-Type", JSON), ("Mcp-Session-Id", "s")];
            session.handle_head(Instant::ZERO, open.exchange, status, &headers[..]);
            if is_request {
                let text = result(&open, &description);
                session.handle_body(Instant::ZERO, open.exchange, text.as_bytes());
            }
            session.handle_end(Instant::ZERO, open.exchange);
        }
    }
    while session.poll_output().is_some() {}
    session
}
