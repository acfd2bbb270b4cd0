//! The workers: processes that share a store, of which one after the other is killed.

use std::io;
use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinHandle;

use crate::forwarder::Forwarder;
use crate::ledger::Ledger;

/// How many there are.
pub(crate) const WORKERS: usize = 4;

/// How a worker is started.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    pub(crate) program: String,
    pub(crate) store: String,
    /// With compare-and-set switched off.
    pub(crate) blind: bool,
}

/// The processes that run, by their place in the forwarder.
pub(crate) struct Workers {
    recipe: Recipe,
    forwarder: Arc<Forwarder>,
    ledger: Arc<Ledger>,
    running: Vec<Option<Worker>>,
}

struct Worker {
    child: Child,
    /// Its process, as the ledger knows it.
    id: u32,
    reports: JoinHandle<()>,
}

impl Workers {
    pub(crate) async fn start(
        recipe: Recipe,
        forwarder: Arc<Forwarder>,
        ledger: Arc<Ledger>,
    ) -> io::Result<Self> {
        let running = (0..WORKERS).map(|_| None).collect();
        let mut workers = Self { recipe, forwarder, ledger, running };
        for place in 0..WORKERS {
            workers.run(place).await?;
        }
        Ok(workers)
    }

    /// Starts a worker at a place that is free.
    pub(crate) async fn run(&mut self, place: usize) -> io::Result<()> {
        let mut command = Command::new(&self.recipe.program);
        command.arg(&self.recipe.store).args(self.recipe.blind.then_some("--blind"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let id = child.id().unwrap_or_default();
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let Some(address) = lines.next_line().await? else {
            return Err(io::Error::other("a worker ended as it began"));
        };
        let address: SocketAddr = address.parse().map_err(io::Error::other)?;
        let reports = tokio::spawn(read(lines, id, self.ledger.clone()));
        self.running[place] = Some(Worker { child, id, reports });
        self.forwarder.set(place, Some(address));
        Ok(())
    }

    /// Kills the worker there with SIGKILL. What it said until then is in the ledger afterwards.
    pub(crate) async fn kill(&mut self, place: usize) -> io::Result<()> {
        let Some(Worker { mut child, id, reports }) = self.running[place].take() else {
            return Ok(());
        };
        child.kill().await?;
        self.ledger.runs.killed(id);
        self.forwarder.set(place, None);
        reports.await.map_err(io::Error::other)
    }

    /// Kills them all.
    pub(crate) async fn stop(&mut self) -> io::Result<()> {
        for place in 0..WORKERS {
            self.kill(place).await?;
        }
        Ok(())
    }

    /// Workers that ended by themselves.
    pub(crate) fn ended(&mut self) -> Vec<String> {
        let running = self.running.iter_mut().flatten();
        let ended = running.filter_map(|worker| worker.child.try_wait().ok().flatten());
        ended.map(|status| format!("a worker ended by itself: {status}")).collect()
    }
}

/// What a worker says of its handlers.
async fn read(mut lines: Lines<BufReader<ChildStdout>>, worker: u32, ledger: Arc<Ledger>) {
    while let Ok(Some(line)) = lines.next_line().await {
        if let ["ran", key, mark] = *line.split(' ').collect::<Vec<_>>() {
            ledger.runs.ran(worker, key, mark);
        }
    }
}
