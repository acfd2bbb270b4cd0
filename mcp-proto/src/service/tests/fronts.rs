//! What HTTP itself says of a request, behind a listener of ours and under a web framework.

use core::future::Future;
use core::time::Duration;
use std::sync::{Arc, Mutex};

use super::super::world::{Port, VirtualTime};
use super::super::*;
use crate::auth::{Authorization, Principal};
use crate::revision::{AdapterSet, Revision};
use crate::server::{Gate, Limits};

/// Who reads the requests.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Front {
    Own,
    #[cfg(feature = "tower")]
    Mounted,
}

impl Front {
    const ALL: &[Self] = &[
        Self::Own,
        #[cfg(feature = "tower")]
        Self::Mounted,
    ];

    /// Runs `client` against what `set` makes of a service at the path `/mcp`.
    fn serve<T, C: Future<Output = T>>(
        self,
        set: impl FnOnce(HttpBuilder<VirtualTime>) -> HttpBuilder<VirtualTime>,
        client: impl FnOnce(Door) -> C,
    ) -> T {
        let time = VirtualTime::default();
        let service = Registry::new("test", "1")
            .tool(tool("quick", || async { "done" }))
            .resource("config://app", || async { "{}" })
            .build()
            .expect("valid");
        let builder = set(HttpBuilder::new(time.clone(), service).path("/mcp"));
        match self {
            Self::Own => {
                let port = Port::default();
                let server = builder.listen(port.clone()).expect("a port");
                let client = client(Door::Own(port));
                let done = async {
                    let output = client.await;
                    (time.sleep(Duration::from_secs(1)).await, output).1
                };
                let end = time.sleep(Duration::from_secs(1_000));
                time.run(server.serve_with_shutdown(end), done).1
            }
            #[cfg(feature = "tower")]
            Self::Mounted => {
                let door = Door::Mounted(builder.mount().expect("it fits"));
                time.run(core::future::ready(()), client(door)).1
            }
        }
    }
}

/// Where requests are put.
enum Door {
    Own(Port),
    #[cfg(feature = "tower")]
    Mounted(tower::HttpService<VirtualTime>),
}

/// A response: the status, the fields with names in lower case, and the body where it has a length.
#[derive(Debug)]
struct Answer {
    status: u16,
    fields: Vec<(String, String)>,
    body: String,
}

impl Answer {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(own, _)| own == name).map(|(_, value)| &**value)
    }
}

type Fields<'a> = Vec<(&'a str, &'a str)>;

impl Door {
    /// `request` is a method and a target.
    async fn ask(&self, request: &str, fields: &Fields<'_>, body: &str) -> Answer {
        let (method, target) = request.split_once(' ').expect("a method and a target");
        match self {
            Self::Own(port) => {
                let mut end = port.connect();
                let fields: String =
                    fields.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let length = body.len();
                let head =
                    format!("{method} {target} HTTP/1.1\r\n{fields}Content-Length: {length}");
                end.send(format!("{head}\r\n\r\n{body}").as_bytes()).await;
                read(&end.receive_until(is_whole).await)
            }
            #[cfg(feature = "tower")]
            Self::Mounted(service) => {
                use tower_service::Service as _;
                let mut request = http::Request::builder().method(method).uri(target);
                for (name, value) in fields {
                    request = request.header(*name, *value);
                }
                let request = request.body(Whole(body.to_owned().into())).expect("a request");
                let response = service.clone().call(request).await.expect("an answer");
                let pairs = response.headers().iter();
                let fields: Vec<_> = pairs
                    .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                    .collect();
                let (status, sized) = (response.status().as_u16(), is_sized(&fields));
                let body =
                    if sized { Whole::text(response.into_body()).await } else { String::new() };
                Answer { status, fields, body }
            }
        }
    }

