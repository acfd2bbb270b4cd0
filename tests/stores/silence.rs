//! A server that says nothing any more, and closes nothing: its machine lost power, or the way to
//! it is broken. Connections from before never come back to life.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::future::join;
use mcp_proto::effect::EFFECT_DEADLINE;
use mcp_proto::service::Storage;
use mcp_proto::testing::contract::Time;
use mcp_stores::{PostgresStorage, RedisStorage};
use mcp_tests::servers::{Kind, Server};

use crate::runtime::Runtime;
use crate::worker::{TTL, Worker, retried};

#[test]
fn a_redis_server_that_says_nothing_any_more_is_given_up() {
    let Some(server) = Server::start(Kind::Redis) else { return };
    for runtime in Runtime::ALL {
        let relay = Relay::to(&server.url());
        runtime.block_on(async {
            let open = || RedisStorage::builder(&relay.url).report(|_| {}).open();
            let (one, two) = (open().await.expect("one"), open().await.expect("two"));
            given_up(&relay, runtime, &one, &two).await;
        });
    }
}

#[test]
fn a_postgres_server_that_says_nothing_any_more_is_given_up() {
    let Some(server) = Server::start(Kind::Postgres) else { return };
    for runtime in Runtime::ALL {
        let relay = Relay::to(&server.url());
        runtime.block_on(async {
            let open = || PostgresStorage::builder(&relay.url).report(|_| {}).open();
            let (one, two) = (open().await.expect("one"), open().await.expect("two"));
            given_up(&relay, runtime, &one, &two).await;
        });
    }
}

/// Calls fail in time, and work again on new connections; who listens hears of it, too.
async fn given_up<S: Storage>(relay: &Relay, runtime: Runtime, one: &S, two: &S) {
    let (one, two, time) = (Worker::of(one), Worker::of(two), runtime.time());
    let (id, topic) = (format!("{runtime:?}"), format!("topic {runtime:?}"));
    assert_eq!(one.create(&id, "{}", TTL).await, Ok(true));
    let cursor = one.publish(&topic, "1", TTL).await.expect("published");
    let began = Instant::now();
    let waiting = two.poll(&topic, &cursor, Duration::from_secs(300));
    let breaking = async {
        time.pass(Duration::from_millis(200)).await; // the poll has begun to wait
        relay.turn(); // silent
        let asked = Instant::now();
        let error = one.get(&id).await.expect_err("nobody answers").to_string();
        assert!(asked.elapsed() < EFFECT_DEADLINE, "bounded: {:?}", asked.elapsed());
        assert!(error.contains(" store: ") && error.contains("; is the"), "what to do: {error}");
        println!("{runtime:?}, after {:?}: {error}", asked.elapsed());
        relay.turn(); // answering
        let (data, failed) = retried(&time, || one.get(&id)).await;
        assert_eq!(data.as_deref(), Some(&b"{}"[..]));
        println!("{runtime:?}: {failed} calls failed once there was a way again");
        retried(&time, || one.publish(&topic, "2", TTL)).await;
    };
    let (heard, ()) = join(waiting, breaking).await;
    assert_eq!(heard.expect("the poll waited on"), ["2"]);
    println!("{runtime:?}: heard after {:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(60), "well before the wait was over");
}

/// A way to a server that can be made silent. Each turn makes all that were open silent for good.
struct Relay {
    url: String,
    turn: Arc<AtomicUsize>,
}

impl Relay {
    /// A relay, answering.
    fn to(url: &str) -> Self {
        let (_, rest) = url.split_once("127.0.0.1:").expect("an address");
        let port: u16 = rest.split('/').next().expect("a port").parse().expect("a number");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let own = listener.local_addr().expect("an address").port();
        let turn = Arc::new(AtomicUsize::new(0));
        let current = Arc::clone(&turn);
        thread::spawn(move || {
            let mut kept = Vec::new();
            for stream in listener.incoming().flatten() {
                let turn = current.load(Ordering::SeqCst);
                if turn % 2 == 1 {
                    kept.push(stream);
                    continue;
                }
                let server = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
                for (from, to) in [(&stream, &server), (&server, &stream)] {
                    let (from, to) = (from.try_clone(), to.try_clone());
                    let current = Arc::clone(&current);
                    let (from, to) = (from.expect("a handle"), to.expect("a handle"));
                    thread::spawn(move || {
                        carry(from, to, || current.load(Ordering::SeqCst) == turn)
                    });
                }
                kept.extend([stream, server]); // nothing is closed because it is silent
            }
        });
        Self { url: url.replace(&port.to_string(), &own.to_string()), turn }
    }

    fn turn(&self) {
        self.turn.fetch_add(1, Ordering::SeqCst);
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream, speaks: impl Fn() -> bool) {
    let mut chunk = [0; 65_536];
    while let Ok(read) = from.read(&mut chunk) {
        let Some(chunk) = chunk.get(..read).filter(|chunk| !chunk.is_empty()) else { break };
        if !speaks() || to.write_all(chunk).is_err() {
            return;
        }
    }
    if speaks() {
        let _ = to.shutdown(std::net::Shutdown::Write);
    }
}
