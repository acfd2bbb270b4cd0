//! Calls that are cancelled, on another worker than the one that runs them.

use std::sync::Arc;

use mcp_proto::revision::Revision;
use serde_json::json;

use super::following::{Following, Heard};
use super::raw::Caller;
use super::{World, breathe};

/// Longer than anybody waits.
const NEVER: u64 = 600_000;

pub(crate) async fn run(world: Arc<World>, revision: Revision) {
    let mut caller = Caller::open(world.clone(), revision).await;
    while world.goes_on() {
        let mut twin = caller.twin();
        let mut call =
            Following::begin(&world, &mut caller, "talk", &json!({ "steps": 2, "ms": NEVER }))
                .await;
        if !matches!(call.next().await, Heard::Message(_)) {
            continue;
        }
        if twin.is_stateless() {
            // To leave is to cancel.
            call.cancelled();
            continue;
        }
        let params = json!({ "requestId": call.id() });
        let method = "notifications/cancelled";
        let cancel = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        // Nobody says that it was cancelled: nothing more comes, and the stream ends.
        let cancelling = async {
            loop {
                let _ = twin.note(&cancel).await;
                breathe().await;
            }
        };
        tokio::select! {
            () = call.silence() => call.cancelled(),
            () = cancelling => {}
        }
    }
}