    async fn post(&self, extra: &Fields<'_>, body: &str) -> Answer {
        let mut fields = vec![
            ("Host", "localhost"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        fields.extend(extra);
        self.ask("POST /mcp", &fields, body).await
    }

    /// Shakes hands, and gives the session's id.
    async fn open(&self, revision: Revision) -> String {
        let opened = self.post(&Vec::new(), &hello(revision)).await;
        opened.field("mcp-session-id").expect("a session").to_owned()
    }
}

fn is_sized(fields: &[(String, String)]) -> bool {
    fields.iter().any(|(name, _)| name == "content-length")
}

/// Whether that is a response as far as it is to be read.
fn is_whole(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let head = head.to_ascii_lowercase();
    let length = head.split_once("content-length: ").map(|(_, rest)| rest);
    let length = length.and_then(|rest| rest.split("\r\n").next()?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

fn read(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").expect("a whole head");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
    let pairs = lines.filter_map(|line| line.split_once(": "));
    let fields: Vec<_> =
        pairs.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    let body = if is_sized(&fields) { body.to_owned() } else { String::new() };
    Answer { status: status.expect("a status"), fields, body }
}

#[cfg(feature = "tower")]
struct Whole(bytes::Bytes);

#[cfg(feature = "tower")]
impl http_body::Body for Whole {
    type Data = bytes::Bytes;
    type Error = core::convert::Infallible;

    fn poll_frame(
        mut self: core::pin::Pin<&mut Self>,
        _: &mut core::task::Context<'_>,
    ) -> core::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        let bytes = core::mem::take(&mut self.0);
        let frame = (!bytes.is_empty()).then(|| Ok(http_body::Frame::data(bytes)));
        core::task::Poll::Ready(frame)
    }
}

#[cfg(feature = "tower")]
impl Whole {
    async fn text(mut body: tower::HttpBody) -> String {
        use http_body::Body as _;
        let mut text = String::new();
        while let Some(frame) =
            core::future::poll_fn(|cx| core::pin::Pin::new(&mut body).poll_frame(cx)).await
        {
            let data = frame.expect("whole").into_data().expect("data");
            text += core::str::from_utf8(&data).expect("UTF-8");
        }
        text
    }
}

fn hello(revision: Revision) -> String {
    let version = revision.adapter().version;
    let params = format!(
        r#""protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#
    );
    format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{{params}}}}}"#)
}

/// A request that the revision answers outside of sessions and within, and its fields.
fn question(revision: Revision) -> (Fields<'static>, String) {
    let adapter = revision.adapter();
    if adapter.has_handshake {
        return (Vec::new(), r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#.into());
    }
    let meta = format!(
        r#"{{"io.modelcontextprotocol/protocolVersion":"{}","io.modelcontextprotocol/clientInfo":{{"name":"c","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}"#,
        adapter.version
    );
    let fields = vec![("MCP-Protocol-Version", adapter.version), ("Mcp-Method", "tools/list")];
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{"_meta":{meta}}}}}"#);
    (fields, body)
}

fn revisions() -> impl Iterator<Item = (Front, Revision)> {
    Front::ALL.iter().flat_map(|front| Revision::ALL.map(|revision| (*front, revision)))
}

fn with_handshake() -> impl Iterator<Item = (Front, Revision)> {
    revisions().filter(|(_, revision)| revision.adapter().has_handshake)
}

fn open_all(http: HttpBuilder<VirtualTime>) -> HttpBuilder<VirtualTime> {
    http.allow_delete(true).http_sse("/sse", "/messages")
}

#[test]
fn a_field_that_is_no_list_and_is_sent_twice_is_refused() {
    // RFC 9110, section 5.3
    for (front, revision) in revisions() {
        front.serve(open_all, |door| async move {
            let (own, body) = question(revision);
            let with = |extra: &[(&'static str, &'static str)]| {
                own.iter().chain(extra).copied().collect::<Fields<'_>>()
            };
            assert_eq!(door.post(&with(&[]), &body).await.status, 200, "{front:?} {revision}");
            for (name, extra) in [
                ("Content-Type", &[("content-type", "text/plain")][..]),
                ("Content-Type", &[("Content-Type", "application/json")]),
                ("Mcp-Session-Id", &[("Mcp-Session-Id", "a"), ("Mcp-Session-Id", "b")]),
                ("Mcp-Session-Id", &[("Mcp-Session-Id", "a"), ("mcp-session-id", "a")]),
                (
                    "Protocol-Version",
                    &[
                        ("MCP-Protocol-Version", "2025-06-18"),
                        ("MCP-Protocol-Version", "2026-07-28"),
                    ],
                ),
            ] {
                let answer = door.post(&with(extra), &body).await;
                assert_eq!(answer.status, 400, "{front:?} {revision} {extra:?}: {answer:?}");
                assert!(answer.body.contains(name), "{front:?} {revision} {extra:?}: {answer:?}");
            }
        });
    }
}

