//! Sessions through real machines.

use core::time::Duration;
use std::sync::Arc;

use futures_util::future::{join_all, pending};
use http::Extensions;
use serde_json::{Value, json};

use super::super::tests::talk::{REVISIONS, talk, text};
use super::super::world::{VirtualTime, pair};
use super::super::{
    Args, Guard, Host, MemoryHub, MemorySessionStore, Registry, Service, SessionStore, Shared,
    VerifyError, tool,
};
use super::*;
use crate::auth::{Authorization, Principal};
use crate::server::{Connection, Endpoint, Limits};

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

/// Whose worker is asked, and by whom.
#[derive(Clone, Default)]
struct Door {
    time: VirtualTime,
    limits: Limits,
    namespace: &'static str,
    token: Option<&'static str>,
    guard: Option<Guard>,
}

impl Door {
    fn at(time: &VirtualTime) -> Self {
        Self { time: time.clone(), ..Self::default() }
    }

    /// One HTTP exchange with a worker of its own; only the store is shared.
    async fn post(
        &self,
        store: &Arc<dyn SessionStore>,
        session: Option<&str>,
        message: Value,
    ) -> String {
        let service = service(&self.time);
        let (ours, mut theirs) = pair(1 << 16);
        let mut endpoint = Endpoint::builder(service.catalog().clone())
            .namespace(self.namespace)
            .limits(self.limits);
        if let Some(guard) = &self.guard {
            endpoint = endpoint.authorization(Authorization::clone(guard.authorization()));
        }
        let hub = Arc::new(MemoryHub::new());
        let (time, guard) = (self.time.clone(), self.guard.clone());
        let host = Host::<_, Shared>::guarded(service, time, store.clone(), hub, guard);
        let machine = Connection::new(endpoint.build(), self.time.time());
        let body = message.to_string();
        let header = |name: &str, value: Option<&str>| {
            value.map(|value| format!("{name}{value}\r\n")).unwrap_or_default()
        };
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: \
             application/json, text/event-stream\r\nConnection: close\r\n{}{}Content-Length: {}\
             \r\n\r\n",
            header("Mcp-Session-Id: ", session),
            header("Authorization: Bearer ", self.token),
            body.len()
        );
        let client = async {
            theirs.send(format!("{head}{body}").as_bytes()).await;
            theirs.receive_all().await
        };
        let served = host.run(machine, ours, Extensions::new(), pending());
        futures_util::future::join(served, client).await.1
    }

    /// What a tool says to a handle: the whole response.
    async fn tell(&self, store: &Arc<dyn SessionStore>, tool: &str, handle: &str) -> String {
        let params = json!({ "name": tool, "arguments": { "handle": handle } });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        self.post(store, None, call).await
    }

    /// Opens a session by hand; its handle.
    async fn open(&self, store: &Arc<dyn SessionStore>) -> String {
        let opened = self.post(store, None, call("open")).await;
        let text = opened.split_once("\"text\":\"").expect("a handle").1;
        text.split_once('"').expect("text").0.to_owned()
    }
}

/// Ada, another one, and an Ada whom somebody else vouches for.
async fn verify(token: String) -> Result<Principal, VerifyError> {
    let issuer = if token == "ada-elsewhere" { "https://b.example" } else { "https://a.example" };
    match &*token {
        "ada" | "ada-elsewhere" => Ok(Principal::subject("ada").issued_by(issuer)),
        "eve" => Ok(Principal::subject("eve").issued_by(issuer)),
        _ => Err(VerifyError::Invalid),
    }
}

