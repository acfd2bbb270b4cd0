//! What changes, for those who listen (R26-SUBS, R24-RSRC, C37).

use mcp_proto::model::{Catalog, Change, Implementation};
use mcp_proto::revision::{Resumption, Revision};
use mcp_proto::store::{HubOp, topic};
use mcp_proto::testing::{Cluster, LineId, Received};

use crate::fixture::{Caller, Way};
use crate::service::{SEC, Service, cluster, declared, serving};

const HANDSHAKE: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

fn announce(cluster: &mut Cluster<Service>, change: &Change) {
    let (message, ttl) = (change.encode(), SEC(60));
    let topic = topic("", "changes", None);
    cluster.publish(HubOp::Publish { topic, message, ttl, keep: 1_000 });
    cluster.run();
}

fn updated(cluster: &mut Cluster<Service>) {
    announce(cluster, &Change::Updated("test://watched".into()));
}

fn response(cluster: &Cluster<Service>, line: LineId) -> Received {
    cluster.responses(line).pop().expect("a response")
}

fn count(messages: &[String], what: &str) -> usize {
    messages.iter().filter(|message| message.contains(what)).count()
}

#[test]
fn subscriptions_are_heard_of_wherever_they_were_made() {
    for revision in HANDSHAKE {
        for way in Way::ALL {
            let mut cluster = cluster(3);
            let mut caller = Caller::new(revision, way, 3).open(&mut cluster);
            let listener = match way {
                Way::Http => Some(caller.listen(&mut cluster, None)),
                _ => None,
            };
            cluster.run();
            updated(&mut cluster);
            let uri = "\"uri\":\"test://watched\"";
            let subscribe = caller.peer.request("resources/subscribe", uri);
            let line = caller.send(&mut cluster, &subscribe);
            cluster.run();
            let line = listener.unwrap_or(line);
            updated(&mut cluster);
            announce(&mut cluster, &Change::Updated("test://static-text".into()));
            announce(&mut cluster, &Change::Tools);
            let unsubscribe = caller.peer.request("resources/unsubscribe", uri);
            caller.send(&mut cluster, &unsubscribe);
            cluster.run();
            updated(&mut cluster);
            let heard = caller.heard(&cluster, line);
            assert_eq!(count(&heard, "notifications/resources/updated"), 1, "{revision} {way:?}");
            assert_eq!(count(&heard, "static-text"), 0, "{revision} {way:?}");
            assert_eq!(count(&heard, "notifications/tools/list_changed"), 1, "{revision} {way:?}");
        }
    }
}

/// A client whose handshake is answered, and that did not say that it is complete.
fn unconfirmed(revision: Revision, way: Way, cluster: &mut Cluster<Service>) -> Caller {
    // Nothing of a revision without handshakes is sent when its conversation opens.
    let mut caller = Caller::new(Revision::V2026_07_28, way, 3).open(cluster);
    caller.peer.revision = revision;
    let hello = caller.peer.hello();
    let line = caller.send(cluster, &hello);
    cluster.run();
    if way == Way::Http {
        let response = response(cluster, line);
        caller.peer.session = response.header("mcp-session-id").map(str::to_owned);
    }
    caller
}

#[test]
fn nothing_is_told_unasked_before_the_handshake_is_complete() {
    // R24-LIFE-05 and its like of later revisions.
    for (revision, way) in HANDSHAKE.iter().flat_map(|it| Way::ALL.map(|way| (*it, way))) {
        for batched in [false, true] {
            let mut cluster = cluster(3);
            let mut caller = unconfirmed(revision, way, &mut cluster);
            let line = match way {
                Way::Http => caller.listen(&mut cluster, None),
                _ => caller.line(),
            };
            cluster.run();
            let before = caller.heard(&cluster, line).len();
            for change in [Change::Tools, Change::Prompts, Change::Resources] {
                announce(&mut cluster, &change);
            }
            updated(&mut cluster);
            let heard = caller.heard(&cluster, line);
            assert_eq!(heard.len(), before, "{revision} {way:?}: {heard:?}");

            let initialized = caller.peer.initialized();
            let initialized = match batched && revision == Revision::V2025_03_26 {
                true => format!("[{initialized}]"),
                false => initialized,
            };
            caller.send(&mut cluster, &initialized);
            cluster.run();
            let subscribe =
                caller.peer.request("resources/subscribe", "\"uri\":\"test://watched\"");
            caller.send(&mut cluster, &subscribe);
            cluster.run();
            announce(&mut cluster, &Change::Tools);
            updated(&mut cluster);
            let heard = caller.heard(&cluster, line);
            assert!(count(&heard, "tools/list_changed") >= 1, "{revision} {way:?}: {heard:?}");
            assert!(count(&heard, "resources/updated") >= 1, "{revision} {way:?}: {heard:?}");
        }
    }
}

