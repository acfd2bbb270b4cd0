//! Servers that are not there yet, and calls that never ran.

use super::*;
use crate::client::{Ran, Retry};
use crate::effect::{EffectId, Reply as EffectReply};

/// A client that tries again; its server is not known.
fn trying(revision: Revision, retry: Retry) -> Http {
    let mut config = config([revision]);
    (config.retry, config.unasked) = (Some(retry), false);
    Http::new(config)
}

/// A client that tries again, and knows its server.
fn known(revision: Revision, retry: Retry) -> Http {
    let mut config = config([revision]);
    config.retry = Some(retry);
    match revision.adapter().has_handshake {
        true => Http::legacy_with(config, revision),
        false => Http::modern_with(config),
    }
}

/// Nothing of the request left.
fn refuse(http: &mut Http, open: &Open) {
    http.session.handle_failed(http.now, open.exchange, false, "connection refused");
    http.drain();
}

/// Answers a request that finds out who the server is, and completes a handshake.
fn welcome(http: &mut Http, open: &Open, revision: Revision) {
    if revision.adapter().has_handshake {
        let version = revision.adapter().version;
        http.result(open, &format!(r#"{{"protocolVersion":"{version}","capabilities":{{}}}}"#));
        let initialized = http.take();
        http.respond(&initialized, 202, &[], b"");
    } else {
        http.result(
            open,
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}"#,
        );
    }
}

fn unavailable(http: &Http) -> usize {
    http.count(|event| matches!(event, Event::Unavailable(_)))
}

/// When the next exchange is opened, from now on.
fn next(http: &mut Http) -> (Duration, Open) {
    let at = http.session.poll_timeout().expect("a deadline");
    let pause = at.saturating_since(http.now);
    http.pass(pause);
    (pause, http.take())
}

#[test]
fn a_server_that_is_not_up_yet_is_tried_again_ever_more_rarely() {
    for revision in Revision::ALL {
        let mut http = trying(revision, Retry::new());
        let call = http.call(tool_call());
        let mut open = http.take();
        for whole in [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000] {
            refuse(&mut http, &open);
            // What asks for the server meanwhile waits with the others.
            http.session.connect(http.now);
            let pause;
            (pause, open) = next(&mut http);
            let whole = Duration::from_millis(whole);
            assert!(pause >= whole / 2 && pause <= whole, "{revision:?}: {pause:?} of {whole:?}");
        }
        welcome(&mut http, &open, revision);
        let post = http.take();
        http.result(&post, DONE);
        assert!(http.ended(call).unwrap().is_ok());
        assert_eq!(unavailable(&http), 0);
    }
}

#[test]
fn only_the_environment_s_trouble_is_tried_again() {
    let coming_back: &[(&str, &str)] = &[("Retry-After", "2"), JSON[0]];
    let rated = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"slowly"}}"#;
    for revision in Revision::ALL {
        for (status, headers, body) in [
            (502, HTML, &b"bad gateway"[..]),
            (503, JSON, b"{}"),
            (504, &[], b""),
            (503, coming_back, b"{}"),
            (429, coming_back, b"{}"),
            (429, coming_back, rated),
        ] {
            let mut http = trying(revision, Retry::new());
            let open = http.take();
            http.respond(&open, status, headers, body);
            assert_eq!(unavailable(&http), 0, "{revision:?} {status}");
            let (pause, again) = next(&mut http);
            if headers == coming_back {
                assert_eq!(pause, Duration::from_secs(2));
            }
            welcome(&mut http, &again, revision);
            assert_eq!(http.count(|event| matches!(event, Event::Connected(_))), 1);
        }
        for (status, headers, body) in [
            (500, HTML, &b"oops"[..]),
            (501, HTML, b""),
            (429, JSON, b"{}"),
            (401, coming_back, b"{}"),
            (403, HTML, b""),
            (408, HTML, b""),
            (200, HTML, b"<html>"),
        ] {
            let mut http = trying(revision, Retry::new());
            let mut answered = 0;
            while let Some(open) = http.take_all().pop() {
                http.respond(&open, status, headers, body);
                answered += 1;
            }
            assert_eq!(unavailable(&http), 1, "{revision:?} {status} after {answered}");
            assert_eq!(http.session.poll_timeout(), None, "{revision:?} {status}");
        }
        // Nobody answers the handshake: it is there.
        let mut http = trying(revision, Retry::new());
        http.pass(Duration::from_secs(40));
        assert_eq!(unavailable(&http), 1);
        // Without a policy it is an error at once.
        let mut http = Http::new(config([revision]));
        let open = http.take();
        refuse(&mut http, &open);
        assert_eq!(unavailable(&http), 1);
    }
}

