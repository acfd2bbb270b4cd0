//! Each step of selection, and the order of its refusals.

use super::support::{META, preamble};
use crate::model::FailureKind::{
    self, HeaderMismatch, Malformed, MissingMetadata, UnknownMethod, UnsupportedVersion,
};
use crate::revision::{
    AdapterSet, Context, Established, HeaderValue, Mirrors, Revision, Selection, Transport,
};

const HTTP: Context<'_> = Context {
    transport: Transport::Http,
    pin: None,
    mirrors: Mirrors {
        version: HeaderValue::Absent,
        method: HeaderValue::Absent,
        name: HeaderValue::Absent,
    },
    established: Established::None,
    require_session: false,
};
const STDIO: Context<'_> = Context { transport: Transport::Stdio, ..HTTP };

/// A version, or a refusal: who spells it and of which kind.
#[derive(Debug, PartialEq)]
enum Chosen {
    Is(&'static str),
    Not(&'static str, FailureKind),
    Later,
}
use Chosen::{Is, Later, Not};

fn chosen(selection: Selection<'_>) -> Chosen {
    match selection {
        Selection::Adapter(adapter) => Is(adapter.version),
        Selection::AwaitSession => Later,
        Selection::Refused { adapter, failure } => Not(adapter.version, failure.kind),
    }
}

fn select_in(set: &AdapterSet, text: &str, context: &Context<'_>) -> Chosen {
    chosen(set.select(&preamble(text), context))
}

fn select(text: &str, context: &Context<'_>) -> Chosen {
    select_in(&AdapterSet::default(), text, context)
}

fn header(version: &'static str) -> Context<'static> {
    let version = HeaderValue::Once(version.as_bytes());
    Context { mirrors: Mirrors { version, ..Mirrors::default() }, ..HTTP }
}

fn headers(
    version: &'static str,
    method: &'static str,
    name: Option<&'static str>,
) -> Context<'static> {
    let once = |value: &'static str| HeaderValue::Once(value.as_bytes());
    let name = name.map_or(HeaderValue::Absent, once);
    let mirrors = Mirrors { version: once(version), method: once(method), name };
    Context { mirrors, ..HTTP }
}

fn session(revision: Revision) -> Context<'static> {
    Context { established: Established::Adapter(revision.adapter()), ..HTTP }
}

fn stated(method: &str, version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"x","_meta":{{
            "io.modelcontextprotocol/protocolVersion":"{version}",
            "io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}"#;
const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
const NOTIFICATION: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
const RESPONSE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

#[test]
fn step_2_the_pin_decides_and_its_checks_apply() {
    let pinned = |pin, context: Context<'static>| Context { pin: Some(pin), ..context };
    assert_eq!(select(LIST, &pinned("2025-06-18", HTTP)), Is("2025-06-18"));
    assert_eq!(select(INITIALIZE, &pinned("2025-03-26", HTTP)), Is("2025-03-26"));
    assert_eq!(select(LIST, &pinned("2025-01-01", HTTP)), Not("2026-07-28", UnsupportedVersion));
    assert_eq!(
        select(LIST, &pinned("2025-06-18", header("2025-11-25"))),
        Not("2025-06-18", HeaderMismatch)
    );
    assert_eq!(
        select(LIST, &pinned("2025-06-18", session(Revision::V2025_11_25))),
        Not("2025-06-18", HeaderMismatch)
    );
    let strict = Context { require_session: true, ..HTTP };
    assert_eq!(select(LIST, &pinned("2025-06-18", strict)), Not("2025-06-18", Malformed));
    let pending = Context { established: Established::Pending, ..HTTP };
    assert_eq!(select(LIST, &pinned("2025-06-18", pending)), Later);
    // The modern one checks headers, metadata and versions as ever.
    assert_eq!(select(LIST, &pinned("2026-07-28", HTTP)), Not("2026-07-28", HeaderMismatch));
    let complete = headers("2026-07-28", "tools/list", None);
    assert_eq!(select(LIST, &pinned("2026-07-28", complete)), Not("2026-07-28", MissingMetadata));
    assert_eq!(
        select(&stated("tools/list", "2026-07-28"), &pinned("2026-07-28", complete)),
        Is("2026-07-28")
    );
}

/// R26-DISC-01
#[test]
fn step_3_a_method_of_revisions_that_are_not_served_is_unknown() {
    let old = AdapterSet::of([Revision::V2024_11_05, Revision::V2025_11_25]).unwrap();
    let all = AdapterSet::default();
    let sse = Context { transport: Transport::HttpSse, ..HTTP };
    let unknown = Not("2025-11-25", UnknownMethod);
    for (set, context) in [
        (&old, HTTP),
        (&old, header("2025-11-25")),
        (&old, headers("2026-07-28", "server/discover", None)),
        (&old, Context { require_session: true, ..HTTP }),
        (&old, STDIO),
        (&old, Context { established: Established::Pending, ..HTTP }),
        (&old, Context { established: session(Revision::V2025_11_25).established, ..STDIO }),
        (&old, sse),
        (&all, sse),
        (&all, Context { established: session(Revision::V2025_11_25).established, ..sse }),
    ] {
        for method in ["server/discover", "subscriptions/listen"] {
            let bare = format!(r#"{{"jsonrpc":"2.0","id":"a","method":"{method}"}}"#);
            for text in [bare, stated(method, "2026-07-28"), stated(method, "2099-01-01")] {
                assert_eq!(select_in(set, &text, &context), unknown, "{text} {context:?}");
            }
        }
        let named = Is("2025-11-25");
        assert_ne!(select_in(set, &stated("tools/list", "2026-07-28"), &context), unknown);
        assert_eq!(select_in(set, INITIALIZE, &context), named, "{context:?}");
    }
}

/// R26-VER-01, R26-VER-04.
#[test]
fn step_4_metadata_states_a_version() {
    let list = stated("tools/list", "2026-07-28");
    assert_eq!(select(&list, &headers("2026-07-28", "tools/list", None)), Is("2026-07-28"));
    assert_eq!(select(&list, &STDIO), Is("2026-07-28"));
    // It counts whatever the session says, and whatever else the message looks like.
    let mixed =
        Context { established: Established::Pending, ..headers("2026-07-28", "initialize", None) };
    assert_eq!(select(&stated("initialize", "2026-07-28"), &mixed), Is("2026-07-28"));
    for version in ["2099-01-01", "2025-11-25", ""] {
        let refused = Not("2026-07-28", UnsupportedVersion);
        assert_eq!(select(&stated("tools/list", version), &STDIO), refused, "{version}");
    }
    // Who has only handshakes says so.
    let old = AdapterSet::of([Revision::V2025_11_25]).unwrap();
    assert_eq!(select_in(&old, &list, &STDIO), Not("2025-11-25", UnsupportedVersion));
    assert_eq!(
        select_in(
            &AdapterSet::default(),
            &list,
            &Context { transport: Transport::HttpSse, ..HTTP }
        ),
        Not("2025-11-25", UnsupportedVersion)
    );
}

#[test]
fn an_unsupported_version_is_told_which_there_are() {
    let refusal = |transport| {
        let set = AdapterSet::of([Revision::V2026_07_28, Revision::V2025_11_25]).unwrap();
        let message = preamble(&stated("tools/list", "2099-01-01"));
        match set.select(&message, &Context { transport, ..HTTP }) {
            Selection::Refused { failure, .. } => failure.data.unwrap().to_string(),
            other => panic!("{other:?}"),
        }
    };
    let all = r#"{"supported":["2026-07-28","2025-11-25"],"requested":"2099-01-01"}"#;
    assert_eq!(refusal(Transport::Stdio), all);
    let handshakes = r#"{"supported":["2025-11-25"],"requested":"2099-01-01"}"#;
    assert_eq!(refusal(Transport::HttpSse), handshakes);
}

/// R26-HDR-04, T-42: missing headers, missing metadata, mismatch, unsupported version.
#[test]
fn the_first_of_several_faults_is_told() {
    let call = |version: &str| stated("tools/call", version);
    let bare = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}"#;
    let no_headers = HTTP;
    let no_method = header("2025-06-18");
    let no_name = headers("2025-06-18", "tools/list", None);
    for context in [no_headers, no_method, no_name] {
        assert_eq!(select(&call("2099-01-01"), &context), Not("2026-07-28", HeaderMismatch));
    }
    // Missing metadata before a mismatch.
    let wrong = headers("2025-06-18", "tools/call", None);
    assert_eq!(select(bare, &wrong), Not("2026-07-28", MissingMetadata));
    // A mismatch before an unsupported version.
    let wrong = headers("2026-07-28", "tools/call", Some("x"));
    assert_eq!(select(&call("2099-01-01"), &wrong), Not("2026-07-28", HeaderMismatch));
    let other_name = headers("2099-01-01", "tools/call", Some("y"));
    assert_eq!(select(&call("2099-01-01"), &other_name), Not("2026-07-28", HeaderMismatch));
    let right = headers("2099-01-01", "tools/call", Some("x"));
    assert_eq!(select(&call("2099-01-01"), &right), Not("2026-07-28", UnsupportedVersion));
    let right = headers("2026-07-28", "tools/call", Some("x"));
    assert_eq!(select(&call("2026-07-28"), &right), Is("2026-07-28"));
}

/// C25: optional white space, and the header twice.
#[test]
fn a_header_is_trimmed_and_must_be_single() {
    let list = stated("tools/list", "2026-07-28");
    assert_eq!(select(&list, &headers(" 2026-07-28\t", "tools/list", None)), Is("2026-07-28"));
    let twice =
        Mirrors { version: HeaderValue::Repeated, ..headers("", "tools/list", None).mirrors };
    let twice = Context { mirrors: twice, ..HTTP };
    assert_eq!(select(&list, &twice), Not("2026-07-28", HeaderMismatch));
    let twice = Context { established: session(Revision::V2025_06_18).established, ..twice };
    assert_eq!(select(LIST, &twice), Not("2025-06-18", HeaderMismatch));
    let encoded = headers("2026-07-28", "=?base64?dG9vbHMvbGlzdA==?=", None);
    assert_eq!(select(&list, &encoded), Not("2026-07-28", HeaderMismatch));
    let encoded = headers("2026-07-28", "tools/call", Some("=?base64?eA==?="));
    assert_eq!(select(&stated("tools/call", "2026-07-28"), &encoded), Is("2026-07-28"));
}

/// C19, C25 (h): the body decides; never a revision without handshake.
#[test]
fn step_5_a_handshake_is_for_the_newest_that_has_one() {
    for context in [HTTP, STDIO, header("banana"), header("2026-07-28"), header("2025-06-18")] {
        assert_eq!(select(INITIALIZE, &context), Is("2025-11-25"));
    }
    let strict = Context { require_session: true, ..HTTP };
    assert_eq!(select(INITIALIZE, &strict), Is("2025-11-25"));
    // R26-VER-09, R26-VER-07: who has none refuses, and says what there is.
    let modern = AdapterSet::of([Revision::V2026_07_28]).unwrap();
    assert_eq!(select_in(&modern, INITIALIZE, &HTTP), Not("2026-07-28", HeaderMismatch));
    assert_eq!(select_in(&modern, INITIALIZE, &STDIO), Not("2026-07-28", MissingMetadata));
    let message = preamble(INITIALIZE);
    let Selection::Refused { failure, .. } = modern.select(&message, &STDIO) else { panic!() };
    assert_eq!(failure.data.unwrap().to_string(), r#"{"supported":["2026-07-28"]}"#);
}

/// C26.
#[test]
fn step_6_a_method_without_handshake_needs_its_metadata() {
    assert_eq!(select(DISCOVER, &STDIO), Not("2026-07-28", MissingMetadata));
    assert_eq!(select(DISCOVER, &HTTP), Not("2026-07-28", HeaderMismatch));
    let complete = headers("2026-07-28", "server/discover", None);
    assert_eq!(select(DISCOVER, &complete), Not("2026-07-28", MissingMetadata));
    let context = Context { established: Established::Pending, ..complete };
    assert_eq!(select(DISCOVER, &context), Not("2026-07-28", MissingMetadata));
    let without = stated("tools/list", "2026-07-28").replace("clientCapabilities", "client");
    assert_eq!(select(&without, &STDIO), Not("2026-07-28", MissingMetadata));
    let null = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":null}"#;
    assert_eq!(select(null, &STDIO), Not("2026-07-28", MissingMetadata));
}

#[test]
fn step_7_a_session_has_a_revision() {
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        for text in [LIST, PING, NOTIFICATION, RESPONSE] {
            let context = session(revision);
            assert_eq!(select(text, &context), Is(revision.as_str()));
            let named = HeaderValue::Once(revision.as_str().as_bytes());
            let mirrors = Mirrors { version: named, ..Mirrors::default() };
            assert_eq!(select(text, &Context { mirrors, ..context }), Is(revision.as_str()));
            let mirrors = header("2026-07-28").mirrors;
            assert_eq!(
                select(text, &Context { mirrors, ..context }),
                Not(revision.as_str(), HeaderMismatch)
            );
            assert_eq!(
                select(text, &Context { transport: Transport::Stdio, mirrors, ..context }),
                Is(revision.as_str())
            );
        }
    }
    let pending = Context { established: Established::Pending, ..HTTP };
    assert_eq!(select(LIST, &pending), Later);
    let few = AdapterSet::of([Revision::V2025_11_25]).unwrap();
    assert_eq!(
        select_in(&few, LIST, &session(Revision::V2025_06_18)),
        Not("2025-11-25", UnsupportedVersion)
    );
}

/// C25 (f), (g).
#[test]
fn step_8_the_header_states_a_version() {
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        assert_eq!(select(LIST, &header(revision.as_str())), Is(revision.as_str()));
    }
    assert_eq!(select(LIST, &header("banana")), Not("2026-07-28", UnsupportedVersion));
    assert_eq!(select(LIST, &header("caf\u{e9}")), Not("2026-07-28", HeaderMismatch));
    assert_eq!(select(LIST, &header("2026-07-28")), Not("2026-07-28", HeaderMismatch));
    let complete = headers("2026-07-28", "tools/list", None);
    assert_eq!(select(LIST, &complete), Not("2026-07-28", MissingMetadata));
    let strict = Context { require_session: true, ..header("2025-06-18") };
    assert_eq!(select(LIST, &strict), Not("2025-06-18", Malformed));
}

/// C20, C25 (e), T-15, R2506-HDR-02.
#[test]
fn step_9_nothing_is_stated() {
    for text in [LIST, PING, NOTIFICATION, RESPONSE] {
        assert_eq!(select(text, &HTTP), Is("2025-03-26"));
        let strict = Context { require_session: true, ..HTTP };
        assert_eq!(select(text, &strict), Not("2025-03-26", Malformed));
        let without = AdapterSet::of([Revision::V2025_11_25, Revision::V2026_07_28]).unwrap();
        assert_eq!(select_in(&without, text, &HTTP), Not("2026-07-28", HeaderMismatch));
    }
    assert_eq!(select(PING, &STDIO), Is("2025-11-25"));
    assert_eq!(select(LIST, &STDIO), Not("2025-11-25", Malformed));
    // What needs no answer needs no revision: a modern client's cancellation names none.
    assert_eq!(select(NOTIFICATION, &STDIO), Is("2026-07-28"));
    assert_eq!(select(RESPONSE, &STDIO), Is("2026-07-28"));
}

/// R26-HTTP-39: lenient, but never what says two things.
#[test]
fn notifications_need_no_headers_and_may_not_contradict_themselves() {
    let plain = format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{{META}}}}}"#);
    assert_eq!(select(&plain, &HTTP), Is("2026-07-28"));
    assert_eq!(select(&plain, &header("2025-11-25")), Not("2026-07-28", HeaderMismatch));
}

