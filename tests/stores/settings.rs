//! What a storage can be told: each setting does what it says.

use std::path::Path;
use std::pin::pin;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use futures_util::future::{Either, join, join_all, join3, select};
use mcp_proto::effect::EffectError;
use mcp_proto::service::Storage;
use mcp_proto::testing::contract::Time;
use mcp_stores::{PostgresStorage, RedisStorage, SqliteStorage};
use mcp_tests::servers::{Kind, Server};
use sqlx::postgres::PgConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor};

use crate::runtime::Runtime;
use crate::worker::{TTL, Worker};

const BRIEF: Duration = Duration::from_millis(1);
const OFTEN: Duration = Duration::from_millis(20);
const NEVER: Duration = Duration::from_secs(3_600);

#[test]
fn a_write_to_sqlite_waits_for_another_process_as_long_as_it_was_told() {
    let directory = tempfile::tempdir().expect("a directory");
    for runtime in Runtime::ALL {
        let path = directory.path().join(format!("{runtime:?}.sqlite"));
        runtime.block_on(async {
            let patient = SqliteStorage::open(&path).await.expect("opened");
            let hasty = SqliteStorage::builder(&path).busy_timeout(Duration::from_millis(50));
            let hasty = hasty.open().await.expect("opened");
            let holder = SqliteConnectOptions::new().filename(&path).connect().await;
            let mut holder = holder.expect("connected");
            holder.execute("BEGIN IMMEDIATE").await.expect("held");
            let (patient, hasty) = (Worker::of(&patient), Worker::of(&hasty));
            let given_up = async {
                let error = hasty.create("hasty", "{}", TTL).await.expect_err("it is held");
                let text = error.to_string();
                assert!(text.contains("sqlite store") && text.contains("locked"), "{text}");
                assert!(text.contains("; is a transaction left open"), "what to do: {text}");
                holder.execute("COMMIT").await.expect("given back");
            };
            let (waited, ()) = join(patient.create("patient", "{}", TTL), given_up).await;
            assert_eq!(waited, Ok(true));
            assert_eq!(hasty.create("hasty", "{}", TTL).await, Ok(true));
        });
    }
}

#[test]
fn another_process_of_sqlite_is_looked_after_as_often_as_was_told() {
    let directory = tempfile::tempdir().expect("a directory");
    for runtime in Runtime::ALL {
        let path = directory.path().join(format!("{runtime:?}.sqlite"));
        runtime.block_on(async {
            let open = |every| SqliteStorage::builder(&path).look_again(every).open();
            let publisher = Worker::of(&open(NEVER).await.expect("opened"));
            let often = Worker::of(&open(OFTEN).await.expect("opened"));
            let never = Worker::of(&open(NEVER).await.expect("opened"));
            let (mut start, wait) = (None, Duration::from_secs(1));
            // A store that begins to listen looks once more, whenever that is. One that looks by
            // itself hears of every message.
            for round in 1.. {
                assert!(round <= 10, "it looks though an hour has not passed");
                let from = match start.take() {
                    Some(from) => from,
                    None => publisher.publish("topic", "0", TTL).await.expect("published"),
                };
                let text = round.to_string();
                let publishing = async {
                    // Both have looked for the first time, and wait, once these were answered.
                    for worker in [&often, &never].repeat(20) {
                        worker.get("id").await.expect("read");
                    }
                    publisher.publish("topic", &text, TTL).await.expect("published")
                };
                let heard = often.poll("topic", &from, Duration::from_secs(20));
                let unheard = never.poll("topic", &from, wait);
                let (heard, unheard, next) = join3(heard, unheard, publishing).await;
                assert_eq!(heard.expect("polled"), [text.as_str()]);
                if unheard.expect("polled").is_empty() {
                    assert_eq!(never.poll("topic", &from, wait).await.expect("read"), [text]);
                    break;
                }
                start = Some(next);
            }
        });
    }
}

