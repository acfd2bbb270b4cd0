use super::support::{incoming, preamble};
use crate::frame::envelope::RequestId;
use crate::model::FailureKind;
use crate::revision::{Incoming, Shape, Stated, Subject};

fn refused(text: &str) -> (FailureKind, Option<String>) {
    let refused = incoming(text).unwrap_err();
    (refused.failure.kind, refused.id().map(ToString::to_string))
}

#[test]
fn a_preamble_tells_what_a_message_is_and_which_version_it_states() {
    let request = preamble(r#"{"jsonrpc":"2.0","id":"a","method":"tools\/list"}"#);
    assert_eq!(request.shape(), &Shape::Request(RequestId::from("a")));
    assert_eq!(request.method(), Some("tools/list"));
    assert_eq!(request.metadata().version, Stated::Absent);
    assert!(preamble(r#"{"jsonrpc":"2.0","method":"m"}"#).is_notification());
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#,
    ] {
        assert!(preamble(text).is_response() && preamble(text).id().is_none());
    }
    let stating = |version: &str| {
        let meta = format!(r#"{{"io.modelcontextprotocol/protocolVersion":{version}}}"#);
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"_meta":{meta}}}}}"#);
        preamble(&text).metadata().version.clone()
    };
    assert_eq!(stating(r#""2026-07-\u00328""#), Stated::Version("2026-07-28".into()));
    assert_eq!(stating("20260728"), Stated::Invalid);
    assert_eq!(stating("null"), Stated::Invalid);
}

#[test]
fn what_is_no_message_is_refused_with_the_id_that_could_be_read() {
    // C05, C07, C10; R24-RPC-03
    assert_eq!(refused("{"), (FailureKind::Parse, None));
    assert_eq!(refused("\"x\""), (FailureKind::Malformed, None));
    let (malformed, three) = (FailureKind::Malformed, Some("3".to_owned()));
    assert_eq!(refused(r#"{"jsonrpc":"2.0","id":3,"method":null}"#), (malformed, three.clone()));
    assert_eq!(refused(r#"{"jsonrpc":"1.0","id":3,"method":"m"}"#), (malformed, three.clone()));
    assert_eq!(refused(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#), (malformed, None));
    let twice = r#"{"jsonrpc":"2.0","id":3,"method":"ping","method":"tools/call"}"#;
    assert_eq!(refused(twice), (malformed, three));
}

/// The id is one of ours, so no error may carry it, whatever else is wrong.
#[test]
fn a_response_that_is_refused_is_known_for_one() {
    for text in [
        r#"{"jsonrpc":"2.0","id":3,"result":1,"error":1}"#,
        r#"{"jsonrpc":"1.0","id":3,"result":{}}"#,
        r#"{"id":3,"error":{"code":1}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":"x","message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":"\ud800"}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":1e400}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":1,"result":2}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{"#,
    ] {
        let refused = incoming(text).unwrap_err();
        assert_eq!(refused.subject, Subject::Response(Some(RequestId::from(3))), "{text}");
        assert_eq!(refused.id(), None, "{text}");
    }
    for text in [r#"{"jsonrpc":"2.0","result":{}}"#, r#"{"id":null,"error":{"code":1}}"#] {
        assert_eq!(incoming(text).unwrap_err().subject, Subject::Response(None), "{text}");
    }
}

/// R24-RPC-05: nobody waits for what could have been answered.
#[test]
fn what_cannot_be_read_is_refused_under_the_ids_that_can() {
    let deep =
        format!(r#"{{"id":3,"params":{}{},"method":"m"}}"#, "[".repeat(200), "]".repeat(200));
    let (parse, malformed) = (FailureKind::Parse, FailureKind::Malformed);
    for (text, kind) in [
        (r#"{"jsonrpc":"2.0","id":3,"method":"m","params":{"x":"\ud800"}}"#, parse),
        (r#"{"jsonrpc":"2.0","params":{"x":1e400},"method":"m","id":3}"#, parse),
        (r#"{"jsonrpc":"2.0","id":3,"method":"m","params":{"x":NaN}}"#, parse),
        (r#"{"jsonrpc":"2.0","id":3,"method":"m","params":{"x""#, parse),
        (r#"{"jsonrpc":"2.0","id":3,"method":"m","a":1,"a":2}"#, malformed),
        (&deep, malformed),
    ] {
        assert_eq!(refused(text), (kind, Some("3".to_owned())), "{text}");
    }
    for text in [r#"{"id":3,"a":1,"a":1"#, r#"{"id":1,"id":2,"method":"m"}"#, "[3", "3 3"] {
        assert_eq!(refused(text).1, None, "{text}");
    }
    let ids = |text: &str| match incoming(text).unwrap_err().subject {
        Subject::Requests(ids) => ids,
        other => panic!("{other:?}"),
    };
    let broken =
        r#"[{"id":1,"method":"m"},{"id":2,"result":1},{"id":"\u0033","method":"m","x":"\ud800"}]"#;
    assert_eq!(ids(broken), [RequestId::from(1), RequestId::from("3")]);
    let many: Vec<_> = (0..101).map(|id| format!(r#"{{"id":{id},"method":"m"}}"#)).collect();
    assert_eq!(ids(&format!("[{}]", many.join(","))).len(), 101);
    let far_too_many = format!("[{}]", vec![r#"{"id":1,"method":"m"}"#; 1_001].join(","));
    assert_eq!(incoming(&far_too_many).unwrap_err().subject, Subject::Unknown);
}

#[test]
fn a_batch_is_its_elements_each_by_itself() {
    // R2503-RPC-20
    let text = r#" [ {"jsonrpc":"2.0","id":1,"method":"ping"}, 5, {"jsonrpc":"2.0","id":2} ] "#;
    let Ok(Incoming::Batch(items)) = incoming(text) else { panic!() };
    let kinds: Vec<_> = items
        .iter()
        .map(|item| item.as_ref().map(|it| it.method()).map_err(|refused| refused.failure.kind))
        .collect();
    let malformed = Err(FailureKind::Malformed);
    assert_eq!(kinds, [Ok(Some("ping")), malformed, malformed]);
    assert_eq!(items[2].as_ref().unwrap_err().id(), Some(&RequestId::from(2)));
    assert_eq!(refused("[]"), (FailureKind::Malformed, None));
}

#[test]
fn a_batch_of_a_hundred_passes_and_one_more_is_refused() {
    let batch = |count: usize| {
        let element = r#"{"jsonrpc":"2.0","method":"m"}"#;
        incoming(&format!("[{}]", vec![element; count].join(",")))
    };
    assert!(matches!(batch(100), Ok(Incoming::Batch(items)) if items.len() == 100));
    assert_eq!(batch(101).unwrap_err().failure.kind, FailureKind::Malformed);
}