/// R2503-RPC-17, R2506-RPC-21, T-09.
#[test]
fn batches_are_for_the_revision_that_has_them() {
    let set = AdapterSet::default();
    let batch = |context: &Context<'_>| chosen(set.select_batch(context));
    assert_eq!(batch(&HTTP), Is("2025-03-26"));
    assert_eq!(batch(&session(Revision::V2025_03_26)), Is("2025-03-26"));
    assert_eq!(batch(&Context { pin: Some("2025-03-26"), ..HTTP }), Is("2025-03-26"));
    for revision in Revision::ALL.into_iter().filter(|it| !it.adapter().allows_batch) {
        let named = header(revision.as_str());
        assert_eq!(batch(&named), Not(revision.as_str(), Malformed));
        assert_eq!(
            batch(&Context { pin: Some(revision.as_str()), ..HTTP }),
            Not(revision.as_str(), Malformed)
        );
    }
    assert_eq!(batch(&Context { established: Established::Pending, ..HTTP }), Later);
    assert_eq!(batch(&STDIO), Not("2025-11-25", Malformed));
    assert_eq!(batch(&header("banana")), Not("2026-07-28", UnsupportedVersion));
    assert_eq!(batch(&Context { pin: Some("x"), ..HTTP }), Not("2026-07-28", UnsupportedVersion));
}
