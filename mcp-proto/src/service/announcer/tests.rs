//! Announcements, from handlers and from outside, to clients that listen.

use core::time::Duration;

use futures_util::future::join;
use serde_json::{Value, json};

use super::super::tests::talk::{Served, talk, text};
use super::super::world::VirtualTime;
use super::super::{Exchange, MemoryHub, Registry, Service, resource, tool};
use super::*;

fn service() -> Service {
    Registry::new("test", "1")
        .tool(tool("change", |ex: Exchange| async move {
            for _ in 0..3 {
                ex.announce(Change::Tools);
                ex.announce(Change::Updated("a://b".into()));
            }
            "changed"
        }))
        .resource("a://b", resource(|| async { "text" }))
        .build()
        .expect("valid")
}

#[test]
fn what_a_handler_announces_reaches_its_client_once() {
    // R24-TOOL-05, R26-SUBS-04
    let service = service();
    for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let listens = revision == "2026-07-28";
        let heard = talk(&service, revision, json!({}), |mut talk| async move {
            if listens {
                let filter =
                    json!({ "toolsListChanged": true, "resourceSubscriptions": ["a://b"] });
                talk.request("subscriptions/listen", json!({ "notifications": filter })).await;
                talk.receive().await;
            } else {
                talk.request("resources/subscribe", json!({ "uri": "a://b" })).await;
                talk.receive().await;
            }
            talk.request("tools/call", json!({ "name": "change" })).await;
            let mut heard = Vec::new();
            for _ in 0..3 {
                let message = talk.receive().await;
                match message["method"].as_str() {
                    Some(method) => heard.push(method.to_owned()),
                    None => heard.push(text(&message)),
                }
            }
            talk.request("tools/call", json!({ "name": "none" })).await;
            assert!(talk.receive().await["error"].is_object(), "nothing else was said");
            heard.sort();
            heard
        });
        let wanted =
            ["changed", "notifications/resources/updated", "notifications/tools/list_changed"];
        assert_eq!(heard, wanted, "{revision}");
    }
}

#[test]
fn what_is_announced_from_outside_reaches_clients_too() {
    let time = VirtualTime::default();
    let hub: Arc<dyn Hub> = Arc::new(MemoryHub::new());
    let clock = time.clone();
    let announcer = Announcer::new(Arc::clone(&hub), move || clock.time(), "");
    let clock = time.clone();
    let heard = Served::new(&service()).hub(hub).at(&time).talk(
        "2025-11-25",
        json!({}),
        |mut talk| async move {
            let announce = async {
                clock.sleep(Duration::from_secs(1)).await;
                announcer.tools_changed().await.expect("the hub works");
            };
            let heard: (Value, ()) = join(talk.receive(), announce).await;
            heard.0
        },
    );
    assert_eq!(heard["method"], "notifications/tools/list_changed");
}