#[test]
fn a_session_or_a_place_in_a_stream_that_is_named_twice_is_refused() {
    for (front, revision) in with_handshake() {
        front.serve(open_all, |door| async move {
            let session = &*door.open(revision).await;
            let other = &*door.open(revision).await;
            let host = ("Host", "localhost");
            let listen = [host, ("Accept", "text/event-stream"), ("Mcp-Session-Id", session)];
            for (request, fields, name) in [
                ("GET /mcp", [&listen[..], &[("Mcp-Session-Id", session)]], "Mcp-Session-Id"),
                ("GET /mcp", [&listen, &[("Mcp-Session-Id", other)]], "Mcp-Session-Id"),
                (
                    "DELETE /mcp",
                    [&[host, ("Mcp-Session-Id", session)], &[("mcp-session-id", other)]],
                    "Mcp-Session-Id",
                ),
                (
                    "GET /mcp",
                    [&listen, &[("Last-Event-ID", "a"), ("Last-Event-ID", "b")]],
                    "Last-Event-ID",
                ),
            ] {
                let answer = door.ask(request, &fields.concat(), "").await;
                assert_eq!(answer.status, 400, "{front:?} {revision} {fields:?}: {answer:?}");
                let says = format!("{name} is sent more than once");
                assert!(answer.body.contains(&says), "{front:?} {revision}: {answer:?}");
            }
            let target = format!("POST /messages?session_id={session}&session_id={other}");
            let fields = vec![host, ("Content-Type", "application/json")];
            let answer = door.ask(&target, &fields, &question(revision).1).await;
            assert_eq!(answer.status, 400, "{front:?} {revision}: {answer:?}");
            // None of them ended a session.
            let fields = vec![("Mcp-Session-Id", session)];
            assert_eq!(door.post(&fields, &question(revision).1).await.status, 200);
        });
    }
}

#[test]
fn lists_that_come_in_several_fields_are_joined() {
    // C32; RFC 9110, section 5.3
    let origin = "https://app.example";
    for (front, revision) in revisions() {
        let set = |http: HttpBuilder<_>| {
            http.gate(Gate::default().allow_origin(origin).expect("an origin"))
        };
        front.serve(set, |door| async move {
            let host = ("Host", "localhost");
            let kind = ("Content-Type", "application/json");
            let (own, body) = question(revision);
            for (accept, status) in [
                (&[("Accept", "text/html"), ("Accept", "application/json")][..], 200),
                (&[("Accept", "text/html"), ("accept", "text/event-stream")], 200),
                (&[("Accept", "text/html"), ("Accept", "image/png")], 406),
                (&[("Content-Encoding", "identity"), ("Content-Encoding", "gzip")], 415),
            ] {
                let fields = [&[host, kind], accept, &own[..]].concat();
                let answer = door.ask("POST /mcp", &fields, &body).await;
                assert_eq!(answer.status, status, "{front:?} {revision} {accept:?}: {answer:?}");
            }
            let method = ("Access-Control-Request-Method", "POST");
            let (one, other) = ("content-type", "mcp-session-id, x-trace");
            let asked = vec![
                host,
                ("Origin", origin),
                method,
                ("Access-Control-Request-Headers", one),
                ("Access-Control-Request-Headers", other),
            ];
            let answer = door.ask("OPTIONS /mcp", &asked, "").await;
            let allowed = answer.field("access-control-allow-headers");
            assert_eq!(allowed, Some("content-type, mcp-session-id, x-trace"), "{front:?}");
            let twice = [&asked[..], &[method]].concat();
            assert_eq!(door.ask("OPTIONS /mcp", &twice, "").await.status, 400, "{front:?}");
        });
    }
}

#[test]
fn two_tokens_are_refused_and_two_hosts_or_origins_too() {
    // R2511-HTTP-02: whatever is wrong with an `Origin`, the status is 403.
    for front in Front::ALL {
        front.serve(guarded, |door| async move {
            let (host, token) = (("Host", "localhost"), ("Authorization", "Bearer open-sesame-42"));
            let origin = ("Origin", "http://localhost");
            for (fields, status) in [
                ([&[host, token][..], &[token]].concat(), 400),
                ([&[host, token][..], &[("Host", "localhost")]].concat(), 400),
                ([&[host, token][..], &[("Host", "evil.example")]].concat(), 400),
                ([&[host, token][..], &[origin, origin]].concat(), 403),
            ] {
                let fields = [&fields[..], &[("Content-Type", "application/json")]].concat();
                let answer = door.ask("POST /mcp", &fields, "{}").await;
                assert_eq!(answer.status, status, "{front:?} {fields:?}: {answer:?}");
            }
        });
        front.serve(
            |http| http.gate(Gate::default().any_host()),
            |door| async move {
                let answer = door.post(&vec![("Host", "localhost")], "{}").await;
                assert_eq!(answer.status, 400, "{front:?}: {answer:?}");
                assert!(answer.body.contains("Host"), "{front:?}: {answer:?}");
            },
        );
    }
}

