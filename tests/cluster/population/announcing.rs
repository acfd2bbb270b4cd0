//! The one who announces: one change after the other, each once, whatever becomes of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mcp_proto::revision::Revision;
use serde_json::json;

use super::raw::{Answer, Caller};
use super::{World, breathe};

pub(crate) async fn run(world: Arc<World>) {
    let mut caller = Caller::open(world.clone(), Revision::V2026_07_28).await;
    while world.goes_on() || world.listening.load(Ordering::Acquire) > 0 {
        let n = world.ledger.changes.announce();
        let answer = caller.call("announce", &json!({ "n": n })).await;
        if matches!(answer, Answer::Result(result) if result["isError"] != json!(true)) {
            world.ledger.changes.acknowledged(n);
        }
        breathe().await;
    }
}
