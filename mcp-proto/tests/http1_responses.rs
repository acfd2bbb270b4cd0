//! llhttp's response vectors, read by the client machine (RFC 9112).
//!
//! Each row is fed whole and byte by byte, followed by the end of the connection; both must
//! agree. Of several responses in a row only the first answers the one request sent; what
//! follows it must close the connection and change nothing.

mod corpora;

use mcp_proto::frame::http1::client::{Client, Event, RequestLine};
use mcp_proto::frame::http1::{Closing, Limits, ResponseHead};
use mcp_proto::time::Instant;
use serde_json::{Value, json};

/// Rows that llhttp reads otherwise, and why we do not follow.
const DEVIATIONS: [(&str, &str); 8] = [
    ("llhttp/response/sample.md:40", "RTSP is not HTTP"),
    ("llhttp/response/sample.md:60", "ICE is not HTTP"),
    ("llhttp/response/sample.md:645", "HTTP/0.9 has no status line"),
    ("llhttp/response/sample.md:695", NO_BLANK_LINE),
    ("llhttp/response/connection.md:586", NO_BLANK_LINE),
    ("llhttp/response/transfer-encoding.md:43", NOT_CHUNKED),
    ("llhttp/response/transfer-encoding.md:74", NOT_CHUNKED),
    ("llhttp/response/transfer-encoding.md:110", NOT_CHUNKED),
];

const NO_BLANK_LINE: &str = "RFC 9112 section 2.2 lets servers skip blank lines, not clients";
const NOT_CHUNKED: &str = "a coding that is not chunked would have to be decoded to be of use";

/// Lenient rows that need no leniency here, and why.
const STRICT_ANYWAY: [(&str, &str); 2] =
    [("llhttp/response/connection.md:191", CLOSES), ("llhttp/response/connection.md:260", CLOSES)];

const CLOSES: &str = "the first response is complete; what follows Connection: close is not read";

#[test]
fn llhttp_responses() {
    let Some(corpus) = corpora::load("http1.json") else { return };
    let rows = corpora::rows(&corpus, "cases").iter().filter(|row| is_response(row));
    let (mut ran, mut wrong) = (0, Vec::new());
    for row in rows {
        ran += 1;
        let id = corpora::text(row, "id");
        let known = DEVIATIONS.iter().any(|(known, _)| *known == id);
        match check(row) {
            Some(problem) if !known => wrong.push(format!("{id}: {problem}\n  {:?}", row["text"])),
            None if known => wrong.push(format!("{id} is listed as a deviation, but is none")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    corpora::report("http1.json responses", ran);
}

/// What llhttp takes only under a lenient flag fails, or is read as RFC 9112 has it.
#[test]
fn llhttp_lenient_responses_are_not_misframed() {
    let Some(corpus) = corpora::load("http1.json") else { return };
    let rows = corpora::rows(&corpus, "lenient_cases").iter().filter(|row| is_response(row));
    let (mut ran, mut wrong) = (0, Vec::new());
    for row in rows {
        ran += 1;
        let response = read(&corpora::bytes(row), false);
        let known = STRICT_ANYWAY.iter().any(|(id, _)| *id == corpora::text(row, "id"));
        if response["failed"].is_null() && !known {
            wrong.push(format!("{} {:?}: {response}", row["id"], row["text"]));
        }
    }
    assert!(wrong.is_empty(), "{} accepted:\n{}", wrong.len(), wrong.join("\n"));
    corpora::report("http1.json lenient responses", ran);
}

fn is_response(row: &Value) -> bool {
    corpora::text(row, "type").starts_with("response")
}

fn check(row: &Value) -> Option<String> {
    let messages = row["messages"].as_array()?;
    let is_final = |message: &&Value| !matches!(message["status"].as_u64(), Some(100..200));
    let expected = messages.iter().find(is_final).unwrap_or(&Value::Null);
    let to_head = row["skip_body"] == true || expected["skip_body"] == true;
    let read = read(&corpora::bytes(row), to_head);
    let completes = expected["complete"] == true || row["outcome"] == "ok-at-eof";
    match (completes, read["failed"].as_str()) {
        (false, Some(_)) => None,
        (false, None) => Some(format!("accepted, but {}", row["outcome"])),
        (true, Some(failure)) => Some(format!("failed: {failure}")),
        (true, None) => ["status", "headers", "body"]
            .into_iter()
            .filter(|member| !expected[*member].is_null())
            .find(|member| !same(&expected[*member], &read[*member]))
            .map(|member| format!("{member}: {} not {}", read[member], expected[member])),
    }
}

/// Equal, but for whitespace at the end of header values, which llhttp keeps.
fn same(expected: &Value, read: &Value) -> bool {
    match (expected, read) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::String(a), Value::String(b)) => a == b || a.trim_end() == b,
        _ => expected == read,
    }
}

fn read(bytes: &[u8], to_head: bool) -> Value {
    let whole = read_in(bytes.chunks(bytes.len().max(1)), to_head);
    let bytewise = read_in(bytes.chunks(1), to_head);
    assert_eq!(whole, bytewise, "{:?}", String::from_utf8_lossy(bytes));
    whole
}

fn read_in<'a>(pieces: impl Iterator<Item = &'a [u8]>, to_head: bool) -> Value {
    let now = Instant::ZERO;
    let mut client = Client::new(now, Limits::default());
    let method = if to_head { "HEAD" } else { "GET" };
    let line = RequestLine { method, target: "/", host: "a" };
    client.send(line, [("", ""); 0], b"").expect("a new connection takes a request");
    let mut response = json!({ "body": "" });
    let mut ended = false;
    let mut collect = |client: &mut Client| {
        while let Some(event) = client.poll_event() {
            assert!(!ended, "an event behind the end: {event:?}");
            match event {
                Event::Head(head) => describe(&head, &mut response),
                Event::Body(piece) => {
                    let body = response["body"].as_str().unwrap_or_default().to_owned();
                    response["body"] = (body + &latin1(&piece)).into();
                }
                Event::End => ended = true,
                Event::Failed(failure) => {
                    ended = true;
                    response["failed"] = failure.to_string().into();
                }
                other => panic!("{other:?}"),
            }
        }
    };
    for piece in pieces {
        assert_eq!(client.handle_input(now, piece), piece.len());
        collect(&mut client);
    }
    client.handle_eof(now);
    collect(&mut client);
    assert!(ended, "an exchange without an end");
    assert_ne!(client.closing(), Closing::Open);
    response
}

fn describe(head: &ResponseHead, response: &mut Value) {
    let headers: Vec<_> = head.fields().iter().map(|(n, v)| (n, latin1(v))).collect();
    response["status"] = head.status().into();
    response["headers"] = json!(headers);
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
