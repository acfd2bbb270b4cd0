//! A SQLite file that is not where it was, while it is served.

use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use mcp_stores::SqliteStorage;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Executor};

use crate::runtime::Runtime;
use crate::worker::{TTL, Worker};

/// What was done to a file, and the doing of it.
type Deed = (&'static str, fn(&Path));

/// Everything that takes a file away.
const GONE: [Deed; 5] = [
    ("unlinked", |file| fs::remove_file(file).expect("unlinked")),
    ("moved", |file| fs::rename(file, file.with_extension("old")).expect("moved")),
    ("replaced by an empty file", |file| {
        fs::remove_file(file).expect("unlinked");
        fs::write(file, b"").expect("written");
    }),
    ("replaced by a copy", |file| {
        fs::copy(file, file.with_extension("copy")).expect("copied");
        fs::rename(file.with_extension("copy"), file).expect("replaced");
    }),
    ("in a folder that was moved", |file| {
        let folder = file.parent().expect("a folder");
        fs::rename(folder, folder.with_extension("old")).expect("moved");
    }),
];

#[test]
fn a_file_that_nobody_else_would_see_is_an_error_and_reported() {
    for runtime in Runtime::ALL {
        for (what, take_away) in GONE {
            let directory = tempfile::tempdir().expect("a directory");
            let folder = directory.path().join("served");
            fs::create_dir(&folder).expect("a folder");
            let file = folder.join("store.sqlite");
            runtime.block_on(async {
                let (report, reports) = channel();
                let builder = SqliteStorage::builder(&file).look_again(Duration::from_millis(20));
                let report = move |error: &_| drop(report.send(format!("{error}")));
                let storage = builder.report(report).open().await.expect("opened");
                let worker = Worker::of(&storage);
                assert_eq!(worker.create("before", "{}", TTL).await, Ok(true));
                let from = worker.publish("topic", "0", TTL).await.expect("published");
                take_away(&file);
                let text = |error: mcp_proto::effect::EffectError| error.to_string();
                for error in [
                    worker.create("after", "{}", TTL).await.map_err(text).expect_err(what),
                    worker.get("before").await.map_err(text).expect_err(what),
                    worker.publish("topic", "1", TTL).await.map_err(text).expect_err(what),
                    worker
                        .poll("topic", &from, Duration::from_secs(5))
                        .await
                        .map_err(text)
                        .expect_err(what),
                ] {
                    assert!(error.contains("store.sqlite"), "{what}: {error}");
                    assert!(error.contains("start all workers again"), "{what}: {error}");
                }
                let told = reports.recv_timeout(Duration::from_secs(20)).expect("a report");
                assert!(told.contains("unlinked, moved or replaced"), "{what}: {told}");
            });
        }
    }
}

#[test]
fn what_happens_to_a_file_in_good_order_is_no_such_thing() {
    let directory = tempfile::tempdir().expect("a directory");
    for runtime in Runtime::ALL {
        let file = directory.path().join(format!("{runtime:?}.sqlite"));
        runtime.block_on(async {
            let storage = SqliteStorage::open(&file).await.expect("opened");
            let worker = Worker::of(&storage);
            let options = SqliteConnectOptions::new().filename(&file);
            let mut other = options.connect().await.expect("connected");
            for (id, statement) in [
                ("a", "PRAGMA wal_checkpoint(TRUNCATE)"),
                ("b", "VACUUM"),
                ("c", "CREATE TABLE others (n INTEGER)"),
                ("d", "REINDEX"),
            ] {
                assert_eq!(worker.create(id, "{}", TTL).await, Ok(true), "{statement}");
                other.execute(statement).await.expect(statement);
                assert!(worker.get(id).await.expect(statement).is_some());
            }
            // Another name of the same file is the same file.
            fs::hard_link(&file, file.with_extension("link")).expect("linked");
            assert_eq!(worker.create("e", "{}", TTL).await, Ok(true));
        });
    }
}