#[test]
fn who_subscribes_is_told_though_word_of_the_completed_handshake_was_lost() {
    for (revision, way) in HANDSHAKE.iter().flat_map(|it| [(*it, Way::Http), (*it, Way::Sse)]) {
        let mut cluster = cluster(3);
        let mut caller = unconfirmed(revision, way, &mut cluster);
        let line = match way {
            Way::Http => caller.listen(&mut cluster, None),
            _ => caller.line(),
        };
        cluster.run();
        let subscribe = caller.peer.request("resources/subscribe", "\"uri\":\"test://watched\"");
        caller.send(&mut cluster, &subscribe);
        cluster.run();
        updated(&mut cluster);
        let heard = caller.heard(&cluster, line);
        assert_eq!(count(&heard, "resources/updated"), 1, "{revision} {way:?}: {heard:?}");
    }
}

/// Two spellings of each: one that is declared or subscribed to, and one that is asked for or changes.
const SPELLINGS: [(&str, &str); 5] = [
    ("note://h\u{e9}llo", "note://h%C3%A9llo"),
    ("note://h%C3%A9llo", "NOTE://h%c3%a9llo"),
    ("http://example.com", "http://example.com/"),
    ("http://Example.com/", "http://example.com"),
    ("file:///caf\u{e9}/%7Ea", "file:///caf%c3%a9/~a"),
];

