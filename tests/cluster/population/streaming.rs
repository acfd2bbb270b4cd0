//! Calls that say how far they have come, step by step: no step is missing, and none comes twice,
//! however often the stream breaks.

use std::sync::Arc;

use mcp_proto::revision::Revision;
use serde_json::json;

use super::World;
use super::following::{Following, Heard};
use super::raw::Caller;

const STEPS: u64 = 20;

pub(crate) async fn run(world: Arc<World>, revision: Revision) {
    let mut random = world.random();
    let mut caller = Caller::open(world.clone(), revision).await;
    while world.goes_on() {
        let arguments = json!({ "steps": STEPS, "ms": random.up_to(40) });
        let mut call = Following::begin(&world, &mut caller, "talk", &arguments).await;
        let mut steps = 0;
        let fault = |what: String| world.ledger.calls.fault(format!("{revision}: {what}"));
        loop {
            match call.next().await {
                Heard::Message(message) => {
                    let step = message["params"]["progress"].as_u64().unwrap_or_default();
                    if step != steps + 1 {
                        fault(format!("step {step} came after {steps}: {message}"));
                    }
                    steps = step;
                }
                Heard::Result(_) if steps == STEPS => break,
                Heard::Result(_) => {
                    fault(format!("the result came after step {steps}"));
                    break;
                }
                Heard::Over => break,
            }
        }
    }
}
