//! One of the workers: the tools of the test, on the store that all of them share.
//!
//! It prints where it listens, and then what its handlers do, a line each; it ends with its stdin.

mod blind;
mod tools;

use std::future::Future;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use mcp_driver_tokio::mcp_proto::server::Limits;
use mcp_driver_tokio::{Announcer, Error, Runtime, SessionStore, Shared, Storage, Tokio, http};
use mcp_stores::{PostgresStorage, RedisStorage, SqliteStorage};

use blind::Blind;

/// How long a worker may be silent before another speaks for it: short, so that the test need not
/// wait for long.
const LEASE: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().collect();
    let store = arguments.get(1).expect("usage: cluster-worker STORE [--blind]");
    let is_blind = arguments.iter().any(|argument| argument == "--blind");
    match store.split_once(':') {
        Some(("sqlite", path)) => serve(SqliteStorage::open(path).await?, is_blind).await,
        Some(("redis", _)) => serve(RedisStorage::connect(store).await?, is_blind).await,
        Some(("postgres", _)) => serve(PostgresStorage::connect(store).await?, is_blind).await,
        _ => panic!("no such store: {store}"),
    }
}

async fn serve(storage: impl Storage, is_blind: bool) -> Result<(), Error> {
    let driver = Tokio::new();
    let now = move || Runtime::<Shared>::now(&driver);
    let announcer = Announcer::new(storage.hub(), now, "");
    let sessions = storage.session_store();
    let sessions: Arc<dyn SessionStore> =
        if is_blind { Arc::new(Blind(sessions)) } else { sessions };
    let mut limits = Limits::default();
    limits.lease = LEASE;
    let server = http(tools::service(announcer)?)
        .http_sse("/sse", "/messages")
        .limits(limits)
        .store(storage)
        .sessions(sessions)
        .bind("127.0.0.1:0")
        .await?;
    println!("{}", server.local_addr());
    server.serve_with_shutdown(end_of_stdin()).await
}

fn end_of_stdin() -> impl Future<Output = ()> {
    let (ended, end) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        drop(ended);
    });
    async {
        let _ = end.await;
    }
}
