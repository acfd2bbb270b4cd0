//! The library's own client, with its own ways to come back: it calls, answers and listens.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use mcp_driver_tokio::Client;
use mcp_driver_tokio::client::{ErrorKind, ListenEvent, ask_with};
use mcp_proto::client::Declined;
use mcp_proto::model::{Change, ClientCapabilities, Filter, elicit, elicit_accept};
use mcp_proto::revision::Revision;
use serde_json::{Value, json};

use super::listening::CHANGES;
use super::{World, breathe};
use crate::ledger::{End, Segment};

/// How many calls are under way at once.
const AT_ONCE: usize = 3;

/// How many updates one counter has at the most.
const UPDATES: usize = 45;

/// Counts, and has one in so many updates approved.
const APPROVED: usize = 5;

/// Calls and answers.
pub(crate) async fn call(world: Arc<World>, revision: Revision) {
    let ours = Ours { client: connect(&world, revision).await, world, revision };
    while ours.world.goes_on() {
        let counter = ours.world.name("ours");
        let handle = ours.insist("open", &json!({})).await;
        let crowd = (0..AT_ONCE).map(|_| ours.count(&counter, &handle));
        join_all(crowd).await;
        let tally = ours.insist("tally", &json!({ "counter": handle })).await;
        let tally = serde_json::from_str(&tally).expect("a tally");
        ours.world.ledger.counters.held(&counter, tally);
    }
}

/// Listens.
pub(crate) async fn listen(world: Arc<World>, revision: Revision) {
    world.listening.fetch_add(1, Ordering::AcqRel);
    // A client whose subscription has ended takes a new one.
    while !hear(&world, &connect(&world, revision).await, revision).await {
        breathe().await;
    }
    world.listening.fetch_sub(1, Ordering::AcqRel);
}

async fn connect(world: &Arc<World>, revision: Revision) -> Client {
    let url = format!("http://{}/mcp", world.address);
    loop {
        let can: ClientCapabilities = mcp_proto::model::InputRequest::from(elicit("")).needs();
        let ask = ask_with(can, |_| async {
            elicit_accept(&json!({ "name": "ours" }))
                .map_err(|error| Declined::failed(error.to_string()))
        });
        match Client::http(url.clone()).revision(revision).on_ask(ask).connect().await {
            Ok(client) => return client,
            Err(_) => breathe().await,
        }
    }
}

struct Ours {
    world: Arc<World>,
    client: Client,
    revision: Revision,
}

impl Ours {
    async fn count(&self, counter: &str, handle: &str) {
        let ledger = &self.world.ledger;
        for n in 0..UPDATES / AT_ONCE {
            if !self.world.goes_on() {
                return;
            }
            let key = self.world.name("update");
            ledger.counters.tried(counter, &key);
            let mut arguments = json!({ "counter": handle, "key": key });
            if n % APPROVED != 0 {
                self.insist("count", &arguments).await;
            } else {
                // A call that was lost may have run: it is not made again.
                arguments["ms"] = json!(10);
                let Some(outcome) = self.approved(&arguments).await else { continue };
                ledger.runs.told(&key, &outcome);
            }
            ledger.counters.acknowledged(counter, &key);
        }
    }

    /// What came of a call that asks; nothing where it was lost.
    async fn approved(&self, arguments: &Value) -> Option<String> {
        let said = self.once("approve", arguments).await?;
        // In arguments a model would answer; nobody does here.
        let (mark, name) = said.split_once(' ')?;
        (mark.split_once('.').is_some() && name == "ours").then_some(said)
    }

    async fn insist(&self, tool: &str, arguments: &Value) -> String {
        loop {
            match self.once(tool, arguments).await {
                Some(said) => return said,
                None => breathe().await,
            }
        }
    }

    /// What one call says, where it has a result.
    async fn once(&self, tool: &str, arguments: &Value) -> Option<String> {
        let what = format!("{tool} of our {}", self.revision);
        let mut call = self.world.ledger.calls.begin(what);
        match self.client.call_tool(tool, arguments).await {
            Ok(reply) => {
                call.end(End::Result);
                (!reply.is_error).then(|| reply.text())
            }
            Err(error) => {
                let is_answer = matches!(error.kind, ErrorKind::Server { .. });
                call.end(if is_answer { End::Error } else { End::Broken });
                if is_answer {
                    self.world.ledger.calls.error(error);
                }
                None
            }
        }
    }
}

/// Listens until the subscription ends: whether enough was heard.
async fn hear(world: &World, client: &Client, revision: Revision) -> bool {
    let changes = &world.ledger.changes;
    let who = format!("our {revision}");
    let mut filter = Filter::default();
    filter.uris = vec![CHANGES.to_owned()];
    let mut listening = client.listen(filter);
    let mut segment: Option<Segment> = None;
    while let Some(Ok(event)) = listening.next().await {
        match event {
            // Only where a request listens is it known to be in force.
            ListenEvent::Listening(_) if revision == Revision::V2026_07_28 => {
                segment = Some(changes.listen(&who, true));
            }
            ListenEvent::Missed => segment = None,
            ListenEvent::Changed(Change::Updated(uri)) => {
                let n = super::listening::number(&json!(uri));
                let segment = *segment.get_or_insert_with(|| changes.listen(&who, false));
                changes.heard(segment, n);
                if changes.is_enough(n) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}
