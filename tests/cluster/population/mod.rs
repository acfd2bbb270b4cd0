//! Clients of every revision and transport, each doing its own thing until it is told to stop.

mod announcing;
mod asking;
mod cancelling;
mod counting;
mod following;
mod listening;
mod ours;
mod peers;
mod raw;
mod sse;
mod streaming;

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use mcp_proto::revision::Revision;
use mcp_proto::testing::Random;
use tokio::task::JoinSet;

use crate::ledger::Ledger;

/// What all clients know.
pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) ledger: Arc<Ledger>,
    seed: u64,
    stopping: AtomicBool,
    names: AtomicU64,
    /// How many listen. Changes are announced until all have heard enough.
    listening: AtomicUsize,
}

type Client = Pin<Box<dyn Future<Output = ()> + Send>>;

impl World {
    pub(crate) fn new(address: SocketAddr, ledger: Arc<Ledger>, seed: u64) -> Arc<Self> {
        Arc::new(Self {
            address,
            ledger,
            seed,
            stopping: AtomicBool::new(false),
            names: AtomicU64::new(0),
            listening: AtomicUsize::new(0),
        })
    }

    /// Whether there is more to do. Once there is not, clients finish what they began.
    pub(crate) fn goes_on(&self) -> bool {
        !self.stopping.load(Ordering::Acquire)
    }

    pub(crate) fn stop(&self) {
        self.ledger.changes.close();
        self.stopping.store(true, Ordering::Release);
    }

    /// A name that nobody else has.
    fn name(&self, kind: &str) -> String {
        format!("{kind}-{}", self.names.fetch_add(1, Ordering::Relaxed))
    }

    /// Numbers for one client.
    fn random(&self) -> Random {
        Random::new(self.seed ^ (self.names.fetch_add(1, Ordering::Relaxed) << 32))
    }
}

/// Sets all of them to work; `peers` are the commands of further ones.
pub(crate) fn start(world: &Arc<World>, peers: &[String]) -> JoinSet<()> {
    let mut clients: Vec<Client> = Vec::new();
    for revision in Revision::ALL {
        for _ in 0..2 {
            clients.push(Box::pin(counting::run(world.clone(), revision)));
        }
        clients.push(Box::pin(asking::run(world.clone(), revision)));
        clients.push(Box::pin(ours::call(world.clone(), revision)));
    }
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28] {
        clients.push(Box::pin(listening::run(world.clone(), revision)));
        clients.push(Box::pin(ours::listen(world.clone(), revision)));
        clients.push(Box::pin(streaming::run(world.clone(), revision)));
        clients.push(Box::pin(cancelling::run(world.clone(), revision)));
    }
    for command in peers {
        clients.push(Box::pin(peers::run(world.clone(), command.clone())));
    }
    clients.push(Box::pin(sse::run(world.clone())));
    clients.push(Box::pin(announcing::run(world.clone())));
    clients.into_iter().collect()
}

/// After something failed: soon, but not at once.
async fn breathe() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}
