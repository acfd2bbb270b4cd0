//! How soon a waiting worker has what another publishes.

use std::time::{Duration, Instant as Clock};

use futures_util::future::join;
use mcp_proto::effect::Reply;
use mcp_proto::service::{Execution, Hub, Storage};
use mcp_proto::store::HubOp;
use mcp_proto::time::Instant;
use mcp_tests::storage::Opened;

use crate::Store;

const EVENTS: u32 = 200;
const TTL: Duration = Duration::from_secs(60);

/// Two workers of this process with connections of their own; the publishing is included.
pub(crate) fn print(stores: &[Store]) {
    println!("## From publishing to a waiting listener on another worker\n");
    println!("{EVENTS} events, one at a time.\n");
    println!("| | p50, ms | p99, ms |\n|---|---:|---:|");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for store in stores {
        let mut took = runtime.block_on(measure(store));
        took.sort_unstable();
        let at = |part: usize| took[took.len() * part / 100].as_secs_f64() * 1e3;
        println!("| {} | {:.2} | {:.2} |", store.name, at(50), at(99));
    }
    println!();
}

async fn measure(store: &Store) -> Vec<Duration> {
    let open = || async { Opened::at(&store.address).await.expect("opened") };
    let publisher = open().await;
    let listener = if store.is_shared() { open().await } else { publisher.clone() };
    let (publisher, listener) = (publisher.hub(), listener.hub());
    let mut took = Vec::new();
    for n in 0..EVENTS {
        let topic = format!("figures {n}");
        let position = HubOp::Position { topic: topic.clone() };
        let Reply::Position(at) = done(&*listener, position).await else { panic!("a position") };
        let poll = HubOp::Poll { topics: vec![(topic.clone(), at)], wait: TTL };
        let waiting = async {
            done(&*listener, poll).await;
            Clock::now()
        };
        let publishing = async {
            // At different points of the time that a file's watcher waits before it looks again.
            tokio::time::sleep(Duration::from_millis(20 + u64::from(n * 37 % 250))).await;
            let began = Clock::now();
            let message = "{}".into();
            done(&*publisher, HubOp::Publish { topic, message, ttl: TTL, keep: 100 }).await;
            began
        };
        let (heard, began) = join(waiting, publishing).await;
        took.push(heard.duration_since(began));
    }
    took
}

async fn done(hub: &dyn Hub, op: HubOp) -> Reply {
    let reply = match hub.execute(Instant::ZERO, op) {
        Execution::Done(reply) => reply,
        Execution::Later(reply) => reply.await,
    };
    reply.expect("the hub answers")
}
