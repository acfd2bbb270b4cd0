//! What holds for every message in every revision.

use std::collections::BTreeSet;

use bytes::Bytes;
use mcp_proto::frame::envelope::RequestId;
use mcp_proto::model::Operation;
use mcp_proto::revision::{
    AdapterSet, Context, Decoded, Established, Incoming, Preamble, ReadLimits, Revision, Selection,
    Transport, read,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A method: of any revision, or of none.
fn method() -> impl Strategy<Value = String> {
    let known = Revision::ALL
        .into_iter()
        .flat_map(|revision| Operation::ALL.map(|it| revision.adapter().method_for(it)))
        .flatten()
        .chain(["notifications/cancelled", "notifications/progress", "", "x"])
        .map(str::to_owned)
        .collect::<BTreeSet<_>>();
    prop::sample::select(known.into_iter().collect::<Vec<_>>())
}

/// Any value of a few members that the protocol reads, right or wrong.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..3).prop_map(Value::from),
        "[a-z:/{}\n]{0,5}".prop_map(Value::from),
        prop::sample::select(vec!["ref/prompt", "ref/resource", "info", "2025-06-18"])
            .prop_map(Value::from),
    ];
    let names =
        ["name", "uri", "type", "value", "arguments", "level", "ref", "argument", "context"];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(names.to_vec()), inner, 0..5)
                .prop_map(|members| json!(members)),
        ]
    })
}

fn params() -> impl Strategy<Value = Option<Value>> {
    let names = vec![
        "name",
        "uri",
        "cursor",
        "arguments",
        "level",
        "ref",
        "argument",
        "context",
        "requestId",
        "protocolVersion",
        "notifications",
        "capabilities",
    ];
    let members = prop::collection::btree_map(prop::sample::select(names), value(), 0..6);
    let meta = prop_oneof![
        Just(None),
        Just(Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }))),
        value().prop_map(|version| {
            Some(json!({"io.modelcontextprotocol/protocolVersion": version, "progressToken": 1}))
        }),
    ];
    let object = (members, meta).prop_map(|(members, meta)| {
        let mut params = json!(members);
        if let Some(meta) = meta {
            params["_meta"] = meta;
        }
        Some(params)
    });
    prop_oneof![8 => object, 1 => Just(None), 1 => value().prop_map(Some)]
}

fn message() -> impl Strategy<Value = Value> {
    let id = prop_oneof![
        3 => Just(None),
        3 => (-9i64..9).prop_map(|id| Some(json!(id))),
        2 => "[a-z\"\n]{0,50}".prop_map(|id| Some(json!(id))),
        1 => Just(Some(Value::Null)),
    ];
    (id, method(), params()).prop_map(|(id, method, params)| {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if let Some(id) = id {
            message["id"] = id;
        }
        if let Some(params) = params {
            message["params"] = params;
        }
        message
    })
}

fn one(text: &str) -> Option<Preamble> {
    match read(Bytes::copy_from_slice(text.as_bytes()), &ReadLimits::default()) {
        Ok(Incoming::One(message)) => Some(message),
        _ => None,
    }
}

fn contexts() -> Vec<Context<'static>> {
    let mut contexts = Vec::new();
    for transport in [Transport::Http, Transport::Stdio, Transport::HttpSse] {
        let context = Context::new(transport);
        contexts.push(context);
        contexts.push(Context { require_session: true, ..context });
        for revision in Revision::ALL.map(Revision::adapter) {
            contexts.push(Context { pin: Some(revision.version), ..context });
            if revision.has_handshake {
                contexts.push(Context { established: Established::Adapter(revision), ..context });
            }
        }
    }
    contexts
}

/// The outcome of decoding, as text: its parts have no equality of their own.
fn told(decoded: &Decoded) -> String {
    match decoded {
        Decoded::Call(call) => format!("{:?} {:?}", call.operation(), call.raw()),
        other => format!("{other:?}"),
    }
}

