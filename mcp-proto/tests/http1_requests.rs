//! Request vectors of other implementations, read by the server machine (RFC 9112, RFC 9110).
//!
//! Each row is fed whole and byte by byte; both must agree. Rows without a Host field, which
//! RFC 9112 section 3.2 has us refuse, run a second time with one.

mod corpora;

use mcp_proto::frame::http1::server::{Event, Server};
use mcp_proto::frame::http1::{Closing, Limits, RequestHead, Version};
use mcp_proto::time::Instant;
use serde_json::Value;

/// Rows whose verdict we do not follow, by id, and why.
const DEVIATIONS: [(&str, &str); 7] = [
    ("llhttp/request/method.md:27", NO_PROXY),
    ("llhttp/request/method.md:62", NO_PROXY),
    ("llhttp/request/method.md:96", NO_PROXY),
    ("llhttp/request/uri.md:188", NO_PROXY),
    ("gunicorn/valid/rfc9112_target_authority_connect_01", NO_PROXY),
    ("gunicorn/valid/rfc9112_target_authority_ipv6_01", NO_PROXY),
    ("gunicorn/invalid/009", "more than 100 header fields: our limit, 431"),
];

const NO_PROXY: &str =
    "CONNECT is refused with 501: what follows it is no HTTP, and we tunnel nothing";

/// Lenient rows that need no leniency here, and why.
const STRICT_ANYWAY: [(&str, &str); 1] = [(
    "llhttp/request/connection.md:107",
    "an HTTP/1.0 connection closes behind its first request; the second is not read",
)];

/// What a connection came to.
#[derive(Debug, PartialEq, Eq)]
struct Reading {
    /// The complete requests, written down as the corpora do.
    requests: Vec<Value>,
    /// The status of the refusal that ended it.
    refused: Option<u16>,
}

#[test]
fn llhttp_requests() {
    let Some(corpus) = corpora::load("http1.json") else { return };
    let rows: Vec<_> = corpora::rows(&corpus, "cases").iter().filter(|r| is_request(r)).collect();
    corpora::report("http1.json requests", run(&rows));
}

#[test]
fn gunicorn_requests() {
    let Some(corpus) = corpora::load("http1-gunicorn.json") else { return };
    let rows: Vec<_> = corpora::rows(&corpus, "cases").iter().collect();
    corpora::report("http1-gunicorn.json", run(&rows));
}

#[test]
fn desync_requests() {
    let Some(corpus) = corpora::load("http1-desync.json") else { return };
    for section in ["http_request_smuggler", "smuggler", "http_desync_guardian"] {
        let rows: Vec<_> = corpora::rows(&corpus, section).iter().collect();
        corpora::report(&format!("http1-desync.json {section}"), run(&rows));
    }
}

/// What llhttp takes only under a lenient flag is refused, or read as RFC 9112 has it.
#[test]
fn llhttp_lenient_requests_are_not_misframed() {
    let Some(corpus) = corpora::load("http1.json") else { return };
    let rows = corpora::rows(&corpus, "lenient_cases").iter().filter(|r| is_request(r));
    let mut ran = 0;
    let mut wrong = Vec::new();
    for row in rows {
        ran += 1;
        let reading = read(&with_host(&corpora::bytes(row), 1));
        let known = STRICT_ANYWAY.iter().any(|(id, _)| *id == corpora::text(row, "id"));
        if !reading.requests.is_empty() && reading.refused.is_none() && !known {
            wrong.push(format!("{} {:?}: {reading:?}", row["id"], row["text"]));
        }
    }
    assert!(wrong.is_empty(), "{} accepted:\n{}", wrong.len(), wrong.join("\n"));
    corpora::report("http1.json lenient requests", ran);
}

/// The parts of a target; fragments and user information have no place in one.
#[test]
fn llhttp_targets() {
    let Some(corpus) = corpora::load("http1.json") else { return };
    let rows = corpora::rows(&corpus, "url_cases");
    for row in rows {
        let url = corpora::text(row, "url");
        let parts = &row["parts"];
        let host = parts["host"].as_str().unwrap_or_default();
        let refuse =
            row["outcome"] == "error" || parts["fragment"].is_string() || host.contains(['@', '%']);
        let request = format!("GET {url} HTTP/1.1\r\nHost: a\r\n\r\n");
        let reading = read(request.as_bytes());
        assert_eq!(reading.refused.is_some(), refuse, "{url}");
        if let [request] = reading.requests.as_slice() {
            assert_eq!(request["path"], parts["path"], "{url}");
            assert_eq!(request["query"], parts["query"], "{url}");
            let authority = if host.is_empty() { "a" } else { host };
            assert_eq!(request["authority"], authority, "{url}");
        }
    }
    corpora::report("http1.json targets", rows.len());
}

fn is_request(row: &Value) -> bool {
    corpora::text(row, "type").starts_with("request")
}