#[test]
fn what_has_expired_is_swept_as_often_as_was_told_also_after_a_failure() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::start(Kind::Postgres);
    for runtime in Runtime::ALL {
        let path = directory.path().join(format!("{runtime:?}.sqlite"));
        let prefix = format!("{runtime:?}_").to_lowercase();
        runtime.block_on(async {
            let (report, reports) = reporting();
            let builder = SqliteStorage::builder(&path).sweep_every(OFTEN).report(report);
            let storage = builder.open().await.expect("opened");
            swept(runtime, &storage, Database::sqlite(&path, "mcp_").await, reports).await;

            let Some(url) = server.as_ref().map(Server::url) else { return };
            let (report, reports) = reporting();
            let builder = PostgresStorage::builder(&url).sweep_every(OFTEN).report(report);
            let storage = builder.prefix(&prefix).open().await.expect("opened");
            swept(runtime, &storage, Database::postgres(&url, &prefix).await, reports).await;
        });
    }
}

#[test]
fn a_sweep_of_ones_own_goes_on_until_it_is_dropped() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::start(Kind::Postgres);
    for runtime in Runtime::ALL {
        let path = directory.path().join(format!("{runtime:?}.sqlite"));
        let prefix = format!("{runtime:?}_").to_lowercase();
        runtime.block_on(async {
            let (report, reports) = reporting();
            let storage = SqliteStorage::builder(&path).sweep_every(NEVER).open().await;
            let storage = storage.expect("opened");
            let database = Database::sqlite(&path, "mcp_").await;
            let sweeping = pin!(storage.sweeping(OFTEN, report));
            let seen = pin!(swept(runtime, &storage, database, reports));
            assert!(matches!(select(sweeping, seen).await, Either::Right(_)));

            let Some(url) = server.as_ref().map(Server::url) else { return };
            let (report, reports) = reporting();
            let builder = PostgresStorage::builder(&url).sweep_every(NEVER).prefix(&prefix);
            let storage = builder.open().await.expect("opened");
            let database = Database::postgres(&url, &prefix).await;
            let sweeping = pin!(storage.sweeping(OFTEN, report));
            let seen = pin!(swept(runtime, &storage, database, reports));
            assert!(matches!(select(sweeping, seen).await, Either::Right(_)));
        });
    }
}

/// Expired sessions vanish; while their table is away sweeps fail, and say so; then they go on.
async fn swept(
    runtime: Runtime,
    storage: &impl Storage,
    mut database: Database,
    reports: Receiver<EffectError>,
) {
    let (worker, time) = (Worker::of(storage), runtime.time());
    for id in ["before", "after"] {
        assert_eq!(worker.create(id, "{}", BRIEF).await, Ok(true));
        while database.sessions().await > 0 {
            time.pass(OFTEN).await;
        }
        database.rename("sessions", "away").await;
        loop {
            match reports.try_recv().map(|error| error.to_string()) {
                Ok(text) if text.contains("sessions") => {
                    assert!(text.contains(" store"), "{text}");
                    break;
                }
                _ => time.pass(OFTEN).await,
            }
        }
        database.rename("away", "sessions").await;
    }
}

fn reporting() -> (impl Fn(&EffectError) + Send + Sync + 'static, Receiver<EffectError>) {
    let (report, reports) = channel();
    let report = move |error: &EffectError| {
        let _over = report.send(error.clone());
    };
    (report, reports)
}

/// The tables of a storage, seen from outside.
enum Database {
    Sqlite(SqliteConnection, String),
    Postgres(PgConnection, String),
}

impl Database {
    async fn sqlite(path: &Path, prefix: &str) -> Self {
        let options = SqliteConnectOptions::new().filename(path);
        Self::Sqlite(options.connect().await.expect("connected"), prefix.to_owned())
    }

    async fn postgres(url: &str, prefix: &str) -> Self {
        Self::Postgres(PgConnection::connect(url).await.expect("connected"), prefix.to_owned())
    }

