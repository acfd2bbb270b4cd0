//! Counting over HTTP+SSE: every message is posted to another worker, and every reply comes on the
//! one stream that is the session.

use std::sync::Arc;
use std::time::Duration;

use mcp_proto::revision::Revision;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::counting::text;
use super::raw::{Answer, Caller, Response};
use super::{World, breathe};
use crate::ledger::End;

/// How long a reply may take. Of a call whose worker was lost nobody says so on this transport: it
/// was accepted, and its client waits as long as it likes.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many updates one counter has at the most.
const UPDATES: usize = 40;

pub(crate) async fn run(world: Arc<World>) {
    let mut session = Session { poster: Caller::new(world.clone(), REVISION), stream: None };
    while world.goes_on() {
        let handle = text(&session.insist("open", &json!({})).await);
        let counter = world.name("sse");
        for _ in 0..UPDATES {
            if !world.goes_on() {
                break;
            }
            let key = world.name("update");
            world.ledger.counters.tried(&counter, &key);
            session.insist("count", &json!({ "counter": handle, "key": key })).await;
            world.ledger.counters.acknowledged(&counter, &key);
        }
        let result = session.insist("tally", &json!({ "counter": handle })).await;
        let tally = serde_json::from_str(text(&result).as_str().unwrap_or_default());
        world.ledger.counters.held(&counter, tally.expect("a tally"));
    }
}

const REVISION: Revision = Revision::V2024_11_05;

/// A session for as long as its stream is open; then there is another one.
struct Session {
    poster: Caller,
    stream: Option<Response>,
}

impl Session {
    async fn insist(&mut self, tool: &str, arguments: &Value) -> Value {
        loop {
            match self.call(tool, arguments).await {
                Answer::Result(result) if result["isError"] != json!(true) => return result,
                _ => breathe().await,
            }
        }
    }

    async fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let world = self.poster.world.clone();
        if self.stream.is_none() && self.open().await.is_none() {
            return Answer::Broken;
        }
        let params = json!({ "name": tool, "arguments": arguments });
        let (id, message) = self.poster.request("tools/call", params);
        let mut call = world.ledger.calls.begin(format!("{tool} {id} over HTTP+SSE"));
        let answer = match self.poster.note(&message).await {
            Ok(()) => timeout(PATIENCE, self.reply(&id)).await.ok().flatten(),
            Err(_) => None,
        };
        let answer = answer.unwrap_or(Answer::Broken);
        if answer == Answer::Broken {
            call.end(End::Broken);
            // Whether it was taken is not known; another session begins.
            self.stream = None;
        } else {
            call.end(answer.end());
        }
        answer
    }

    async fn open(&mut self) -> Option<()> {
        "/sse".clone_into(&mut self.poster.path);
        let mut listener = self.poster.twin();
        let mut stream = listener.get(None).await.ok()?;
        let endpoint = stream.next().await.ok()??.message?;
        endpoint.as_str()?.clone_into(&mut self.poster.path);
        self.stream = Some(stream);
        let (id, message) = self.poster.initialize();
        self.poster.note(&message).await.ok()?;
        let reply = timeout(PATIENCE, self.reply(&id)).await.ok().flatten();
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let done = reply.is_some() && self.poster.note(&initialized).await.is_ok();
        if !done {
            self.stream = None;
        }
        done.then_some(())
    }

    /// The answer to that request, from the stream.
    async fn reply(&mut self, id: &Value) -> Option<Answer> {
        let stream = self.stream.as_mut()?;
        loop {
            let mut message = stream.next().await.ok()??.message?;
            if message["id"] == *id {
                return Some(Answer::of(&mut message));
            }
        }
    }
}
