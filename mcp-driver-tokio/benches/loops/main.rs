//! What a call costs over sockets and pipes, beside loops that read as much, write as much and do
//! nothing else:
//!
//! ```text
//! cargo bench -p mcp-driver-tokio --bench loops
//! ```
//!
//! Each server has one thread. Both are called in turn, so that what else the machine does falls
//! on both; a row has the medians of all rounds, the ratio of the two rates with its quartiles,
//! and how long the servers' processors were busy for one call (on Linux).

mod bare;
mod call;
mod server;

use std::io;
use std::time::{Duration, Instant};

use call::Caller;
use server::Server;

const ROUNDS: usize = 31;

/// How long one round of one server takes.
const ROUND: Duration = Duration::from_millis(100);

fn main() -> io::Result<()> {
    println!(
        "{:<34} {:>10} {:>10} {:>20} {:>8} {:>8}",
        "calls per second", "bare", "ours", "ratio (quartiles)", "us bare", "us ours"
    );
    for connections in [1, 16] {
        for (name, session) in [("sessionless", false), ("in a session", true)] {
            let ours = Server::http()?;
            let mut ours = (Caller::http(&ours, connections, session)?, ours);
            let bare = Server::bare_http(ours.0.reply())?;
            let mut bare = (Caller::http(&bare, connections, session)?, bare);
            compare(&format!("HTTP, {connections} connections, {name}"), &mut bare, &mut ours)?;
        }
    }
    #[cfg(unix)]
    for (name, at_once) in [("ping-pong", 1), ("pipelined", 2_000)] {
        let (server, pipe) = Server::stdio()?;
        let mut ours = (Caller::pipe(pipe, at_once)?, server);
        let (server, pipe) = Server::bare_lines(ours.0.reply())?;
        let mut bare = (Caller::pipe(pipe, at_once)?, server);
        compare(&format!("stdio, {name}"), &mut bare, &mut ours)?;
    }
    Ok(())
}

type Party = (Caller, Server);

fn compare(name: &str, bare: &mut Party, ours: &mut Party) -> io::Result<()> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push((measure(bare)?, measure(ours)?));
    }
    let sorted = |of: &dyn Fn(&(Round, Round)) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let median = |of: &dyn Fn(&(Round, Round)) -> f64| sorted(of)[ROUNDS / 2];
    let ratios = sorted(&|(bare, ours)| ours.rate / bare.rate);
    println!(
        "{name:<34} {:>10.0} {:>10.0} {:>7.2} ({:.2} - {:.2}) {:>8.2} {:>8.2}",
        median(&|(bare, _)| bare.rate),
        median(&|(_, ours)| ours.rate),
        ratios[ROUNDS / 2],
        ratios[ROUNDS / 4],
        ratios[3 * ROUNDS / 4],
        median(&|(bare, _)| bare.busy),
        median(&|(_, ours)| ours.busy),
    );
    Ok(())
}

/// What came of one server's turn.
struct Round {
    /// Calls per second.
    rate: f64,
    /// Microseconds of the server's processor for one call; NaN where nobody counts them.
    busy: f64,
}

fn measure((caller, server): &mut Party) -> io::Result<Round> {
    let (begin, busy) = (Instant::now(), server.busy());
    let mut calls = 0;
    while begin.elapsed() < ROUND {
        calls += caller.call()?;
    }
    let (calls, took) = (calls as f64, begin.elapsed());
    let spent = server.busy().zip(busy).map(|(after, before)| after - before);
    let busy = spent.map_or(f64::NAN, |spent| spent.as_secs_f64() * 1e6 / calls);
    Ok(Round { rate: calls / took.as_secs_f64(), busy })
}
