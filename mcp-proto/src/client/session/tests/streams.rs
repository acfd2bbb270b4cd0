use super::*;
use crate::client::Ran;

fn answer(post: &Open) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#, body(post)["id"])
}

/// A call whose stream told its place and ended; it may be taken up after `retry` ms.
fn broken_off(retry: u32) -> (Http, CallId, Open) {
    let mut http = Http::legacy(Revision::V2025_11_25);
    let call = http.call(tool_call());
    let post = http.take();
    http.head(&post, 200, EVENTS);
    http.feed(&post, &format!("id: a1\nretry: {retry}\ndata: \n\n"));
    http.end(&post);
    (http, call, post)
}

#[test]
fn a_broken_stream_is_taken_up_again_where_it_ended() {
    // R2511-RESUME-04, R2511-HTTP-19, R2511-HTTP-21, T-36, T-37
    let (mut http, call, post) = broken_off(3000);
    http.pass(Duration::from_millis(2_999));
    assert!(http.take_all().is_empty());
    http.pass(Duration::from_millis(1));
    let get = http.take();
    assert_eq!(get.method, Method::Get);
    assert_eq!(header(&get, "Last-Event-ID"), Some("a1"));
    assert_eq!(header(&get, "Accept"), Some("text/event-stream"));
    assert_eq!(header(&get, "Mcp-Session-Id"), Some("s1"));
    http.head(&get, 200, EVENTS);
    http.feed(&get, "id: a2\ndata: \n\n");
    http.fail(&get);
    http.pass(Duration::from_secs(3));
    let get = http.take();
    assert_eq!(header(&get, "Last-Event-ID"), Some("a2"));
    http.head(&get, 200, EVENTS);
    http.feed(&get, &event(Some("a3"), &answer(&post)));
    assert!(http.ended(call).unwrap().is_ok());
    // C67: what follows the answer has a moment.
    assert!(!http.closed.contains(&get.exchange));
    http.pass(Duration::from_secs(3));
    assert!(http.closed.contains(&get.exchange));
    assert_eq!(http.session.exchanges(), 0);
}

#[test]
fn where_nobody_reaches_the_server_a_stream_is_taken_up_later() {
    let (mut http, call, post) = broken_off(10);
    for status in [502, 503, 504] {
        http.pass(Duration::from_secs(5));
        let get = http.take();
        assert_eq!(header(&get, "Last-Event-ID"), Some("a1"));
        http.respond(&get, status, &[], b"nobody is there");
        assert!(http.ended(call).is_none());
    }
    http.pass(Duration::from_secs(5));
    let get = http.take();
    http.head(&get, 200, EVENTS);
    http.feed(&get, &event(Some("a2"), &answer(&post)));
    assert!(http.ended(call).unwrap().is_ok());
}

#[test]
fn a_stream_that_no_server_is_reached_for_ends_its_call_which_may_have_run() {
    let (mut http, call, _) = broken_off(10);
    let mut attempts = 0;
    while http.ended(call).is_none() {
        http.pass(Duration::from_secs(5));
        let get = http.take();
        http.respond(&get, 502, &[], b"");
        attempts += 1;
    }
    assert_eq!(attempts, http.session.core.config.limits.reconnects);
    let error = http.error_of(call);
    assert!(matches!(error.kind, ErrorKind::Http { status: 502, .. }), "{error}");
    assert_eq!(error.ran, Ran::Maybe);
}

#[test]
fn without_news_it_is_taken_up_ever_more_rarely_and_then_no_more() {
    // C65
    let (mut http, call, _) = broken_off(0);
    let mut waits = Vec::new();
    let mut last = http.now;
    while http.ended(call).is_none() {
        let at = http.session.poll_timeout().unwrap();
        http.pass(at.saturating_since(http.now));
        for get in http.take_all().into_iter().filter(|open| open.method == Method::Get) {
            waits.push(http.now.saturating_since(last));
            last = http.now;
            http.head(&get, 200, EVENTS);
            http.end(&get);
        }
    }
    assert_eq!(waits.len(), 5);
    assert!(waits.iter().all(|wait| *wait >= Duration::from_millis(50)), "{waits:?}");
    let error = http.error_of(call);
    assert!(matches!(error.kind, ErrorKind::Connection(_)) && error.ran == Ran::Maybe);
}