proptest! {
    /// R24-RPC-11: only what waits for an answer is refused, and under its own id; and a revision
    /// that was selected does not find that the message lacks what selection asks for.
    #[test]
    fn only_requests_are_refused(message in message()) {
        let Some(message) = one(&message.to_string()) else { return Ok(()) };
        let set = AdapterSet::default();
        for context in contexts() {
            let adapter = match set.select(&message, &context) {
                Selection::Adapter(adapter) => adapter,
                Selection::Refused { adapter, .. } => {
                    prop_assert!(set.by_version(adapter.version).is_some());
                    continue;
                }
                Selection::AwaitSession => panic!("nothing is pending"),
            };
            prop_assert!(context.transport != Transport::HttpSse || adapter.has_handshake || message.id().is_none());
            match adapter.decode(&message, None) {
                Decoded::Refused(refused) => {
                    prop_assert!(message.id().is_some());
                    prop_assert_eq!(refused.id(), message.id());
                    prop_assert_eq!(adapter.wire(refused.failure.kind).status, 200);
                }
                Decoded::Call(call) => prop_assert_eq!(call.id(), message.id()),
                Decoded::Cancelled { .. } | Decoded::Ignored => {
                    prop_assert!(message.id().is_none());
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// White space between tokens means nothing.
    #[test]
    fn a_message_means_the_same_however_it_is_spaced(message in message()) {
        let (dense, spaced) = (message.to_string(), serde_json::to_string_pretty(&message)?);
        match (one(&dense), one(&spaced)) {
            (Some(dense), Some(spaced)) => for adapter in Revision::ALL.map(Revision::adapter) {
                let compare = |message: &Preamble| match adapter.decode(message, None) {
                    Decoded::Call(call) => format!(
                        "{:?} {:?} {:?} {:?}",
                        call.operation(),
                        call.target(),
                        call.arguments().map(|it| it.decode::<Value>().expect("JSON")),
                        call.completing(),
                    ),
                    other => told(&other),
                };
                prop_assert_eq!(compare(&dense), compare(&spaced));
            },
            (dense, spaced) => prop_assert_eq!(dense.is_some(), spaced.is_some()),
        }
    }

    /// R2503-RPC-20: a batch is its messages one by one; only a handshake is no part of one.
    #[test]
    fn a_batch_means_what_its_messages_mean(messages in prop::collection::vec(message(), 1..5)) {
        let text = Value::from(messages.clone()).to_string();
        let Ok(Incoming::Batch(items)) = read(text.into(), &ReadLimits::default()) else {
            panic!("a batch")
        };
        prop_assert_eq!(items.len(), messages.len());
        let adapter = Revision::V2025_03_26.adapter();
        for (item, alone) in items.iter().zip(&messages) {
            let alone = one(&alone.to_string());
            prop_assert_eq!(item.is_ok(), alone.is_some());
            if let (Ok(item), Some(alone)) = (item, alone) && item.method() != Some("initialize") {
                let (item, alone) = (adapter.decode(item, None), adapter.decode(&alone, None));
                prop_assert_eq!(told(&item), told(&alone));
            }
        }
    }

    /// A refusal is a line of JSON, whatever the peer's bytes were.
    #[test]
    fn bytes_are_refused_and_never_feared(
        message in message(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = message.to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if cut {
            bytes.truncate(at);
        }
        if let Err(refused) = read(bytes.into(), &ReadLimits::default()) {
            for adapter in Revision::ALL.map(Revision::adapter) {
                let mut out = Vec::new();
                adapter.write_failure(&mut out, refused.id(), &refused.failure);
                prop_assert!(!out.contains(&b'\n'));
                let response: Value = serde_json::from_slice(&out)?;
                let id = response.get("id").map(Value::to_string);
                let id = id.and_then(|id| RequestId::from_json(id.as_bytes()));
                prop_assert_eq!(id, refused.id().cloned());
            }
        }
    }
}
