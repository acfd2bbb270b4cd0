//! The inputs. Names begin with the field case where there is one.

use core::time::Duration;

use mcp_proto::revision::Revision;

use crate::LONG;
use crate::fixture::{Peer, Wire};

/// One thing that a peer does.
pub(crate) enum Step {
    /// Begins anew, without a handshake.
    Restart,
    Send(Vec<u8>),
    Wait(Duration),
    /// Begins or ceases to read.
    Read(bool),
    /// Ends its side of the stream.
    Eof,
}

/// What a peer does; none where its transport has no such thing.
pub(crate) type Steps = Option<Vec<Step>>;

type Input = (&'static str, fn(&mut Peer) -> Steps);

const MIB: usize = 1 << 20;
const HEAD: usize = 16 * 1024;

pub(crate) const INPUTS: &[Input] = &[
    // ---- sizes ----
    ("head at the limit", |peer| head_of(peer, HEAD)),
    ("head over the limit", |peer| head_of(peer, HEAD + 1)),
    ("100 header fields", |peer| fields(peer, 100)),
    ("101 header fields", |peer| fields(peer, 101)),
    ("C46 message at the limit", |peer| sized(peer, 4 * MIB)),
    ("C46 C77 message over the limit", |peer| sized(peer, 4 * MIB + 1)),
    ("C46 chunked body over the limit", |peer| {
        let chunk = format!("{:x}\r\n{}\r\n0\r\n\r\n", 4 * MIB + 1, " ".repeat(4 * MIB + 1));
        let head = head(peer, "POST /mcp", &["Transfer-Encoding: chunked"], &ping(peer));
        http(peer, [head.as_bytes(), chunk.as_bytes()].concat())
    }),
    ("C46 body compressed", |peer| {
        let message = ping(peer);
        let fields = ["Content-Encoding: gzip".to_owned(), length(&message)];
        let head = head(peer, "POST /mcp", &fields.each_ref().map(String::as_str), &message);
        http(peer, [head.as_bytes(), message.as_bytes()].concat())
    }),
    ("nested 128 deep", |peer| nested(peer, 128)),
    ("nested 129 deep", |peer| nested(peer, 129)),
    ("C46 nested 100,000 deep, unclosed", |peer| body(peer, "[".repeat(100_000).as_bytes())),
    ("a number of 5,000 digits", |peer| {
        let digits = "7".repeat(5_000);
        ask(peer, "tools/list", &format!("\"x\":{digits}"))
    }),
    ("an id of 5,000 digits", |peer| id(peer, &"7".repeat(5_000))),
    // ---- text ----
    ("C17 every escape", |peer| {
        ask(peer, "tools/list", r#""x":"AA\/\/ \u0000 \u2028 \ud83d\ude00 \b\f\n\r\t\"\\""#)
    }),
    ("C17 a lone surrogate", |peer| ask(peer, "tools/list", r#""x":"\ud800""#)),
    ("C79 invalid UTF-8", |peer| {
        let text = peer.request_as("1", "ping", "\"x\":\"?\"", "");
        let bytes: Vec<u8> = text.bytes().map(|it| if it == b'?' { 0xff } else { it }).collect();
        body(peer, &bytes)
    }),
    ("UTF-16", |peer| {
        let units = ping(peer);
        let bytes = [0xff, 0xfe].into_iter().chain(units.bytes().flat_map(|it| [it, 0]));
        body(peer, &bytes.collect::<Vec<_>>())
    }),
    ("a byte order mark", |peer| body(peer, format!("\u{feff}{}", ping(peer)).as_bytes())),
    ("NaN", |peer| body(peer, br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}"#)),
    ("not JSON", |peer| body(peer, b"nonsense")),
    ("cut off", |peer| body(peer, br#"{"jsonrpc":"2.0","id":1,"method":"ping""#)),
    ("C43 the stream's end before that of the text", |peer| cut_off(peer, 5)),
    ("the stream's end instead of the last byte", |peer| cut_off(peer, 1)),
    ("two texts", |peer| body(peer, b"{}{}")),
    ("nothing", |peer| body(peer, b"")),
    ("blanks", |peer| body(peer, b"  ")),
    // ---- envelopes ----
    ("a string", |peer| body(peer, b"\"ping\"")),
    ("null", |peer| body(peer, b"null")),
    ("an empty object", |peer| body(peer, b"{}")),
    ("no jsonrpc", |peer| body(peer, br#"{"id":1,"method":"ping"}"#)),
    ("jsonrpc 1.0", |peer| body(peer, br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#)),
    ("C10 two methods", |peer| {
        body(peer, br#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#)
    }),
    ("C10 two ids", |peer| body(peer, br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#)),
    ("C10 two names", |peer| ask(peer, "tools/call", r#""name":"add","name":"hang""#)),
    ("C10 two names, one escaped", |peer| {
        ask(peer, "tools/call", r#""name":"add","\u006eame":"hang""#)
    }),
    ("C10 two versions in _meta", |peer| {
        let twice = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
        let text = peer.request_as("1", "tools/list", "", "");
        let text = match peer.adapter().has_handshake {
            true => text.replace("}", &format!(",\"params\":{{\"_meta\":{{{twice}}}}}}}")),
            false => text.replace("\"_meta\":{", &format!("\"_meta\":{{{twice},")),
        };
        say(peer, &text)
    }),
    ("C10 Method", |peer| body(peer, br#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#)),
    ("C10 Name beside name", |peer| {
        ask(peer, "tools/call", r#""name":"test_simple_text","Name":"hang","Arguments":{}"#)
    }),
    ("C10 a NUL in the key", |peer| {
        body(peer, br#"{"jsonrpc":"2.0","id":1,"method\u0000":"ping"}"#)
    }),
    ("C07 an empty method", |peer| ask(peer, "", "")),
    ("C07 method null", |peer| body(peer, br#"{"jsonrpc":"2.0","id":2,"method":null}"#)),
    ("C07 method and result", |peer| {
        body(peer, br#"{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}"#)
    }),
    ("a result of nothing asked", |peer| say(peer, r#"{"jsonrpc":"2.0","id":77,"result":{}}"#)),
    ("C05 an error without id", |peer| {
        say(peer, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#)
    }),
    ("C05 an error with id null", |peer| {
        say(peer, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#)
    }),
    ("a response without result or error", |peer| body(peer, br#"{"jsonrpc":"2.0","id":1}"#)),
    // ---- ids ----
    ("id 0", |peer| id(peer, "0")),
    ("id \"\"", |peer| id(peer, "\"\"")),
    ("C01 id \"1\"", |peer| id(peer, "\"1\"")),
    ("C05 id null", |peer| id(peer, "null")),
    ("id 1.5", |peer| id(peer, "1.5")),
    ("id -3", |peer| id(peer, "-3")),
    ("id true", |peer| id(peer, "true")),
    ("id {}", |peer| id(peer, "{}")),
    ("C04 one id for two requests", |peer| {
        let slow = peer.request_as("7", "tools/call", "\"name\":\"test_tool_with_progress\"", "");
        let ping = peer.request_as("7", "tools/list", "", "");
        match peer.wire {
            Wire::Stdio => body(peer, format!("{slow}\n{ping}").as_bytes()),
            Wire::Http => body(peer, format!("[{slow},{ping}]").as_bytes()),
        }
    }),
    // ---- methods ----
    ("an unknown method", |peer| ask(peer, "no/such/method", "")),
    ("C11 an unknown notification", |peer| {
        say(peer, r#"{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3}}"#)
    }),
    ("C11 a malformed notification", |peer| {
        say(
            peer,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":"not-an-object"}"#,
        )
    }),
    ("a request's method as a notification", |peer| {
        say(peer, r#"{"jsonrpc":"2.0","method":"tools/list"}"#)
    }),
    ("a notification's method as a request", |peer| ask(peer, "notifications/initialized", "")),
    ("C83 a cancellation of nothing", |peer| {
        say(
            peer,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
        )
    }),
    ("C20 a request before the handshake", |peer| first(peer, &ping(peer))),
    ("C20 a ping before the handshake", |peer| {
        first(peer, r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#)
    }),
    ("C22 a notification before the handshake", |peer| {
        first(peer, r#"{"jsonrpc":"2.0","method":"notifications/whatever"}"#)
    }),
    ("a batch before the handshake", |peer| first(peer, &format!("[{}]", ping(peer)))),
    ("C19 a handshake for 2099-01-01", |peer| hello(peer, "\"2099-01-01\"")),
    ("C19 a handshake for 2026-07-28", |peer| hello(peer, "\"2026-07-28\"")),
    ("C19 a handshake for a number", |peer| hello(peer, "20250618")),
    ("C22 server/discover", |peer| {
        let modern = Peer::new(Revision::V2026_07_28, peer.wire);
        let message = modern.request_as("1", "server/discover", "", "");
        Some(vec![Step::Send(modern.frame(&message))])
    }),
    // ---- parameters ----
    ("C08 params null", |peer| {
        say(peer, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#)
    }),
    ("C08 params []", |peer| {
        say(peer, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#)
    }),
    ("C08 params 1", |peer| {
        say(peer, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":1}"#)
    }),
    ("C08 a tool without a name", |peer| ask(peer, "tools/call", "\"arguments\":{}")),
    ("an unknown tool", |peer| ask(peer, "tools/call", "\"name\":\"nobody\"")),
    ("arguments of another shape", |peer| {
        ask(peer, "tools/call", r#""name":"add","arguments":{"a":"x"}"#)
    }),
    ("C95 an unknown resource", |peer| ask(peer, "resources/read", "\"uri\":\"::\"")),
    ("C107 a completion without ref", |peer| ask(peer, "completion/complete", "")),
    ("C26 no _meta", |peer| say(peer, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)),
    ("C26 no version in _meta", |peer| {
        meta(peer, r#"{"io.modelcontextprotocol/clientCapabilities":{}}"#)
    }),
    ("C26 no capabilities in _meta", |peer| {
        meta(peer, r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#)
    }),
    ("_meta of another shape", |peer| meta(peer, "[]")),
    ("a version in _meta that is no string", |peer| {
        meta(
            peer,
            r#"{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/clientCapabilities":{}}"#,
        )
    }),
    // ---- batches ----
    ("a batch", |peer| batch(peer, 2)),
    ("a batch of notifications", |peer| body(peer, format!("[{}]", peer.initialized()).as_bytes())),
    ("an empty batch", |peer| body(peer, b"[]")),
    ("a batch of 100", |peer| batch(peer, 100)),
    ("a batch of 101", |peer| batch(peer, 101)),
    ("a batch with a number in it", |peer| body(peer, format!("[1,{}]", ping(peer)).as_bytes())),
    ("initialize in a batch", |peer| {
        let hello = Peer::new(Revision::V2025_03_26, peer.wire).hello();
        body(peer, format!("[{hello}]").as_bytes())
    }),
    // ---- headers ----
    ("Content-Type text/plain", |peer| media(peer, Some("text/plain"))),
    ("Content-Type of UTF-16", |peer| media(peer, Some("application/json; charset=utf-16"))),
    ("no Content-Type", |peer| media(peer, None)),
    ("C32 Accept */*", |peer| accept(peer, &["*/*"])),
    ("C32 Accept application/*, text/event-stream;q=0.5", |peer| {
        accept(peer, &["application/*, text/event-stream;q=0.5"])
    }),
    ("C32 Accept application/json;charset=utf-8, text/event-stream", |peer| {
        accept(peer, &["application/json;charset=utf-8, text/event-stream"])
    }),
    ("C32 Accept APPLICATION/JSON", |peer| accept(peer, &["APPLICATION/JSON"])),
    ("C32 Accept on two lines", |peer| accept(peer, &["application/json", "text/event-stream"])),
    ("C32 Accept application/json", |peer| accept(peer, &["application/json"])),
    ("C32 Accept text/event-stream", |peer| accept(peer, &["text/event-stream"])),
    ("C32 no Accept", |peer| accept(peer, &[])),
    ("C32 Accept text/html", |peer| accept(peer, &["text/html"])),
    ("C32 Accept with q=0", |peer| accept(peer, &["*/*;q=0"])),
    ("C32 GET with Accept */*", |peer| plain(peer, "GET /mcp", &["Accept: */*"])),
    ("C25 no MCP-Protocol-Version", |peer| version(peer, &[])),
    ("C25 MCP-Protocol-Version 2025-06-18", |peer| version(peer, &["2025-06-18"])),
    ("C25 MCP-Protocol-Version with blanks", |peer| {
        let own = format!("  {}  ", peer.adapter().version);
        version(peer, &[&own])
    }),
    ("C25 MCP-Protocol-Version twice", |peer| {
        let own = peer.adapter().version;
        version(peer, &[own, own])
    }),
    ("C25 MCP-Protocol-Version 2024-11-05", |peer| version(peer, &["2024-11-05"])),
    ("C25 MCP-Protocol-Version banana", |peer| version(peer, &["banana"])),
    ("C34 an unknown session", |peer| session(peer, "gone")),
    ("C34 a malformed session", |peer| session(peer, "a b")),
    ("C34 an overlong session", |peer| session(peer, &"s".repeat(10_000))),
    ("C34 DELETE of an unknown session", |peer| {
        plain(peer, "DELETE /mcp", &["Mcp-Session-Id: gone"])
    }),
    ("C34 DELETE without a session", |peer| plain(peer, "DELETE /mcp", &[])),
    ("C35 PUT", |peer| plain(peer, "PUT /mcp", &[])),
    ("C41 another path", |peer| plain(peer, "POST /other", &["Content-Length: 0"])),
    ("C44 Host evil.example", |peer| host(peer, &["evil.example"])),
    ("C44 Host localhost.evil.com", |peer| host(peer, &["localhost.evil.com"])),
    ("C44 Host user@localhost", |peer| host(peer, &["user@localhost"])),
    ("C44 Host [::1]:8080", |peer| host(peer, &["[::1]:8080"])),
    ("C44 two Hosts", |peer| host(peer, &["localhost", "localhost"])),
    ("C44 no Host", |peer| host(peer, &[])),
    ("C44 Origin null", |peer| origin(peer, "null")),
    ("C44 Origin https://evil.example", |peer| origin(peer, "https://evil.example")),
    // ---- time ----
    ("a slow head", |peer| {
        slow(peer, |frame| frame.windows(4).position(|it| it == b"\r\n\r\n").unwrap_or(10) / 2)
    }),
    ("a slow body", |peer| slow(peer, |frame| frame.len() - 5)),
    ("C53 a reader that does not read", |peer| {
        let list = peer.request("tools/list", "");
        let lists = peer.frame(&list).repeat(1_500);
        Some(vec![Step::Read(false), Step::Send(lists), Step::Read(true)])
    }),
];

// ---- how they are sent ----

/// A message, with the headers that it demands.
fn say(peer: &mut Peer, message: &str) -> Steps {
    Some(vec![Step::Send(peer.frame(message))])
}

fn ask(peer: &mut Peer, method: &str, params: &str) -> Steps {
    let request = peer.request(method, params);
    say(peer, &request)
}

/// A body, or a line, that need not be a message; its headers are those of a ping.
fn body(peer: &mut Peer, bytes: &[u8]) -> Steps {
    let headers = peer.headers(&ping(peer));
    Some(vec![Step::Send(match peer.wire {
        Wire::Stdio => [bytes, b"\n"].concat(),
        Wire::Http => peer.post(&headers, bytes),
    })])
}

fn http(peer: &Peer, bytes: Vec<u8>) -> Steps {
    (peer.wire == Wire::Http).then(|| vec![Step::Send(bytes)])
}

/// A request of that method and target, without a body.
fn plain(peer: &Peer, line: &str, fields: &[&str]) -> Steps {
    let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
    http(peer, format!("{line} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n").into_bytes())
}

/// The smallest request that every revision answers with a result.
fn ping(peer: &Peer) -> String {
    peer.request_as("1", "tools/list", "", "")
}

fn length(message: &str) -> String {
    format!("Content-Length: {}", message.len())
}

/// A head with these fields besides those that `message` demands.
fn head(peer: &Peer, line: &str, fields: &[&str], message: &str) -> String {
    let mut head = format!("{line} HTTP/1.1\r\n");
    let is_given = |name: &str| fields.iter().any(|it| it.starts_with(name));
    for (name, value) in [("Host", "localhost"), ("Content-Type", "application/json")] {
        if !is_given(name) {
            head += &format!("{name}: {value}\r\n");
        }
    }
    for (name, value) in peer.headers(message).iter().filter(|(name, _)| !is_given(name)) {
        head += &format!("{name}: {value}\r\n");
    }
    fields.iter().filter(|it| !it.ends_with(": -")).for_each(|it| head += &format!("{it}\r\n"));
    head + "\r\n"
}

/// A ping with these fields instead of the usual ones; `Name: -` leaves one out.
fn with_fields(peer: &Peer, fields: &[String]) -> Steps {
    let message = ping(peer);
    let mut all: Vec<&str> = fields.iter().map(String::as_str).collect();
    let length = length(&message);
    all.push(&length);
    http(peer, (head(peer, "POST /mcp", &all, &message) + &message).into_bytes())
}

// ---- inputs with a parameter ----

/// The first message of all.
fn first(peer: &mut Peer, message: &str) -> Steps {
    peer.session = None;
    Some(vec![Step::Restart, Step::Send(peer.frame(message))])
}

/// A request of which the last bytes never come.
fn cut_off(peer: &mut Peer, missing: usize) -> Steps {
    let message = ping(peer);
    let mut frame = peer.frame(&message);
    frame.truncate(frame.len() - missing);
    Some(vec![Step::Send(frame), Step::Eof])
}

fn head_of(peer: &Peer, size: usize) -> Steps {
    let message = ping(peer);
    let length = length(&message);
    let bare = head(peer, "POST /mcp", &["X-Padding: ", &length], &message).len();
    let padding = format!("X-Padding: {}", "x".repeat(size - bare));
    let head = head(peer, "POST /mcp", &[&padding, &length], &message);
    assert_eq!(head.len(), size);
    http(peer, (head + &message).into_bytes())
}

fn fields(peer: &Peer, count: usize) -> Steps {
    let message = ping(peer);
    let length = length(&message);
    let usual = head(peer, "POST /mcp", &[&length], &message).lines().count() - 2;
    let mut fields = vec!["X-Field: 1"; count - usual];
    fields.push(&length);
    http(peer, (head(peer, "POST /mcp", &fields, &message) + &message).into_bytes())
}

/// A message of `size` bytes.
fn sized(peer: &mut Peer, size: usize) -> Steps {
    let message = ping(peer);
    let padded = format!("{}{message}", " ".repeat(size - message.len()));
    body(peer, padded.as_bytes())
}

fn nested(peer: &mut Peer, depth: usize) -> Steps {
    // The message and its params are two levels themselves.
    let (open, close) = ("[".repeat(depth - 2), "]".repeat(depth - 2));
    ask(peer, "tools/list", &format!("\"x\":{open}{close}"))
}

fn id(peer: &mut Peer, id: &str) -> Steps {
    let request = peer.request_as(id, "tools/list", "", "");
    say(peer, &request)
}

fn hello(peer: &mut Peer, version: &str) -> Steps {
    let params = format!(
        "\"protocolVersion\":{version},\"capabilities\":{{}},\"clientInfo\":{{\"name\":\"p\",\"version\":\"1\"}}"
    );
    let message = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{{{params}}}}}"
    );
    Some(vec![Step::Send(match peer.wire {
        Wire::Stdio => format!("{message}\n").into_bytes(),
        Wire::Http => peer.post(&[], message.as_bytes()),
    })])
}

fn meta(peer: &mut Peer, meta: &str) -> Steps {
    let request = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{{\"_meta\":{meta}}}}}"
    );
    say(peer, &request)
}

fn batch(peer: &mut Peer, count: usize) -> Steps {
    let requests: Vec<_> =
        (0..count).map(|id| peer.request_as(&id.to_string(), "prompts/list", "", "")).collect();
    body(peer, format!("[{}]", requests.join(",")).as_bytes())
}

fn media(peer: &Peer, value: Option<&str>) -> Steps {
    with_fields(peer, &[format!("Content-Type: {}", value.unwrap_or("-"))])
}

fn accept(peer: &Peer, values: &[&str]) -> Steps {
    let fields: Vec<_> = values.iter().map(|value| format!("Accept: {value}")).collect();
    with_fields(peer, &fields)
}

fn version(peer: &Peer, values: &[&str]) -> Steps {
    let mut fields: Vec<_> =
        values.iter().map(|value| format!("MCP-Protocol-Version: {value}")).collect();
    if fields.is_empty() {
        fields.push("MCP-Protocol-Version: -".into());
    }
    with_fields(peer, &fields)
}

fn session(peer: &Peer, value: &str) -> Steps {
    with_fields(peer, &[format!("Mcp-Session-Id: {value}")])
}

fn host(peer: &Peer, values: &[&str]) -> Steps {
    let mut fields: Vec<_> = values.iter().map(|value| format!("Host: {value}")).collect();
    if fields.is_empty() {
        fields.push("Host: -".into());
    }
    with_fields(peer, &fields)
}

fn origin(peer: &Peer, value: &str) -> Steps {
    with_fields(peer, &[format!("Origin: {value}")])
}

/// A request that pauses for long after so many bytes.
fn slow(peer: &mut Peer, pause: fn(&[u8]) -> usize) -> Steps {
    let message = ping(peer);
    let frame = peer.frame(&message);
    let (first, second) = frame.split_at(pause(&frame));
    Some(vec![Step::Send(first.to_vec()), Step::Wait(LONG), Step::Send(second.to_vec())])
}