/// Runs the rows; returns how many there were, fails with all that are wrong.
fn run(rows: &[&Value]) -> usize {
    let mut wrong = Vec::new();
    for row in rows {
        let bytes = corpora::bytes(row);
        let hosts_missing = missing_hosts(row);
        let problem = if row["rfc"]["host_rule"].is_null() {
            check(row, &read(&bytes))
        } else {
            let refused = read(&bytes).refused.is_none().then(|| "no Host, accepted".to_owned());
            let with_host = || check(row, &read(&with_host(&bytes, hosts_missing)));
            refused.or_else(|| (hosts_missing > 0).then(with_host).flatten())
        };
        let id = corpora::text(row, "id");
        let known = DEVIATIONS.iter().any(|(known, _)| *known == id);
        match problem {
            Some(problem) if !known => wrong.push(format!("{id}: {problem}\n  {:?}", row["text"])),
            None if known => wrong.push(format!("{id} is listed as a deviation, but is none")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    rows.len()
}

/// Compares a reading with the row's verdict.
fn check(row: &Value, reading: &Reading) -> Option<String> {
    let rfc = &row["rfc"];
    let reasons = || format!("{:?} {:?}", rfc["verdict"], rfc["reasons"]);
    match (corpora::text(rfc, "verdict"), reading.refused) {
        ("reject" | "either", Some(_)) => None,
        ("reject", None) => Some(format!("accepted: {}", reasons())),
        (_, Some(status)) => Some(format!("refused with {status}: {}", reasons())),
        (_, None) => misread(rfc, reading),
    }
}

/// What was read otherwise than the row says, of the requests that are complete.
fn misread(rfc: &Value, reading: &Reading) -> Option<String> {
    let expected = rfc["messages"].as_array()?;
    let complete = rfc["stream"] == "complete";
    if complete && expected.len() != reading.requests.len() {
        return Some(format!("{} requests, not {}", reading.requests.len(), expected.len()));
    }
    for (expected, read) in expected.iter().zip(&reading.requests) {
        for member in ["method", "target", "version", "headers", "body"] {
            if expected[member] != read[member] && expected["body_b64"].is_null() {
                return Some(format!("{member}: {} not {}", read[member], expected[member]));
            }
        }
    }
    None
}

/// How many messages of the row, from the first, lack a Host field.
fn missing_hosts(row: &Value) -> usize {
    let rules = row["rfc"]["host_rule"].as_array().map(Vec::as_slice).unwrap_or_default();
    rules.iter().filter(|rule| rule.as_str().is_some_and(|r| r.ends_with("no Host field"))).count()
}

/// The same requests with a Host field in each of the first `count`.
fn with_host(bytes: &[u8], count: usize) -> Vec<u8> {
    const END: &[u8] = b" HTTP/1.1\r\n";
    let mut out = Vec::new();
    let mut rest = bytes;
    for _ in 0..count {
        let Some(at) = rest.windows(END.len()).position(|window| window == END) else { break };
        let (line, tail) = rest.split_at(at + END.len());
        out.extend_from_slice(line);
        out.extend_from_slice(b"Host: inserted\r\n");
        rest = tail;
    }
    out.extend_from_slice(rest);
    out
}

/// Reads a connection's bytes, whole and byte by byte, every request being answered.
fn read(bytes: &[u8]) -> Reading {
    let (whole, sent_whole) = read_in(bytes.chunks(bytes.len().max(1)));
    let (bytewise, sent_bytewise) = read_in(bytes.chunks(1));
    assert_eq!(whole, bytewise, "{:?}", String::from_utf8_lossy(bytes));
    assert_eq!(sent_whole, sent_bytewise, "{:?}", String::from_utf8_lossy(bytes));
    whole
}

fn read_in<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Reading, Vec<u8>) {
    let now = Instant::ZERO;
    let mut server = Server::new(now, Limits::default());
    let mut reading = Reading { requests: Vec::new(), refused: None };
    let mut open: Option<Value> = None;
    for piece in pieces {
        assert_eq!(server.handle_input(now, piece), piece.len());
        while let Some(event) = server.poll_event() {
            match event {
                Event::Head(head) => open = Some(describe(&head)),
                Event::Body(body) => {
                    open.as_mut().expect("a head came first")["body"] = latin1(&body).into();
                }
                Event::End => {
                    reading.requests.extend(open.take());
                    server.reply(now, 204, [("", ""); 0], b"").expect("a request waits");
                }
                Event::Refused(refusal) => {
                    reading.refused = Some(refusal.status());
                    server.refuse(now, &refusal).expect("a refusal waits");
                    assert!(matches!(server.closing(), Closing::Linger(_)));
                }
                other => panic!("{other:?}"),
            }
        }
    }
    let mut sent = Vec::new();
    server.transmit(&mut sent);
    (reading, sent)
}

fn describe(head: &RequestHead) -> Value {
    let target = head.target();
    let line = head.fields().iter().filter(|(_, value)| *value != b"inserted");
    let headers: Vec<_> = line.map(|(name, value)| (name, latin1(value))).collect();
    serde_json::json!({
        "method": head.method_str(),
        "target": head.target_str(),
        "path": target.path(),
        "query": target.query(),
        "authority": head.authority(),
        "version": if head.version() == Version::Http10 { "HTTP/1.0" } else { "HTTP/1.1" },
        "headers": headers,
        "body": "",
    })
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
