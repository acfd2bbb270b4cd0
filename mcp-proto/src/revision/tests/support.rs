//! What these tests share: messages as text in, responses as values out.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::frame::envelope::RequestId;
use crate::model::{Call, Catalog, Failure, Implementation, Json, Operation, Outcome, Tool};
use crate::revision::{
    Adapter, AdapterSet, Decoded, Incoming, Preamble, Published, ReadLimits, Refused, Revision,
    read,
};

pub(super) const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

pub(super) fn adapter(version: &str) -> &'static Adapter {
    version.parse::<Revision>().unwrap().adapter()
}

/// The revisions with a handshake, and the one without.
pub(super) fn handshakes() -> impl Iterator<Item = &'static Adapter> {
    Revision::ALL.into_iter().map(Revision::adapter).filter(|adapter| adapter.has_handshake)
}

pub(super) fn modern() -> &'static Adapter {
    Revision::V2026_07_28.adapter()
}

pub(super) fn incoming(text: &str) -> Result<Incoming, Refused> {
    read(Bytes::copy_from_slice(text.as_bytes()), &ReadLimits::default())
}

pub(super) fn preamble(text: &str) -> Preamble {
    match incoming(text) {
        Ok(Incoming::One(preamble)) => preamble,
        other => panic!("{text}: {other:?}"),
    }
}

/// A request with id 1; `params` is the inside of an object, to which the modern metadata is added.
pub(super) fn request(adapter: &Adapter, method: &str, params: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    let meta = if adapter.has_handshake { String::new() } else { format!("{comma}{META}") };
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{meta}}}}}"#)
}

pub(super) fn decode(adapter: &Adapter, text: &str) -> Decoded {
    adapter.decode(&preamble(text), None)
}

pub(super) fn call(adapter: &Adapter, method: &str, params: &str) -> Call {
    match decode(adapter, &request(adapter, method, params)) {
        Decoded::Call(call) => call,
        other => panic!("{method} {params}: {other:?}"),
    }
}

pub(super) fn refusal(adapter: &Adapter, text: &str) -> Failure {
    match decode(adapter, text) {
        Decoded::Refused(refused) => refused.failure,
        other => panic!("{text}: {other:?}"),
    }
}

pub(super) fn json(text: &str) -> Json {
    Json::parse(text.to_owned()).unwrap()
}

pub(super) fn catalog() -> Catalog {
    Catalog::new(Implementation::new("demo", "1.0"))
}

pub(super) fn tool(name: &str) -> Tool {
    Tool::new(name, json("{}"))
}

pub(super) fn published(catalog: Catalog) -> Published {
    Published::new(Arc::new(catalog), &AdapterSet::default())
}

/// One line of JSON, parsed.
pub(super) fn parsed(out: &[u8]) -> Value {
    assert!(!out.contains(&b'\n') && !out.contains(&b'\r'), "one line");
    serde_json::from_slice(out).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(out)))
}

/// An object's names, sorted.
pub(super) fn names(object: &serde_json::Map<String, Value>) -> String {
    object
        .keys()
        .map(String::as_str)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
        .join(" ")
}

pub(super) fn listed(published: &Published, adapter: &Adapter, method: &str) -> Value {
    let call = call(adapter, method, "");
    let mut out = Vec::new();
    published.write_listing(adapter, &call, &mut out).unwrap();
    parsed(&out)["result"].take()
}

pub(super) fn described(published: &Published, adapter: &Adapter) -> Value {
    let method = adapter.method_for(Operation::Describe).unwrap();
    let call = call(adapter, method, r#""protocolVersion":"x","capabilities":{},"clientInfo":{}"#);
    let mut out = Vec::new();
    published.write_description(adapter, &call, &mut out).unwrap();
    parsed(&out)["result"].take()
}

/// The status and the whole response.
pub(super) fn answered(
    published: &Published,
    adapter: &Adapter,
    operation: Operation,
    tool: Option<&str>,
    outcome: impl Into<Outcome>,
) -> (u16, Value) {
    let mut out = Vec::new();
    let tool = tool.and_then(|name| published.tool(adapter, name));
    let (id, outcome) = (RequestId::from(1), outcome.into());
    let status = adapter.write_outcome(&mut out, published, &id, operation, tool, &outcome);
    (status, parsed(&out))
}
