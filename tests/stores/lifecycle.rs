//! What happens to stores beside their calls: restarts, races at the start, upkeep, the end.

use std::time::{Duration, Instant as Clock};

use futures_util::future::{join, join_all};
use mcp_proto::effect::EffectError;
use mcp_proto::service::Storage;
use mcp_proto::testing::contract::Time;
use mcp_stores::{PostgresStorage, RedisStorage, SqliteStorage};
use mcp_tests::servers::{Kind, Server};

use crate::runtime::Runtime;
use crate::worker::{TTL, Worker, retried};

/// A server is stopped and started under two workers, with a poll waiting all the time.
async fn restarted<S: Storage>(server: &mut Server, runtime: Runtime, one: &S, two: &S) {
    let (one, two, time) = (Worker::of(one), Worker::of(two), runtime.time());
    let (id, topic) = (format!("{runtime:?}"), format!("topic {runtime:?}"));
    assert_eq!(one.create(&id, "{}", TTL).await, Ok(true));
    let cursor = one.publish(&topic, "1", TTL).await.expect("published");

    let waiting = two.poll(&topic, &cursor, Duration::from_secs(120));
    let restarting = async {
        time.pass(Duration::from_millis(200)).await; // the poll has begun to wait
        server.stop();
        let asked = Clock::now();
        let error = one.get(&id).await.expect_err("nobody answers");
        let EffectError::Unavailable(text) = &error else { panic!("{error:?}") };
        assert!(asked.elapsed() < Duration::from_secs(10), "bounded: {:?}", asked.elapsed());
        assert!(text.contains("store: ") && text.contains("; is the"), "what to do: {text}");
        println!("{runtime:?}: {text}");
        assert!(one.publish(&topic, "never", TTL).await.is_err());
        server.run();
        let (data, failed) = retried(&time, || one.get(&id)).await;
        assert_eq!(data.as_deref(), Some(&b"{}"[..]), "sessions outlive the server");
        println!("{runtime:?}: {failed} calls failed once the server was back");
        retried(&time, || one.publish(&topic, "2", TTL)).await.0
    };
    let (read, last) = join(waiting, restarting).await;
    assert_eq!(read.expect("the poll waited on"), ["2"]);
    let all = two.poll(&topic, &cursor, Duration::ZERO).await;
    assert_eq!(all.expect("read"), ["2"]);
    assert!(last.as_str() > cursor.as_str(), "places go on");
}

#[test]
fn redis_may_be_restarted() {
    let Some(mut server) = Server::start(Kind::Redis) else { return };
    for runtime in Runtime::ALL {
        runtime.block_on(async {
            let url = server.url();
            let open = || RedisStorage::builder(&url).report(|_| {}).open();
            let (one, two) = (open().await.expect("one"), open().await.expect("two"));
            restarted(&mut server, runtime, &one, &two).await;
        });
    }
}

#[test]
fn postgres_may_be_restarted() {
    let Some(mut server) = Server::start(Kind::Postgres) else { return };
    for runtime in Runtime::ALL {
        runtime.block_on(async {
            let url = server.url();
            let open = || PostgresStorage::builder(&url).report(|_| {}).open();
            let (one, two) = (open().await.expect("one"), open().await.expect("two"));
            restarted(&mut server, runtime, &one, &two).await;
        });
    }
}

#[test]
fn what_cannot_be_opened_says_so_and_what_to_do() {
    let nobody = "127.0.0.1:9"; // discard
    for runtime in Runtime::ALL {
        runtime.block_on(async {
            let asked = Clock::now();
            let errors = [
                SqliteStorage::open("/no/such/folder/mcp.sqlite").await.map(drop),
                RedisStorage::connect(&format!("redis://{nobody}")).await.map(drop),
                RedisStorage::connect("http://redis").await.map(drop),
                PostgresStorage::connect(&format!("postgres://u@{nobody}/db")).await.map(drop),
                PostgresStorage::connect("postgres://").await.map(drop),
            ];
            for error in errors {
                let error = error.expect_err("not there").to_string();
                println!("{runtime:?}: {error}");
                assert!(error.contains(" store") && error.contains("; "), "{error}");
            }
            assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
        });
    }
}

