//! Mirrored headers end to end: a request's headers and body through selection, decoding and the
//! check of the called tool's parameters, against the vectors of the official SDKs and the
//! conformance suite.

mod corpora;

use bytes::Bytes;
use mcp_proto::model::{Failure, Json, Operation, Tool, mirror};
use mcp_proto::revision::{
    AdapterSet, Context, Decoded, Incoming, Mirrors, ReadLimits, Selection, Transport,
    check_parameters, read,
};
use serde_json::{Value, json};

#[test]
fn the_server_vectors() {
    // R26-HDR-01 to R26-HDR-26
    let Some(corpus) = corpora::load("mcp-headers.json") else { return };
    let rows = corpora::rows(&corpus, "server_cases");
    let (mut accepted, mut refused, mut open) = (0, 0, 0);
    for row in rows {
        let name = corpora::text(row, "name");
        let outcome = serve(row);
        match corpora::text(row, "verdict") {
            "accept" => {
                assert_eq!(outcome, Ok(()), "{name}");
                accepted += 1;
            }
            "reject" => {
                let (code, status) = outcome.expect_err(name);
                assert_eq!(json!(code), row["error_code"], "{name}");
                assert_eq!(json!(status), row["http_status"], "{name}");
                refused += 1;
            }
            _ => open += 1,
        }
    }
    println!("{accepted} accepted, {refused} refused, {open} left open");
    corpora::report("mcp-headers.json, server_cases", rows.len());
}

/// Whether the headers pass, or the code and status of the refusal.
fn serve(row: &Value) -> Result<(), (i32, u16)> {
    let mut params = row["params"].clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": row["method"], "params": params});
    let headers: Vec<(&str, Vec<u8>)> = corpora::rows(row, "headers")
        .iter()
        .map(|pair| (corpora_text(&pair[0]), latin1(corpora_text(&pair[1]))))
        .collect();

    let body = Bytes::from(body.to_string());
    let Ok(Incoming::One(message)) = read(body, &ReadLimits::default()) else {
        panic!("a message")
    };
    let set = AdapterSet::default();
    let context =
        Context { mirrors: Mirrors::of(headers.as_slice()), ..Context::new(Transport::Http) };
    let adapter = match set.select(&message, &context) {
        Selection::Adapter(adapter) => adapter,
        Selection::Refused { adapter, failure } => {
            let wire = adapter.wire(failure.kind);
            return Err((wire.code, wire.status));
        }
        Selection::AwaitSession => panic!("there is no session"),
    };
    assert!(adapter.mirrors_headers);
    let wire =
        |failure: Failure| (adapter.wire(failure.kind).code, adapter.wire(failure.kind).status);
    let Decoded::Call(call) = adapter.decode(&message, None) else { return Ok(()) };
    if call.operation() != Operation::CallTool || row["inputSchema"].is_null() {
        return Ok(());
    }
    let schema = Json::from(row["inputSchema"].clone());
    let mut tool = Tool::new("t", schema.clone());
    tool.mirrored = mirror::mirrored_params(schema.as_bytes()).expect("valid annotations");
    check_parameters(&tool, call.arguments(), headers.as_slice()).map_err(wire)
}

fn corpora_text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// What arrives: characters up to U+00FF as one octet each, others as UTF-8.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(u8::try_from).collect::<Result<_, _>>().unwrap_or_else(|_| text.into())
}
