//! HTTP+SSE: one stream for everything that the server says, and the session with it.

use super::*;
use crate::client::unreadable_answers::{ANSWERS, Becomes};
use crate::model::{Change, Filter};

const OPENED: &str = "event: endpoint\ndata: /m\n\n";

/// Greets whoever asks on that stream; the server can subscribe, and tells changes.
fn greet(http: &mut Http, stream: &Open) {
    http.head(stream, 200, EVENTS);
    http.feed(stream, OPENED);
    let initialize = http.take();
    http.respond(&initialize, 202, &[], b"");
    let result = r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"serverInfo":{"name":"s","version":"1"}}"#;
    answer(http, stream, &initialize, result);
    let initialized = http.take();
    http.respond(&initialized, 202, &[], b"");
}

fn answer(http: &mut Http, stream: &Open, post: &Open, result: &str) {
    let id = &body(post)["id"];
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    http.feed(stream, &event(None, &text));
}

/// A client that is connected, and the stream.
fn connected_with(config: Config) -> (Http, Open) {
    let mut http = Http::new(config);
    let post = http.take();
    http.respond(&post, 405, HTML, b"");
    let stream = http.take();
    greet(&mut http, &stream);
    http.events.clear();
    (http, stream)
}

fn connected() -> (Http, Open) {
    connected_with(config([Revision::V2024_11_05]))
}

fn ends(http: &Http) -> usize {
    http.count(|event| matches!(event, Event::Unlistened(..)))
}

fn missed(http: &Http) -> usize {
    http.count(|event| matches!(event, Event::Missed(_)))
}

