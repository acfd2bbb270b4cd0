use super::*;
use crate::client::ListenId;
use crate::model::{Change, Filter};

fn filter() -> Filter {
    let mut filter = Filter::lists();
    filter.uris.push("a://b".into());
    filter
}

fn changes(http: &Http) -> Vec<(ListenId, Change)> {
    let change = |event: &Event| match event {
        Event::Changed(listen, change) => Some((*listen, change.clone())),
        _ => None,
    };
    http.events.iter().filter_map(change).collect()
}

fn note(method: &str, params: &str) -> String {
    event(None, &format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#))
}

#[test]
fn changes_are_told_on_one_request_and_it_is_made_again() {
    // R26-SUBS-02, R26-SUBS-03, R26-SUBS-05, R26-SUBS-11, C88
    let mut http = Http::modern();
    let listen = http.session.listen(http.now, filter());
    let post = http.take();
    assert_eq!(header(&post, "Mcp-Method"), Some("subscriptions/listen"));
    assert_eq!(
        body(&post)["params"]["notifications"],
        serde_json::json!({
            "toolsListChanged": true,
            "promptsListChanged": true,
            "resourcesListChanged": true,
            "resourceSubscriptions": ["a://b"],
        })
    );
    http.head(&post, 200, EVENTS);
    http.feed(
        &post,
        &note(
            "notifications/subscriptions/acknowledged",
            r#"{"notifications":{"toolsListChanged":true}}"#,
        ),
    );
    http.pass(Duration::from_secs(4_000));
    http.feed(&post, &note("notifications/tools/list_changed", "{}"));
    assert_eq!(changes(&http), [(listen, Change::Tools)]);
    http.fail(&post);
    http.pass(Duration::from_secs(1));
    let again = http.take();
    assert_ne!(body(&again)["id"], body(&post)["id"]);
    http.head(&again, 200, EVENTS);
    http.feed(&again, &note("notifications/subscriptions/acknowledged", r#"{"notifications":{}}"#));
    assert_eq!(http.count(|event| matches!(event, Event::Missed(_))), 1);
    // The server ends it in good order.
    let id = &body(&again)["id"];
    http.feed(
        &again,
        &event(
            None,
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete"}}}}"#),
        ),
    );
    assert_eq!(http.count(|event| matches!(event, Event::Unlistened(_, Ok(())))), 1);
    http.pass(Duration::from_secs(100));
    assert!(http.take_all().is_empty());
    assert_eq!(http.session.exchanges(), 0);
}

#[test]
fn a_subscription_that_cannot_be_had_is_told() {
    let mut http = Http::modern();
    http.session.listen(http.now, filter());
    let post = http.take();
    http.error(&post, 404, -32601);
    assert_eq!(http.count(|event| matches!(event, Event::Unlistened(_, Err(_)))), 1);
    // One that never works is given up.
    http.session.listen(http.now, filter());
    let mut tries = 0;
    for _ in 0..20 {
        for post in http.take_all() {
            tries += 1;
            http.fail(&post);
        }
        http.pass(Duration::from_secs(60));
    }
    assert_eq!(tries, 6);
    assert_eq!(http.count(|event| matches!(event, Event::Unlistened(_, Err(_)))), 2);
}

#[test]
fn ending_a_subscription_closes_its_stream() {
    // R26-SUBS-09
    let mut http = Http::modern();
    let listen = http.session.listen(http.now, Filter::lists());
    let post = http.take();
    http.head(&post, 200, EVENTS);
    http.session.unlisten(http.now, listen);
    assert!(http.take_all().is_empty());
    assert_eq!(http.closed, [post.exchange]);
    assert_eq!(http.session.poll_timeout(), None);
}

#[test]
fn on_a_handshake_revision_changes_come_on_the_session_s_stream() {
    // R2503-HTTP-22, T-65
    let mut http = Http::legacy(Revision::V2025_11_25);
    let listen = http.session.listen(http.now, filter());
    let opened = http.take_all();
    let [subscribe, get] = &opened[..] else { panic!("{opened:?}") };
    assert_eq!(body(subscribe)["method"], "resources/subscribe");
    assert_eq!(body(subscribe)["params"]["uri"], "a://b");
    http.result(subscribe, "{}");
    assert_eq!((get.method, header(get, "Last-Event-ID")), (Method::Get, None));
    http.head(get, 200, EVENTS);
    http.feed(get, &note("notifications/resources/updated", r#"{"uri":"a://b/part"}"#));
    http.feed(get, &note("notifications/resources/updated", r#"{"uri":"a://bc"}"#));
    http.feed(get, &note("notifications/tools/list_changed", "{}"));
    assert_eq!(
        changes(&http),
        [(listen, Change::Updated("a://b/part".into())), (listen, Change::Tools)]
    );
    http.fail(get);
    http.pass(Duration::from_secs(2));
    let get = http.take();
    http.head(&get, 200, EVENTS);
    assert_eq!(http.count(|event| matches!(event, Event::Missed(_))), 1);
    http.session.unlisten(http.now, listen);
    assert_eq!(body(&http.take())["method"], "resources/unsubscribe");
    http.drain();
    assert!(http.closed.contains(&get.exchange));
}

/// The resources that subscriptions are in force for.
fn in_force(http: &Http) -> Vec<Vec<&str>> {
    fn uris(event: &Event) -> Option<Vec<&str>> {
        match event {
            Event::Listening(_, filter) => Some(filter.uris.iter().map(|uri| &**uri).collect()),
            _ => None,
        }
    }
    http.events.iter().filter_map(uris).collect()
}

#[test]
fn a_subscription_is_in_force_once_all_of_it_is() {
    // R26-SUBS-05, T-65: what changes from then on is heard of.
    let mut http = Http::legacy(Revision::V2025_11_25);
    let mut two = filter();
    two.uris.push("a://refused".into());
    http.session.listen(http.now, two);
    let opened = http.take_all();
    let [subscribe, refused, get] = &opened[..] else { panic!("{opened:?}") };
    http.result(subscribe, "{}");
    http.head(get, 200, EVENTS);
    assert!(in_force(&http).is_empty());
    http.error(refused, 200, -32602);
    assert_eq!(in_force(&http), [["a://b"]]);
    // Another one needs no stream of its own, and the first misses nothing by it.
    http.session.listen(http.now, Filter::lists());
    http.drain();
    assert_eq!(in_force(&http), [vec!["a://b"], vec![]]);
    assert_eq!(http.count(|event| matches!(event, Event::Missed(_))), 0);
    // The stream may come last, and what comes before it is heard nevertheless.
    let mut http = Http::legacy(Revision::V2025_11_25);
    let listen = http.session.listen(http.now, filter());
    let opened = http.take_all();
    let [subscribe, get] = &opened[..] else { panic!("{opened:?}") };
    http.head(subscribe, 200, EVENTS);
    http.feed(subscribe, &note("notifications/tools/list_changed", "{}"));
    let id = &body(subscribe)["id"];
    http.feed(subscribe, &event(None, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)));
    assert_eq!(changes(&http), [(listen, Change::Tools)]);
    assert!(in_force(&http).is_empty());
    http.head(get, 200, EVENTS);
    assert_eq!(in_force(&http), [["a://b"]]);
    assert_eq!(http.count(|event| matches!(event, Event::Missed(_))), 0);
}

#[test]
fn a_server_without_a_stream_cannot_be_listened_to() {
    let mut http = Http::legacy(Revision::V2025_06_18);
    http.session.listen(http.now, Filter::lists());
    let get = http.take();
    http.respond(&get, 405, &[], b"");
    assert_eq!(http.count(|event| matches!(event, Event::Unlistened(_, Err(_)))), 1);
}

#[test]
fn a_subscription_that_is_never_acknowledged_is_told_after_a_while() {
    // R26-SUBS-03: silent before its head, after it, and with signs of life only.
    for revision in Revision::ALL {
        for said in [None, Some(""), Some(": at it\n\n"), Some("id: 1\ndata:\n\n")] {
            let mut http = match revision.adapter().has_handshake {
                true => Http::legacy(revision),
                false => Http::modern(),
            };
            let patience = http.session.core.config.limits.patience;
            http.session.listen(http.now, filter());
            // Where there is a handshake its stream never opens; else its request has no answer.
            for open in http.take_all() {
                if let (Some(said), false) = (said, open.method == Method::Get) {
                    http.head(&open, 200, EVENTS);
                    http.feed(&open, said);
                }
            }
            http.pass(patience - Duration::from_millis(1));
            let ends =
                |http: &Http| http.count(|event| matches!(event, Event::Unlistened(_, Err(_))));
            assert_eq!(ends(&http), 0, "{revision:?} {said:?}");
            http.pass(Duration::from_millis(1));
            assert_eq!(ends(&http), 1, "{revision:?} {said:?}: {:?}", http.events);
        }
    }
}

/// A gateway that cuts every stream, whatever is told on it, is no reason to give up.
#[test]
fn a_stream_that_is_cut_again_and_again_is_opened_again_for_as_long_as_it_is_heard() {
    // C65, R2503-HTTP-22
    let heard: [(&str, u64); 5] = [
        (": ping\n\n", 29),
        ("", 29),
        (": ping\n\n", 1),
        ("event: ping\ndata: {}\n\n", 3),
        ("id: 1\ndata:\n\n", 2),
    ];
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        for (said, seconds) in heard {
            let mut http = Http::legacy(revision);
            http.session.listen(http.now, Filter::lists());
            for cut in 0..30 {
                let what = format!("{revision:?} {said:?} {seconds} s, cut {cut}");
                let gets = http.take_all();
                let [get] = &gets[..] else { panic!("{what}: {gets:?}") };
                http.head(get, 200, EVENTS);
                http.feed(get, said);
                http.pass(Duration::from_secs(seconds));
                http.fail(get);
                http.pass(Duration::from_millis(1_300));
            }
            assert_eq!(http.count(|event| matches!(event, Event::Unlistened(..))), 0);
        }
    }
}

#[test]
fn a_busy_server_is_asked_for_its_stream_again_when_it_says() {
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        for (status, told, wait) in [
            (429, Some("7"), 7),
            (429, None, 1),
            (503, Some("20"), 20),
            (408, Some("3"), 3),
            (429, Some("9999"), 60),
        ] {
            let mut http = Http::legacy(revision);
            http.session.listen(http.now, Filter::lists());
            let get = http.take();
            let headers: Vec<_> = told.map(|told| ("Retry-After", told)).into_iter().collect();
            http.respond(&get, status, &headers, b"");
            http.pass(Duration::from_secs(wait) - Duration::from_millis(1));
            let what = format!("{revision:?} {status} {told:?}");
            assert!(http.take_all().is_empty(), "{what}");
            http.pass(Duration::from_millis(1));
            assert_eq!(http.take().method, Method::Get, "{what}");
            assert_eq!(http.count(|event| matches!(event, Event::Unlistened(..))), 0, "{what}");
        }
    }
}

#[test]
fn only_405_says_that_there_is_no_stream_and_all_else_ends_that_subscription_alone() {
    // T-28
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        for status in [405, 401, 403, 400, 404, 406] {
            let mut http = Http::legacy(revision);
            http.session.listen(http.now, Filter::lists());
            let get = http.take();
            http.respond(&get, status, &[], b"");
            let ends =
                |http: &Http| http.count(|event| matches!(event, Event::Unlistened(_, Err(_))));
            assert_eq!(ends(&http), 1, "{revision:?} {status}");
            http.session.listen(http.now, Filter::lists());
            let again = http.take_all().len();
            assert_eq!(again, usize::from(status != 405), "{revision:?} {status}");
            assert_eq!(ends(&http), if status == 405 { 2 } else { 1 }, "{revision:?} {status}");
        }
    }
}

#[test]
fn a_subscription_of_its_own_request_waits_as_it_is_told_and_outlives_any_number_of_cuts() {
    // R26-SUBS-11
    for (status, told, wait) in [(429, "7", 7_000), (503, "20", 20_000), (408, "0", 500)] {
        let mut http = Http::modern();
        http.session.listen(http.now, Filter::lists());
        let post = http.take();
        http.respond(&post, status, &[("Retry-After", told)], b"");
        http.pass(Duration::from_millis(wait - 1));
        assert!(http.take_all().is_empty(), "{status}");
        http.pass(Duration::from_millis(1));
        for _ in 0..30 {
            let post = http.take();
            http.head(&post, 200, EVENTS);
            let params = r#"{"notifications":{"toolsListChanged":true}}"#;
            http.feed(&post, &note("notifications/subscriptions/acknowledged", params));
            http.pass(Duration::from_secs(29));
            http.fail(&post);
            http.pass(Duration::from_secs(1));
        }
        assert_eq!(http.count(|event| matches!(event, Event::Unlistened(..))), 0, "{status}");
    }
}

#[test]
fn a_subscription_whose_request_broke_is_made_again_and_not_in_force_for_less() {
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        for status in [0, 502, 503] {
            let mut http = Http::legacy(revision);
            let listen = http.session.listen(http.now, filter());
            let opened = http.take_all();
            let [subscribe, get] = &opened[..] else { panic!("{opened:?}") };
            http.head(get, 200, EVENTS);
            match status {
                0 => http.fail(subscribe),
                status => http.respond(subscribe, status, &[], b""),
            }
            let in_force = |http: &Http| http.count(|it| matches!(it, Event::Listening(..)));
            assert_eq!(in_force(&http), 0, "{revision} {status}");
            http.pass(Duration::from_secs(5));
            let again = http.take_all();
            let again = again.iter().find(|it| body(it)["method"] == "resources/subscribe");
            http.result(again.expect("once more"), "{}");
            assert_eq!(in_force(&http), 1, "{revision} {status}");
            http.feed(get, &note("notifications/resources/updated", r#"{"uri":"a://b/part"}"#));
            assert_eq!(changes(&http), [(listen, Change::Updated("a://b/part".into()))]);
        }
    }
}
