//! Answers that cannot be read, and those that are too long.

use super::*;
use crate::client::ErrorKind;
use crate::client::unreadable_answers::{ANSWERS, Becomes};

/// A client that found a server of this revision, and whose next request is 2.
fn connected_at(mut config: Config, revision: Revision) -> Stdio {
    config.adapters = AdapterSet::of([revision]).unwrap();
    let adapter = revision.adapter();
    let version = adapter.version;
    let mut client = Stdio::new(config, NOW);
    let result = match adapter.has_handshake {
        true => format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}"#
        ),
        false => format!(
            r#"{{"resultType":"complete","supportedVersions":["{version}"],"capabilities":{{}}}}"#
        ),
    };
    hear(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    assert!(matches!(&events(&mut client)[..], [Event::Connected(_)]), "{revision:?}");
    sent(&mut client);
    client
}

fn fresh() -> Config {
    Config::new(Implementation::new("client", "1"))
}

#[test]
fn what_cannot_be_read_ends_the_call_that_its_id_names_at_once() {
    // R24-RPC-07, R2503-RPC-08, R2503-RPC-17
    for revision in Revision::ALL {
        for (answer, becomes) in ANSWERS {
            let mut client = connected_at(fresh(), revision);
            let call = client.call(NOW, Request::call_tool("t", None));
            let other = client.call(NOW, Request::call_tool("u", None));
            sent(&mut client);
            hear(&mut client, answer);
            let events = events(&mut client);
            let what = format!("{revision:?} {answer}");
            let end = ended(&events, call).expect(&what);
            match (becomes, end) {
                (Becomes::Answered, Ok(_)) => {}
                (Becomes::Refused(code), Err(error)) => {
                    assert_eq!(error.server().expect(&what).code, *code, "{what}");
                }
                (Becomes::Unreadable(why), Err(error)) => {
                    assert!(matches!(error.kind, ErrorKind::Protocol(_)), "{what}: {error:?}");
                    assert!(error.to_string().contains(why), "{what}: {error}");
                    assert!(!error.is_transient(), "{what}");
                }
                (_, end) => panic!("{what}: {end:?}"),
            }
            assert!(ended(&events, other).is_none(), "{what}");
            assert!(sent(&mut client).is_empty(), "an answer is never answered: {what}");
        }
    }
}

#[test]
fn lone_surrogates_are_refused_where_that_is_wanted() {
    for half in [r"\ud800", r"x\udc00", r"\ud83d\ud83d", r"\ud83d\u0041"] {
        let answer = format!(
            r#"{{"jsonrpc":"2.0","id":2,"result":{{"content":[{{"type":"text","text":"{half}\ud83d\ude00\\ud800"}}]}}}}"#
        );
        let mut config = fresh();
        config.replaces_surrogates = false;
        let mut client = connected_at(config, Revision::V2025_11_25);
        let call = client.call(NOW, Request::call_tool("t", None));
        hear(&mut client, &answer);
        let error = ended(&events(&mut client), call).unwrap().unwrap_err();
        assert!(error.to_string().contains("lone surrogate"), "{error}");

        let mut client = connected_at(fresh(), Revision::V2025_11_25);
        let call = client.call(NOW, Request::call_tool("t", None));
        hear(&mut client, &answer);
        let reply = ended(&events(&mut client), call).unwrap().unwrap();
        let text = format!("{:?}", reply.value);
        assert!(text.contains('\u{fffd}') && text.contains("\u{1f600}"), "{text}");
        assert!(text.contains(r"ud800"), "an escaped backslash is no escape: {text}");
    }
}

#[test]
fn a_request_that_cannot_be_read_is_refused_under_its_id() {
    // R24-RPC-14
    let requests = [
        r#"{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"n":1e400}}"#,
        r#"{"jsonrpc":"2.0","id":"q","method":"ping","params":{"n":-1e999}}"#,
        r#"{"jsonrpc":"1.0","id":"q","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"q","method":5}"#,
    ];
    for revision in Revision::ALL {
        for request in requests {
            let mut client = connected_at(fresh(), revision);
            hear(&mut client, request);
            let answers = sent(&mut client);
            // R26-RPC-35
            if !revision.adapter().has_handshake {
                assert!(answers.is_empty(), "{revision:?} {request}");
                continue;
            }
            assert_eq!(answers.len(), 1, "{revision:?} {request}");
            assert_eq!(
                (&answers[0]["id"], &answers[0]["error"]["code"]),
                (&"q".into(), &(-32600).into())
            );
        }
    }
}

#[test]
fn a_line_that_is_too_long_ends_the_call_that_it_answers_before_it_ends() {
    let long = "x".repeat(5_000);
    let lines = [
        format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"content":[{{"type":"text","text":"{long}"#),
        format!(r#"{{"id":"2","jsonrpc":"2.0","result":"{long}"#),
        format!(r#"{{"jsonrpc":"2.0","id":2,"error":{{"code":1,"message":"{long}"#),
        format!(r#"{{"jsonrpc":"2.0","result":{{"a":"{long}"}},"id":2}}"#),
    ];
    for revision in Revision::ALL {
        for line in &lines {
            for piece in [1, 7, line.len()] {
                let mut config = fresh();
                config.limits.message = 4_000;
                let mut client = connected_at(config, revision);
                let call = client.call(NOW, Request::call_tool("t", None));
                let other = client.call(NOW, Request::call_tool("u", None));
                for piece in line.as_bytes().chunks(piece) {
                    client.handle_input(NOW, piece);
                }
                let events_before = events(&mut client);
                let error = ended(&events_before, call).expect("it ended").unwrap_err();
                assert_eq!(error.kind, ErrorKind::TooMuch("bytes of a line"), "{revision:?}");
                assert!(ended(&events_before, other).is_none());
                // The next line is read as usual.
                hear(&mut client, "");
                hear(&mut client, r#"{"jsonrpc":"2.0","id":3,"result":{"content":[]}}"#);
                assert!(ended(&events(&mut client), other).unwrap().is_ok(), "{revision:?}");
            }
        }
    }
}

#[test]
fn a_screenshot_fits_into_a_message() {
    let picture = "QUJD".repeat((12 << 20) / 4);
    let mut client = connected_at(fresh(), Revision::V2025_11_25);
    let call = client.call(NOW, Request::call_tool("t", None));
    hear(
        &mut client,
        &format!(
            r#"{{"jsonrpc":"2.0","id":2,"result":{{"content":[{{"type":"image","mimeType":"image/png","data":"{picture}"}}]}}}}"#
        ),
    );
    assert!(ended(&events(&mut client), call).unwrap().is_ok());
}