#[test]
fn what_cannot_be_read_ends_the_call_that_its_id_names_at_once() {
    // R24-RPC-07, R24-SSE-03, C56
    for (text, becomes) in ANSWERS {
        for in_response in [false, true] {
            // Batches are no answers to a message of their own.
            if in_response && text.starts_with('[') {
                continue;
            }
            let (mut http, stream) = connected();
            let other = http.call(Request::call_tool("u", None));
            let beside = http.take();
            http.respond(&beside, 202, &[], b"");
            let call = http.call(tool_call());
            let post = http.take();
            let text = text.replacen(r#""id":2"#, &format!(r#""id":{}"#, body(&post)["id"]), 1);
            let text = text.replacen(r#""id":"2""#, &format!(r#""id":"{}""#, body(&post)["id"]), 1);
            match in_response {
                true => http.respond(&post, 200, JSON, text.as_bytes()),
                false => {
                    http.respond(&post, 202, &[], b"");
                    http.feed(&stream, &event(None, &text));
                }
            }
            let what = format!("in the response: {in_response} {text}");
            match (becomes, http.ended(call).expect(&what)) {
                (Becomes::Answered, Ok(_)) => {}
                (Becomes::Refused(code), Err(error)) => {
                    assert_eq!(error.server().expect(&what).code, *code, "{what}");
                }
                (Becomes::Unreadable(why), Err(error)) => {
                    assert!(matches!(error.kind, ErrorKind::Protocol(_)), "{what}: {error:?}");
                    assert!(error.to_string().contains(why), "{what}: {error}");
                }
                (_, end) => panic!("{what}: {end:?}"),
            }
            // The stream goes on, and the others with it.
            assert!(http.ended(other).is_none(), "{what}");
            answer(&mut http, &stream, &beside, r#"{"content":[]}"#);
            assert!(http.ended(other).unwrap().is_ok(), "{what}");
            assert!(http.take_all().is_empty(), "{what}");
        }
    }
}

#[test]
fn what_is_too_long_ends_its_call_at_once() {
    for in_response in [false, true] {
        let mut config = config([Revision::V2024_11_05]);
        config.limits.message = 4_000;
        let (mut http, stream) = connected_with(config);
        let call = http.call(tool_call());
        let post = http.take();
        let id = &body(&post)["id"];
        let long = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"t":"{}"#, "x".repeat(5_000));
        match in_response {
            true => {
                http.head(&post, 200, JSON);
                http.feed(&post, &long);
            }
            false => {
                http.respond(&post, 202, &[], b"");
                http.feed(&stream, &format!("data: {long}"));
            }
        }
        let error = http.error_of(call);
        assert!(matches!(error.kind, ErrorKind::TooMuch(_)), "{in_response}: {error:?}");
    }
}

#[test]
fn a_stream_that_is_cut_again_and_again_is_opened_again_for_as_long_as_it_is_heard() {
    // C65, R24-SSE-03
    let note = event(None, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    for (said, seconds) in [(":\n", 29), ("", 29), (":\n", 1), (&*note, 3)] {
        let (mut http, mut stream) = connected();
        let listen = http.session.listen(http.now, Filter::lists());
        for cut in 1..=30 {
            http.feed(&stream, said);
            http.pass(Duration::from_secs(seconds));
            http.fail(&stream);
            http.pass(Duration::from_secs(1));
            stream = http.take();
            assert_eq!((stream.method, stream.target.as_str()), (Method::Get, "/mcp"));
            greet(&mut http, &stream);
            assert_eq!((ends(&http), missed(&http)), (0, cut), "{said:?} {seconds}");
        }
        let told = |it: &Event| matches!(it, Event::Changed(id, Change::Tools) if *id == listen);
        let before = http.count(told);
        http.feed(&stream, &note);
        assert_eq!(http.count(told), before + 1);
    }
}

#[test]
fn a_busy_server_is_asked_for_its_stream_again_when_it_says_and_any_other_refusal_is_told() {
    // T-28
    for (status, wait) in [(429, 7), (503, 20), (408, 3), (502, 1)] {
        let (mut http, stream) = connected();
        http.session.listen(http.now, Filter::lists());
        http.drain();
        http.fail(&stream);
        http.pass(Duration::from_secs(1));
        let get = http.take();
        http.respond(&get, status, &[("Retry-After", &wait.to_string())], b"");
        http.pass(Duration::from_secs(wait) - Duration::from_millis(1));
        assert_eq!((http.take_all().len(), ends(&http)), (0, 0), "{status}");
        http.pass(Duration::from_millis(1));
        let get = http.take();
        assert_eq!(get.method, Method::Get, "{status}");
        greet(&mut http, &get);
        assert_eq!((ends(&http), missed(&http)), (0, 1), "{status}");
    }
    for status in [401, 403] {
        let (mut http, stream) = connected();
        http.session.listen(http.now, Filter::lists());
        http.drain();
        http.fail(&stream);
        http.pass(Duration::from_secs(1));
        let get = http.take();
        http.respond(&get, status, &[], b"");
        // It may be another server by now; then that is found out, and else told.
        for _ in 0..4 {
            for open in http.take_all() {
                http.respond(&open, status, &[], b"");
            }
            http.pass(Duration::from_secs(60));
        }
        assert_eq!(http.count(|it| matches!(it, Event::Unlistened(_, Err(_)))), 1, "{status}");
        assert_eq!(http.session.poll_timeout(), None, "{status}");
        assert!(http.take_all().is_empty());
    }
    // One that is never there again is given up, and that is said.
    let (mut http, stream) = connected();
    http.session.listen(http.now, Filter::lists());
    http.drain();
    http.fail(&stream);
    let mut tries = 0;
    for _ in 0..300 {
        http.pass(Duration::from_secs(1));
        for get in http.take_all() {
            tries += 1;
            http.fail(&get);
        }
    }
    assert_eq!((tries, ends(&http)), (5, 1));
}

#[test]
fn a_subscription_that_is_never_acknowledged_is_told_after_a_while() {
    // R26-SUBS-05: the request that subscribes is taken, and never answered.
    for (status, said) in [(202, ""), (202, ":\n"), (200, ""), (202, "event: ping\ndata: 1\n\n")] {
        let (mut http, stream) = connected();
        let patience = http.session.core.config.limits.patience;
        let mut filter = Filter::lists();
        filter.uris.push("a://b".into());
        http.session.listen(http.now, filter);
        let subscribe = http.take();
        assert_eq!(body(&subscribe)["method"], "resources/subscribe");
        http.respond(&subscribe, status, &[], b"");
        http.pass(patience - Duration::from_millis(1));
        http.feed(&stream, said);
        assert_eq!(ends(&http), 0, "{status} {said:?}");
        http.pass(Duration::from_millis(1));
        let timed_out = |it: &Event| matches!(it, Event::Unlistened(_, Err(error)) if error.kind == ErrorKind::TimedOut);
        assert_eq!(http.count(timed_out), 1, "{status} {said:?}: {:?}", http.events);
        assert_eq!(http.count(|it| matches!(it, Event::Listening(..))), 0, "{status} {said:?}");
    }
}