#[test]
fn a_request_of_a_session_that_is_gone_is_told_so_in_the_words_that_clients_know() {
    // R2503-SESS-06
    for (front, revision) in with_handshake() {
        front.serve(open_all, |door| async move {
            let session = &*door.open(revision).await;
            let named = vec![("Host", "localhost"), ("Mcp-Session-Id", session)];
            assert_eq!(door.ask("DELETE /mcp", &named, "").await.status, 204);
            let question = question(revision).1;
            let listen = [&named[..], &[("Accept", "text/event-stream")]].concat();
            let unknown = vec![
                ("Host", "localhost"),
                ("Accept", "text/event-stream"),
                ("Mcp-Session-Id", "never-was"),
            ];
            let json = vec![("Host", "localhost"), ("Content-Type", "application/json")];
            let posted = [&named[..], &json[1..]].concat();
            let messages = format!("POST /messages?session_id={session}");
            for (request, fields, body) in [
                ("POST /mcp", &posted, &*question),
                ("GET /mcp", &listen, ""),
                ("GET /mcp", &unknown, ""),
                ("DELETE /mcp", &named, ""),
                (&*messages, &json, &*question),
            ] {
                let answer = door.ask(request, fields, body).await;
                assert_eq!(answer.status, 404, "{front:?} {revision} {request}: {answer:?}");
                let error = serde_json::from_str::<serde_json::Value>(&answer.body).expect("JSON");
                let error = &error["error"];
                assert_eq!(error["code"], -32600, "{answer:?}");
                assert_eq!(error["message"], "Session terminated", "{front:?} {request}");
                assert!(error["data"].as_str().is_some_and(|it| it.contains("`initialize`")));
            }
        });
    }
}

#[test]
fn get_is_not_allowed_while_no_session_is_named() {
    // R2503-HTTP-18
    for (front, deletes) in Front::ALL.iter().flat_map(|front| [(front, false), (front, true)]) {
        front.serve(
            |http| http.allow_delete(deletes),
            |door| async move {
                let allow = if deletes { "POST, DELETE" } else { "POST" };
                for fields in [
                    &[("Accept", "text/event-stream")][..],
                    &[("Accept", "text/html")],
                    &[],
                    &[("Accept", "text/event-stream"), ("Last-Event-ID", "x")],
                    &[("Accept", "text/event-stream"), ("MCP-Protocol-Version", "2025-11-25")],
                ] {
                    let fields = [&[("Host", "localhost")], fields].concat();
                    let answer = door.ask("GET /mcp", &fields, "").await;
                    assert_eq!(answer.status, 405, "{front:?} {fields:?}: {answer:?}");
                    assert_eq!(answer.field("allow"), Some(allow), "{front:?} {fields:?}");
                    assert!(answer.body.contains("Mcp-Session-Id names none"), "{answer:?}");
                }
                let session = &*door.open(Revision::V2025_11_25).await;
                let fields = vec![
                    ("Host", "localhost"),
                    ("Accept", "text/event-stream"),
                    ("Mcp-Session-Id", session),
                ];
                assert_eq!(door.ask("GET /mcp", &fields, "").await.status, 200, "{front:?}");
            },
        );
    }
}

