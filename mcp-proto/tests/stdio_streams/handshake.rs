//! A handshake that happens once.

use mcp_proto::revision::Revision;

use crate::fixture::builder;
use crate::{Talk, errors};

fn initialize(id: &str, version: &str, capabilities: &str) -> String {
    let client = r#"{"name":"c","version":"1"}"#;
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{client}}}}}"#
    )
}

fn with_handshake() -> impl Iterator<Item = Revision> {
    Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake)
}

#[test]
fn a_second_initialize_is_refused_and_the_first_stays() {
    // R24-LIFE-01
    for first in with_handshake() {
        for second in with_handshake() {
            let mut talk = Talk::begun(first);
            let before = talk.says(&talk.peer.request_as("1", "tools/list", "", ""));
            for capabilities in ["{}", r#"{"sampling":{}}"#] {
                let again = initialize("\"2\"", second.as_str(), capabilities);
                assert_eq!(errors(&talk.says(&again)), [("2".into(), -32600)], "{first} {second}");
            }
            let after = talk.says(&talk.peer.request_as("1", "tools/list", "", ""));
            assert_eq!(before, after, "{first}, then {second}");
        }
    }
}

#[test]
fn a_second_initialize_begins_anew_where_that_is_allowed() {
    for first in with_handshake() {
        for second in with_handshake() {
            let mut talk = Talk::new(first, builder().allow_reinitialize(true).build());
            talk.begin();
            let said = talk.says(&initialize("2", second.as_str(), "{}"));
            assert!(said.contains(&format!(r#""protocolVersion":"{second}""#)), "{said}");
            let listed = talk.says(&talk.peer.request_as("1", "tools/list", "", ""));
            let mut fresh = Talk::begun(second);
            assert_eq!(listed, fresh.says(&fresh.peer.request_as("1", "tools/list", "", "")));
        }
    }
}

#[test]
fn a_discovery_is_no_handshake() {
    for revision in with_handshake() {
        let mut talk = Talk::new(revision, builder().build());
        let mut modern = Talk::new(Revision::V2026_07_28, builder().build());
        for _ in 0..2 {
            let hello = modern.peer.hello();
            assert!(talk.says(&hello).contains("\"result\""), "{revision}");
        }
        let said = talk.says(&initialize("9", revision.as_str(), "{}"));
        assert!(said.contains(&format!(r#""protocolVersion":"{revision}""#)), "{said}");
    }
}

#[test]
fn initialize_with_a_session_that_lives_is_a_bad_request() {
    for revision in with_handshake() {
        let mut talk = Talk::over_http(revision);
        let initialize = initialize("5", revision.as_str(), "{}");
        let said = talk.posts(&initialize);
        let session = said.split_once("Mcp-Session-Id: ").expect("a session").1;
        talk.peer.session = session.split_once('\r').map(|(id, _)| id.to_owned());
        let again = talk.posts(&initialize);
        assert!(again.starts_with("HTTP/1.1 400 "), "{revision}: {again}");
        assert!(again.contains(r#""id":5,"error":{"code":-32600"#), "{revision}: {again}");
        assert!(!again.contains("Mcp-Session-Id"), "{revision}: {again}");
        let list = talk.peer.request_as("6", "tools/list", "", "");
        assert!(talk.posts(&list).starts_with("HTTP/1.1 200 "), "{revision}: it lives on");
        // A session that is gone names none (R2503-SESS-07).
        for gone in ["gone", "not a session's id"] {
            talk.peer.session = Some(gone.to_owned());
            assert!(talk.posts(&initialize).starts_with("HTTP/1.1 200 "), "{revision}: {gone}");
        }
    }
}