/// C47
#[test]
fn a_sqlite_file_keeps_sessions_and_events_and_is_swept() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("mcp.sqlite");
    for runtime in Runtime::ALL {
        runtime.block_on(async {
            let (id, topic) = (format!("{runtime:?}"), format!("topic {runtime:?}"));
            let storage = SqliteStorage::open(&path).await.expect("opened");
            let worker = Worker::of(&storage);
            assert_eq!(worker.create(&id, "{}", TTL).await, Ok(true));
            let cursor = worker.publish(&topic, "1", TTL).await.expect("published");
            worker.publish(&topic, "2", TTL).await.expect("published");
            drop((worker, storage));

            let open = || SqliteStorage::builder(&path).event_ttl(Duration::ZERO).open();
            let storages = join_all((0..4).map(|_| open())).await;
            let storage = storages.into_iter().next().expect("four").expect("opened");
            let worker = Worker::of(&storage);
            assert_eq!(worker.get(&id).await.expect("read").as_deref(), Some(&b"{}"[..]));
            assert_eq!(worker.poll(&topic, &cursor, Duration::ZERO).await.expect("read"), ["2"]);

            let brief = Duration::from_millis(1);
            for n in 0..100 {
                assert_eq!(worker.create(&format!("brief {n}"), "{}", brief).await, Ok(true));
                worker.publish(&format!("brief {n}"), "{}", brief).await.expect("published");
            }
            runtime.time().pass(Duration::from_millis(20)).await;
            storage.sweep().await.expect("swept");
            let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
            let pool = sqlx::SqlitePool::connect_with(options).await.expect("connected");
            let count = "SELECT (SELECT count(*) FROM mcp_sessions WHERE id LIKE 'brief%') + \
                         (SELECT count(*) FROM mcp_events WHERE topic LIKE 'brief%')";
            let left: i64 = sqlx::query_scalar(count).fetch_one(&pool).await.expect("counted");
            assert_eq!(left, 0, "abandoned sessions and events leave no rows");
        });
    }
}

/// C46, C47
#[test]
fn redis_keeps_no_more_than_it_was_told_and_for_no_longer() {
    let Some(server) = Server::start(Kind::Redis) else { return };
    for runtime in Runtime::ALL {
        runtime.block_on(async {
            let prefix = format!("{runtime:?}:");
            let builder = RedisStorage::builder(&server.url()).keep(5).prefix(&prefix);
            let storage = builder.event_ttl(Duration::from_millis(1)).open().await.expect("opened");
            let worker = Worker::of(&storage);
            let mut client = redis::Client::open(server.url())
                .expect("a client")
                .get_multiplexed_async_connection()
                .await
                .expect("connected");
            for n in 0..20 {
                worker.publish("topic", &n.to_string(), TTL).await.expect("published");
            }
            worker.create("session", "{}", TTL).await.expect("created");
            let command = redis::cmd("XLEN").arg(format!("{prefix}topic:topic")).clone();
            assert_eq!(command.query_async::<u64>(&mut client).await.expect("counted"), 5);
            let keys: Vec<String> = redis::cmd("KEYS")
                .arg(format!("{prefix}*"))
                .query_async(&mut client)
                .await
                .expect("listed");
            assert_eq!(keys.len(), 2, "{keys:?}");
            for key in keys {
                let ttl: i64 =
                    redis::cmd("TTL").arg(&key).query_async(&mut client).await.expect("ttl");
                assert!((590..=600).contains(&ttl), "{key} lives for {ttl} s");
            }
        });
    }
    Runtime::Tokio.block_on(async {
        let client = redis::Client::open(server.url()).expect("a client");
        let mut client = client.get_multiplexed_async_connection().await.expect("connected");
        let keys: u64 = redis::cmd("DBSIZE").query_async(&mut client).await.expect("counted");
        assert_eq!(keys, 4, "nothing is kept elsewhere");
    });
}