#[test]
fn a_method_is_allowed_where_a_revision_that_is_asked_for_has_it() {
    // R26-HTTP-41, R2503-HTTP-24, R2503-SESS-09
    let all: &[Revision] = &Revision::ALL;
    let modern = &[Revision::V2026_07_28][..];
    let legacy = &all.iter().filter(|it| it.adapter().has_handshake).copied().collect::<Vec<_>>();
    for (served, stated, get, delete) in [
        (modern, None, false, false),
        (modern, Some("2026-07-28"), false, false),
        (modern, Some("2025-11-25"), false, false),
        (all, Some("2026-07-28"), false, false),
        (all, Some("2025-11-25"), true, true),
        (all, Some("2025-03-26"), true, true),
        (all, Some("1999-01-01"), true, true),
        (all, None, true, true),
        (legacy, None, true, true),
        (legacy, Some("2026-07-28"), true, true),
    ] {
        for (front, pinned) in Front::ALL.iter().flat_map(|it| [(it, false), (it, true)]) {
            let adapters = AdapterSet::of(served.iter().copied()).expect("a set");
            front.serve(
                |http| http.allow_delete(true).adapters(adapters),
                |door| async move {
                    let (mut fields, mut path) = (vec![("Host", "localhost")], "/mcp".to_owned());
                    match stated {
                        Some(version) if pinned => path = format!("/mcp?mcp={version}"),
                        Some(version) => fields.push(("MCP-Protocol-Version", version)),
                        None => {}
                    }
                    fields.extend([("Mcp-Session-Id", "x"), ("Accept", "text/event-stream")]);
                    let allow = ["", "GET, "][usize::from(get)].to_owned() + "POST";
                    let allow = allow + ["", ", DELETE"][usize::from(delete)];
                    for (method, allowed) in [("GET", get), ("DELETE", delete), ("PUT", false)] {
                        let answer = door.ask(&format!("{method} {path}"), &fields, "").await;
                        let what = format!("{front:?} {method} {path} {fields:?}: {answer:?}");
                        assert_eq!(answer.status, if allowed { 404 } else { 405 }, "{what}");
                        let told = (!allowed).then_some(&*allow);
                        assert_eq!(answer.field("allow"), told, "{what}");
                    }
                },
            );
        }
    }
}

#[test]
fn a_browser_asks_once_in_two_hours() {
    for front in Front::ALL {
        let gate = Gate::default().allow_origin("https://*.example").expect("an origin");
        front.serve(
            |http| open_all(http).gate(gate),
            |door| async move {
                for (path, methods) in
                    [("/mcp", "GET, POST, DELETE"), ("/sse", "GET"), ("/messages", "POST")]
                {
                    let fields = vec![
                        ("Host", "localhost"),
                        ("Origin", "https://app.example"),
                        ("Access-Control-Request-Method", "POST"),
                    ];
                    let answer = door.ask(&format!("OPTIONS {path}"), &fields, "").await;
                    assert_eq!(answer.status, 204, "{front:?} {path}");
                    assert_eq!(
                        answer.field("access-control-max-age"),
                        Some("7200"),
                        "{front:?} {path}"
                    );
                    assert_eq!(answer.field("access-control-allow-methods"), Some(methods));
                }
            },
        );
    }
}

#[test]
fn origins_are_left_to_a_proxy_on_every_route_where_that_is_said() {
    for (front, trusts) in Front::ALL.iter().flat_map(|front| [(front, false), (front, true)]) {
        let gate = Gate::default();
        let gate = if trusts { gate.trust_proxy_origin_validation() } else { gate };
        front.serve(
            |http| open_all(http).gate(gate),
            |door| async move {
                let session = &*door.open(Revision::V2025_11_25).await;
                for origin in ["https://evil.example", "null", "http://localhost:5173"] {
                    let fields = vec![
                        ("Host", "localhost"),
                        ("Origin", origin),
                        ("Accept", "application/json, text/event-stream"),
                        ("Content-Type", "application/json"),
                        ("Mcp-Session-Id", session),
                    ];
                    let body = question(Revision::V2025_11_25).1;
                    for (request, body, status) in [
                        ("POST /mcp", &*body, 200),
                        ("GET /mcp", "", 200),
                        ("GET /sse", "", 200),
                        ("POST /messages?session_id=x", &body, 404),
                    ] {
                        let answer = door.ask(request, &fields, body).await;
                        let expected = if trusts { status } else { 403 };
                        assert_eq!(answer.status, expected, "{front:?} {request} {origin}");
                        assert_eq!(answer.field("access-control-allow-origin"), None);
                    }
                }
            },
        );
    }
}

