//! Subscriptions over lines.

use core::time::Duration;

use super::*;
use crate::client::ErrorKind;

/// A client that is connected to a server which tells changes; what it sent is taken.
fn subscribable(revision: Revision) -> Stdio {
    let mut client = Stdio::new(config([revision]), NOW);
    let version = revision.adapter().version;
    let can = r#""capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}}"#;
    let result = match revision.adapter().has_handshake {
        true => format!(r#"{{"protocolVersion":"{version}",{can}}}"#),
        false => {
            format!(r#"{{"resultType":"complete","supportedVersions":["{version}"],{can}}}"#)
        }
    };
    hear(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    assert!(matches!(&events(&mut client)[..], [Event::Connected(_)]), "{revision:?}");
    sent(&mut client);
    client
}

/// What ends a subscription once time has passed; its last moment comes by itself.
fn after(client: &mut Stdio, now: &mut Instant, time: Duration) -> Vec<Event> {
    let until = *now + time;
    let mut heard = Vec::new();
    while let Some(at) = client.poll_timeout().filter(|at| *at <= until) {
        client.handle_timeout(at);
        assert!(client.poll_timeout().is_none_or(|next| next > at));
        heard.extend(events(client));
    }
    *now = until;
    heard
}

#[test]
fn a_subscription_that_is_never_acknowledged_is_told_after_a_while() {
    // R26-SUBS-03: silence, signs of life, and answers to something else.
    let said = [
        "",
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b"}}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
    ];
    for revision in Revision::ALL {
        for said in said {
            let mut client = subscribable(revision);
            let patience = Config::new(Implementation::new("c", "1")).limits.patience;
            let mut filter = Filter::lists();
            filter.uris = vec!["a://b".into(), "a://c".into()];
            let listen = client.listen(NOW, filter);
            let asked = sent(&mut client);
            assert!(!asked.is_empty(), "{revision:?}");
            let mut now = NOW;
            let least = Duration::from_millis(1);
            let mut heard = after(&mut client, &mut now, patience - least);
            if !said.is_empty() {
                hear(&mut client, said);
            }
            heard.extend(events(&mut client));
            let is_end = |event: &Event| matches!(event, Event::Unlistened(..));
            assert!(!heard.iter().any(is_end), "{revision:?} {said}: {heard:?}");
            let heard = after(&mut client, &mut now, least);
            let ends: Vec<_> = heard.iter().filter(|it| is_end(it)).collect();
            let [Event::Unlistened(ended, Err(error))] = ends[..] else {
                panic!("{revision:?} {said}: {heard:?}");
            };
            assert_eq!((*ended, &error.kind), (listen, &ErrorKind::TimedOut), "{revision:?}");
            let in_force = heard.iter().any(|event| matches!(event, Event::Listening(..)));
            assert!(!in_force, "{revision:?} {said}: {heard:?}");
            assert_eq!(client.poll_timeout().map(|_| ()), waits_for_unsubscribed(&mut client));
        }
    }
}

/// Requests that end what may have been subscribed to are waited for in turn.
fn waits_for_unsubscribed(client: &mut Stdio) -> Option<()> {
    let asks = |it: &serde_json::Value| it["method"] == "resources/unsubscribe";
    sent(client).iter().any(asks).then_some(())
}

#[test]
fn what_is_acknowledged_late_is_in_force_and_what_is_refused_is_left_out() {
    for revision in Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake) {
        let mut client = subscribable(revision);
        let mut filter = Filter::lists();
        filter.uris = vec!["a://b".into(), "a://c".into()];
        client.listen(NOW, filter);
        let asked = sent(&mut client);
        assert_eq!(asked.len(), 2, "{revision:?}: {asked:?}");
        let mut now = NOW;
        assert!(after(&mut client, &mut now, Duration::from_secs(100)).is_empty());
        hear(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, asked[0]["id"]));
        let no = r#"{"code":-32602,"message":"no"}"#;
        hear(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{},"error":{no}}}"#, asked[1]["id"]));
        let heard = events(&mut client);
        let is_it = |event: &Event| match event {
            Event::Listening(_, filter) => filter.uris == ["a://b"] && filter.tools,
            _ => false,
        };
        assert!(heard.iter().any(is_it), "{revision:?}: {heard:?}");
        assert!(after(&mut client, &mut now, Duration::from_secs(10_000)).is_empty());
    }
}
