//! Many that count one counter up at once, each update until it is acknowledged.

use std::sync::Arc;

use futures_util::future::join_all;
use mcp_proto::revision::Revision;
use serde_json::{Value, json};

use super::World;
use super::raw::Caller;

/// How many change one counter at the same time.
const AT_ONCE: usize = 3;

/// How many updates one counter has at the most.
const UPDATES: usize = 60;

/// Counts in one session, or by one handle, after the other.
pub(crate) async fn run(world: Arc<World>, revision: Revision) {
    while world.goes_on() {
        let mut caller = Caller::open(world.clone(), revision).await;
        // Revisions without sessions count by a handle; the others in the session of the client.
        let handle = match caller.is_stateless() {
            true => text(&caller.insist("open", &json!({})).await),
            false => Value::Null,
        };
        let counter = world.name("counter");
        let crowd = (0..AT_ONCE).map(|_| count(caller.twin(), &counter, &handle));
        join_all(crowd).await;
        let result = caller.insist("tally", &json!({ "counter": handle })).await;
        let tally = serde_json::from_str(text(&result).as_str().unwrap_or_default());
        world.ledger.counters.held(&counter, tally.expect("a tally"));
    }
}

async fn count(mut caller: Caller, counter: &str, handle: &Value) {
    let world = caller.world.clone();
    for _ in 0..UPDATES / AT_ONCE {
        if !world.goes_on() {
            return;
        }
        let key = world.name("update");
        world.ledger.counters.tried(counter, &key);
        caller.insist("count", &json!({ "counter": handle, "key": key })).await;
        world.ledger.counters.acknowledged(counter, &key);
    }
}

/// What a result says.
pub(super) fn text(result: &Value) -> Value {
    result["content"][0]["text"].clone()
}
