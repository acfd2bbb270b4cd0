//! Every method in every revision that has it, and what is refused.

use super::support::{
    adapter, call, decode, handshakes, incoming, json, modern, preamble, refusal, request,
};
use crate::frame::envelope::{ProgressToken, RequestId};
use crate::model::{ClientProfile, Detail, FailureKind, LogLevel, Operation, Reference};
use crate::revision::{Adapter, Decoded, Incoming, Revision};

fn everywhere() -> impl Iterator<Item = &'static Adapter> {
    Revision::ALL.into_iter().map(Revision::adapter)
}

/// A method, its operation and parameters, and what they are decoded to: target and arguments.
type Row = (&'static str, Operation, &'static str, Option<&'static str>, Option<&'static str>);

const METHODS: &[Row] = &[
    ("ping", Operation::Ping, "", None, None),
    ("server/discover", Operation::Describe, "", None, None),
    ("tools/list", Operation::ListTools, "", None, None),
    ("tools/call", Operation::CallTool, r#""name":"add""#, Some("add"), None),
    (
        "tools/call",
        Operation::CallTool,
        r#""name":"\u0061dd","Name":"no","arguments":{"a":1},"Arguments":{"a":2}"#,
        Some("add"),
        Some(r#"{"a":1}"#),
    ),
    ("tools/call", Operation::CallTool, r#""name":"add","arguments":null"#, Some("add"), None),
    ("resources/list", Operation::ListResources, "", None, None),
    ("resources/templates/list", Operation::ListResourceTemplates, "", None, None),
    ("resources/read", Operation::ReadResource, r#""uri":"a:b""#, Some("a:b"), None),
    ("resources/subscribe", Operation::Subscribe, r#""uri":"a:b""#, Some("a:b"), None),
    ("resources/unsubscribe", Operation::Unsubscribe, r#""uri":"a:b""#, Some("a:b"), None),
    ("prompts/list", Operation::ListPrompts, "", None, None),
    (
        "prompts/get",
        Operation::GetPrompt,
        r#""name":"hi","arguments":{"a":"1"}"#,
        Some("hi"),
        Some(r#"{"a":"1"}"#),
    ),
    ("subscriptions/listen", Operation::Listen, r#""notifications":{}"#, None, None),
];

#[test]
fn every_method_is_decoded_in_every_revision_that_has_it() {
    let mut decoded = 0;
    for adapter in everywhere() {
        for &(method, operation, params, target, arguments) in METHODS {
            if adapter.method_for(operation) != Some(method) {
                continue;
            }
            let call = call(adapter, method, params);
            assert_eq!(call.operation(), operation, "{method}");
            assert_eq!(call.id(), Some(&RequestId::from(1)));
            assert_eq!((call.method(), call.target()), (method, target));
            assert_eq!(call.arguments().map(|it| it.as_str()), arguments, "{method} {params}");
            assert_eq!(call.raw().as_str(), request(adapter, method, params));
            decoded += 1;
        }
    }
    assert_eq!(decoded, 4 * 12 + 11);
}

/// C08, C89, C107, T-62, R24-RPC-13: members that are missing, or of another type.
#[test]
fn parameters_that_are_missing_or_wrong_are_refused() {
    let wrong: &[(&str, &[&str])] = &[
        (
            "tools/call",
            &[
                "",
                r#""name":1"#,
                r#""name":null"#,
                r#""Name":"x""#,
                r#""name":"x","arguments":[]"#,
                r#""name":"x","arguments":"{}""#,
            ],
        ),
        ("resources/read", &["", r#""uri":{}"#]),
        ("resources/subscribe", &["", r#""uri":1"#]),
        ("resources/unsubscribe", &["", r#""uri":true"#]),
        (
            "prompts/get",
            &[
                "",
                r#""name":"x","arguments":{"a":[1]}"#,
                r#""name":"x","arguments":{"a":{}}"#,
                r#""name":"x","arguments":[]"#,
            ],
        ),
        ("tools/list", &[r#""cursor":1"#, r#""cursor":{}"#]),
        ("prompts/list", &[r#""cursor":true"#]),
        ("logging/setLevel", &["", r#""level":"verbose""#, r#""level":3"#, r#""level":"INFO""#]),
        ("subscriptions/listen", &["", r#""notifications":[]"#]),
        (
            "completion/complete",
            &[
                "",
                r#""ref":{"type":"ref/prompt","name":"p"}"#,
                r#""argument":{"name":"a","value":"b"}"#,
                r#""ref":{"type":"ref/x","name":"p"},"argument":{"name":"a","value":"b"}"#,
                r#""ref":{"type":"ref/prompt"},"argument":{"name":"a","value":"b"}"#,
                r#""ref":{"type":"ref/resource","name":"p"},"argument":{"name":"a","value":"b"}"#,
                r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a"}"#,
                r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":1}"#,
                r#""ref":[],"argument":{"name":"a","value":"b"}"#,
                r#""ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"b"},"context":{"arguments":{"x":[1]}}"#,
            ],
        ),
    ];
    for adapter in everywhere() {
        for (method, params) in wrong {
            for params in params.iter().filter(|_| adapter.operation_for(method).is_some()) {
                let failure = refusal(adapter, &request(adapter, method, params));
                assert_eq!(failure.kind, FailureKind::InvalidParams, "{method} {params}");
            }
        }
    }
    // C19, R24-LIFE-01
    let complete = r#""protocolVersion":"x","capabilities":{},"clientInfo":{}"#;
    for (good, bad) in [
        (r#""protocolVersion":"x""#, r#""protocolVersion":20250618"#),
        (r#""protocolVersion":"x""#, r#""protocolVersion":null"#),
        (r#""protocolVersion":"x","#, ""),
        (r#""capabilities":{},"#, ""),
        (r#""capabilities":{}"#, r#""capabilities":[]"#),
        (r#","clientInfo":{}"#, ""),
        (r#""clientInfo":{}"#, r#""clientInfo":"me""#),
    ] {
        let params = complete.replace(good, bad);
        for adapter in handshakes() {
            assert_eq!(call(adapter, "initialize", complete).operation(), Operation::Describe);
            let failure = refusal(adapter, &request(adapter, "initialize", &params));
            assert_eq!(failure.kind, FailureKind::InvalidParams, "{params}");
        }
    }
}

/// C08.
#[test]
fn absent_and_null_parameters_are_none_and_other_values_are_refused() {
    let list =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list"{params}}}"#);
    for adapter in handshakes() {
        for params in ["", r#","params":null"#, r#","params":{}"#, r#","params":{"cursor":null}"#] {
            assert!(matches!(decode(adapter, &list(params)), Decoded::Call(_)), "{params}");
        }
        for params in [r#","params":[]"#, r#","params":1"#, r#","params":"x""#] {
            let failure = refusal(adapter, &list(params));
            assert_eq!(failure.kind, FailureKind::InvalidParams, "{params}");
        }
    }
    // R26-META-08
    for params in ["", r#","params":null"#, r#","params":{}"#, r#","params":[]"#] {
        assert_eq!(refusal(modern(), &list(params)).kind, FailureKind::MissingMetadata);
    }
}

#[test]
fn a_cursor_is_kept_even_when_it_is_empty() {
    // T-57
    let call = call(modern(), "tools/list", r#""cursor":"""#);
    assert!(matches!(&call.detail, Detail::Cursor(cursor) if cursor.is_empty()));
}

/// R26-CMPL-03.
#[test]
fn a_completion_knows_its_reference_argument_and_context() {
    for adapter in everywhere() {
        let params = r#""ref":{"type":"ref/resource","uri":"a:{b}"},"argument":{"name":"b","value":"c"},"context":{"arguments":{"d":"\u0065"}}"#;
        let call = call(adapter, "completion/complete", params);
        let completing = call.completing().unwrap();
        assert_eq!(completing.reference, Reference::Resource("a:{b}".into()));
        assert_eq!((&*completing.argument, &*completing.value), ("b", "c"));
        assert_eq!(completing.context, [("d".to_owned(), "e".to_owned())]);
    }
}

/// R24-LIFE-06, R24-LOG-04.
#[test]
fn a_handshake_describes_the_client_and_later_calls_know_it() {
    for adapter in handshakes() {
        let params = r#""protocolVersion":"2025-06-18","capabilities":{"elicitation":{},"x":1},"clientInfo":{"name":"c","version":"1"}"#;
        let open = call(adapter, "initialize", params);
        assert!(matches!(&open.detail, Detail::Requested(version) if version == "2025-06-18"));
        assert!(open.client().capabilities.elicitation_form);
        assert_eq!(open.client().implementation().unwrap().name, "c");

        let mut client = open.client().clone();
        let ping = preamble(&request(adapter, "ping", ""));
        let later = |client: Option<&ClientProfile>| match adapter.decode(&ping, client) {
            Decoded::Call(call) => call,
            other => panic!("{other:?}"),
        };
        assert!(later(Some(&client)).client().capabilities.elicitation_form);
        assert_eq!(later(None).log_level(), Some(LogLevel::Info));
        client.log_level = Some(LogLevel::Error);
        assert_eq!(later(Some(&client)).log_level(), Some(LogLevel::Error));
    }
    let level = call(adapter("2025-11-25"), "logging/setLevel", r#""level":"alert""#);
    assert!(matches!(level.detail, Detail::Level(LogLevel::Alert)));
}

fn with_metadata(more: &str) -> String {
    let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{{{meta}{more}}}}}}}"#
    )
}

/// C26, C29, R26-META-07 to R26-META-10, R26-LOG-04, R26-LOG-05.
#[test]
fn without_a_handshake_each_request_describes_its_client() {
    let decoded = |more: &str| match decode(modern(), &with_metadata(more)) {
        Decoded::Call(call) => Ok(call),
        Decoded::Refused(refused) => Err(refused.failure.kind),
        other => panic!("{other:?}"),
    };
    let caps = r#","io.modelcontextprotocol/clientCapabilities":{"sampling":{}}"#;
    let call = decoded(caps).unwrap();
    assert!(call.client().capabilities.sampling && call.client().info.is_none());
    assert_eq!(call.log_level(), None);

    // What another request said is not known here.
    let other = ClientProfile::new(Some(json(r#"{"elicitation":{}}"#)), None);
    let alone = modern().decode(&preamble(&with_metadata(caps)), Some(&other));
    let Decoded::Call(alone) = alone else { panic!() };
    assert!(!alone.client().capabilities.elicitation_form);

    let level = |level: &str| {
        decoded(&format!(r#"{caps},"io.modelcontextprotocol/logLevel":{level}"#))
            .map(|call| call.log_level())
    };
    assert_eq!(level(r#""warning""#), Ok(Some(LogLevel::Warning)));
    assert_eq!(level(r#""loud""#), Err(FailureKind::InvalidParams));
    assert_eq!(level("3"), Err(FailureKind::InvalidParams));

    let info = r#","io.modelcontextprotocol/clientInfo":{"name":1}"#;
    let call = decoded(&format!("{caps}{info}")).unwrap();
    assert_eq!(call.client().implementation(), None, "C26 (e): malformed is absent");

    for missing in ["", r#","io.modelcontextprotocol/clientCapabilities":null"#] {
        assert_eq!(decoded(missing).unwrap_err(), FailureKind::MissingMetadata);
    }
}

/// C16: the token keeps its type and text.
#[test]
fn a_progress_token_is_a_string_or_an_integer() {
    for adapter in handshakes() {
        let token = |token: &str| {
            let params = format!(r#""_meta":{{"progressToken":{token}}}"#);
            call(adapter, "ping", &params).progress_token().cloned()
        };
        assert_eq!(token("-3"), Some(ProgressToken::from(-3)));
        assert_eq!(token(r#""abc""#), Some(ProgressToken::from("abc")));
        for none in ["null", "[]", "1.5"] {
            assert_eq!(token(none), None, "{none}");
        }
    }
}

/// T-06, R24-RPC-11, R24-CANC-08.
#[test]
fn notifications_are_acted_on_or_ignored_and_never_refused() {
    for adapter in everywhere() {
        let notified = |method: &str, params: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","method":"{method}"{params}}}"#);
            decode(adapter, &text)
        };
        let cancelled =
            notified("notifications/cancelled", r#","params":{"requestId":"a","reason":"enough"}"#);
        let Decoded::Cancelled { request, reason } = cancelled else { panic!("{cancelled:?}") };
        assert_eq!((request, &*reason.unwrap()), (RequestId::from("a"), "enough"));
        for (method, params) in [
            ("notifications/cancelled", ""),
            ("notifications/cancelled", r#","params":{"requestId":null}"#),
            ("notifications/cancelled", r#","params":[]"#),
            ("notifications/whatever", ""),
            ("notifications/roots/list_changed", ""),
            ("tools/call", r#","params":{"name":"x"}"#),
            ("tools/call", ""),
            ("", ""),
        ] {
            assert!(matches!(notified(method, params), Decoded::Ignored), "{method} {params}");
        }
        let initialized = notified("notifications/initialized", r#","params":null"#);
        match adapter.has_handshake {
            true => assert!(matches!(initialized, Decoded::Call(call) if call.is_notification())),
            false => assert!(matches!(initialized, Decoded::Ignored)),
        }
    }
}

#[test]
fn what_no_revision_names_is_for_extensions() {
    for adapter in everywhere() {
        let call = call(adapter, "example.com/x", r#""a":1"#);
        assert_eq!((call.operation(), call.method()), (Operation::Extension, "example.com/x"));
    }
    let gone = call(modern(), "ping", "");
    assert_eq!((gone.operation(), gone.method()), (Operation::Extension, "ping"));
    for adapter in handshakes() {
        let failure = refusal(adapter, &request(adapter, "notifications/initialized", ""));
        assert_eq!(failure.kind, FailureKind::UnknownMethod);
    }
}

#[test]
fn an_answer_of_the_client_is_its_result_or_its_error() {
    for adapter in everywhere() {
        let answered = |text: &str| match decode(adapter, text) {
            Decoded::Answered(answered) => answered,
            other => panic!("{other:?}"),
        };
        let yes = answered(r#"{"jsonrpc":"2.0","id":"q","result":{"action":"accept"}}"#);
        assert_eq!(yes.id, Some(RequestId::from("q")));
        assert_eq!(yes.result, Ok(json(r#"{"action":"accept"}"#)));
        let no = answered(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}"#);
        assert_eq!(no.result, Err(json(r#"{"code":-1,"message":"no"}"#)));
        // C05
        assert_eq!(
            answered(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#).id,
            None
        );
    }
}

/// R2503-RPC-19.
#[test]
fn a_handshake_in_a_batch_is_refused_and_its_neighbours_run() {
    let text = r#"[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"x"}},
        {"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let Ok(Incoming::Batch(items)) = incoming(text) else { panic!() };
    let adapter = adapter("2025-03-26");
    let decoded: Vec<_> =
        items.iter().map(|it| adapter.decode(it.as_ref().unwrap(), None)).collect();
    let Decoded::Refused(refused) = &decoded[0] else { panic!("{decoded:?}") };
    assert_eq!(refused.failure.kind, FailureKind::Malformed);
    assert!(matches!(&decoded[1], Decoded::Call(call) if call.operation() == Operation::Ping));
}
