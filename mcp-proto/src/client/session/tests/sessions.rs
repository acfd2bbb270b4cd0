use super::*;
use crate::client::Ran;

#[test]
fn a_lost_session_means_one_new_handshake_for_everyone() {
    // C58, R2503-SESS-07
    let mut http = Http::legacy(Revision::V2025_11_25);
    let calls: Vec<_> = (0..3).map(|_| http.call(tool_call())).collect();
    let posts = http.take_all();
    let in_flight = http.call(tool_call());
    let running = http.take();
    for post in &posts {
        http.respond(
            post,
            404,
            JSON,
            br#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"gone"}}"#,
        );
    }
    let late = http.call(tool_call());
    let initialize = http.opened[0].clone();
    assert_eq!(http.opened.len(), 1, "{:?}", http.opened);
    assert_eq!(header(&initialize, "Mcp-Session-Id"), None);
    http.shake("s2", Revision::V2025_11_25);
    let again = http.take_all();
    assert_eq!(again.len(), 4);
    for post in &again {
        assert_eq!(header(post, "Mcp-Session-Id"), Some("s2"));
        http.result(post, DONE);
    }
    for call in calls.into_iter().chain([late]) {
        assert!(http.ended(call).unwrap().is_ok());
    }
    // What was under way may still be answered.
    assert!(http.ended(in_flight).is_none());
    http.result(&running, DONE);
    assert!(http.ended(in_flight).unwrap().is_ok());
}

#[test]
fn a_session_that_is_lost_again_is_told() {
    // C58
    let mut http = Http::legacy(Revision::V2025_06_18);
    let call = http.call(tool_call());
    let post = http.take();
    http.respond(&post, 404, HTML, b"");
    http.shake("s2", Revision::V2025_06_18);
    let post = http.take();
    http.respond(&post, 404, HTML, b"");
    let error = http.error_of(call);
    assert_eq!((error.kind, error.ran), (ErrorKind::SessionLost, Ran::Never));
}

#[test]
fn a_handshake_that_fails_ends_everyone_who_waits_for_it() {
    let mut http = Http::legacy(Revision::V2025_06_18);
    let calls: Vec<_> = (0..2).map(|_| http.call(tool_call())).collect();
    for post in http.take_all() {
        http.respond(&post, 404, HTML, b"");
    }
    let initialize = http.take();
    http.respond(&initialize, 503, HTML, b"");
    for call in calls {
        assert!(matches!(http.error_of(call).kind, ErrorKind::Http { status: 503, .. }));
    }
}

#[test]
fn without_a_session_404_is_only_an_answer() {
    let mut http = Http::modern();
    let call = http.call(tool_call());
    let post = http.take();
    http.respond(&post, 404, HTML, b"");
    assert!(matches!(http.error_of(call).kind, ErrorKind::Http { status: 404, .. }));
    assert!(http.take_all().is_empty());
}

#[test]
fn closing_ends_the_session_and_waits_only_so_long() {
    // C68, R2503-SESS-08, R2503-SESS-09
    let mut http = Http::legacy(Revision::V2025_11_25);
    let call = http.call(tool_call());
    let post = http.take();
    http.session.close(http.now);
    http.session.close(http.now);
    let opened = http.take_all();
    let deletes: Vec<_> = opened.iter().filter(|open| open.method == Method::Delete).collect();
    assert_eq!(deletes.len(), 1);
    assert_eq!(header(deletes[0], "Mcp-Session-Id"), Some("s1"));
    assert!(http.closed.contains(&post.exchange));
    assert_eq!(http.error_of(call).kind, ErrorKind::Closed);
    assert!(!http.session.is_closed());
    http.pass(Duration::from_secs(3));
    assert!(http.session.is_closed() && http.session.poll_timeout().is_none());
    let late = http.call(tool_call());
    assert_eq!(http.error_of(late).kind, ErrorKind::Closed);
}
