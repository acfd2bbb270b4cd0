//! Sessions through real machines.

use core::time::Duration;
use std::sync::Arc;

use futures_util::future::{join_all, pending};
use http::Extensions;
use serde_json::{Value, json};

use super::super::tests::talk::{REVISIONS, talk, text};
use super::super::world::{VirtualTime, pair};
use super::super::{Args, Host, MemorySessionStore, Registry, Service, SessionStore, Shared, tool};
use super::*;
use crate::server::{Connection, Endpoint};
use crate::time::Instant;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Handle {
    handle: String,
}

fn service(time: &VirtualTime) -> Service {
    let time = time.clone();
    Registry::new("test", "1")
        .tool(tool("count", move |ex: Exchange| {
            let time = time.clone();
            async move {
                let session = ex.session().expect("a session").clone();
                // Everybody reads before anybody writes.
                time.sleep(Duration::from_millis(10)).await;
                session
                    .update_slot("count", |count: Option<u32>| Some(count.unwrap_or(0) + 1))
                    .await?;
                session.set("seen", "it").await?;
                let seen: Option<String> = session.get("seen")?;
                assert_eq!(seen.as_deref(), Some("it"), "a session shows its own writes");
                Ok::<_, Error>("counted")
            }
        }))
        .tool(tool("read", |ex: Exchange| async move {
            let session = ex.session().expect("a session");
            Ok::<_, Error>(session.get::<u32>("count")?.unwrap_or_default().to_string())
        }))
        .tool(tool("open", |ex: Exchange| async move {
            assert!(ex.session().is_none());
            let session = ex.sessions().open().await?;
            session.set("n", &1).await?;
            session.replace(&json!({ "n": 41 })).await?;
            Ok::<_, Error>(session.handle().expect("a handle").to_owned())
        }))
        .tool(tool("use", |Args(Handle { handle }): Args<Handle>, ex: Exchange| async move {
            let Some(session) = ex.sessions().use_handle(&handle).await? else {
                return Ok("unknown".to_owned());
            };
            session
                .update(|values| {
                    let n = values.get::<u32>("n")?.unwrap_or_default() + 1;
                    Ok(values.set("n", &n)?)
                })
                .await?;
            Ok::<_, Error>(session.get::<u32>("n")?.unwrap_or_default().to_string())
        }))
        .tool(tool("drop", |Args(Handle { handle }): Args<Handle>, ex: Exchange| async move {
            ex.sessions().drop(&handle).await?;
            Ok::<_, Error>("dropped")
        }))
        .build()
        .expect("valid")
}

/// One HTTP exchange with a worker of its own; only the store is shared.
async fn post(
    time: &VirtualTime,
    store: &Arc<dyn SessionStore>,
    session: Option<&str>,
    message: Value,
) -> String {
    let service = service(time);
    let (ours, mut theirs) = pair(1 << 16);
    let endpoint = Endpoint::builder(service.catalog().clone()).build();
    let host = Host::<_, Shared>::with_sessions(service, time.clone(), store.clone());
    let machine = Connection::new(endpoint, Instant::ZERO);
    let body = message.to_string();
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: \
         application/json, text/event-stream\r\nConnection: close\r\n{session}Content-Length: {}\
         \r\n\r\n",
        body.len()
    );
    let client = async {
        theirs.send(format!("{head}{body}").as_bytes()).await;
        theirs.receive_all().await
    };
    let served = host.run(machine, ours, Extensions::new(), pending());
    futures_util::future::join(served, client).await.1
}

fn call(name: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name } })
}

#[test]
fn workers_that_change_one_session_at_once_lose_nothing() {
    let time = VirtualTime::default();
    let store: Arc<dyn SessionStore> = Arc::new(MemorySessionStore::new());
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "c", "version": "1" },
        },
    });
    let test = async {
        let greeted = post(&time, &store, None, hello).await;
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.to_owned())
        };
        let id = greeted.lines().find_map(header).expect("a session");
        let workers = (0..8).map(|_| post(&time, &store, Some(&id), call("count")));
        for counted in join_all(workers).await {
            assert!(counted.contains("counted"), "{counted}");
        }
        post(&time, &store, Some(&id), call("read")).await
    };
    let (read, ()) = time.run(test, async {});
    assert!(read.contains(r#""text":"8""#), "{read}");
}

#[test]
fn sessions_are_opened_by_hand_on_every_revision() {
    let service = service(&VirtualTime::default());
    for revision in REVISIONS {
        let texts = talk(&service, revision, json!({}), |mut talk| async move {
            let handle = text(&talk.call("open", |_, _| Value::Null).await);
            let mut texts = Vec::new();
            for (tool, handle) in [
                ("use", &*handle),
                ("use", &handle),
                ("use", "other"),
                ("drop", &handle),
                ("use", &handle),
            ] {
                let params = json!({ "name": tool, "arguments": { "handle": handle } });
                let ended = talk.finish("tools/call", params, |_, _| Value::Null).await;
                texts.push(text(&ended));
            }
            texts
        });
        assert_eq!(texts, ["42", "43", "unknown", "dropped", "unknown"], "{revision}");
    }
}

#[test]
fn what_is_no_object_cannot_be_a_sessions_values() {
    assert!(Values::from_object(&json!([1])).is_err());
    let values = Values::from_object(&json!({ "a": 1, "b": { "c": null } })).unwrap();
    assert_eq!(values.to_json().as_str(), r#"{"a":1,"b":{"c":null}}"#);
    assert_eq!(values.get::<u8>("a").unwrap(), Some(1));
    assert!(values.get::<String>("a").is_err());
}
