//! What hostile servers do to our client: a table with the error that a call ends with, and the
//! bytes and the (virtual) time that the server gets at most.

use core::time::Duration;
use std::collections::BTreeMap;

use mcp_proto::client::{
    CallId, Carry, Config, Event, ExchangeId, Limits, Machine, Open, Output, Session, Stdio,
};
use mcp_proto::model::{ClientCapabilities, Implementation, Operation, Request};
use mcp_proto::revision::{AdapterSet, Revision};
use mcp_proto::time::Instant;

const SECOND: Duration = Duration::from_secs(1);
const MESSAGE: usize = 64 << 10;
/// How long a call bears silence here, and how long it may take in all.
const PATIENCE: u64 = 10;
const LONGEST: u64 = 60;

/// One thing that a server does.
#[derive(Clone)]
enum Act {
    Head(u16, &'static str),
    Encoded(&'static str),
    Elsewhere(u16, String),
    Say(String),
    End,
    Cut,
}

/// What a server does in an exchange: some things, each after a pause, and the last one again and
/// again where it has no end.
struct Play {
    acts: Vec<(Duration, Act)>,
    without_end: bool,
}

use Act::{Cut, Elsewhere, Encoded, End, Head, Say};

const NOW: Duration = Duration::ZERO;

fn play(acts: impl IntoIterator<Item = (Duration, Act)>) -> Play {
    Play { acts: acts.into_iter().collect(), without_end: false }
}

fn for_ever(acts: impl IntoIterator<Item = (Duration, Act)>) -> Play {
    Play { without_end: true, ..play(acts) }
}

/// All at once.
fn at_once(acts: impl IntoIterator<Item = Act>) -> Play {
    play(acts.into_iter().map(|act| (NOW, act)))
}

fn id(open: &Open) -> String {
    let body: serde_json::Value = serde_json::from_slice(&open.body).unwrap();
    body["id"].to_string()
}

fn result(open: &Open, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id(open))
}

fn event(data: &str) -> Act {
    Say(format!("data: {data}\n\n"))
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// A row: what the server does, how the call ends, and what that costs at most.
struct Row {
    name: &'static str,
    revision: Revision,
    lists: bool,
    plays: fn(&Open, usize) -> Play,
    ends: &'static str,
    bytes: usize,
    time: u64,
}

fn row(
    name: &'static str,
    ends: &'static str,
    (bytes, time): (usize, u64),
    plays: fn(&Open, usize) -> Play,
) -> Row {
    Row { name, revision: Revision::V2026_07_28, lists: false, plays, ends, bytes, time }
}

impl Row {
    fn lists(self) -> Self {
        Self { lists: true, ..self }
    }

    fn at(self, revision: Revision) -> Self {
        Self { revision, ..self }
    }
}

const TOO_MUCH: &str = "the server sent too much";
const CIRCLE: &str = "the server redirects to \"http://h/b\" (status 307): one redirect too many";
const LATE: &str = "no answer in time";
const NO_ANSWER: &str = "the server does not keep to the protocol: a response without the answer";

fn rows() -> Vec<Row> {
    vec![
        row("a body without end", TOO_MUCH, (MESSAGE + 4_096, 1), |_, _| {
            for_ever([(NOW, Head(200, JSON)), (NOW, Say(" ".repeat(4_096)))])
        }),
        row("a stream of comments without end", LATE, (1 << 20, PATIENCE), |_, _| {
            for_ever([(NOW, Head(200, EVENTS)), (SECOND / 10, Say(": on\n\n".repeat(100)))])
        }),
        row("progress without end", LATE, (1 << 20, LONGEST), |open, _| {
            let note = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":1}}}}"#,
                id(open)
            );
            for_ever([(NOW, Head(200, EVENTS)), (SECOND, event(&note))])
        }),
        row("a huge event", TOO_MUCH, (5 * MESSAGE, 1), |_, _| {
            for_ever([(NOW, Head(200, EVENTS)), (NOW, Say("data: x\n".repeat(512)))])
        }),
        row("a huge line", TOO_MUCH, (MESSAGE + 8_192, 1), |_, _| {
            for_ever([(NOW, Head(200, EVENTS)), (NOW, Say("x".repeat(4_096)))])
        }),
        row("a wrong id", NO_ANSWER, (1_024, 0), |_, _| {
            let text = r#"{"jsonrpc":"2.0","id":99,"result":{"content":[]}}"#;
            at_once([Head(200, JSON), Say(text.into()), End])
        }),
        row("replies to nothing", LATE, (1 << 20, PATIENCE), |_, _| {
            let text = event(r#"{"jsonrpc":"2.0","id":"zz","result":{}}"#);
            for_ever([(NOW, Head(200, EVENTS)), (SECOND / 10, text)])
        }),
        row("an id of another type", "ok", (1_024, 0), |open, _| {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":"{}","result":{{"content":[]}}}}"#, id(open));
            at_once([Head(200, JSON), Say(text), End])
        }),
        row("an id that is no id", NO_ANSWER, (1_024, 0), |_, _| {
            let text = r#"{"jsonrpc":"2.0","id":[1],"result":{"content":[]}}"#;
            at_once([Head(200, JSON), Say(text.into()), End])
        }),
        row("a redirect to nowhere", "the server redirects to \"\"", (0, 0), |_, _| {
            at_once([Head(307, JSON), End])
        }),
        row("redirects in a circle", CIRCLE, (0, 0), |open, _| {
            let other = if open.target == "/a" { "/b" } else { "/a" };
            at_once([Elsewhere(307, other.into()), End])
        }),
        row("redirects without end", "the server redirects to ", (0, 0), |_, nth| {
            at_once([Elsewhere(308, format!("/{nth}")), End])
        }),
        row("a redirect with a body without end", CIRCLE, (1 << 20, 1), |_, _| {
            for_ever([(NOW, Elsewhere(307, "/b".into())), (SECOND / 10, Say(" ".repeat(4_096)))])
        }),
        row("a redirect to another origin", "the server redirects to", (0, 0), |_, _| {
            at_once([Elsewhere(307, "http://evil.example/".into()), End])
        }),
        row("a redirect that drops the call", "the server redirects to", (0, 0), |_, _| {
            at_once([Elsewhere(303, "/b".into()), End])
        }),
        row("a slow drip", LATE, (1_024, PATIENCE), |_, _| {
            for_ever([(NOW, Head(200, JSON)), (SECOND, Say(" ".into()))])
        }),
        row("no head at all", LATE, (0, PATIENCE), |_, _| play([])),
        row("a body cut short", "cut", (1_024, 0), |open, _| {
            let text = result(open, r#"{"content":[]}"#);
            at_once([Head(200, JSON), Say(text[..20].into()), Cut])
        }),
        row(
            "a stream that ends early",
            "the stream ended before the answer",
            (1_024, 0),
            |_, _| at_once([Head(200, EVENTS), Say("data: {\"jsonrpc\"".into()), End]),
        ),
        row(
            "gzip when not asked",
            "the server does not keep to the protocol: an encoding",
            (0, 0),
            |_, _| at_once([Encoded(EVENTS), End]),
        ),
        row(
            "gzip of JSON when not asked",
            "the server does not keep to the protocol: an encoding",
            (1_024, 0),
            |_, _| at_once([Encoded(JSON), Say("\u{1f}\u{8b}".into()), End]),
        ),
        row("200 with a page", NO_ANSWER, (0, 0), |_, _| {
            at_once([Head(200, "text/html"), Say("<html>".into()), End])
        }),
        row("a page without end", NO_ANSWER, (0, 0), |_, _| {
            for_ever([(NOW, Head(200, "text/html")), (SECOND / 10, Say("x".repeat(65_536)))])
        }),
        row("lines that end in CR, and split UTF-8", "ok", (1_024, 0), |open, _| {
            let text = result(open, r#"{"content":[{"type":"text","text":"é"}]}"#);
            at_once([Head(200, EVENTS), Say(format!("data: {text}\r\r"))])
        }),
        row(
            "`retry: 0` and nothing new",
            "the stream ended before the answer",
            (1_024, 30),
            |_, _| at_once([Head(200, EVENTS), Say("id: 1\nretry: 0\ndata:\n\n".into()), End]),
        )
        .at(Revision::V2025_11_25),
        row("`retry: 0` and always a new id", LATE, (64 << 10, PATIENCE), |_, nth| {
            at_once([Head(200, EVENTS), Say(format!("id: {nth}\nretry: 0\ndata:\n\n")), End])
        })
        .at(Revision::V2025_11_25),
        row("a state without questions for ever", LATE, (64 << 10, LONGEST), |open, _| {
            let text = result(open, r#"{"resultType":"input_required","requestState":"s"}"#);
            at_once([Head(200, JSON), Say(text), End])
        }),
        row("questions for ever", "the server asks without end", (64 << 10, 1), |open, _| {
            let asks =
                r#"{"resultType":"input_required","inputRequests":{"r":{"method":"roots/list"}}}"#;
            at_once([Head(200, JSON), Say(result(open, asks)), End])
        }),
        row(
            "questions by the thousand",
            "the server sent too much: questions",
            (MESSAGE, 0),
            |open, _| {
                let asks: Vec<_> =
                    (0..1_000).map(|n| format!(r#""{n}":{{"method":"roots/list"}}"#)).collect();
                let asks = format!(
                    r#"{{"resultType":"input_required","inputRequests":{{{}}}}}"#,
                    asks.join(",")
                );
                at_once([Head(200, JSON), Say(result(open, &asks)), End])
            },
        ),
        row(
            "a cursor that repeats",
            "the server's list repeats a cursor",
            (4_096, 0),
            |open, _| {
                at_once([
                    Head(200, JSON),
                    Say(result(open, r#"{"tools":[],"nextCursor":"x"}"#)),
                    End,
                ])
            },
        )
        .lists(),
        row(
            "pages without end",
            "the server sent too much: pages of a list",
            (256 << 10, 0),
            |open, nth| {
                let page = format!(r#"{{"tools":[],"nextCursor":"{nth}"}}"#);
                at_once([Head(200, JSON), Say(result(open, &page)), End])
            },
        )
        .lists(),
        row(
            "tools by the million",
            "the server sent too much: entries of a list",
            (24 << 20, 0),
            |open, nth| {
                let tool = |n: usize| {
                    format!(r#"{{"name":"t{nth}-{n}","inputSchema":{{"type":"object"}}}}"#)
                };
                let tools: Vec<_> = (0..1_000).map(tool).collect();
                let page = format!(r#"{{"tools":[{}],"nextCursor":"{nth}"}}"#, tools.join(","));
                at_once([Head(200, JSON), Say(result(open, &page)), End])
            },
        )
        .lists(),
        row("JSON that nests without end", NO_ANSWER, (MESSAGE, 0), |_, _| {
            at_once([Head(200, JSON), Say("[".repeat(50_000)), End])
        }),
        row("a member twice", NO_ANSWER, (1_024, 0), |open, _| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":{0},"id":{0},"result":{{"content":[]}}}}"#,
                id(open)
            );
            at_once([Head(200, JSON), Say(text), End])
        }),
    ]
}

fn config(revision: Revision) -> Config {
    let mut config = Config::new(Implementation::new("client", "1"));
    config.adapters = AdapterSet::of([revision]).unwrap();
    config.capabilities = ClientCapabilities::default();
    config.capabilities.roots = true;
    config.unasked = false;
    config.limits = Limits::default();
    config.limits.message = MESSAGE;
    config.limits.patience = Duration::from_secs(PATIENCE);
    config.limits.longest = Duration::from_secs(LONGEST);
    config.limits.entries = 10_000;
    config
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
                    let is_note = !String::from_utf8_lossy(&open.body).contains("\"id\":");
                    if is_note && !open.body.is_empty() {
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
                    let roots = mcp_proto::model::Json::parse("{\"roots\":[]}").unwrap();
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
fn known(revision: Revision) -> Session {
    let mut session = Session::new(config(revision), "http://h/", Instant::ZERO).unwrap();
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
            session.handle_head(
                Instant::ZERO,
                open.exchange,
                status,
                &[("Content-Type", JSON)][..],
            );
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

#[test]
fn no_server_gets_more_than_its_share() {
    let rows = rows();
    println!("{:44} {:>10} {:>8}  error", "hostile server", "bytes", "seconds");
    for row in &rows {
        let mut session = known(row.revision);
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
    println!("hostile servers over HTTP: {}", rows.len());
}

/// The same over byte streams: lines that are said once the call is under way, again and again.
#[test]
fn no_server_gets_more_than_its_share_over_byte_streams() {
    type Line = fn(u32) -> String;
    let rows: &[(&str, Line, &str)] = &[
        ("silence", |_| String::new(), LATE),
        ("a line without end", |_| "x".repeat(4_096), LATE),
        ("nonsense", |_| "nonsense\n".into(), LATE),
        (
            "replies to nothing",
            |n| format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{}}}}\n", n + 100),
            LATE,
        ),
        (
            "questions without end",
            |n| format!("{{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"roots/list\"}}\n"),
            LATE,
        ),
        (
            "progress without end",
            |_| {
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":2,\"progress\":1}}\n".into()
            },
            LATE,
        ),
        (
            "logs without end",
            |_| {
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":1}}\n".repeat(100)
            },
            LATE,
        ),
        ("a batch without end", |_| format!("[{}{{}}]\n", "{},".repeat(1_000)), LATE),
    ];
    for (name, line, ends) in rows {
        let mut client = Stdio::new(config(Revision::V2025_11_25), Instant::ZERO);
        let version = "2025-11-25";
        let greeting = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"protocolVersion\":\"{version}\",\"capabilities\":{{}}}}}}\n"
        );
        client.handle_input(Instant::ZERO, greeting.as_bytes());
        let call = client.call(Instant::ZERO, Request::call_tool("t", None).with_progress());
        let (mut end, mut written) = (None, 0);
        for tenth in 0..10 * (LONGEST as u32 + 1) {
            let now = Instant::from_millis(u64::from(tenth) * 100);
            client.handle_timeout(now);
            client.handle_input(now, line(tenth).as_bytes());
            let mut queued = 0;
            while let Some(output) = client.poll_output() {
                queued += 1;
                if let Output::Event(Event::Ended(id, result)) = output {
                    assert!(id == call && end.is_none(), "{name}");
                    end = Some((result.unwrap_err().to_string(), tenth / 10));
                }
            }
            assert!(queued <= 4_200, "{name}: {queued} events at once");
            let mut out = Vec::new();
            client.transmit(&mut out);
            written += out.len();
        }
        let (error, seconds) = end.unwrap_or_else(|| panic!("{name}: it never ended"));
        println!("{name:44} {written:>10} {seconds:>8}  {error}");
        assert!(error.starts_with(ends), "{name}: {error}");
        assert!(u64::from(seconds) <= LONGEST && written < 128 << 10, "{name}: {written} bytes");
    }
    println!("hostile servers over byte streams: {}", rows.len());
}