#[test]
fn attempts_are_bounded_in_number_and_in_time_and_begin_anew() {
    for revision in Revision::ALL {
        for (retry, least, most) in [
            (Retry::new().attempts(3), 3, 3),
            (Retry::new().attempts(0), 0, 0),
            (Retry::new(), 10, 10),
            (Retry::new().within(Duration::from_secs(3)), 2, 5),
            (Retry::new().within(Duration::ZERO), 0, 0),
        ] {
            let mut http = trying(revision, retry.clone());
            for again in 1..3 {
                let call = http.call(tool_call());
                let (mut open, mut tried) = (http.take(), 0);
                let began = http.now;
                loop {
                    refuse(&mut http, &open);
                    if unavailable(&http) == again {
                        break;
                    }
                    (_, open) = next(&mut http);
                    tried += 1;
                }
                assert!((least..=most).contains(&tried), "{revision:?} {retry:?}: {tried}");
                assert!(http.now.saturating_since(began) <= retry.within);
                let error = http.error_of(call);
                assert_eq!(error.ran, Ran::Never);
                assert_eq!(error.to_string(), "connection refused");
                assert_eq!(http.session.poll_timeout(), None);
            }
        }
        // A server that wants more time than there is, is not waited for.
        let mut http = trying(revision, Retry::new());
        let open = http.take();
        http.respond(&open, 503, &[("Retry-After", "61")], b"");
        assert_eq!(unavailable(&http), 1);
    }
}

#[test]
fn clients_are_spread_out_by_the_driver_s_randomness() {
    let pauses = |seed: u8| {
        let mut http = trying(Revision::V2025_11_25, Retry::new());
        let random = Ok(EffectReply::Random([seed; 32]));
        http.session.handle_reply(http.now, EffectId(0), random);
        let mut open = http.take();
        let mut pauses = Vec::new();
        for _ in 0..5 {
            refuse(&mut http, &open);
            let pause;
            (pause, open) = next(&mut http);
            pauses.push(pause);
        }
        pauses
    };
    assert_eq!(pauses(1), pauses(1));
    for (one, other) in [(1, 2), (2, 3), (3, 200)] {
        assert_ne!(pauses(one), pauses(other));
    }
}

#[test]
fn calls_that_never_ran_are_made_again_where_that_is_wanted() {
    // T-38
    type Fails = fn(&mut Http, &Open);
    let fails: [Fails; 2] = [refuse, |http, post| {
        http.respond(post, 429, &[("Retry-After", "1"), JSON[0]], b"{}");
    }];
    for revision in Revision::ALL {
        for fail in fails {
            let mut http = known(revision, Retry::new().calls());
            let call = http.call(tool_call());
            let mut post = http.take();
            for _ in 0..4 {
                fail(&mut http, &post);
                assert!(http.ended(call).is_none(), "{revision:?}");
                (_, post) = next(&mut http);
                assert_eq!(body(&post)["method"], "tools/call");
            }
            http.result(&post, DONE);
            assert!(http.ended(call).unwrap().is_ok());
            // There is an end to it, and it says that nothing ran.
            let call = http.call(tool_call());
            let (mut post, mut tried) = (http.take(), 0);
            loop {
                fail(&mut http, &post);
                if http.ended(call).is_some() {
                    break;
                }
                (_, post) = next(&mut http);
                tried += 1;
            }
            assert_eq!((tried, http.error_of(call).ran), (10, Ran::Never));
            // A call that nobody wants any more is not made again.
            let call = http.call(tool_call());
            let post = http.take();
            fail(&mut http, &post);
            http.session.cancel(http.now, call);
            http.pass(Duration::from_secs(100));
            assert!(http.take_all().is_empty());
            // It is a setting.
            let mut http = known(revision, Retry::new());
            let call = http.call(tool_call());
            let post = http.take();
            fail(&mut http, &post);
            assert_eq!(http.error_of(call).ran, Ran::Never);
        }
    }
}

#[test]
fn a_call_that_may_have_run_or_was_answered_is_not_made_again() {
    // T-38
    type Fails = fn(&mut Http, &Open);
    let fails: [Fails; 7] = [
        |http, post| http.fail(post),
        |http, post| http.respond(post, 503, &[("Retry-After", "1")], b""),
        |http, post| http.respond(post, 502, HTML, b"<html>"),
        |http, post| http.respond(post, 504, &[], b""),
        |http, post| http.respond(post, 401, &[], b""),
        |http, post| http.error(post, 200, -32602),
        |http, post| http.error(post, 400, -32600),
    ];
    for revision in Revision::ALL {
        for (number, fail) in fails.into_iter().enumerate() {
            let mut http = known(revision, Retry::new().calls());
            let call = http.call(tool_call());
            let post = http.take();
            fail(&mut http, &post);
            assert!(http.ended(call).is_some_and(|end| end.is_err()), "{revision:?} {number}");
            http.pass(Duration::from_secs(100));
            assert!(http.take_all().is_empty(), "{revision:?} {number}");
        }
    }
}
