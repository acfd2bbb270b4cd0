//! Streams whose flow somebody between the two ends forgot.

use super::*;
use crate::model::Filter;

const BEAT: &str = ":\n";

/// A subscription that is in force, and the stream that its changes come on.
fn listening(revision: Revision, set: impl Fn(&mut Config)) -> (Http, Open) {
    let mut config = config([revision]);
    set(&mut config);
    let mut http = match revision.adapter().has_handshake {
        true => Http::legacy_with(config, revision),
        false => Http::modern_with(config),
    };
    http.session.listen(http.now, Filter::lists());
    let stream = http.take();
    open(&mut http, &stream);
    (http, stream)
}

fn open(http: &mut Http, stream: &Open) {
    http.head(stream, 200, EVENTS);
    if stream.method == Method::Post {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{}}}"#;
        http.feed(stream, &event(None, note));
    }
}

/// An HTTP+SSE server's client that listens, and the stream of everything.
fn oldest() -> (Http, Open) {
    let mut http = Http::new(config([Revision::V2024_11_05]));
    http.session.listen(http.now, Filter::lists());
    let post = http.take();
    http.respond(&post, 405, HTML, b"");
    let stream = http.take();
    greet(&mut http, &stream);
    (http, stream)
}

fn greet(http: &mut Http, stream: &Open) {
    http.head(stream, 200, EVENTS);
    http.feed(stream, "event: endpoint\ndata: /m\n\n");
    let initialize = http.take();
    http.respond(&initialize, 202, &[], b"");
    let id = &body(&initialize)["id"];
    let result = r#"{"protocolVersion":"2024-11-05","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}"#;
    http.feed(stream, &event(None, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)));
    let initialized = http.take();
    http.respond(&initialized, 202, &[], b"");
}

fn missed(http: &Http) -> usize {
    http.count(|event| matches!(event, Event::Missed(_)))
}

fn beat(http: &mut Http, stream: &Open, seconds: u64, times: u32, what: &str) {
    for _ in 0..times {
        http.pass(Duration::from_secs(seconds));
        http.feed(stream, what);
    }
}

#[track_caller]
fn is_left_for(http: &mut Http, stream: &Open, bears: Duration) {
    http.pass(bears - Duration::from_millis(1));
    assert!(!http.closed.contains(&stream.exchange), "too early");
    assert!(http.take_all().is_empty());
    http.pass(Duration::from_millis(1));
    assert!(http.closed.contains(&stream.exchange), "too late");
    http.pass(Duration::from_secs(1));
}

#[test]
fn a_stream_that_beat_is_opened_anew_after_three_beats_of_silence() {
    // R2503-HTTP-22, R26-SUBS-11
    for revision in Revision::ALL {
        for (seconds, bears) in [(1, 3), (5, 15), (15, 45), (20, 60), (40, 60), (59, 60)] {
            for beats in [BEAT, ": ping - 2026-01-01\r\n\r\n"] {
                let (mut http, stream) = listening(revision, |_| {});
                beat(&mut http, &stream, seconds, 3, beats);
                is_left_for(&mut http, &stream, Duration::from_secs(bears));
                let again = http.take();
                assert_eq!((again.method, missed(&http)), (stream.method, 0));
                open(&mut http, &again);
                assert_eq!(missed(&http), 1, "{revision:?} {seconds}");
                // The next one is known to have the rhythm of the first.
                is_left_for(&mut http, &again, Duration::from_secs(bears));
                assert_eq!(http.count(|it| matches!(it, Event::Unlistened(..))), 0);
            }
        }
    }
}

