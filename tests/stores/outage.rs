//! A database that goes away under load, and comes back.
//!
//! It is away for four seconds; `MCP_OUTAGE_SECONDS=10` makes it ten.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mcp_proto::effect::EFFECT_DEADLINE;
use mcp_tests::servers::{Kind, Server};
use mcp_tests::worker::{Caller, Worker, request};

const TOKIO: &str = env!("CARGO_BIN_EXE_server-tokio");
const ASYNC_STD: &str = env!("CARGO_BIN_EXE_server-async-std");

/// How soon after the database is back every call succeeds.
const RECOVERY: Duration = Duration::from_secs(1);

/// How many clients call all the time, and how often each does before and after.
const CLIENTS: usize = 6;
const CALLS: usize = 20;

#[test]
fn redis_may_be_away_for_a_while_under_load() {
    survives(Kind::Redis, "redis store", "is the server running");
}

#[test]
fn postgres_may_be_away_for_a_while_under_load() {
    survives(Kind::Postgres, "postgres store", "is the database running");
}

fn survives(kind: Kind, store: &str, advice: &str) {
    let Some(mut database) = Server::start(kind) else { return };
    for program in [TOKIO, ASYNC_STD] {
        let mut workers = [(); 2].map(|()| Worker::start(program, &database.url()));
        let [first, second] = workers.each_ref().map(|worker| worker.address().to_owned());
        let mut listeners = [session_stream(&first, &second), listen(&second)];

        let away = Arc::new(Mutex::new(Times::default()));
        let (started, starts) = channel();
        let clients = [&first, &second].repeat(CLIENTS / 2).into_iter().map(|address| {
            let (address, times, started) = (address.clone(), Arc::clone(&away), started.clone());
            thread::spawn(move || load(&address, &times, &started))
        });
        let clients: Vec<JoinHandle<Tally>> = clients.collect();
        (0..CLIENTS).for_each(|_| starts.recv().expect("every client is answered"));

        away.lock().expect("times").leaving = Some(Instant::now());
        database.stop();
        away.lock().expect("times").gone = Some(Instant::now());
        thread::sleep(outage());
        away.lock().expect("times").returning = Some(Instant::now());
        database.run();
        away.lock().expect("times").back = Some(Instant::now());

        let tallies: Vec<_> = clients.into_iter().map(|it| it.join().expect("no panic")).collect();
        let refused: usize = tallies.iter().map(|tally| tally.refused).sum();
        let slowest = tallies.iter().map(|tally| tally.slowest).max().expect("clients");
        println!(
            "{kind:?}, {program}: {refused} calls refused meanwhile, none in over {slowest:?}"
        );
        assert!(refused >= CLIENTS, "the calls met the outage");

        // Who listened all the time hears what is published from now on.
        let mut caller = Caller::new(&first);
        let touch = request(1, "tools/call", &format!(r#""name":"touch",{META}"#));
        let touched = caller.post(TOUCH, &touch);
        assert!(touched.contains("touched"), "{touched}");
        for listener in &mut listeners {
            listener.until("notifications/resources/updated");
        }
        for worker in &mut workers {
            let log = worker.end();
            assert!(log.contains(store) && log.contains(advice), "the log says: {log}");
            assert!(log.lines().count() < 20, "a few lines for a few seconds: {log}");
        }
    }
}

/// How long the database is away.
fn outage() -> Duration {
    let told = std::env::var("MCP_OUTAGE_SECONDS").ok().and_then(|it| it.parse().ok());
    Duration::from_secs(told.unwrap_or(4))
}

/// When the database was told to go, was gone, was started again, and was there.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    leaving: Option<Instant>,
    gone: Option<Instant>,
    returning: Option<Instant>,
    back: Option<Instant>,
}

/// What came of one client's calls.
#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    slowest: Duration,
}

/// Calls in a session of its own until the database was away and many calls succeeded after that.
fn load(address: &str, times: &Mutex<Times>, started: &Sender<()>) -> Tally {
    let mut caller = Caller::new(address);
    let session = caller.open();
    let (mut tally, mut answered) = (Tally::default(), 0);
    let now = || *times.lock().expect("times");
    for number in 0.. {
        let (before, asked) = (now(), Instant::now());
        let reply = caller.post(&session, &add(number));
        let (took, after) = (asked.elapsed(), now());
        assert!(took < EFFECT_DEADLINE, "answered after {took:?}: {reply}");
        tally.slowest = tally.slowest.max(took);
        let succeeded = reply.contains(&format!(r#""id":{number},"result""#));
        match (before.gone, after.returning, before.back) {
            _ if after.leaving.is_none() => assert!(succeeded, "before: {reply}"),
            (Some(_), None, _) => assert!(!succeeded, "there is no session: {reply}"),
            (.., Some(back)) if asked >= back + RECOVERY => {
                assert!(succeeded, "{:?} after the start: {reply}", asked - back);
                answered += 1;
            }
            _ => {}
        }
        if !succeeded {
            assert!(reply.starts_with("HTTP/1.1 503"), "try again, it says: {reply}");
            assert!(!reply.contains("redis") && !reply.contains("postgres"), "to itself: {reply}");
            tally.refused += 1;
        }
        if number + 1 == CALLS {
            started.send(()).expect("it is waited for");
        }
        if answered == CALLS {
            break;
        }
    }
    tally
}

const TOUCH: &str =
    "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: touch\r\n";
const LISTEN: &str = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n";
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn add(id: usize) -> String {
    request(id, "tools/call", r#""name":"add","arguments":{"a":2,"b":40}"#)
}

/// The events of a session that was opened at one worker, from another.
fn session_stream(opener: &str, reader: &str) -> Caller {
    let mut caller = Caller::new(opener);
    let session = caller.open();
    let subscribe = request(1, "resources/subscribe", r#""uri":"test://touched""#);
    let reply = caller.post(&session, &subscribe);
    assert!(reply.contains("result"), "{reply}");
    let mut listener = Caller::new(reader);
    listener.listen(&session);
    listener
}

/// What a client without a session listens for.
fn listen(address: &str) -> Caller {
    let mut listener = Caller::new(address);
    let filter = r#""notifications":{"resourceSubscriptions":["test://touched"]}"#;
    listener.send(LISTEN, &request(1, "subscriptions/listen", &format!("{filter},{META}")));
    listener.until("acknowledged");
    listener
}