#[test]
fn delete_is_answered_where_it_is_allowed() {
    // R2503-SESS-08
    for (front, revision) in with_handshake() {
        for (allowed, status) in [(false, 405), (true, 204)] {
            front.serve(
                |http| http.allow_delete(allowed),
                |door| async move {
                    let session = &*door.open(revision).await;
                    let fields = vec![("Host", "localhost"), ("Mcp-Session-Id", session)];
                    let answer = door.ask("DELETE /mcp", &fields, "").await;
                    assert_eq!(answer.status, status, "{front:?} {revision}");
                    let allow = (!allowed).then_some("GET, POST");
                    assert_eq!(answer.field("allow"), allow, "{front:?} {revision}");
                },
            );
        }
    }
}

/// What `client` makes the server tell its operator.
fn told<C: Future<Output = ()>>(
    front: Front,
    set: impl FnOnce(HttpBuilder<VirtualTime>) -> HttpBuilder<VirtualTime>,
    client: impl FnOnce(Door) -> C,
) -> Vec<String> {
    let log = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&log);
    let set = |http| set(http).on_notice(move |line| lines.lock().unwrap().push(line.to_owned()));
    front.serve(set, client);
    log.lock().unwrap().clone()
}

#[test]
fn who_the_gate_refuses_is_told_with_the_setting_once_of_many() {
    let long = "x".repeat(63) + ".example";
    for front in Front::ALL {
        for request in
            ["POST /mcp", "GET /mcp", "DELETE /mcp", "OPTIONS /mcp", "GET /sse", "POST /messages"]
        {
            for (host, origin, says, setting) in [
                ("mcp.example:8443", None, "`mcp.example:8443`", "`Gate::allow_host`"),
                ("192.168.0.7", None, "`192.168.0.7`", "`Gate::allow_host`"),
                ("[2001:db8::1]:80", None, "`[2001:db8::1]:80`", "`Gate::allow_host`"),
                (&*long, Some("null"), &*long, "`Gate::allow_host`"),
                ("localhost", Some("https://app.example"), "`https://app.example`", "allow_origin"),
                ("localhost", Some("null"), "`null`", "`Gate::allow_origin`"),
                (
                    "localhost",
                    Some("http://evil.example:1"),
                    "`http://evil.example:1`",
                    "allow_origin",
                ),
            ] {
                let told = told(*front, open_all, |door| async move {
                    for _ in 0..3 {
                        let mut fields = vec![("Host", host)];
                        fields.extend(origin.map(|origin| ("Origin", origin)));
                        assert_eq!(door.ask(request, &fields, "").await.status, 403);
                    }
                });
                let [line] = &told[..] else { panic!("{front:?} {request} {host}: {told:?}") };
                assert!(line.contains(says) && line.contains(setting), "{front:?}: {line}");
            }
        }
        // Who is answered, or refused for something else, is not told of.
        let quiet = told(
            *front,
            |http| guarded(open_all(http)),
            |door| async move {
                for (host, status) in [("localhost", 401), ("127.0.0.1:80", 401)] {
                    assert_eq!(
                        door.ask("POST /mcp", &vec![("Host", host)], "").await.status,
                        status
                    );
                }
                assert_eq!(door.ask("GET /x", &vec![("Host", "localhost")], "").await.status, 404);
            },
        );
        assert!(quiet.is_empty(), "{front:?}: {quiet:?}");
    }
}

fn batch(messages: usize) -> String {
    format!("[{}]", vec![r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; messages].join(","))
}

