//! The external vectors for JSON, JSON-RPC and newline framing.

use mcp_proto::frame::envelope::{Envelope, Params};
use mcp_proto::frame::json::{self, Kind, ScanErrorKind, ScanLimits};
use mcp_proto::frame::lines::LineDecoder;
use serde_json::Value;

mod corpora;

/// The deepest nesting that `serde_json` reads.
const DEPTH: usize = 127;

fn scan(src: &[u8]) -> Result<json::Message, json::ScanError> {
    json::scan(src, &ScanLimits::depth(DEPTH))
}

fn classify(src: &[u8]) -> Option<Envelope> {
    scan(src).ok().map(|message| Envelope::of(src, &message))
}

fn parse(src: &[u8]) -> Option<Value> {
    serde_json::from_slice(src).ok()
}

#[test]
fn json_texts_are_judged_as_by_the_suite() {
    let Some(corpus) = corpora::load("json.json") else { return };
    let unbounded_numbers = parse(b"1e999").is_some();
    let mut ran = 0;
    for row in corpora::rows(&corpus, "cases") {
        let (name, src) = (corpora::text(row, "name"), corpora::bytes(row));
        let scanned = scan(&src);
        let kind = scanned.as_ref().err().map(|error| error.kind);
        match corpora::text(row, "expect") {
            // The suite calls repeated names legal; at the envelope's level we refuse them.
            "accept" => assert!(matches!(kind, None | Some(ScanErrorKind::Duplicate)), "{name}"),
            "reject" => assert!(scanned.is_err(), "{name}"),
            _ => {}
        }
        let theirs = parse(&src).is_some();
        match kind {
            Some(ScanErrorKind::Duplicate) => assert!(theirs, "{name}"),
            Some(ScanErrorKind::Number) if unbounded_numbers => {}
            _ => assert_eq!(scanned.is_ok(), theirs, "{name}: serde_json"),
        }
        ran += 1;
    }
    for row in corpora::rows(&corpus, "transform_cases") {
        let (name, src) = (corpora::text(row, "name"), corpora::bytes(row));
        if scan(&src).is_ok() {
            let mut compacted = Vec::new();
            json::compact(&src, &mut compacted);
            assert_eq!(parse(&compacted).expect(name), parse(&src).expect(name), "{name}");
        }
        ran += 1;
    }
    corpora::report("json.json", ran);
}

#[test]
fn json_rpc_messages_are_told_apart() {
    let Some(corpus) = corpora::load("jsonrpc.json") else { return };
    let rows = corpora::rows(&corpus, "message_cases");
    for row in rows {
        let (text, kind) = (corpora::text(row, "text"), corpora::text(row, "kind"));
        let found = match classify(text.as_bytes()) {
            // MCP gives positional parameters no meaning, and others are invalid anyway.
            Some(Envelope::Request { params: Params::Other(span), .. })
                if json::kind(span.of(text.as_bytes())) != Kind::Array =>
            {
                "invalid"
            }
            Some(Envelope::Request { .. }) => "request",
            Some(Envelope::Notification { .. }) => "notification",
            Some(Envelope::Result { .. }) => "result",
            Some(Envelope::Error { .. }) => "error",
            Some(Envelope::Invalid { .. }) | None => "invalid",
        };
        match corpora::text(row, "expect") {
            "either" => assert!(found == kind || found == "invalid", "{text}: {found}"),
            _ => assert_eq!(found, kind, "{text}"),
        }
    }
    corpora::report("jsonrpc.json, messages", rows.len());
}

/// The specification's own examples: what is answered, and to which id.
#[test]
fn the_examples_of_the_json_rpc_specification_hold() {
    let Some(corpus) = corpora::load("jsonrpc.json") else { return };
    let rows = corpora::rows(&corpus, "spec_examples");
    for row in rows {
        let src = corpora::text(row, "request").as_bytes();
        let answered = match scan(src) {
            Err(_) => vec![Value::Null],
            Ok(message) if message.root == Kind::Array => {
                let items: Vec<_> = json::elements(src).map(|item| item.of(src)).collect();
                let answered = items.iter().copied().filter_map(answered_id).collect();
                if items.is_empty() { vec![Value::Null] } else { answered }
            }
            Ok(_) => answered_id(src).into_iter().collect(),
        };
        let id = |response: &Value| response["id"].clone();
        let mut expected: Vec<Value> = match &row["response"] {
            Value::Null => vec![],
            Value::Array(all) => all.iter().map(id).collect(),
            one => vec![id(one)],
        };
        let mut answered = answered;
        answered.sort_by_key(Value::to_string);
        expected.sort_by_key(Value::to_string);
        assert_eq!(answered, expected, "{row}");
    }
    corpora::report("jsonrpc.json, examples of the specification", rows.len());
}

/// The id that a message's answer carries; `None` if it wants no answer.
fn answered_id(src: &[u8]) -> Option<Value> {
    match classify(src).expect("scanned before") {
        Envelope::Request { id, .. } => parse(id.as_json()),
        Envelope::Invalid { id, .. } => {
            Some(id.and_then(|id| parse(id.as_json())).unwrap_or_default())
        }
        _ => None,
    }
}

#[test]
fn newline_framing_yields_the_messages() {
    let Some(corpus) = corpora::load("jsonrpc.json") else { return };
    let rows = corpora::rows(&corpus, "framing_cases");
    for row in rows {
        let mut lines = LineDecoder::default();
        let mut messages = Vec::new();
        let mut keep = |line: &[u8]| {
            let valid = classify(line).filter(|found| !matches!(found, Envelope::Invalid { .. }));
            messages.extend(valid.and_then(|_| parse(line)));
        };
        for chunk in row["chunks"].as_array().expect("chunks") {
            let mut input = chunk.as_str().expect("text").as_bytes();
            while let Some(line) = lines.next(&mut input) {
                keep(&line.expect("short"));
            }
        }
        assert_eq!(Value::from(messages), row["messages"], "{row}");
    }
    corpora::report("jsonrpc.json, newline framing", rows.len());
}