/// C47
#[test]
fn postgres_is_kept_up_by_one_of_many_workers() {
    let Some(server) = Server::start(Kind::Postgres) else { return };
    let (url, minute) = (server.url(), Duration::from_secs(60));
    for runtime in Runtime::ALL {
        let prefix = format!("race_{runtime:?}_").to_lowercase();
        runtime.block_on(async {
            let one = sqlx::postgres::PgPoolOptions::new().max_connections(1);
            let pool = one.connect(&url).await.expect("a pool");

            // Workers that start at once create the tables once; the sweeper of one was there first.
            // Those that come late find that it was within the hour, whatever is done to the clock.
            let open = || {
                let builder = PostgresStorage::builder(&url).connections(1, 2).prefix(&prefix);
                builder.sweep_every(60 * minute).open()
            };
            let storages = join_all((0..8).map(|_| open())).await;
            let storages: Vec<_> = storages.into_iter().map(|it| it.expect("opened")).collect();
            let first = storages.first().expect("eight");
            assert_eq!(first.state_table(), format!("{prefix}state"));
            let (_, failed) = retried(&runtime.time(), || async {
                match first.due(minute).await? {
                    false => Ok(()),
                    true => Err(EffectError::TimedOut),
                }
            })
            .await;
            println!("swept at the start, seen after {failed} looks");
            let swept = join_all(storages.iter().map(|it| it.sweep_if_due(minute))).await;
            assert_eq!(swept.into_iter().filter(|it| *it == Ok(true)).count(), 0, "not due");
            sqlx::query(&format!(
                "UPDATE {prefix}state SET updated_at = updated_at - interval '61 s'"
            ))
            .execute(&pool)
            .await
            .expect("a minute passed");
            assert_eq!(first.due(minute).await, Ok(true));
            let swept = join_all(storages.iter().map(|it| it.sweep_if_due(minute))).await;
            assert_eq!(swept.into_iter().filter(|it| *it == Ok(true)).count(), 1, "one sweeps");

            // What is remembered has a time, and is the newest.
            assert_eq!(first.recall("key").await, Ok(None));
            for value in ["1", "2"] {
                first.remember("key", value).await.expect("remembered");
            }
            let other = storages.last().expect("eight");
            assert_eq!(other.recall("key").await.expect("recalled").as_deref(), Some("2"));

            // What has expired is gone for good.
            let worker = Worker::of(first);
            let brief = Duration::from_millis(1);
            for n in 0..100 {
                assert_eq!(worker.create(&format!("brief {n}"), "{}", brief).await, Ok(true));
            }
            worker.publish("lasting", "{}", TTL).await.expect("published");
            sqlx::query(&format!("UPDATE {prefix}events SET expires_at = now()"))
                .execute(&pool)
                .await
                .expect("done");
            sqlx::query(&format!("UPDATE {prefix}topics SET expires_at = now()"))
                .execute(&pool)
                .await
                .expect("done");
            runtime.time().pass(Duration::from_millis(20)).await;
            first.sweep().await.expect("swept");
            for table in ["sessions", "events", "topics"] {
                let count = format!("SELECT count(*) FROM {prefix}{table}");
                let left: i64 = sqlx::query_scalar(&count).fetch_one(&pool).await.expect("counted");
                assert_eq!(left, 0, "{table}");
            }

            // Their connections end with them.
            drop((worker, storages));
            let connections = "SELECT count(*) FROM pg_stat_activity \
                           WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
            retried(&runtime.time(), || async {
                match sqlx::query_scalar::<_, i64>(connections).fetch_one(&pool).await {
                    Ok(0) => Ok(()),
                    _ => Err(EffectError::TimedOut),
                }
            })
            .await;
        });
    }
}

#[test]
fn postgres_tables_may_come_from_migrations_and_be_used_by_a_pool_of_ones_own() {
    let Some(server) = Server::start(Kind::Postgres) else { return };
    for runtime in Runtime::ALL {
        let prefix = format!("own_{runtime:?}_").to_lowercase();
        runtime.block_on(async {
            let pool = sqlx::PgPool::connect(&server.url()).await.expect("a pool");
            let storage = PostgresStorage::from_pool(pool.clone()).create_tables(false);
            let storage = storage.prefix(&prefix).report(|_| {}).open().await.expect("opened");
            let error = Worker::of(&storage).get("id").await.expect_err("there are no tables");
            assert!(error.to_string().contains(&format!("{prefix}sessions")), "{error}");

            let schema = PostgresStorage::schema(&prefix).expect("a good prefix");
            assert!(PostgresStorage::schema("own; DROP").is_err());
            sqlx::raw_sql(&schema).execute(&pool).await.expect("migrated");
            let worker = Worker::of(&storage);
            assert_eq!(worker.create("id", "{}", TTL).await, Ok(true));
            let other = PostgresStorage::from_pool(pool.clone()).open().await.expect("opened");
            assert_eq!(
                Worker::of(&other).get("id").await,
                Ok(None),
                "another prefix, other tables"
            );
            drop((worker, storage, other));
            assert!(!pool.is_closed(), "a pool of one's own stays open");
        });
    }
}
