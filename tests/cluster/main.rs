//! One service on four processes that share a store, behind a balancer, with a population of
//! clients, while one process after the other is killed: nobody may notice more than that a
//! connection broke.
//!
//! `cargo run --release -p mcp-tests --features stores --bin cluster -- --store redis` prints what
//! was seen. The seed decides who does what and who is killed when; how it interleaves is up to
//! the machine.

mod forwarder;
mod ledger;
mod options;
mod population;
mod schedule;
mod wire;
mod workers;

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forwarder::Forwarder;
use ledger::Ledger;
use options::Options;
use population::World;
use schedule::Schedule;
use workers::{Recipe, Workers};

/// How long clients may take to finish what they began, once the last worker was killed.
const LAST_WORDS: Duration = Duration::from_secs(120);

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::read();
    let store = options.store.start()?;
    println!("{options}");
    let runtime = tokio::runtime::Runtime::new()?;
    let faults = runtime.block_on(run(&options, store.url()))?;
    report(&faults);
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The first few faults of each kind.
fn report(faults: &[String]) {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for fault in faults {
        let kind = fault.split_once(' ').map_or("", |(kind, _)| kind);
        kinds.entry(kind).or_default().push(fault);
    }
    for fault in kinds.values().flat_map(|kind| kind.iter().take(5)) {
        println!("FAULT {fault}");
    }
    println!("{} faults", faults.len());
}

async fn run(options: &Options, store: String) -> Result<Vec<String>, Box<dyn Error>> {
    let begun = Instant::now();
    let ledger = Arc::new(Ledger::default());
    let forwarder = Arc::new(Forwarder::start(workers::WORKERS, options.seed).await?);
    let recipe = Recipe { program: options.worker.clone(), store, blind: options.blind };
    let mut workers = Workers::start(recipe, forwarder.clone(), ledger.clone()).await?;
    let world = World::new(forwarder.address, ledger.clone(), options.seed);
    let mut population = population::start(&world, &options.peers);
    let mut schedule = Schedule::new(options.seed, options.pause);

    let mut kills = 0;
    let mut faults = Vec::new();
    while kills < options.kills || forwarder.traffic().messages() < options.messages {
        schedule.strike(&mut workers).await?;
        kills += 1;
        faults.extend(workers.ended());
    }
    world.stop();
    let ends = async {
        while let Some(end) = population.join_next().await {
            end.expect("no panic")
        }
    };
    if tokio::time::timeout(LAST_WORDS, ends).await.is_err() {
        faults.push(format!("{} clients did not end", population.len()));
    }
    workers.stop().await?;

    let traffic = forwarder.traffic();
    println!(
        "{} messages ({} requests, {} replies), {kills} kills, {:.1} s; {} times nobody was there, \
         {} responses broke off",
        traffic.messages(),
        traffic.requests,
        traffic.replies,
        begun.elapsed().as_secs_f64(),
        traffic.refused,
        traffic.broken
    );
    ledger.summary().into_iter().for_each(|line| println!("{line}"));
    faults.extend(ledger.faults());
    Ok(faults)
}
