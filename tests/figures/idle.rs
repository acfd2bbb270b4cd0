//! What a listener costs that hears nothing.

use std::fs;
use std::thread;
use std::time::Duration;

use mcp_tests::worker::{Caller, Worker};
use sqlx::Connection;

use crate::{SERVER, Store};

const LISTENERS: usize = 1_000;

/// A whole number of heartbeats, and of polls.
const WATCHED: Duration = Duration::from_secs(30);

/// Streams of sessions on one worker. All stores are watched at the same time.
pub(crate) fn print(stores: &[Store]) {
    println!("## An idle listener\n");
    println!(
        "{LISTENERS} streams of sessions (GET) on one worker, over {} s.\n",
        WATCHED.as_secs()
    );
    println!("| | memory, KiB | processor, us a second | queries a minute |\n|---|---:|---:|---:|");
    let crowds: Vec<_> = stores.iter().map(Crowd::gather).collect();
    let before: Vec<_> = crowds.iter().map(Crowd::spent).collect();
    thread::sleep(WATCHED);
    for (crowd, (ticks, queries)) in crowds.iter().zip(before) {
        let (ticks_after, queries_after) = crowd.spent();
        let each = |total: f64| total / LISTENERS as f64;
        let memory = each((resident(crowd.worker.id()) - crowd.empty) as f64);
        // Linux counts processor time in hundredths of a second, whatever the machine.
        let processor = each((ticks_after - ticks) as f64 * 1e4) / WATCHED.as_secs_f64();
        let queries = queries.zip(queries_after).map_or_else(String::new, |(before, after)| {
            format!("{:.2}", each((after - before) as f64) * 60.0 / WATCHED.as_secs_f64())
        });
        println!("| {} | {memory:.1} | {processor:.1} | {queries} |", crowd.store.name);
    }
    println!();
}

/// Listeners of one worker.
struct Crowd<'a> {
    store: &'a Store,
    worker: Worker,
    /// The worker's memory before they came, in KiB.
    empty: u64,
    _listeners: Vec<Caller>,
}

impl<'a> Crowd<'a> {
    fn gather(store: &'a Store) -> Self {
        let worker = Worker::start(SERVER, &store.address);
        let listen = || {
            let mut caller = Caller::new(worker.address());
            let session = caller.open();
            caller.listen(&session);
            caller
        };
        // What the first ones need, the others share.
        let mut listeners: Vec<_> = (0..50).map(|_| listen()).collect();
        let empty = resident(worker.id());
        listeners.extend((0..LISTENERS).map(|_| listen()));
        Self { store, worker, empty, _listeners: listeners }
    }

    /// The worker's processor time, in ticks, and how many queries its database had, if it counts.
    fn spent(&self) -> (u64, Option<u64>) {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.worker.id())).expect("Linux");
        let fields = stat.rsplit(") ").next().expect("fields").split(' ');
        let ticks = fields.skip(11).take(2).map(|it| it.parse::<u64>().expect("a number")).sum();
        (ticks, queries(&self.store.address))
    }
}

/// Resident memory of a process, in KiB.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

fn queries(address: &str) -> Option<u64> {
    if address.starts_with("redis:") {
        let mut client = redis::Client::open(address).ok()?.get_connection().ok()?;
        let info: String = redis::cmd("INFO").arg("stats").query(&mut client).ok()?;
        let counted = info.lines().find_map(|it| it.strip_prefix("total_commands_processed:"))?;
        return counted.trim().parse().ok();
    }
    if !address.starts_with("postgres:") {
        return None;
    }
    let runtime = tokio::runtime::Runtime::new().ok()?;
    let counted: i64 = runtime.block_on(async {
        let mut client = sqlx::PgConnection::connect(address).await.ok()?;
        let count = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";
        sqlx::query_scalar(count).fetch_one(&mut client).await.ok()
    })?;
    u64::try_from(counted).ok()
}
