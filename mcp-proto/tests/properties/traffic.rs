//! What peers send: messages of every revision, whole and damaged.

use mcp_proto::revision::Revision;
use mcp_proto::testing::Head;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::fixture::{Peer, Wire};

/// Stands for the id of the session that was made last.
pub(crate) const SESSION: &str = "{SESSION}";

const IDS: [&str; 12] = ["1", "2", "3", "4", "5", "6", "7", "\"1\"", "0", "\"\"", "null", "1.5"];

/// Methods, each with members of its `params`.
const USUAL: [(&str, &str); 15] = [
    ("ping", ""),
    ("server/discover", ""),
    ("tools/list", ""),
    ("tools/list", "\"cursor\":\"dG9vbHM6YWRk\""),
    ("prompts/list", ""),
    ("tools/call", r#""name":"add","arguments":{"a":1,"b":2}"#),
    ("tools/call", "\"name\":\"hang\""),
    ("tools/call", "\"name\":\"hang\""),
    ("tools/call", "\"name\":\"slow\""),
    ("tools/call", "\"name\":\"test_streaming\""),
    ("tools/call", r#""name":"test_x_mcp_header","arguments":{"region":"eu"}"#),
    ("resources/read", "\"uri\":\"test://static-text\""),
    ("prompts/get", "\"name\":\"test_simple_prompt\""),
    (
        "completion/complete",
        r#""ref":{"type":"ref/prompt","name":"test_simple_prompt"},"argument":{"name":"a","value":"v"}"#,
    ),
    ("logging/setLevel", "\"level\":\"debug\""),
];

const UNUSUAL: [(&str, &str); 9] = [
    ("tools/call", r#""name":"add","arguments":[1]"#),
    ("tools/call", "\"name\":\"nobody\""),
    ("tools/call", ""),
    ("resources/list", "\"cursor\":\"nonsense\""),
    ("resources/read", "\"uri\":\"test://nothing\""),
    ("initialize", "\"protocolVersion\":1"),
    ("resources/subscribe", "\"uri\":\"test://watched\""),
    ("no/such/method", ""),
    ("", ""),
];

/// Messages that are no requests, and texts that are no messages.
const OTHERS: [&str; 14] = [
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":"not-an-object"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/nobody"}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#,
    "[]",
    "{}",
    "nonsense",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
];

pub(crate) fn revision() -> impl Strategy<Value = Revision> {
    select(Revision::ALL.to_vec())
}

/// One message as `peer` would send it.
fn message(revision: Revision, wire: Wire) -> impl Strategy<Value = String> {
    let meta = select(vec![
        "",
        "\"progressToken\":\"p\"",
        "\"progressToken\":\"p\",\"io.modelcontextprotocol/logLevel\":\"debug\"",
    ]);
    let method = prop_oneof![6 => select(&USUAL[..]), 1 => select(&UNUSUAL[..])];
    let request = (select(&IDS[..]), method, meta).prop_map(move |(id, (method, params), meta)| {
        Peer::new(revision, wire).request_as(id, method, params, meta)
    });
    let hello = Just(()).prop_map(move |()| Peer::new(revision, wire).hello());
    prop_oneof![12 => request, 3 => hello, 2 => select(&OTHERS[..]).prop_map(str::to_owned)]
}

/// One message, or a few as a batch.
fn body(revision: Revision, wire: Wire) -> impl Strategy<Value = String> {
    let batch = prop::collection::vec(message(revision, wire), 0..5)
        .prop_map(|messages| format!("[{}]", messages.join(",")));
    prop_oneof![6 => message(revision, wire), 1 => batch]
}

fn accept() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => Just(Peer::BOTH),
        1 => Just("application/json"),
        1 => Just("text/event-stream"),
        1 => Just("*/*;q=0, text/html")
    ]
}

fn session() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![4 => Just(None), 8 => Just(Some(SESSION)), 1 => Just(Some("gone"))]
}

/// A peer with a body to send; nearly always of this revision.
fn sender(wire: Wire, usual: Revision) -> impl Strategy<Value = (Peer, String)> {
    let revision = prop_oneof![9 => Just(usual), 1 => revision()];
    let peer = (revision, accept(), session());
    peer.prop_flat_map(move |(revision, accept, session)| {
        body(revision, wire).prop_map(move |body| {
            let mut peer = Peer::new(revision, wire);
            peer.accept = accept;
            // Who greets has no session yet.
            let greets = body.contains("\"initialize\"");
            peer.session = session.filter(|_| !greets).map(str::to_owned);
            (peer, body)
        })
    })
}

/// Whole frames: lines, or HTTP requests.
fn frames(wire: Wire, usual: Revision) -> impl Strategy<Value = Vec<u8>> {
    let frame = sender(wire, usual).prop_map(|(peer, body)| peer.frame(&body));
    let plain = select(vec![
        "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {SESSION}\r\n\r\n",
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nHost: evil\r\nContent-Length: 2\r\n\r\n{}",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ])
    .prop_map(|text| text.as_bytes().to_vec());
    match wire {
        Wire::Http => prop_oneof![9 => frame, 1 => plain].boxed(),
        Wire::Stdio => frame.boxed(),
    }
}

/// What arrives in one piece: frames, a part of one, something damaged, anything.
pub(crate) fn bytes(wire: Wire, usual: Revision) -> BoxedStrategy<Vec<u8>> {
    let frames = || frames(wire, usual);
    let several = prop::collection::vec(frames(), 1..4).prop_map(|frames| frames.concat());
    let part = (frames(), any::<Index>()).prop_map(|(mut frame, at)| {
        frame.truncate(at.index(frame.len()) + 1);
        frame
    });
    let anything = prop::collection::vec(any::<u8>(), 0..60);
    prop_oneof![8 => frames(), 6 => several, 1 => part, 1 => damaged(frames()), 1 => anything]
        .boxed()
}

/// A part of a body.
pub(crate) fn body_bytes(usual: Revision) -> BoxedStrategy<Vec<u8>> {
    let whole = sender(Wire::Http, usual).prop_map(|(_, body)| body.into_bytes()).boxed();
    prop_oneof![9 => whole.clone(), 1 => damaged(whole)].boxed()
}

/// The head of a POST with this body, and the body.
pub(crate) fn exchange(usual: Revision) -> BoxedStrategy<(Head, Vec<u8>)> {
    let odd = select(vec![
        ("DELETE", "application/json"),
        ("GET", "application/json"),
        ("POST", "text/plain"),
    ]);
    let how = prop_oneof![9 => Just(("POST", "application/json")), 1 => odd];
    (sender(Wire::Http, usual), how)
        .prop_map(|((peer, body), (method, content_type))| {
            let mut head = Head { method: method.into(), path: "/mcp".into(), ..Head::default() };
            head = head.with("Host", "localhost").with("Content-Type", content_type);
            head = head.with("Accept", peer.accept);
            for (name, value) in peer.headers(&body) {
                head = head.with(name, value.replace(SESSION, "first"));
            }
            (head, body.into_bytes())
        })
        .boxed()
}

/// Replaces, inserts or removes a byte here and there.
fn damaged(bytes: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let byte = select(b"\r\n\t :;,\"{}[]0\x00\x7f\xff".to_vec());
    let damage = prop::collection::vec((any::<Index>(), 0..3, byte), 1..3);
    (bytes, damage).prop_map(|(mut bytes, damage)| {
        for (at, how, byte) in damage {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        bytes
    })
}
