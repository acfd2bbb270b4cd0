//! Redirects are followed within the origin, and nowhere else.

use super::*;
use crate::client::{Ran, Unfollowed};

/// Answers with a redirect.
fn redirect(http: &mut Http, open: &Open, status: u16, place: &str) {
    http.respond(open, status, &[("Location", place)], b"");
}

#[test]
fn a_call_goes_where_its_server_sends_it_as_it_was() {
    // C41
    for status in [307, 308] {
        let mut http = Http::modern();
        let call = http.call(Request::call_tool("t", None));
        let first = http.take();
        redirect(&mut http, &first, status, "/mcp/");
        let second = http.take();
        assert_eq!(second.target, "/mcp/");
        assert_ne!(second.exchange, first.exchange);
        let as_it_was = |open: &Open| (open.method, open.headers.clone(), open.body.clone());
        assert_eq!(as_it_was(&second), as_it_was(&first));
        redirect(&mut http, &second, status, "http://h:80/other?x=1");
        let third = http.take();
        assert_eq!(third.target, "/other?x=1");
        http.result(&third, r#"{"resultType":"complete","content":[]}"#);
        assert!(http.ended(call).unwrap().is_ok());
        assert_eq!(http.closed, [], "what redirected came to its end");
    }
}

#[test]
fn the_handshake_is_sent_elsewhere_too() {
    let mut http = Http::new(config([Revision::V2025_11_25]));
    let initialize = http.take();
    redirect(&mut http, &initialize, 307, "/mcp/");
    http.shake("s1", Revision::V2025_11_25);
    assert_eq!(http.count(|event| matches!(event, Event::Connected(_))), 1);
}

/// How a call ends that is sent there.
fn refused(status: u16, place: Option<&str>) -> (Http, ClientError) {
    let mut http = Http::modern();
    let call = http.call(Request::call_tool("t", None));
    let open = http.take();
    let headers: Vec<_> = place.map(|place| ("Location", place)).into_iter().collect();
    http.respond(&open, status, &headers, b"");
    let error = http.error_of(call);
    (http, error)
}

#[test]
fn nothing_goes_to_another_origin() {
    for place in [
        "https://h/mcp",
        "http://h:81/mcp",
        "http://evil.example/mcp?secret",
        "//evil.example/mcp",
        "http://h@evil.example/mcp",
        "http://h.evil.example/",
    ] {
        let (mut http, error) = refused(307, Some(place));
        assert_eq!(http.take_all(), [], "{place}");
        assert_eq!(error.ran, Ran::Never);
        let ErrorKind::Redirected { status: 307, why, to } = &error.kind else {
            panic!("{place}: {error}");
        };
        let is_url = !place.contains('@');
        assert_eq!(*why, if is_url { Unfollowed::Elsewhere } else { Unfollowed::Nowhere });
        assert!(!to.contains("secret") && !error.is_transient(), "{error}");
        assert_eq!(to.is_empty(), !is_url, "{place}");
    }
}

#[test]
fn a_call_never_becomes_a_request_without_a_body() {
    for (status, ran) in [(301, Ran::Never), (302, Ran::Never), (303, Ran::Maybe)] {
        let (mut http, error) = refused(status, Some("/mcp/"));
        assert_eq!(http.take_all(), []);
        assert_eq!(error.ran, ran, "{status}");
        let (why, to) = (Unfollowed::Method, "http://h/mcp/".to_owned());
        assert_eq!(error.kind, ErrorKind::Redirected { status, to, why });
    }
}

#[test]
fn a_redirect_without_a_place_is_an_error_and_other_statuses_are_none() {
    for place in [None, Some("http://"), Some("ftp://h/"), Some("/\u{e9}")] {
        let (_, error) = refused(308, place);
        let why = Unfollowed::Nowhere;
        assert_eq!(error.kind, ErrorKind::Redirected { status: 308, to: String::new(), why });
    }
    let (_, error) = refused(304, Some("/mcp/"));
    assert_eq!(error.kind, ErrorKind::Http { status: 304, retry_after: None, said: None });
}

#[test]
fn a_request_is_sent_elsewhere_only_so_often() {
    let mut http = Http::modern();
    let call = http.call(Request::call_tool("t", None));
    for _ in 0..=5 {
        let open = http.take();
        redirect(&mut http, &open, 307, "/mcp");
    }
    assert_eq!(http.take_all(), []);
    let why = Unfollowed::TooOften;
    let to = "http://h/mcp".to_owned();
    assert_eq!(http.error_of(call).kind, ErrorKind::Redirected { status: 307, to, why });
}

#[test]
fn a_stream_is_opened_where_the_server_sends_it() {
    for status in [301, 302, 303, 307, 308] {
        let mut http = Http::legacy(Revision::V2025_11_25);
        http.session.listen(http.now, crate::model::Filter { tools: true, ..Default::default() });
        let stream = http.take();
        assert_eq!(stream.method, Method::Get);
        redirect(&mut http, &stream, status, "events");
        let next = http.take();
        assert_eq!((next.method, next.target.as_str()), (Method::Get, "/events"));
        assert_eq!(next.headers, stream.headers, "its session among them");
        http.head(&next, 200, EVENTS);
        assert_eq!(http.count(|event| matches!(event, Event::Listening(..))), 1, "{status}");
    }
}

#[test]
fn a_call_that_was_sent_elsewhere_is_cancelled_there() {
    let mut http = Http::modern();
    let call = http.call(Request::call_tool("t", None));
    let first = http.take();
    redirect(&mut http, &first, 307, "/mcp/");
    let second = http.take();
    http.session.cancel(http.now, call);
    http.drain();
    assert_eq!(http.closed, [second.exchange]);
}

#[test]
fn an_endpoint_is_told_relative_to_where_its_stream_is() {
    // C56
    let mut http = Http::new(config([Revision::V2024_11_05]));
    let initialize = http.take();
    http.respond(&initialize, 405, HTML, b"");
    let stream = http.take();
    redirect(&mut http, &stream, 307, "/deep/sse/");
    let stream = http.take();
    http.head(&stream, 200, EVENTS);
    http.feed(&stream, "event: endpoint\ndata: messages?id=1\n\n");
    assert_eq!(http.take().target, "/deep/sse/messages?id=1");
}
