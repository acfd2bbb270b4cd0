//! Whatever a message holds: it is read, selected for and decoded in every revision without a
//! panic; what must not be answered is not refused; answers are one line of JSON with its id.
#![no_main]

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use mcp_proto::frame::envelope::RequestId;
use mcp_proto::model::{Catalog, Implementation, Json, Outcome, Tool, ToolResult};
use mcp_proto::revision::{
    Adapter, AdapterSet, Context, Decoded, Incoming, Preamble, Published, ReadLimits, Selection,
    Transport, read,
};

static ADAPTERS: LazyLock<AdapterSet> = LazyLock::new(AdapterSet::default);
static PUBLISHED: LazyLock<Published> = LazyLock::new(|| {
    let mut catalog = Catalog::new(Implementation::new("fuzz", "1"));
    catalog.page_size = 1;
    for name in ["a", "b"] {
        catalog.insert_tool(Tool::new(name, Json::parse("{}").expect("JSON")));
    }
    Published::new(Arc::new(catalog), &ADAPTERS)
});

fuzz_target!(|src: &[u8]| {
    match read(Bytes::copy_from_slice(src), &ReadLimits::default()) {
        Err(refused) => refuse(ADAPTERS.fallback(), refused.id(), &refused.failure),
        Ok(Incoming::One(message)) => select(&message),
        Ok(Incoming::Batch(messages)) => messages.iter().flatten().for_each(select),
    }
});

fn select(message: &Preamble) {
    for transport in [Transport::Http, Transport::Stdio, Transport::HttpSse] {
        match ADAPTERS.select(message, &Context::new(transport)) {
            Selection::Refused { adapter, failure } => refuse(adapter, message.id(), &failure),
            Selection::Adapter(_) => {}
            Selection::AwaitSession => panic!("there is no session to wait for"),
        }
    }
    ADAPTERS.iter().for_each(|adapter| decode(adapter, message));
}

fn decode(adapter: &Adapter, message: &Preamble) {
    match adapter.decode(message, None) {
        Decoded::Refused(refused) => {
            assert_eq!(refused.id(), message.id());
            assert!(refused.id().is_some(), "no answer is due");
            refuse(adapter, refused.id(), &refused.failure);
        }
        Decoded::Call(call) => {
            assert_eq!(call.id(), message.id());
            let Some(id) = call.id() else { return };
            let mut out = Vec::new();
            if PUBLISHED.write_listing(adapter, &call, &mut out).is_ok() {
                answered(&out, id);
            }
            out.clear();
            let result = match call.arguments() {
                Some(arguments) => ToolResult::structured(arguments.clone()),
                None => ToolResult::text(call.target().unwrap_or_default()),
            };
            let (operation, outcome) = (call.operation(), Outcome::from(result));
            adapter.write_outcome(&mut out, &PUBLISHED, id, operation, None, &outcome);
            answered(&out, id);
        }
        _ => {}
    }
}

fn refuse(adapter: &Adapter, id: Option<&RequestId>, failure: &mcp_proto::model::Failure) {
    let mut out = Vec::new();
    adapter.write_failure(&mut out, id, failure);
    line(&out);
}

fn answered(out: &[u8], id: &RequestId) {
    let response = line(out);
    let written = response["id"].to_string();
    assert_eq!(RequestId::from_json(written.as_bytes()).as_ref(), Some(id));
}

fn line(out: &[u8]) -> serde_json::Value {
    assert!(!out.contains(&b'\n') && !out.contains(&b'\r'));
    serde_json::from_slice(out).expect("JSON")
}
