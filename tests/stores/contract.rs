//! The public suite, on every store and runtime.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::effect::EffectError;
use mcp_proto::service::Storage;
use mcp_proto::testing::contract::{self, Report, Subject};
use mcp_stores::{PostgresStorage, RedisStorage, SqliteStorage};
use mcp_tests::servers::{Kind, Server};
use mcp_tests::storage::Opened;

use crate::runtime::Runtime;

/// Short, so that what has expired is seen to be gone.
const EVENT_TTL: Duration = Duration::from_secs(1);

/// Runs both suites on each runtime, and prints the tables. `open` is called once per worker.
fn suite<S, F>(name: &str, open: impl Fn(Runtime) -> F)
where
    S: Storage,
    F: Future<Output = Result<S, EffectError>>,
{
    let mut broken = String::new();
    for runtime in Runtime::ALL {
        let [sessions, events] = runtime.block_on(async {
            let workers =
                [open(runtime).await.expect("a worker"), open(runtime).await.expect("another")];
            let (time, run) = (Arc::new(runtime.time()), format!("{runtime:?}"));
            let stores = workers.each_ref().map(Storage::session_store);
            let sessions = Subject::new(stores, time.clone(), &run);
            let sessions = contract::session_store(&sessions).await;
            let events = Subject::new(workers.each_ref().map(Storage::hub), time, run);
            [sessions, contract::hub(&events).await]
        });
        table(&format!("{name}, {runtime:?}, sessions"), &sessions, &mut broken);
        table(&format!("{name}, {runtime:?}, events"), &events, &mut broken);
    }
    assert!(broken.is_empty(), "\n{broken}");
}

fn table(title: &str, report: &Report, broken: &mut String) {
    println!("{title}: {} cases\n{report}", report.cases.len());
    if !report.passed() {
        let _ = writeln!(broken, "{title}\n{report}");
    }
}

#[test]
fn memory_holds_to_the_contract() {
    let memories = Runtime::ALL.map(|runtime| (runtime, Opened::memory()));
    suite("memory", |runtime| {
        let own = memories.iter().find(|(own, _)| *own == runtime);
        let own = own.map(|(_, memory)| memory.clone());
        async { Ok(own.expect("one for each runtime")) }
    });
}

#[test]
fn sqlite_holds_to_the_contract() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("mcp.sqlite");
    suite("sqlite", |_| SqliteStorage::builder(&path).event_ttl(EVENT_TTL).open());
}

#[test]
fn redis_holds_to_the_contract() {
    let Some(server) = Server::start(Kind::Redis) else { return };
    suite("redis", |_| RedisStorage::builder(&server.url()).event_ttl(EVENT_TTL).open());
}

#[test]
fn postgres_holds_to_the_contract() {
    let Some(server) = Server::start(Kind::Postgres) else { return };
    suite("postgres", |_| PostgresStorage::builder(&server.url()).event_ttl(EVENT_TTL).open());
}
