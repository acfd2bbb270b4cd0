//! What each revision is, as literal tables.

use crate::model::{FailureKind, LogLevel, Operation};
use crate::revision::{Adapter, AskBy, Methods, Resumption, Revision, Structured};

fn adapters() -> [&'static Adapter; 5] {
    Revision::ALL.map(Revision::adapter)
}

fn each<T>(of: impl Fn(&Adapter) -> T) -> [T; 5] {
    adapters().map(of)
}

#[test]
fn the_flags_are_those_of_the_table() {
    use AskBy::{Arguments, Push, Retry};
    assert_eq!(each(|it| it.has_handshake), [true, true, true, true, false]);
    assert_eq!(each(|it| it.allows_batch), [true, true, false, false, false]);
    assert_eq!(each(|it| it.ask_elicitation), [Arguments, Arguments, Push, Push, Retry]);
    assert_eq!(each(|it| it.ask_sampling), [Push, Push, Push, Push, Retry]);
    assert_eq!(each(|it| it.disconnect_cancels), [false, false, false, false, true]);
    assert_eq!(each(|it| it.mirrors_headers), [false, false, false, false, true]);
    assert_eq!(each(|it| it.assumed), [false, true, false, false, false]);
    assert_eq!(each(|it| it.error_without_id), [false, false, false, true, true]);
    assert_eq!(each(|it| it.can_ask()), [false, false, false, false, true]);
    assert_eq!(each(|it| it.can_push_ask()), [false, false, true, true, false]);
    assert_eq!(each(|it| it.asks_in_arguments()), [true, true, false, false, false]);
    assert_eq!(each(|it| it.carries_state()), [true, true, false, false, true]);
    let info = Some(LogLevel::Info);
    assert_eq!(each(|it| it.default_log_level), [info, info, info, info, None]);
    let (lost, ids, primed) = (Resumption::None, Resumption::Ids, Resumption::Primed);
    assert_eq!(each(|it| it.resumption), [lost, ids, ids, primed, lost]);
    let none = Structured::None;
    assert_eq!(
        each(|it| it.fields.structured),
        [none, none, Structured::Object, Structured::Object, Structured::Any]
    );
    assert_eq!(each(|it| it.fields.title), [false, false, true, true, true]);
    assert_eq!(each(|it| it.fields.icons), [false, false, false, true, true]);
    assert_eq!(each(|it| it.envelope.result_type), [false, false, false, false, true]);
}

#[test]
fn a_version_names_its_revision() {
    for revision in Revision::ALL {
        assert_eq!(revision.as_str().parse(), Ok(revision));
        assert_eq!(revision.to_string(), revision.adapter().version);
    }
    assert!("2024-11-06".parse::<Revision>().is_err());
}

#[test]
fn a_method_asks_for_the_operation_that_it_is_named_for() {
    for adapter in adapters() {
        for operation in Operation::ALL {
            if let Some(method) = adapter.method_for(operation) {
                assert_eq!(adapter.operation_for(method), Some(operation), "{}", adapter.version);
            }
        }
        assert_eq!(adapter.operation_for("tools/call"), Some(Operation::CallTool));
        for method in ["", "Tools/call", "tools/call ", "tools", "tasks/get"] {
            assert_eq!(adapter.operation_for(method), None);
        }
    }
    let (old, new) = (Revision::V2025_11_25.adapter(), Revision::V2026_07_28.adapter());
    assert_eq!(old.method_for(Operation::Describe), Some("initialize"));
    assert_eq!(new.method_for(Operation::Describe), Some("server/discover"));
    assert_eq!(old.method_for(Operation::Listen), None);
    assert_eq!(new.method_for(Operation::Listen), Some("subscriptions/listen"));
    for gone in ["initialize", "notifications/initialized", "ping", "logging/setLevel"] {
        assert!(old.operation_for(gone).is_some() && new.operation_for(gone).is_none(), "{gone}");
    }
    for gone in ["resources/subscribe", "resources/unsubscribe"] {
        assert!(old.operation_for(gone).is_some() && new.operation_for(gone).is_none(), "{gone}");
    }
}

#[test]
fn an_operation_may_have_further_names() {
    const METHODS: Methods =
        Methods::NONE.with(Operation::Ping, "ping").with_aliases(&[("rpc.ping", Operation::Ping)]);
    let adapter = Adapter { methods: &METHODS, ..*Revision::V2025_11_25.adapter() };
    assert_eq!(adapter.operation_for("rpc.ping"), Some(Operation::Ping));
    assert_eq!(adapter.method_for(Operation::Ping), Some("ping"));
}

/// R24-RPC-14, R26-RPC-29, R26-HTTP-38, R26-META-08, R26-META-11, R26-HDR-22, R26-RSRC-11.
#[test]
fn every_kind_of_failure_has_its_code_and_status_in_every_revision() {
    type Row = (FailureKind, [(i32, u16); 2]);
    // The handshake revisions agree; so: all of these, and 2026-07-28.
    let table: [Row; 15] = [
        (FailureKind::Parse, [(-32700, 400), (-32700, 400)]),
        (FailureKind::Malformed, [(-32600, 400), (-32600, 400)]),
        (FailureKind::UnknownMethod, [(-32601, 200), (-32601, 404)]),
        (FailureKind::UnknownTarget, [(-32602, 200), (-32602, 200)]),
        (FailureKind::ResourceNotFound, [(-32002, 200), (-32602, 200)]),
        (FailureKind::InvalidParams, [(-32602, 200), (-32602, 200)]),
        (FailureKind::InvalidArguments, [(-32602, 200), (-32602, 200)]),
        (FailureKind::HeaderMismatch, [(-32600, 400), (-32020, 400)]),
        (FailureKind::UnsupportedVersion, [(-32602, 400), (-32022, 400)]),
        (FailureKind::OriginRejected, [(-32600, 403), (-32600, 403)]),
        (FailureKind::InputUnsupported, [(-32600, 200), (-32021, 400)]),
        (FailureKind::MissingRequiredCapability, [(-32600, 200), (-32021, 400)]),
        (FailureKind::Internal, [(-32603, 200), (-32603, 200)]),
        (FailureKind::MissingMetadata, [(-32602, 400), (-32602, 400)]),
        (FailureKind::Custom(-7), [(-7, 200), (-7, 200)]),
    ];
    let kinds: Vec<_> = table.iter().map(|row| row.0).take(FailureKind::ALL.len()).collect();
    assert_eq!(kinds, FailureKind::ALL);
    for (kind, [handshake, modern]) in table {
        let expected = [handshake, handshake, handshake, handshake, modern];
        let found = each(|it| (it.wire(kind).code, it.wire(kind).status));
        assert_eq!(found, expected, "{kind:?}");
    }
}