#[test]
fn the_stream_of_everything_is_opened_anew_and_calls_on_it_are_not_waited_for() {
    // R24-SSE-03
    for (seconds, bears) in [(2, 6), (15, 45), (30, 60)] {
        let (mut http, stream) = oldest();
        beat(&mut http, &stream, seconds, 3, BEAT);
        let call = http.call(tool_call());
        let post = http.take();
        http.respond(&post, 202, &[], b"");
        is_left_for(&mut http, &stream, Duration::from_secs(bears));
        assert!(matches!(http.error_of(call).kind, ErrorKind::Connection(_)));
        let again = http.take();
        greet(&mut http, &again);
        assert_eq!(missed(&http), 1);
    }
    // A burst of messages is no rhythm that a call would be lost by.
    let (mut http, stream) = oldest();
    let note = event(None, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    let call = http.call(tool_call());
    let post = http.take();
    http.respond(&post, 202, &[], b"");
    beat(&mut http, &stream, 2, 3, &note);
    http.pass(Duration::from_secs(100));
    assert!(http.ended(call).is_none() && !http.closed.contains(&stream.exchange));
}

#[test]
fn messages_are_signs_of_life_too_once_there_were_some() {
    for revision in Revision::ALL {
        let note = event(None, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        for (seconds, bears) in [(2, 30), (12, 36), (19, 57), (30, 60)] {
            let (mut http, stream) = listening(revision, |_| {});
            beat(&mut http, &stream, seconds, 3, &note);
            is_left_for(&mut http, &stream, Duration::from_secs(bears));
            let again = http.take();
            open(&mut http, &again);
            assert_eq!(missed(&http), 1, "{revision:?} {seconds}");
            // Where that brought nothing it is done more rarely.
            for times in [2, 4, 8] {
                // The first of them was heard.
                let bears = Duration::from_secs(bears) * times / 2;
                let stream = http.take_all().pop().unwrap_or_else(|| again.clone());
                if stream.exchange != again.exchange {
                    open(&mut http, &stream);
                }
                is_left_for(&mut http, &stream, bears);
            }
        }
    }
}

#[test]
fn a_stream_without_a_rhythm_is_left_alone() {
    let note = event(None, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    for revision in Revision::ALL {
        // Nothing came; one thing; a priming event and a comment; longer silences than are borne.
        let told: [&[(u64, &str)]; 4] =
            [&[], &[(3, &note)], &[(0, "id: 1\ndata:\n\n"), (0, BEAT)], &[(61, BEAT), (70, BEAT)]];
        for told in told {
            let (mut http, stream) = listening(revision, |_| {});
            for (seconds, what) in told {
                beat(&mut http, &stream, *seconds, 1, what);
            }
            http.pass(Duration::from_secs(40_000));
            assert!(!http.closed.contains(&stream.exchange), "{revision:?} {told:?}");
            assert!(http.take_all().is_empty());
        }
    }
}

#[test]
fn how_much_silence_a_stream_bears_is_a_setting() {
    for revision in Revision::ALL {
        for silence in [4, 30, 300] {
            let silence = Duration::from_secs(silence);
            let (mut http, stream) = listening(revision, |it| it.limits.silence = silence);
            beat(&mut http, &stream, 3, 2, BEAT);
            is_left_for(&mut http, &stream, silence.min(Duration::from_secs(9)));
        }
        let (mut http, stream) = listening(revision, |it| it.limits.silence = Duration::MAX);
        beat(&mut http, &stream, 3, 2, BEAT);
        http.pass(Duration::from_secs(40_000));
        assert!(!http.closed.contains(&stream.exchange));
    }
}

#[test]
fn an_answer_s_stream_is_taken_up_where_it_fell_silent_if_it_can_be() {
    // R2503-RESUME-04, R2511-RESUME-04
    for revision in Revision::ALL {
        let mut http = match revision.adapter().has_handshake {
            true => Http::legacy(revision),
            false => Http::modern(),
        };
        let call = http.call(tool_call());
        let post = http.take();
        http.head(&post, 200, EVENTS);
        http.feed(&post, "id: a1\ndata:\n\n");
        beat(&mut http, &post, 15, 3, BEAT);
        let resumes = revision.adapter().resumption != crate::revision::Resumption::None;
        if !resumes {
            http.pass(Duration::from_secs(50));
            assert!(!http.closed.contains(&post.exchange), "{revision:?}");
            continue;
        }
        is_left_for(&mut http, &post, Duration::from_secs(45));
        let get = http.take();
        assert_eq!(header(&get, "Last-Event-ID"), Some("a1"), "{revision:?}");
        http.head(&get, 200, EVENTS);
        let answer =
            format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#, body(&post)["id"]);
        http.feed(&get, &event(Some("a2"), &answer));
        assert!(http.ended(call).unwrap().is_ok());
    }
}

#[test]
fn a_stream_that_is_not_read_is_not_silent() {
    let (mut http, stream) = listening(Revision::V2025_11_25, |it| it.limits.queued = 2);
    beat(&mut http, &stream, 5, 3, BEAT);
    let note = event(None, r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    // Nobody fetches what was heard.
    for _ in 0..3 {
        http.session.handle_body(http.now, stream.exchange, note.as_bytes());
    }
    assert!(!http.session.wants_input());
    for _ in 0..20 {
        let Some(at) = http.session.poll_timeout() else { break };
        http.now = at;
        http.session.handle_timeout(at);
        assert!(http.session.poll_timeout().is_none_or(|next| next > at));
    }
    http.drain();
    assert!(!http.closed.contains(&stream.exchange));
    http.pass(Duration::from_secs(61));
    assert!(http.closed.contains(&stream.exchange));
}

#[test]
fn a_server_that_has_not_noticed_the_end_of_a_stream_is_asked_again() {
    // T-28
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        let (mut http, stream) = listening(revision, |_| {});
        beat(&mut http, &stream, 15, 3, BEAT);
        is_left_for(&mut http, &stream, Duration::from_secs(45));
        for _ in 0..2 {
            let again = http.take();
            http.respond(&again, 409, JSON, b"{}");
            http.pass(Duration::from_secs(10));
        }
        let again = http.take();
        open(&mut http, &again);
        assert_eq!(missed(&http), 1, "{revision:?}");
        // One whose head never comes is not waited for, either.
        http.feed(&again, BEAT);
        http.fail(&again);
        http.pass(Duration::from_secs(1));
        let headless = http.take();
        let patience = http.session.core.config.limits.patience;
        is_left_for(&mut http, &headless, patience);
    }
}
