//! Streams whose flow was forgotten on the way: nothing comes, and no error.

use super::*;
use crate::model::Filter;

/// Waits until so long after the last sign; the exchanges that were opened meanwhile.
fn opened_within(http: &mut Http, seconds: u64) -> Vec<Open> {
    http.pass(Duration::from_secs(seconds));
    http.take_all()
}

#[test]
fn a_session_s_stream_that_had_signs_of_life_is_opened_anew_after_silence() {
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        for (every, wait) in [(1, 45), (15, 45), (18, 54), (30, 60), (40, 80)] {
            let mut http = Http::legacy(revision);
            http.session.listen(http.now, Filter::lists());
            let get = http.take_all().pop().expect("a stream");
            assert_eq!(get.method, Method::Get);
            http.head(&get, 200, EVENTS);
            for _ in 0..3 {
                http.pass(Duration::from_secs(every));
                http.feed(&get, ": still here\n\n");
            }
            assert!(opened_within(&mut http, wait - 1).is_empty(), "{revision} {every}");
            assert!(http.closed.is_empty());
            let opened = opened_within(&mut http, 4);
            assert_eq!(opened.len(), 1, "{revision} {every}");
            assert!(http.closed.contains(&get.exchange), "{revision} {every}");
            http.head(&opened[0], 200, EVENTS);
            assert_eq!(http.count(|event| matches!(event, Event::Missed(_))), 1, "{revision}");
        }
    }
}

#[test]
fn a_request_that_listens_is_made_again_after_silence() {
    let mut http = Http::modern();
    http.session.listen(http.now, Filter::lists());
    let post = http.take();
    http.head(&post, 200, EVENTS);
    let id = &body(&post)["id"];
    http.feed(&post, &event(None, &format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{{"toolsListChanged":true}}}}}}"#
    )));
    http.pass(Duration::from_secs(15));
    http.feed(&post, ":\n");
    assert!(opened_within(&mut http, 44).is_empty());
    let again = opened_within(&mut http, 5);
    assert_eq!(again.len(), 1);
    assert_eq!(body(&again[0])["method"], "subscriptions/listen");
    assert!(http.closed.contains(&post.exchange));
}

#[test]
fn the_stream_of_an_answer_is_taken_up_where_it_ended() {
    let mut http = Http::legacy(Revision::V2025_11_25);
    let call = http.call(tool_call());
    let post = http.take();
    http.head(&post, 200, EVENTS);
    http.feed(&post, "id: a1\nretry: 10\ndata: \n\n");
    http.pass(Duration::from_secs(15));
    http.feed(&post, ":\n");
    let again = opened_within(&mut http, 47);
    assert_eq!(again.len(), 1);
    assert_eq!(header(&again[0], "Last-Event-ID"), Some("a1"));
    assert!(http.ended(call).is_none());
}

#[test]
fn a_stream_that_promised_nothing_or_cannot_be_had_again_is_waited_for() {
    // Nothing came since it opened.
    let mut http = Http::legacy(Revision::V2025_06_18);
    http.session.listen(http.now, Filter::lists());
    let get = http.take_all().pop().expect("a stream");
    http.head(&get, 200, EVENTS);
    assert!(opened_within(&mut http, 3_000).is_empty());
    // The answer has no ids to come back with: the call has its patience.
    let mut http = Http::legacy(Revision::V2025_06_18);
    let call = http.call(tool_call());
    let post = http.take();
    http.head(&post, 200, EVENTS);
    http.pass(Duration::from_secs(1));
    http.feed(&post, ":\n");
    http.pass(Duration::from_secs(100));
    assert!(http.ended(call).is_none());
    // It was switched off.
    let mut config = config([Revision::V2025_06_18]);
    config.limits.silence = Duration::MAX;
    let mut http = Http::legacy_with(config, Revision::V2025_06_18);
    http.session.listen(http.now, Filter::lists());
    let get = http.take_all().pop().expect("a stream");
    http.head(&get, 200, EVENTS);
    http.pass(Duration::from_secs(15));
    http.feed(&get, ":\n");
    assert!(opened_within(&mut http, 3_000).is_empty());
}