#[test]
fn a_resource_is_found_and_heard_of_under_every_spelling_of_its_uri() {
    for revision in Revision::ALL {
        for (declared, asked) in SPELLINGS {
            let mut catalog = declared_with(declared);
            catalog.features.subscribe = true;
            let endpoint = || serving(catalog.clone()).build();
            let mut cluster = Cluster::new([endpoint(), endpoint()], Service);
            let mut caller = Caller::new(revision, Way::Http, 2).open(&mut cluster);
            let uri = format!("\"uri\":\"{asked}\"");
            let read = caller.peer.request("resources/read", &uri);
            let line = caller.send(&mut cluster, &read);
            cluster.run();
            let heard = caller.heard(&cluster, line).concat();
            assert!(heard.contains("this is") && heard.contains(asked), "{revision}: {heard}");
            let line = match revision.adapter().has_handshake {
                true => {
                    let subscribe = caller.peer.request("resources/subscribe", &uri);
                    caller.send(&mut cluster, &subscribe);
                    caller.listen(&mut cluster, None)
                }
                false => {
                    let wanted =
                        format!(r#""notifications":{{"resourceSubscriptions":["{asked}"]}}"#);
                    let listen = caller.peer.request("subscriptions/listen", &wanted);
                    caller.send(&mut cluster, &listen)
                }
            };
            cluster.run_for(SEC(1));
            announce(&mut cluster, &Change::Updated(declared.into()));
            announce(&mut cluster, &Change::Updated("note://other".into()));
            let heard = caller.heard(&cluster, line);
            let updates = count(&heard, "notifications/resources/updated");
            assert_eq!(updates, 1, "{revision} {declared} {asked}: {heard:?}");
        }
    }
}

fn declared_with(uri: &str) -> Catalog {
    let mut catalog = declared();
    catalog.insert_resource(mcp_proto::model::Resource::new(uri, "spelt"));
    catalog
}

#[test]
fn a_second_stream_of_a_session_ends_the_first() {
    for revision in HANDSHAKE {
        let mut cluster = cluster(2);
        let mut caller = Caller::new(revision, Way::Http, 2).open(&mut cluster);
        let first = caller.listen(&mut cluster, None);
        cluster.run_for(SEC(1));
        announce(&mut cluster, &Change::Tools);
        let second = caller.listen(&mut cluster, None);
        cluster.run_for(SEC(1));
        assert!(response(&cluster, first).is_complete, "{revision}");
        assert!(!response(&cluster, second).is_complete, "{revision}");
        announce(&mut cluster, &Change::Prompts);
        let heard = [first, second].map(|line| caller.heard(&cluster, line));
        assert_eq!(count(&heard[0], "tools/list_changed"), 1, "{revision}");
        assert_eq!(count(&heard[1], "tools/list_changed"), 0, "{revision}: nothing is replayed");
        assert_eq!(count(&heard[1], "prompts/list_changed"), 1, "{revision}");
        assert_eq!(heard[0].len() + heard[1].len(), 2, "{revision}");
    }
}

#[test]
fn what_a_cut_listener_missed_comes_on_its_next_stream() {
    for revision in HANDSHAKE {
        if revision.adapter().resumption == Resumption::None {
            continue;
        }
        let primed = revision.adapter().resumption == Resumption::Primed;
        let mut cluster = cluster(3);
        let mut caller = Caller::new(revision, Way::Http, 3).open(&mut cluster);
        let first = caller.listen(&mut cluster, None);
        cluster.run();
        if !primed {
            announce(&mut cluster, &Change::Resources);
        }
        let last = response(&cluster, first).last_event_id().expect("an event id");
        cluster.cut(first);
        announce(&mut cluster, &Change::Tools);
        announce(&mut cluster, &Change::Prompts);
        let second = caller.listen(&mut cluster, Some(&last));
        cluster.run();
        let heard = caller.heard(&cluster, second);
        assert_eq!(heard.len(), 2, "{revision}: {heard:?}");
        assert!(heard[0].contains("tools") && heard[1].contains("prompts"), "{heard:?}");
        let last = response(&cluster, second).last_event_id().expect("an event id");
        let third = caller.listen(&mut cluster, Some(&last));
        announce(&mut cluster, &Change::Tools);
        assert_eq!(caller.heard(&cluster, third).len(), 1);
    }
}

#[test]
fn a_session_that_is_ended_ends_its_stream() {
    for revision in HANDSHAKE {
        let mut cluster = cluster(2);
        let mut caller = Caller::new(revision, Way::Http, 2).open(&mut cluster);
        let line = caller.listen(&mut cluster, None);
        cluster.run();
        let deleted = caller.delete(&mut cluster);
        cluster.run_for(SEC(1));
        assert_eq!(response(&cluster, deleted).status, 204);
        assert!(response(&cluster, line).is_complete, "{revision}");
        let again = caller.listen(&mut cluster, None);
        cluster.run();
        assert_eq!(response(&cluster, again).status, 404);
    }
}

#[test]
fn a_session_lives_as_long_as_its_stream() {
    for (revision, way) in [
        (Revision::V2025_06_18, Way::Http),
        (Revision::V2024_11_05, Way::Sse),
        (Revision::V2025_11_25, Way::Sse),
    ] {
        let mut cluster = cluster(2);
        let mut caller = Caller::new(revision, way, 2).open(&mut cluster);
        let listener = (way == Way::Http).then(|| caller.listen(&mut cluster, None));
        cluster.run_for(SEC(5 * 3600));
        let ping = caller.peer.request("ping", "");
        let line = caller.send(&mut cluster, &ping);
        cluster.run_for(SEC(1));
        let heard = caller.heard(&cluster, line);
        assert!(
            heard.last().is_some_and(|it| it.contains("result")),
            "{revision} {way:?} {heard:?}"
        );
        cluster.cut(listener.unwrap_or(line));
        cluster.run_for(SEC(2 * 3600));
        let now = cluster.now();
        assert_eq!(cluster.store().sessions(now), 0, "{revision} {way:?}");
        assert_eq!(cluster.hub().topics(now), 0, "{revision} {way:?}");
    }
}

#[test]
fn a_stream_is_never_silent_for_longer_than_the_heartbeat() {
    for (revision, way) in [(Revision::V2025_06_18, Way::Http), (Revision::V2024_11_05, Way::Sse)] {
        let mut cluster = cluster(1);
        let mut caller = Caller::new(revision, way, 1).open(&mut cluster);
        let line = match way {
            Way::Http => caller.listen(&mut cluster, None),
            _ => caller.line(),
        };
        cluster.run_for(SEC(7));
        announce(&mut cluster, &Change::Tools);
        let mut length = cluster.received(line).len();
        for _ in 0..100 {
            cluster.run_for(SEC(15));
            let now = cluster.received(line).len();
            assert!(now > length, "{revision}: silent at {}", cluster.now());
            length = now;
        }
    }
}

#[test]
fn a_request_that_listens_is_acknowledged_first_and_tagged() {
    for way in [Way::Http, Way::Stdio] {
        let mut cluster = cluster(2);
        let mut caller = Caller::new(Revision::V2026_07_28, way, 2).open(&mut cluster);
        let filter = r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://template/7/data"]}"#;
        let listen = caller.peer.request_as("\"s\"", "subscriptions/listen", filter, "");
        let line = caller.send(&mut cluster, &listen);
        cluster.run();
        announce(&mut cluster, &Change::Prompts);
        announce(&mut cluster, &Change::Tools);
        announce(&mut cluster, &Change::Updated("test://template/7/data".into()));
        announce(&mut cluster, &Change::Updated("test://template/8/data".into()));
        let heard = caller.heard(&cluster, line);
        let names = ["acknowledged", "tools/list_changed", "resources/updated"];
        assert_eq!(heard.len(), names.len(), "{way:?} {heard:?}");
        for (message, name) in heard.iter().zip(names) {
            assert!(message.contains(name), "{message}");
            assert!(
                message.contains(r#""io.modelcontextprotocol/subscriptionId":"s""#),
                "{message}"
            );
        }
    }
}

/// What every worker declares, but no prompt.
fn without_prompts(list_changed: bool, subscribe: bool) -> Catalog {
    let all = declared();
    let mut catalog = Catalog::new(Implementation::new("fixture", "1.0.0"));
    (catalog.features.list_changed, catalog.features.subscribe) = (list_changed, subscribe);
    for tool in all.tools() {
        catalog.insert_tool(tool.clone());
    }
    for resource in all.resources() {
        catalog.insert_resource(resource.clone());
    }
    catalog
}

#[test]
fn nobody_is_told_of_what_the_server_did_not_declare() {
    for (list_changed, subscribe) in [(true, true), (false, true), (true, false)] {
        for revision in HANDSHAKE {
            for way in Way::ALL {
                let endpoint = serving(without_prompts(list_changed, subscribe)).build();
                let mut cluster = Cluster::new([endpoint], Service);
                let mut caller = Caller::new(revision, way, 1).open(&mut cluster);
                let line = match way {
                    Way::Http => caller.listen(&mut cluster, None),
                    _ => caller.line(),
                };
                cluster.run();
                let before = caller.heard(&cluster, line).len();
                // The session's streams read its record again.
                let subscribe_to =
                    caller.peer.request("resources/subscribe", "\"uri\":\"test://watched\"");
                caller.send(&mut cluster, &subscribe_to);
                cluster.run();
                for change in [Change::Prompts, Change::Tools, Change::Resources] {
                    announce(&mut cluster, &change);
                }
                updated(&mut cluster);
                let heard = &caller.heard(&cluster, line)[before..];
                let what = format!("{revision} {way:?} {list_changed} {subscribe}: {heard:?}");
                let lists = usize::from(list_changed);
                assert_eq!(count(heard, "prompts/list_changed"), 0, "{what}");
                assert_eq!(count(heard, "tools/list_changed"), lists, "{what}");
                assert_eq!(count(heard, "resources/list_changed"), lists, "{what}");
                assert_eq!(count(heard, "resources/updated"), usize::from(subscribe), "{what}");
            }
        }
    }
}
