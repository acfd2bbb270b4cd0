//! Listeners that come back for what they missed, where their revision lets them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_proto::revision::Revision;
use serde_json::{Value, json};

use super::raw::{Caller, Event};
use super::{World, breathe};
use crate::ledger::Segment;

/// What is listened to: every change, by its template.
pub(super) const CHANGES: &str = "change://{n}";

pub(crate) async fn run(world: Arc<World>, revision: Revision) {
    world.listening.fetch_add(1, Ordering::AcqRel);
    let mut caller = Caller::open(world.clone(), revision).await;
    let mut ear = Ear { world, who: format!("{revision}"), segment: None, from: None };
    if !caller.is_stateless() {
        while !subscribed(&mut caller).await {
            breathe().await;
        }
    }
    while !hear(&mut caller, &mut ear).await {
        breathe().await;
    }
    ear.world.listening.fetch_sub(1, Ordering::AcqRel);
}

async fn subscribed(caller: &mut Caller) -> bool {
    let (_, message) = caller.request("resources/subscribe", json!({ "uri": CHANGES }));
    let Ok(mut response) = caller.post(&message, None).await else { return false };
    let Ok(Some(event)) = response.next().await else { return false };
    caller.done(response);
    event.message.is_some_and(|message| message.get("result").is_some())
}

/// Listens until the stream ends: whether enough was heard.
async fn hear(caller: &mut Caller, ear: &mut Ear) -> bool {
    let response = match caller.is_stateless() {
        true => {
            let filter = json!({ "notifications": { "resourceSubscriptions": [CHANGES] } });
            let (_, message) = caller.request("subscriptions/listen", filter);
            ear.from = None;
            caller.post(&message, None).await
        }
        false => caller.get(ear.from.as_deref()).await,
    };
    let Ok(mut response) = response else { return false };
    if response.status() != 200 {
        let status = response.status();
        ear.world.ledger.calls.fault(format!("{} may not listen: status {status}", ear.who));
        return true;
    }
    match &ear.from {
        Some(_) => ear.world.ledger.calls.resumed(),
        None => ear.segment = None,
    }
    while let Ok(Some(event)) = response.next().await {
        if ear.hear(event) {
            return true;
        }
    }
    false
}

struct Ear {
    world: Arc<World>,
    who: String,
    segment: Option<Segment>,
    /// The last event that came.
    from: Option<String>,
}

impl Ear {
    /// Whether that is enough.
    fn hear(&mut self, event: Event) -> bool {
        let changes = &self.world.ledger.changes;
        self.from = event.id.or(self.from.take());
        let message = event.message.unwrap_or_default();
        match message["method"].as_str() {
            // The place where it begins to listen, or the acknowledgement of that.
            None | Some("notifications/subscriptions/acknowledged") => {
                self.segment.get_or_insert_with(|| changes.listen(&self.who, true));
            }
            Some("notifications/resources/updated") => {
                // Where nothing says that it is in force, the first change does.
                let segment = *self.segment.get_or_insert_with(|| changes.listen(&self.who, false));
                let n = number(&message["params"]["uri"]);
                changes.heard(segment, n);
                return changes.is_enough(n);
            }
            Some(_) => {}
        }
        false
    }
}

pub(super) fn number(uri: &Value) -> u64 {
    let n = uri.as_str().and_then(|uri| uri.strip_prefix("change://")?.parse().ok());
    n.expect("a change that the test announces")
}
