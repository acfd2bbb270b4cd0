use std::collections::{BTreeSet, HashSet};

use super::*;
use crate::frame::json::{ScanLimits, scan};

fn classify(src: &str) -> Envelope {
    let message =
        scan(src.as_bytes(), &ScanLimits::default()).unwrap_or_else(|e| panic!("{src}: {e}"));
    Envelope::of(src.as_bytes(), &message)
}

fn invalid(src: &str) -> (Option<String>, Invalid) {
    match classify(src) {
        Envelope::Invalid { id, reason } => (id.map(|id| id.to_string()), reason),
        other => panic!("{src}: {other:?}"),
    }
}

fn id(json: &str) -> RequestId {
    RequestId::from_json(json.as_bytes()).unwrap_or_else(|| panic!("{json}"))
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

/// C07, C05: key presence decides; R24-RPC-03: no null id.
#[test]
fn key_presence_decides() {
    let src = r#"{"jsonrpc":"2.0","id":1,"method":""}"#;
    assert_eq!(classify(src).method(src.as_bytes()).as_deref(), Some(""));
    assert!(matches!(classify(src), Envelope::Request { .. }));

    let table = [
        (r#"{"jsonrpc":"2.0","id":2,"method":null}"#, Some("2"), Invalid::Method),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}"#,
            Some("3"),
            Invalid::RequestAndResponse,
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"ping","error":1}"#,
            Some("3"),
            Invalid::RequestAndResponse,
        ),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, None, Invalid::Id),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, None, Invalid::Id),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, None, Invalid::Id),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#, Some("1"), Invalid::ResultAndError),
        (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{}}"#, Some("1"), Invalid::ErrorObject),
        (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, None, Invalid::ResponseId),
        (
            r#"{"jsonrpc":"2.0","id":true,"error":{"code":1,"message":""}}"#,
            None,
            Invalid::ResponseId,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, Some("1"), Invalid::ErrorObject),
        (r#"{"jsonrpc":"2.0","id":"a"}"#, Some("\"a\""), Invalid::NoMethod),
        (r#"{"id":"a","method":"ping"}"#, Some("\"a\""), Invalid::Version),
        (r#"[]"#, None, Invalid::NotAnObject),
        (r#"null"#, None, Invalid::NotAnObject),
    ];
    for (src, id, reason) in table {
        assert_eq!(invalid(src), (id.map(str::to_owned), reason), "{src}");
    }
    assert!(Invalid::ResponseId.is_response() && !Invalid::Id.is_response());
}

/// C10: other spellings of a name are other names.
#[test]
fn names_are_compared_exactly() {
    for src in [
        r#"{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method\u0000":"ping"}"#,
    ] {
        assert_eq!(invalid(src).1, Invalid::NoMethod, "{src}");
    }
    let src = r#"{"jsonrpc":"2.\u0030","\u0069d":1,"m\u0065thod":"tools\/list","param\u017f":[]}"#;
    let envelope = classify(src);
    assert_eq!(envelope.method(src.as_bytes()).as_deref(), Some("tools/list"));
    assert_eq!(envelope.id(), Some(&RequestId::from(1)));
    assert!(matches!(envelope, Envelope::Request { params: Params::Absent, .. }));
}

/// C08.
#[test]
fn params_absent_null_object_and_other_are_told_apart() {
    let params =
        |params: &str| match classify(&format!(r#"{{"jsonrpc":"2.0","method":"m"{params}}}"#)) {
            Envelope::Notification { params, .. } => params,
            other => panic!("{other:?}"),
        };
    assert_eq!(params(""), Params::Absent);
    assert_eq!(params(r#","params":null"#), Params::Null);
    assert!(matches!(params(r#","params":{}"#), Params::Object(_)));
    for other in ["[]", "1", "\"x\"", "false"] {
        assert!(matches!(params(&format!(",\"params\":{other}")), Params::Other(_)), "{other}");
    }
}

/// C05, R2511-RPC-12.
#[test]
fn errors_need_no_id() {
    for id in ["", r#""id":null,"#] {
        let src = format!(
            r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"x","data":[1]}}}}"#
        );
        let Envelope::Error { id: None, error } = classify(&src) else { panic!("{src}") };
        assert_eq!(error.code, -32700);
        assert_eq!(json::string(error.message.of(src.as_bytes())).as_deref(), Some("x"));
        assert_eq!(error.data.map(|data| data.of(src.as_bytes())), Some(&b"[1]"[..]));
    }
}

/// C01, T-01: an id keeps its type and text.
#[test]
fn ids_compare_by_type_and_value_and_keep_their_text() {
    assert_eq!(id(r#""\u0031""#), RequestId::from("1"));
    assert_eq!(id("1.0"), RequestId::from(1));
    assert_eq!(id("-0"), RequestId::from(0));
    assert_eq!(id("9223372036854775807"), RequestId::from(i64::MAX));
    assert_ne!(id("1"), id(r#""1""#));
    assert_ne!(id(r#""007""#), id(r#""7""#));
    assert_ne!(id("123123123123123123123"), id("123123123123123123124"));
    for text in [
        r#""\u0031""#,
        "1.0",
        "-0",
        r#""007""#,
        r#""""#,
        "123123123123123123123",
        r#""\ud83d\ude00""#,
    ] {
        assert_eq!(id(text).to_string(), text);
    }
    let set: HashSet<_> = [id("1"), id("1.0"), id(r#""1""#), id(r#""\u0031""#)].into();
    let ordered: BTreeSet<_> = set.iter().cloned().collect();
    assert_eq!((set.len(), ordered.len()), (2, 2));
    for text in ["1.5", "null", "true", "[]", "{}", "1e300", r#""\ud800""#, "", "\""] {
        assert_eq!(RequestId::from_json(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn long_ids_keep_their_text_too() {
    for len in [34, 35, 36, 37, 38, 39, 300, 70_000] {
        let text = "x".repeat(len);
        let id = RequestId::from(&*text);
        assert_eq!(id.as_text().as_deref(), Some(&*text));
        assert_eq!(id.clone(), id);
    }
    assert!(size_of::<RequestId>() <= 48);
}

/// C02.
#[test]
fn a_gateways_quotes_are_taken_off_integers_only() {
    assert_eq!(RequestId::from("0").unquoted(), Some(RequestId::from(0)));
    assert_eq!(RequestId::from("-7").unquoted(), Some(RequestId::from(-7)));
    for text in ["01", "1.0", "1e0", " 1", "-0", "x", ""] {
        assert_eq!(RequestId::from(text).unquoted(), None, "{text}");
    }
    assert_eq!(RequestId::from(1).unquoted(), None);
}

#[test]
fn writes_envelopes_that_it_reads() {
    let id = id(r#""a\/b""#);
    let none = None::<&str>;
    let table = [
        (
            written(|out| write_result(out, &id, "{}")),
            r#"{"jsonrpc":"2.0","id":"a\/b","result":{}}"#,
        ),
        (
            written(|out| {
                write_result(out, &RequestId::from(7), |out: &mut Vec<u8>| out.extend(b"[1]"))
            }),
            r#"{"jsonrpc":"2.0","id":7,"result":[1]}"#,
        ),
        (
            written(|out| write_error(out, None, -32700, "not \"JSON\"\n", none)),
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"not \"JSON\"\n"}}"#,
        ),
        (
            written(|out| write_error(out, Some(&id), 1, "", Some(&b"{\"x\":1}"[..]))),
            r#"{"jsonrpc":"2.0","id":"a\/b","error":{"code":1,"message":"","data":{"x":1}}}"#,
        ),
        (
            written(|out| write_request(out, &id, "ping", none)),
            r#"{"jsonrpc":"2.0","id":"a\/b","method":"ping"}"#,
        ),
        (
            written(|out| write_notification(out, "a", Some("{}"))),
            r#"{"jsonrpc":"2.0","method":"a","params":{}}"#,
        ),
    ];
    for (text, expected) in table {
        assert_eq!(text, expected);
        assert!(!matches!(classify(&text), Envelope::Invalid { .. }), "{text}");
    }
}