    async fn sessions(&mut self) -> i64 {
        let count = |prefix: &str| format!("SELECT count(*) FROM {prefix}sessions");
        let counted = match self {
            Self::Sqlite(it, prefix) => sqlx::query_scalar(&count(prefix)).fetch_one(it).await,
            Self::Postgres(it, prefix) => sqlx::query_scalar(&count(prefix)).fetch_one(it).await,
        };
        counted.expect("counted")
    }

    async fn rename(&mut self, from: &str, to: &str) {
        let rename = |prefix: &str| format!("ALTER TABLE {prefix}{from} RENAME TO {prefix}{to}");
        let renamed = match self {
            Self::Sqlite(it, prefix) => it.execute(&*rename(prefix)).await.map(drop),
            Self::Postgres(it, prefix) => it.execute(&*rename(prefix)).await.map(drop),
        };
        renamed.expect("renamed");
    }
}

#[test]
fn a_redis_client_of_ones_own_is_used_and_left_alone() {
    let Some(server) = Server::start(Kind::Redis) else { return };
    for runtime in Runtime::ALL {
        runtime.block_on(async {
            let client = redis::Client::open(server.url()).expect("a client");
            let prefix = format!("{runtime:?}:");
            let open = || RedisStorage::from_client(client.clone()).prefix(&prefix).open();
            let (one, two) = (open().await.expect("opened"), open().await.expect("opened"));
            let (worker, other) = (Worker::of(&one), Worker::of(&two));
            assert_eq!(worker.create("id", "{}", TTL).await, Ok(true));
            assert_eq!(other.get("id").await.expect("read").as_deref(), Some(&b"{}"[..]));
            drop((worker, other, one, two));
            let mut own = client.get_multiplexed_async_connection().await.expect("connected");
            let keys = redis::cmd("KEYS").arg(format!("{prefix}*")).clone();
            let keys: Vec<String> = keys.query_async(&mut own).await.expect("listed");
            assert_eq!(keys, [format!("{prefix}session:id")]);
        });
    }
}

#[test]
fn a_pool_of_postgres_has_as_many_connections_as_it_was_told() {
    let Some(server) = Server::start(Kind::Postgres) else { return };
    for (runtime, told, (least, most)) in [
        (Runtime::Tokio, None, (4, 10)),
        (Runtime::Tokio, Some((2, 3)), (2, 3)),
        (Runtime::AsyncStd, Some((1, 2)), (1, 2)),
    ] {
        runtime.block_on(async {
            let name = format!("{runtime:?} {told:?}");
            let url = format!("{}?application_name={name}", server.url()).replace(' ', "%20");
            let builder = PostgresStorage::builder(&url);
            let builder = match told {
                Some((least, most)) => builder.connections(least, most),
                None => builder,
            };
            let storage = builder.open().await.expect("opened");
            let mut observer = PgConnection::connect(&server.url()).await.expect("connected");
            let mut holder = PgConnection::connect(&server.url()).await.expect("connected");
            let time = runtime.time();
            // One more than the pool's listens for news. What was just closed may still be counted,
            // so the last few looks say how many there are.
            let mut connections = async |wanted: i64| {
                let mut in_a_row = 0;
                for _ in 0..1_000 {
                    let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1";
                    let count = sqlx::query_scalar(count).bind(&name).fetch_one(&mut observer);
                    let count: i64 = count.await.expect("counted");
                    in_a_row = if (wanted..=most + 1).contains(&count) { in_a_row + 1 } else { 0 };
                    if in_a_row == 5 {
                        return;
                    }
                    time.pass(OFTEN).await;
                }
                panic!("there are never {wanted} to {} connections", most + 1);
            };
            connections(least + 1).await;
            holder.execute("BEGIN; LOCK TABLE mcp_sessions").await.expect("locked");
            let worker = Worker::of(&storage);
            let reads = join_all((0..4 * most).map(|_| worker.get("id")));
            let holding = async {
                connections(most + 1).await;
                holder.execute("COMMIT").await.expect("given back");
            };
            let (reads, ()) = join(reads, holding).await;
            assert!(reads.iter().all(|read| *read == Ok(None)), "{reads:?}");
        });
    }
}
