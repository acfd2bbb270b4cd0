//! Calls that ask, and clients that answer more than once: the same, and something else.

use std::sync::Arc;

use futures_util::future::{join, join_all};
use mcp_proto::revision::Revision;
use mcp_proto::testing::Random;
use serde_json::{Value, json};

use super::counting::text;
use super::following::{Following, Heard};
use super::raw::{Answer, Caller};
use super::{World, breathe};

/// How many answers come at once.
const ANSWERS: usize = 3;

/// How many approvals are counted by one counter.
const APPROVALS: usize = 30;

pub(crate) async fn run(world: Arc<World>, revision: Revision) {
    let mut random = world.random();
    while world.goes_on() {
        let mut caller = Caller::open(world.clone(), revision).await;
        let handle = text(&caller.insist("open", &json!({})).await);
        let counter = world.name("approvals");
        for _ in 0..APPROVALS {
            if !world.goes_on() {
                break;
            }
            let key = world.name("approval");
            let ms = if random.one_in(40) { 8_000 } else { random.up_to(100) };
            let arguments = json!({ "counter": handle, "key": key, "ms": ms });
            world.ledger.counters.tried(&counter, &key);
            let approval = Approval { key: &key, counter: &counter, arguments };
            match revision {
                Revision::V2025_06_18 | Revision::V2025_11_25 => {
                    approval.pushed(&mut caller).await;
                }
                _ => approval.retried(&mut caller, &mut random).await,
            }
        }
        let result = caller.insist("tally", &json!({ "counter": handle })).await;
        let tally = serde_json::from_str(text(&result).as_str().unwrap_or_default());
        world.ledger.counters.held(&counter, tally.expect("a tally"));
    }
}

struct Approval<'a> {
    key: &'a str,
    counter: &'a str,
    arguments: Value,
}

impl Approval<'_> {
    /// The question comes on the call's stream. It is answered twice at once, differently.
    async fn pushed(&self, caller: &mut Caller) {
        let world = caller.world.clone();
        let twins = [caller.twin(), caller.twin()];
        let mut call = Following::begin(&world, caller, "approve", &self.arguments).await;
        let mut twins = Some(twins);
        loop {
            match call.next().await {
                Heard::Message(message) if message["method"] == "elicitation/create" => {
                    let Some([mut one, mut two]) = twins.take() else {
                        return world.ledger.calls.fault(format!("{} was asked twice", self.key));
                    };
                    let id = &message["id"];
                    let answer =
                        |name| json!({ "jsonrpc": "2.0", "id": id, "result": accepted(name) });
                    let (ada, eve) = (answer("ada"), answer("eve"));
                    join(note(&mut one, &ada), note(&mut two, &eve)).await;
                }
                Heard::Message(_) => {}
                Heard::Result(result) => {
                    if result["isError"] != json!(true) {
                        self.told(&world, &result);
                    }
                    return;
                }
                Heard::Over => return,
            }
        }
    }

    /// The call ends with the question, and is repeated with the answer: by several at once, of
    /// which one may answer differently.
    async fn retried(&self, caller: &mut Caller, random: &mut Random) {
        let question = caller.insist("approve", &self.arguments).await;
        let other = random.up_to(2 * ANSWERS as u64) as usize;
        let repeats = (0..ANSWERS).map(|n| {
            let name = if n == other { "eve" } else { "ada" };
            self.repeat(caller.twin(), &question, name)
        });
        join_all(repeats.collect::<Vec<_>>()).await;
    }

    /// Repeats the call until it is known what came of the answer.
    async fn repeat(&self, mut caller: Caller, question: &Value, name: &str) {
        let world = caller.world.clone();
        loop {
            let params = match question.get("requestState") {
                Some(state) => json!({
                    "name": "approve", "arguments": self.arguments, "requestState": state,
                    "inputResponses": { "who": accepted(name) },
                }),
                None => {
                    json!({ "name": "approve", "arguments": in_arguments(question, accepted(name)) })
                }
            };
            match caller.call_with("approve", params).await {
                Answer::Result(result) if result["isError"] != json!(true) => {
                    return self.told(&world, &result);
                }
                Answer::Result(Value::Object(error)) | Answer::Error(Value::Object(error)) => {
                    let error = Value::Object(error).to_string();
                    if error.contains("answered before") {
                        return world.ledger.runs.refused();
                    }
                    if error.contains("unknown or expired") {
                        let what = format!("the state of {} is gone", self.key);
                        return world.ledger.calls.fault(what);
                    }
                }
                _ => {}
            }
            breathe().await;
        }
    }

    fn told(&self, world: &World, result: &Value) {
        let outcome = text(result);
        world.ledger.runs.told(self.key, outcome.as_str().unwrap_or_default());
        world.ledger.counters.acknowledged(self.counter, self.key);
    }
}

async fn note(caller: &mut Caller, answer: &Value) {
    while caller.note(answer).await.is_err() {
        breathe().await;
    }
}

fn accepted(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

/// What the text says is to be called, with the answer in it.
fn in_arguments(question: &Value, answer: Value) -> Value {
    let said = text(question);
    let example = said.as_str().and_then(|said| said.rsplit("\n\n").next());
    let example = example.and_then(|example| serde_json::from_str::<Value>(example).ok());
    let mut arguments = example.expect("an example of the arguments");
    arguments["input_responses"] = json!({ "who": answer });
    arguments
}
