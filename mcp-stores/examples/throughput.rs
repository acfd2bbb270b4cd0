//! What the operations of a store cost, on the server that you name:
//!
//! ```text
//! cargo run --release -p mcp-stores --features sqlite,redis,postgres,tokio --example throughput -- \
//!     /tmp/mcp.sqlite redis://127.0.0.1 postgres://postgres@127.0.0.1/postgres
//! ```
//!
//! Sessions hold 500 bytes. Each row is one operation after the other, then 32 at once.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use bytes::Bytes;
use futures_util::future::{join, join_all};
use mcp_proto::effect::Reply;
use mcp_proto::service::{Execution, Hub, SessionStore, Storage};
use mcp_proto::store::{Cursor, HubOp, SessionOp};
use mcp_proto::time::Instant;
use mcp_stores::{PostgresStorage, RedisStorage, SqliteStorage};

const TTL: Duration = Duration::from_secs(60);
const CALLS: usize = 2_000;
const AT_ONCE: usize = 32;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome {
    println!("{:<28} {:>12} {:>12}", "", "us, alone", "us, 32");
    for place in std::env::args().skip(1) {
        let pair = |one: Arc<dyn Hub>, two| (one, two);
        let (sessions, hubs) = if place.starts_with("redis:") {
            let (one, two) =
                (RedisStorage::connect(&place).await?, RedisStorage::connect(&place).await?);
            (one.session_store(), pair(one.hub(), two.hub()))
        } else if place.starts_with("postgres:") {
            let (one, two) =
                (PostgresStorage::connect(&place).await?, PostgresStorage::connect(&place).await?);
            (one.session_store(), pair(one.hub(), two.hub()))
        } else {
            let (one, two) =
                (SqliteStorage::open(&place).await?, SqliteStorage::open(&place).await?);
            (one.session_store(), pair(one.hub(), two.hub()))
        };
        println!("{place}");
        measure(&*sessions, &*hubs.0, &*hubs.1).await?;
    }
    Ok(())
}

async fn measure(sessions: &dyn SessionStore, hub: &dyn Hub, other: &dyn Hub) -> Outcome {
    let run = std::process::id();
    let name = |n: usize| format!("bench/{run}/{n}");
    let data = Bytes::from(format!("\"{}\"", "x".repeat(498)));

    row("create a session", |n| {
        sessions.execute(
            Instant::ZERO,
            SessionOp::Create { id: name(n), data: data.clone(), ttl: TTL, charged_to: None },
        )
    })
    .await?;
    row("read it, no renewal due", |n| {
        sessions.execute(Instant::ZERO, SessionOp::Get { id: name(n), renew: Some(TTL) })
    })
    .await?;
    row("publish, one topic each", |n| publish(hub, name(n))).await?;
    row("publish, one topic for all", |_| publish(hub, name(CALLS))).await?;
    row("look at 3 quiet topics", |n| {
        let topics = [1, 2, 3].map(|k| (format!("{}/{k}", name(n)), Cursor::from(0))).into();
        hub.execute(Instant::ZERO, HubOp::Poll { topics, wait: Duration::ZERO })
    })
    .await?;

    // How long after a publish a waiting worker has it: the publish included.
    let mut waits = Vec::new();
    for _ in 0..20 {
        let topic = name(CALLS + 1);
        let Reply::Position(at) =
            done(other.execute(Instant::ZERO, HubOp::Position { topic: topic.clone() })).await?
        else {
            return Err("no position".into());
        };
        let op = HubOp::Poll { topics: vec![(topic.clone(), at)], wait: TTL };
        let waiting = async { done(other.execute(Instant::ZERO, op)).await.map(|_| Clock::now()) };
        let publishing = async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let began = Clock::now();
            done(publish(hub, topic)).await.map(|_| began)
        };
        let (heard, began) = join(waiting, publishing).await;
        waits.push(heard?.duration_since(began?).as_micros());
    }
    waits.sort_unstable();
    println!("{:<28} {:>12}", "  another worker wakes after", waits[waits.len() / 2]);
    Ok(())
}

fn publish(hub: &dyn Hub, topic: String) -> Execution {
    hub.execute(Instant::ZERO, HubOp::Publish { topic, message: "{}".into(), ttl: TTL, keep: 100 })
}

async fn row(name: &str, call: impl Fn(usize) -> Execution) -> Outcome {
    let began = Clock::now();
    for n in 0..CALLS / 4 {
        done(call(n)).await?;
    }
    let alone = began.elapsed().as_micros() as usize / (CALLS / 4);
    let (began, call) = (Clock::now(), &call);
    let each = CALLS / AT_ONCE;
    let crowd = (0..AT_ONCE).map(|part| async move {
        for n in part * each..(part + 1) * each {
            done(call(n)).await?;
        }
        Ok::<_, Box<dyn Error>>(())
    });
    join_all(crowd).await.into_iter().collect::<Outcome>()?;
    let together = began.elapsed().as_micros() as usize / (each * AT_ONCE);
    println!("  {name:<26} {alone:>12} {together:>12}");
    Ok(())
}

async fn done(execution: Execution) -> Outcome<Reply> {
    Ok(match execution {
        Execution::Done(reply) => reply?,
        Execution::Later(reply) => reply.await?,
    })
}
