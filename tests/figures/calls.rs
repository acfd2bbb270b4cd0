//! Calls per second.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mcp_tests::worker::{Caller, Worker, request};

use crate::{SERVER, Store};

const CLIENTS: usize = 16;
const WORKERS: [usize; 2] = [1, 4];

/// How long each is measured, after as long to warm up.
const MEASURED: Duration = Duration::from_secs(2);

/// What a call does, and the tool's name and arguments.
const CALLS: [(&str, &str); 2] = [
    ("reads its session", r#""name":"add","arguments":{"a":2,"b":40}"#),
    ("reads and changes its session", r#""name":"count""#),
];

/// Calls of sessions, over connections that stay open, to one worker and to four.
pub(crate) fn print(stores: &[Store]) {
    println!(
        "## Calls per second\n\n{CLIENTS} clients, a session each, one call after the other.\n"
    );
    println!("| | each call | 1 worker | 4 workers |\n|---|---|---:|---:|");
    for store in stores {
        for (does, call) in CALLS {
            let rates = WORKERS.map(|workers| match workers > 1 && !store.is_shared() {
                true => "".into(),
                false => format!("{:.0}", rate(store, workers, call)),
            });
            println!("| {} | {does} | {} |", store.name, rates.join(" | "));
        }
    }
    println!();
}

fn rate(store: &Store, workers: usize, call: &str) -> f64 {
    let workers: Vec<_> = (0..workers).map(|_| Worker::start(SERVER, &store.address)).collect();
    let (done, over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for address in workers.iter().map(Worker::address).cycle().take(CLIENTS) {
            let (done, over) = (&done, &over);
            scope.spawn(move || {
                let mut caller = Caller::new(address);
                let session = caller.open();
                for id in 0.. {
                    let reply = caller.post(&session, &request(id, "tools/call", call));
                    assert!(reply.contains("\"result\""), "{reply}");
                    done.fetch_add(1, Ordering::Relaxed);
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        thread::sleep(MEASURED);
        let (before, began) = (done.load(Ordering::Relaxed), Instant::now());
        thread::sleep(MEASURED);
        let (after, took) = (done.load(Ordering::Relaxed), began.elapsed());
        over.store(true, Ordering::Relaxed);
        (after - before) as f64 / took.as_secs_f64()
    })
}
