//! What the workers serve: counters that many change at once, questions, streams, changes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcp_driver_tokio::{
    Announcer, Args, Error, Exchange, Json, Registry, Service, Session, State, schemars, tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) fn service(announcer: Announcer) -> Result<Service, Error> {
    let service = Registry::new("cluster", "1.0.0")
        .state(announcer)
        .tool(tool("open", open))
        .tool(tool("count", count))
        .tool(tool("tally", tally))
        .tool(tool("approve", approve).asks())
        .tool(tool("talk", talk).streaming())
        .tool(tool("sleep", sleep))
        .tool(tool("announce", announce))
        .resource_template("change://{n}", change)
        .build()?;
    Ok(service)
}

/// A counter lives in a session that was opened by hand, or, where none is named, in the client's.
#[derive(Deserialize, JsonSchema)]
struct Counter {
    counter: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Update {
    counter: Option<String>,
    /// Names the update: one that comes again is not made again.
    key: String,
}

/// What a counter holds: how often it was counted up, and by which updates.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
struct Tally {
    count: u64,
    keys: Vec<String>,
}

async fn open(ex: Exchange) -> Result<String, Error> {
    let session = ex.sessions().open().await?;
    Ok(session.handle().unwrap_or_default().to_owned())
}

async fn count(Args(Update { counter, key }): Args<Update>, ex: Exchange) -> Result<String, Error> {
    let session = session(&ex, counter.as_deref()).await?;
    let count = applied(&session, &key).await?;
    Ok(count.to_string())
}

async fn tally(
    Args(Counter { counter }): Args<Counter>,
    ex: Exchange,
) -> Result<Json<Tally>, Error> {
    let session = session(&ex, counter.as_deref()).await?;
    Ok(Json(session.get("tally")?.unwrap_or_default()))
}

async fn session(ex: &Exchange, counter: Option<&str>) -> Result<Session, Error> {
    let session = match counter {
        Some(handle) => ex.sessions().use_handle(handle).await?,
        None => ex.session().cloned(),
    };
    session.ok_or_else(|| Error::tool("no such counter"))
}

async fn applied(session: &Session, key: &str) -> Result<u64, Error> {
    session
        .update(|values| {
            let mut tally: Tally = values.get("tally")?.unwrap_or_default();
            if !tally.keys.iter().any(|known| known == key) {
                tally.keys.push(key.to_owned());
                tally.count += 1;
            }
            values.set("tally", &tally)?;
            Ok(tally.count)
        })
        .await
}

#[derive(Deserialize, JsonSchema)]
struct Approve {
    counter: Option<String>,
    key: String,
    /// How long it takes once it was approved.
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Asks who approves, and counts up then. Each run has a mark of its own.
async fn approve(
    Args(Approve { counter, key, ms }): Args<Approve>,
    ex: Exchange,
) -> Result<String, Error> {
    let form = mcp_driver_tokio::form::<Name>(format!("Approve {key}?"))?;
    let answer = ex.ask("who", form).await?;
    if !answer.accepted() {
        return Ok("nobody approved".into());
    }
    let Name { name } = answer.content()?;
    let mark = mark();
    println!("ran {key} {mark}");
    tokio::time::sleep(Duration::from_millis(ms)).await;
    applied(&session(&ex, counter.as_deref()).await?, &key).await?;
    Ok(format!("{mark} {name}"))
}

/// What no other run has, on any worker.
fn mark() -> String {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    format!("{}.{}", std::process::id(), RUNS.fetch_add(1, Ordering::Relaxed))
}

#[derive(Deserialize, JsonSchema)]
struct Talk {
    steps: u32,
    /// Between two steps.
    ms: u64,
}

async fn talk(Args(Talk { steps, ms }): Args<Talk>, ex: Exchange) -> String {
    for step in 1..=steps {
        ex.progress(step, steps);
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    format!("talked {steps}")
}

#[derive(Deserialize, JsonSchema)]
struct Nap {
    ms: u64,
}

async fn sleep(Args(Nap { ms }): Args<Nap>) -> &'static str {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    "slept"
}

#[derive(Deserialize, JsonSchema)]
struct Announce {
    n: u64,
}

/// Is answered once the hub has it.
async fn announce(
    Args(Announce { n }): Args<Announce>,
    State(announcer): State<Announcer>,
) -> Result<&'static str, Error> {
    announcer.resource_updated(format!("change://{n}")).await?;
    Ok("announced")
}

async fn change() -> &'static str {
    "changed"
}
