//! The workers, as the forwarder knows them: whose turn it is, and connections that are open.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;

use tokio::net::TcpStream;

use crate::wire::Wire;

pub(crate) struct Upstream(Mutex<Turns>);

struct Turns {
    workers: Vec<Option<SocketAddr>>,
    next: usize,
    idle: HashMap<SocketAddr, Vec<Wire>>,
}

impl Upstream {
    pub(crate) fn new(workers: usize) -> Self {
        let workers = vec![None; workers];
        Self(Mutex::new(Turns { workers, next: 0, idle: HashMap::new() }))
    }

    pub(crate) fn set(&self, worker: usize, address: Option<SocketAddr>) {
        let mut turns = self.0.lock().expect("no panic");
        let before = std::mem::replace(&mut turns.workers[worker], address);
        if let Some(before) = before {
            turns.idle.remove(&before);
        }
    }

    /// The next worker in turn, but not `last`: whether or not it is there, as its balancer learns
    /// only by trying.
    pub(crate) fn next(&self, last: Option<usize>) -> (usize, Option<SocketAddr>) {
        let mut turns = self.0.lock().expect("no panic");
        let count = turns.workers.len();
        if last == Some(turns.next) && count > 1 {
            turns.next = (turns.next + 1) % count;
        }
        let worker = turns.next;
        turns.next = (worker + 1) % count;
        (worker, turns.workers[worker])
    }

    pub(crate) async fn connect(&self, address: SocketAddr) -> io::Result<Wire> {
        let idle = self.0.lock().expect("no panic").idle.get_mut(&address).and_then(Vec::pop);
        match idle {
            Some(wire) => Ok(wire),
            None => TcpStream::connect(address).await.map(Wire::new),
        }
    }

    /// Keeps a connection for the next request.
    pub(crate) fn keep(&self, address: SocketAddr, wire: Wire) {
        let mut turns = self.0.lock().expect("no panic");
        if turns.workers.contains(&Some(address)) {
            turns.idle.entry(address).or_default().push(wire);
        }
    }
}