fn guard(bind_sessions: bool, namespace_from_token: bool) -> Guard {
    let authorization = Authorization::builder("https://localhost/mcp")
        .authorization_server("https://a.example")
        .bind_sessions(bind_sessions)
        .namespace_from_token(namespace_from_token)
        .build()
        .expect("settings");
    Guard::new(authorization, verify)
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
        let door = Door::at(&time);
        let greeted = door.post(&store, None, hello).await;
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.to_owned())
        };
        let id = greeted.lines().find_map(header).expect("a session");
        let workers = (0..8).map(|_| door.post(&store, Some(&id), call("count")));
        for counted in join_all(workers).await {
            assert!(counted.contains("counted"), "{counted}");
        }
        door.post(&store, Some(&id), call("read")).await
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
fn a_session_that_was_opened_by_hand_lives_as_long_as_the_limit_says() {
    for ttl in [10, 60, 7_200].map(Duration::from_secs) {
        let limits = Limits { session_ttl: ttl, ..Limits::default() };
        let door = Door { limits, ..Door::default() };
        let store: Arc<dyn SessionStore> = Arc::new(MemorySessionStore::new());
        let second = Duration::from_secs(1);
        let test = async {
            let handle = door.open(&store).await;
            for n in 42..45 {
                // Each use renews it.
                door.time.sleep(ttl - second).await;
                let used = door.tell(&store, "use", &handle).await;
                assert!(used.contains(&format!(r#""text":"{n}""#)), "{ttl:?}: {used}");
            }
            door.time.sleep(ttl + second).await;
            let used = door.tell(&store, "use", &handle).await;
            assert!(used.contains(r#""text":"unknown""#), "{ttl:?}: {used}");
        };
        door.time.run(test, async {});
    }
}

#[test]
fn a_handle_of_another_is_as_unknown_as_one_that_never_was() {
    // C49, C50: other people, others of that name, nobody, and other tenants.
    let door = |namespace, token| Door { namespace, token, ..Door::default() };
    let guarded = |bind, separate, token| {
        let guard = Some(guard(bind, separate));
        Door { token, guard, ..Door::default() }
    };
    let mut probes = vec![(door("acme", None), door("globex", None))];
    for (bind, separate) in [(true, true), (true, false), (false, true)] {
        for who in [Some("eve"), Some("ada-elsewhere"), Some("mallory"), None] {
            probes.push((guarded(bind, separate, Some("ada")), guarded(bind, separate, who)));
        }
    }
    for (owner, stranger) in probes {
        let what = format!("{:?} at {}", stranger.token, stranger.namespace);
        let store: Arc<dyn SessionStore> = Arc::new(MemorySessionStore::new());
        let test = async {
            let handle = owner.open(&store).await;
            let never = "A".repeat(handle.len());
            assert_ne!(handle, never);
            for tool in ["use", "drop", "use"] {
                let told = stranger.tell(&store, tool, &handle).await;
                assert_eq!(told, stranger.tell(&store, tool, &never).await, "{what}: {tool}");
            }
            owner.tell(&store, "use", &handle).await
        };
        let (used, ()) = owner.time.run(test, async {});
        assert!(used.contains(r#""text":"42""#), "{what} did harm: {used}");
    }
}

#[test]
fn handles_are_shared_where_nothing_keeps_principals_apart() {
    let by =
        |token| Door { token: Some(token), guard: Some(guard(false, false)), ..Door::default() };
    let (ada, eve) = (by("ada"), by("eve"));
    let store: Arc<dyn SessionStore> = Arc::new(MemorySessionStore::new());
    let test = async {
        let handle = ada.open(&store).await;
        eve.tell(&store, "use", &handle).await
    };
    let (used, ()) = ada.time.run(test, async {});
    assert!(used.contains(r#""text":"42""#), "{used}");
}

#[test]
fn equal_handles_of_two_tenants_never_meet() {
    // Equal clocks draw equal random bytes, so both get the same handle.
    let tenant = |namespace| Door { namespace, ..Door::default() };
    let person =
        |token| Door { token: Some(token), guard: Some(guard(true, true)), ..Door::default() };
    for (a, b) in [
        (tenant("acme"), tenant("globex")),
        (tenant("a"), tenant("a/b")),
        (tenant(""), tenant("x")),
        (person("ada"), person("eve")),
        (person("ada"), person("ada-elsewhere")),
    ] {
        let store: Arc<dyn SessionStore> = Arc::new(MemorySessionStore::new());
        let test = async {
            let handle = a.open(&store).await;
            assert_eq!(handle, b.open(&store).await);
            for (who, tool, says) in [
                (&a, "use", "42"),
                (&b, "use", "42"),
                (&a, "drop", "dropped"),
                (&a, "use", "unknown"),
                (&b, "use", "43"),
            ] {
                let told = who.tell(&store, tool, &handle).await;
                assert!(told.contains(&format!("\"text\":\"{says}\"")), "{tool}: {told}");
            }
        };
        a.time.run(test, async {});
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
