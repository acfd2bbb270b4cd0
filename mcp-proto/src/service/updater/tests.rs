//! Services that are replaced under clients of every kind.

use core::time::Duration;
use std::sync::Arc;

use futures_util::future::{join, pending};
use http::Extensions;
use serde_json::{Value, json};

use super::super::tests::talk::{REVISIONS, Served, Talk, text};
use super::super::world::{VirtualTime, pair};
use super::super::{Host, MemoryHub, MemorySessionStore, Parts, Registry, prompt, resource, tool};
use super::*;
use crate::server::{Connection, Endpoint};
use crate::time::Instant;

/// A service with that tool, which says that, and with a prompt and a resource.
fn service(name: &str, says: &'static str) -> Service {
    offering(name, says).build().expect("valid")
}

fn offering(name: &str, says: &'static str) -> Registry {
    Registry::new("test", "1")
        .tool(tool(name, move || async move { says }))
        .prompt(prompt("greet", || async { "hello" }))
        .resource("a://b", resource(|| async { "text" }))
}

/// Requests, and gives the answer with the notifications before it.
async fn ask(talk: &mut Talk, method: &str, params: Value) -> (Value, Vec<String>) {
    talk.request(method, params).await;
    let mut told = Vec::new();
    loop {
        let message = talk.receive().await;
        match message["method"].as_str() {
            Some(method) => told.push(method.to_owned()),
            None => return (message, told),
        }
    }
}