#[test]
fn a_bound_that_is_reached_is_told_with_its_setting() {
    for front in Front::ALL {
        let limits = Limits { message: 500, ..Limits::default() };
        let told = told(
            *front,
            |http| http.limits(limits),
            |door| async move {
                for body in [vec![b' '; 501], vec![b' '; 5_000]] {
                    let body = String::from_utf8(body).expect("ASCII");
                    assert_eq!(door.post(&Vec::new(), &body).await.status, 413, "{front:?}");
                }
            },
        );
        let [line] = &told[..] else { panic!("{front:?}: {told:?}") };
        assert!(line.contains("`Limits::message`"), "{line}");
    }
    for (body, setting) in [("[".repeat(200), "`Limits::depth`"), (batch(101), "`Limits::batch`")] {
        let body = &*body;
        for front in Front::ALL {
            let told = told(
                *front,
                |http| http,
                |door| async move {
                    assert_eq!(door.post(&Vec::new(), body).await.status, 400, "{front:?}");
                },
            );
            let [line] = &told[..] else { panic!("{front:?}: {told:?}") };
            assert!(line.contains(setting), "{line}");
        }
    }
    let long = "x".repeat(20_000);
    for (target, field, sent, status, setting) in [
        ("/mcp", &*long, None, 431, "`head`"),
        (&*format!("/{}", &long[..9_000]), "", None, 414, "`target`"),
        ("/mcp", "", Some(""), 408, "`head_time`"),
        (
            "/mcp",
            "",
            Some("Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{"),
            408,
            "`body_time`",
        ),
    ] {
        let told = told(
            Front::Own,
            |http| http,
            |door| async move {
                let port = match door {
                    Door::Own(port) => port,
                    #[cfg(feature = "tower")]
                    Door::Mounted(_) => unreachable!("a listener"),
                };
                let mut end = port.connect();
                let rest = sent.map_or("\r\n".to_owned(), str::to_owned);
                let head = format!("POST {target} HTTP/1.1\r\nHost: localhost\r\nX: {field}\r\n");
                end.send(format!("{head}{rest}").as_bytes()).await;
                let answer = read(&end.receive_until(is_whole).await);
                assert_eq!(answer.status, status, "{setting}: {answer:?}");
            },
        );
        let [line] = &told[..] else { panic!("{setting}: {told:?}") };
        assert!(line.contains(setting) && line.contains(&status.to_string()), "{line}");
    }
}

const ROOT: &str = "/.well-known/oauth-protected-resource";

/// A service that asks who calls, at `/mcp` of `localhost`.
fn guarded(http: HttpBuilder<VirtualTime>) -> HttpBuilder<VirtualTime> {
    let authorization = Authorization::builder("http://localhost/mcp")
        .authorization_server("https://login.example")
        .build()
        .expect("settings");
    let tokens = StaticTokens::new().token("open-sesame-open-sesame-42", Principal::subject("ann"));
    http.auth(Guard::new(authorization, tokens.expect("a token")))
}

#[test]
fn the_metadata_of_the_protected_resource_are_public() {
    // R2511-AUTH-16
    for front in Front::ALL {
        front.serve(guarded, |door| async move {
            let own = format!("{ROOT}/mcp");
            for path in [ROOT, &own, &format!("{ROOT}/"), &format!("{own}/")] {
                for (host, origin) in [
                    ("localhost", None),
                    ("mcp.example", Some("https://app.example")),
                    ("evil.example:81", Some("null")),
                    ("localhost", Some("https://app.example")),
                ] {
                    let mut fields = vec![("Host", host)];
                    fields.extend(origin.map(|origin| ("Origin", origin)));
                    let got = door.ask(&format!("GET {path}"), &fields, "").await;
                    assert_eq!(got.status, 200, "{front:?} {path} {fields:?}: {got:?}");
                    assert_eq!(got.field("access-control-allow-origin"), Some("*"));
                    assert!(got.body.contains(r#""resource":"http://localhost/mcp""#), "{got:?}");
                    let method = ("Access-Control-Request-Method", "GET");
                    let wanted = ("Access-Control-Request-Headers", "mcp-protocol-version");
                    let asked = [&fields[..], &[method, wanted]].concat();
                    let answer = door.ask(&format!("OPTIONS {path}"), &asked, "").await;
                    assert_eq!(answer.status, 204, "{front:?} {path} {fields:?}: {answer:?}");
                    for (name, value) in [
                        ("access-control-allow-origin", "*"),
                        ("access-control-allow-methods", "GET"),
                        ("access-control-allow-headers", "mcp-protocol-version"),
                        ("access-control-max-age", "7200"),
                    ] {
                        assert_eq!(answer.field(name), Some(value), "{front:?} {path}: {answer:?}");
                    }
                    let posted = door.ask(&format!("POST {path}"), &fields, "").await;
                    assert_eq!((posted.status, posted.field("allow")), (405, Some("GET")));
                }
            }
            // The endpoint itself is as closed as it was.
            let fields = vec![("Host", "evil.example"), ("Origin", "https://app.example")];
            let refused = door.ask("POST /mcp", &fields, "").await;
            assert_eq!((refused.status, refused.field("access-control-allow-origin")), (403, None));
        });
        // Where nobody is asked who they are, there are none.
        front.serve(
            |http| http,
            |door| async move {
                let fields = vec![("Host", "localhost")];
                assert_eq!(door.ask(&format!("GET {ROOT}"), &fields, "").await.status, 404);
            },
        );
    }
}
