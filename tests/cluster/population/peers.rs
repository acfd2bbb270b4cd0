//! Clients that are processes of their own: they say what they do, a line of JSON each.

use std::process::Stdio;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use super::{World, breathe};
use crate::ledger::Ledger;

/// Runs `command`, in which `URL` stands for the server's, until it ends after its stdin.
pub(crate) async fn run(world: Arc<World>, command: String) {
    let url = format!("http://{}/mcp", world.address);
    let mut words = command.split(' ').map(|word| if word == "URL" { &url } else { word });
    let mut process = Command::new(words.next().unwrap_or_default());
    process.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = process.spawn().unwrap_or_else(|error| panic!("{command}: {error}"));
    let stdin = child.stdin.take();
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let stopping = async {
        while world.goes_on() {
            breathe().await;
        }
        drop(stdin);
        std::future::pending::<()>().await;
    };
    let reading = async {
        let mut said = 0_u64;
        while let Ok(Some(line)) = lines.next_line().await {
            let what: Value = serde_json::from_str(&line).unwrap_or_default();
            said += u64::from(note(&world.ledger, &what));
        }
        said
    };
    let said = tokio::select! {
        said = reading => said,
        () = stopping => 0,
    };
    let status = child.wait().await.expect("its status");
    if !status.success() || said == 0 {
        world.ledger.calls.fault(format!("`{command}` ended: {status}, and said {said} things"));
    }
}

/// Whether it is something that clients say.
fn note(ledger: &Ledger, what: &Value) -> bool {
    let of = |kind: &str| Some((what[kind][0].as_str()?, &what[kind][1]));
    let pair = |kind: &str| of(kind).and_then(|(one, two)| Some((one, two.as_str()?)));
    if let Some((counter, key)) = pair("tried") {
        ledger.counters.tried(counter, key);
    } else if let Some((counter, key)) = pair("acknowledged") {
        ledger.counters.acknowledged(counter, key);
    } else if let Some((key, outcome)) = pair("told") {
        ledger.runs.told(key, outcome);
    } else if let Some((counter, tally)) = of("held") {
        ledger.counters.held(counter, serde_json::from_value(tally.clone()).expect("a tally"));
    } else {
        return false;
    }
    true
}