#[test]
fn a_server_cannot_put_its_client_off_for_ever() {
    // C65
    let mut http = Http::legacy(Revision::V2025_11_25);
    http.call(tool_call().with_patience(Duration::from_secs(600)));
    let post = http.take();
    http.head(&post, 200, EVENTS);
    http.feed(&post, "id: a1\nretry: 4294967295999\ndata: \n\n");
    http.end(&post);
    http.pass(Duration::from_secs(60));
    assert_eq!(http.take().method, Method::Get);
}

#[test]
fn what_cannot_be_taken_up_again_fails_and_may_have_run() {
    // R26-HTTP-40, T-38, C65
    for (modern, id) in [(true, "id: 1\n"), (false, "")] {
        let mut http = if modern { Http::modern() } else { Http::legacy(Revision::V2025_03_26) };
        let call = http.call(tool_call());
        let post = http.take();
        http.head(&post, 200, EVENTS);
        http.feed(&post, &format!("{id}data: {{}}\n\n"));
        http.end(&post);
        let error = http.error_of(call);
        assert!(matches!(error.kind, ErrorKind::Connection(_)) && error.ran == Ran::Maybe);
        http.pass(Duration::from_secs(5));
        assert!(http.take_all().is_empty());
    }
}

#[test]
fn a_server_without_a_stream_of_its_own_is_asked_once() {
    // T-28, C65
    for status in [405, 404, 400, 501] {
        let mut http = Http::new(config([Revision::V2025_06_18]));
        http.shake("s1", Revision::V2025_06_18);
        let get = http.take();
        assert_eq!(get.method, Method::Get);
        http.respond(&get, status, &[], b"");
        http.pass(Duration::from_secs(100));
        let again = http.take_all().len();
        // Trouble of its own is another matter.
        assert_eq!(again, usize::from(status >= 500), "{status}");
        let call = http.call(tool_call());
        assert!(http.ended(call).is_none());
    }
}

#[test]
fn a_stream_that_ends_at_once_does_not_keep_its_client_busy() {
    // C65
    let mut http = Http::new(config([Revision::V2025_06_18]));
    http.shake("s1", Revision::V2025_06_18);
    let mut opened = 0;
    for _ in 0..100 {
        for get in http.take_all() {
            opened += 1;
            http.head(&get, 200, EVENTS);
            http.end(&get);
        }
        http.pass(Duration::from_secs(100));
    }
    assert_eq!(opened, 6);
}

#[test]
fn events_are_read_as_the_standard_has_it() {
    // C62, R26-HTTP-36, T-41
    let mut http = Http::modern();
    let call = http.call(tool_call());
    let post = http.take();
    let id = body(&post)["id"].to_string();
    let text = format!(
        "\u{feff}: hi\r\n\r\nevent: message\rdata: {{\"jsonrpc\":\"2.0\",\rdata: \"id\":{id},\ndata:\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"ü\u{2028}\"}}]}}}}\r\r"
    );
    http.head(&post, 200, &[("Content-Type", "Text/Event-Stream; charset=utf-8")]);
    for byte in text.as_bytes() {
        http.session.handle_body(http.now, post.exchange, &[*byte]);
    }
    http.drain();
    assert!(http.ended(call).unwrap().is_ok());
}

#[test]
fn a_burst_of_empty_events_is_nothing() {
    // C64
    let mut http = Http::modern();
    let call = http.call(tool_call());
    let post = http.take();
    http.head(&post, 200, EVENTS);
    http.feed(&post, &": k\n\n".repeat(50_000));
    http.feed(&post, &"data: x\n\n".repeat(50_000));
    assert!(http.ended(call).is_none());
    assert!(http.events.len() <= 5_000);
    http.feed(&post, &event(None, &answer(&post)));
    assert!(http.ended(call).unwrap().is_ok());
}
