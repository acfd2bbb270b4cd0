//! Answers that cannot be read.

use super::*;
use crate::client::unreadable_answers::{ANSWERS, Becomes};

fn connected(revision: Revision) -> Http {
    match revision.adapter().has_handshake {
        true => Http::legacy(revision),
        false => Http::modern(),
    }
}

fn check(http: &Http, call: CallId, becomes: Becomes, what: &str) {
    match (becomes, http.ended(call).expect(what)) {
        (Becomes::Answered, Ok(_)) => {}
        (Becomes::Refused(code), Err(error)) => {
            assert_eq!(error.server().expect(what).code, code, "{what}");
        }
        (Becomes::Unreadable(why), Err(error)) => {
            assert!(matches!(error.kind, ErrorKind::Protocol(_)), "{what}: {error:?}");
            assert!(error.to_string().contains(why), "{what}: {error}");
        }
        (_, end) => panic!("{what}: {end:?}"),
    }
}

/// As one body, and as an event of a stream that stays open.
#[test]
fn what_cannot_be_read_ends_the_call_that_its_id_names_at_once() {
    // R24-RPC-07, R2503-RPC-08, R2503-RPC-17
    for revision in Revision::ALL {
        for (answer, becomes) in ANSWERS {
            for is_stream in [false, true] {
                let mut http = connected(revision);
                let call = http.call(tool_call());
                let post = http.take();
                assert_eq!(body(&post)["id"], 2);
                match is_stream {
                    true => {
                        http.head(&post, 200, EVENTS);
                        http.feed(&post, &event(None, answer));
                    }
                    false => http.respond(&post, 200, JSON, answer.as_bytes()),
                }
                let what = format!("{revision:?} stream: {is_stream} {answer}");
                check(&http, call, *becomes, &what);
                assert!(http.take_all().is_empty(), "{what}");
            }
        }
    }
}

#[test]
fn what_is_too_long_ends_its_call_at_once() {
    let long = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"text":"{}"#, "x".repeat(5_000));
    for revision in Revision::ALL {
        for is_stream in [false, true] {
            let mut http = connected(revision);
            http.session.core.config.limits.message = 4_000;
            let call = http.call(tool_call());
            let post = http.take();
            http.head(&post, 200, if is_stream { EVENTS } else { JSON });
            if is_stream {
                http.feed(&post, "data: ");
            }
            http.feed(&post, &long);
            let error = http.error_of(call);
            assert!(matches!(error.kind, ErrorKind::TooMuch(_)), "{revision:?}: {error:?}");
        }
    }
}