async fn tools(talk: &mut Talk) -> Vec<String> {
    let (answer, _) = ask(talk, "tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().expect("tools").iter();
    tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

async fn call(talk: &mut Talk, tool: &str) -> String {
    text(&ask(talk, "tools/call", json!({ "name": tool })).await.0)
}

#[test]
fn what_is_added_is_listed_and_callable_at_once_and_what_is_removed_is_unknown() {
    for revision in REVISIONS {
        let served = Served::new(&service("old", "once"));
        let updater = served.updater();
        served.clone().talk(revision, json!({}), |mut talk| async move {
            assert_eq!(tools(&mut talk).await, ["old"], "{revision}");
            assert_eq!(call(&mut talk, "old").await, "once");
            updater.replace(service("new", "now")).await.expect("replaced");
            assert_eq!(tools(&mut talk).await, ["new"], "{revision}");
            assert_eq!(call(&mut talk, "new").await, "now");
            assert!(call(&mut talk, "old").await.contains("old"), "it is unknown");
        });
        // A new connection, of an endpoint that was built before.
        served.talk(revision, json!({}), |mut talk| async move {
            assert_eq!(tools(&mut talk).await, ["new"], "{revision}");
            assert_eq!(call(&mut talk, "new").await, "now");
        });
    }
}

#[test]
fn who_listens_is_told_once_of_each_list_that_differs_and_of_nothing_else() {
    // R24-TOOL-05, R26-SUBS-04
    const TOOLS: &str = "notifications/tools/list_changed";
    const PROMPTS: &str = "notifications/prompts/list_changed";
    const RESOURCES: &str = "notifications/resources/list_changed";
    for revision in ["2025-11-25", "2026-07-28"] {
        let time = VirtualTime::default();
        let served = Served::new(&service("old", "once")).at(&time);
        let updater = served.updater();
        served.talk(revision, json!({}), |mut talk| async move {
            if revision == "2026-07-28" {
                let lists = ["tools", "prompts", "resources"];
                let all = lists.map(|list| (format!("{list}ListChanged"), Value::Bool(true)));
                let filter: serde_json::Map<_, _> = all.into_iter().collect();
                talk.request("subscriptions/listen", json!({ "notifications": filter })).await;
                talk.receive().await;
            }
            let more = offering("new", "now")
                .prompt(prompt("part", || async { "bye" }))
                .resource("c://d", resource(|| async { "more" }))
                .resource_template("t://{id}", resource(|| async { "any" }));
            let steps: [(Service, &[&str]); 4] = [
                // The same declarations with another handler.
                (service("old", "again"), &[]),
                (service("new", "now"), &[TOOLS]),
                (more.build().expect("valid"), &[PROMPTS, RESOURCES]),
                (service("old", "once"), &[TOOLS, PROMPTS, RESOURCES]),
            ];
            for (next, wanted) in steps {
                updater.replace(next).await.expect("replaced");
                time.sleep(Duration::from_secs(1)).await;
                let (_, told) = ask(&mut talk, "tools/list", json!({})).await;
                assert_eq!(told, wanted, "{revision}");
            }
        });
    }
}

#[test]
fn calls_that_run_keep_their_handler() {
    let time = VirtualTime::default();
    let clock = time.clone();
    let slow = tool("slow", move || {
        let clock = clock.clone();
        async move {
            clock.sleep(Duration::from_secs(5)).await;
            "done"
        }
    });
    let service_before = Registry::new("test", "1").tool(slow).build().expect("valid");
    let served = Served::new(&service_before).at(&time);
    let updater = served.updater();
    served.talk("2025-06-18", json!({}), |mut talk| async move {
        let replace = async {
            time.sleep(Duration::from_secs(1)).await;
            updater.replace(service("new", "now")).await.expect("replaced");
        };
        let (said, ()) = join(call(&mut talk, "slow"), replace).await;
        assert_eq!(said, "done");
        assert!(call(&mut talk, "slow").await.contains("slow"), "it is unknown");
    });
}

#[test]
fn what_cannot_be_served_here_replaces_nothing() {
    let served = Served::new(&service("old", "once"));
    let updater = served.updater();
    served.talk("2025-06-18", json!({}), |mut talk| async move {
        let http = tool("path", |parts: Parts| async move { parts.target().to_owned() });
        let unfit = Registry::new("test", "1").tool(http).build().expect("valid");
        updater.replace(unfit).await.expect_err("there are no HTTP requests");
        assert_eq!(call(&mut talk, "old").await, "once");
    });
}

fn request(method: &str, headers: &str, body: &Value) -> Vec<u8> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    format!(
        "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: \
         application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[test]
fn a_stream_over_http_is_told_once_and_other_connections_see_what_is_new() {
    let time = VirtualTime::default();
    let before = service("old", "once");
    let endpoint = Endpoint::builder(before.catalog().clone()).build();
    let hub = Arc::new(MemoryHub::new());
    let (live, clock) = (Live::new(before), time.clone());
    let announcer = Announcer::new(hub.clone(), move || clock.time(), "");
    let adapters = endpoint.adapters().clone();
    let updater = Updater::new(live.clone(), announcer, adapters, Service::guarded_only);
    let sessions = Arc::new(MemorySessionStore::new());
    let host = Host::live(live, time.clone(), sessions, hub, None);
    let open = || {
        let (ours, theirs) = pair(1 << 16);
        let machine = Connection::new(endpoint.clone(), Instant::ZERO);
        (host.run(machine, ours, Extensions::new(), pending()), theirs)
    };
    let ((listened, mut stream), (kept, mut old), (opened, mut new)) = (open(), open(), open());
    let clock = time.clone();
    let client = async move {
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" } });
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
        old.send(&request("POST", "", &hello)).await;
        let greeted = old.receive_until(|text| text.contains("serverInfo")).await;
        let is_session = |line: &&str| line.to_ascii_lowercase().starts_with("mcp-session-id:");
        let session = format!("{}\r\n", greeted.lines().find(is_session).expect("a session"));
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        old.send(&request("POST", &session, &initialized)).await;
        old.receive_until(|text| text.contains("202 Accepted")).await;
        stream.send(&request("GET", &session, &Value::Null)).await;
        clock.sleep(Duration::from_secs(1)).await;

        updater.replace(service("new", "now")).await.expect("replaced");
        clock.sleep(Duration::from_secs(1)).await;
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        for connection in [&mut old, &mut new] {
            connection.send(&request("POST", &session, &list)).await;
            let listed = connection.receive_until(|text| text.contains("inputSchema")).await;
            assert!(listed.contains(r#""name":"new""#) && !listed.contains("old"), "{listed}");
        }
        old.end();
        new.end();
        stream.end();
        stream.receive_until(|text| text.contains("list_changed")).await
    };
    let served = join(join(listened, kept), opened);
    let (_, told) = time.run(served, client);
    assert_eq!(told.matches("notifications/").count(), 1, "{told}");
    assert!(told.contains("notifications/tools/list_changed"), "{told}");
}
