//! What connections hold together, over the loop: of peers that read nothing, or send nothing whole.

use futures_util::future::join_all;

use super::super::notices::Notices;
use super::super::world::{VirtualTime, pair};
use super::super::*;
use super::*;
use crate::server::{Connection, Endpoint, Limits};
use futures_util::future::pending;
use http::Extensions;
use std::cell::RefCell;
use std::sync::{Arc, Mutex};

const MOST: usize = 2 << 20;

fn service() -> Service {
    Registry::new("test", "1")
        .tool(tool("large", |Args(Large { bytes }): Args<Large>| async move { "x".repeat(bytes) }))
        .build()
        .expect("valid")
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Large {
    bytes: usize,
}

fn post(bytes: usize) -> String {
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"large","arguments":{{"bytes":{bytes}}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: large\r\nContent-Length: {}\r\n\r\n{message}",
        message.len()
    )
}

/// A body of which the last byte never comes.
fn unfinished(bytes: usize) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json\r\nContent-Length: {}\r\n\r\n{}",
        bytes + 1,
        " ".repeat(bytes)
    )
}

/// What a client does with its connection.
#[derive(Clone, Copy, Debug)]
enum Client {
    /// It asks for so much, and reads nothing.
    Deaf(usize),
    /// It sends so much, and not the rest.
    Slow(usize),
    /// It asks for so much, reads it, and asks again.
    Well(usize),
}

/// Runs these clients, one after the other; says which were cut off, and what the operator reads.
fn run(clients: &[Client], most: usize) -> (Vec<bool>, Vec<String>) {
    let time = VirtualTime::default();
    let log = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&log);
    let service = service();
    let endpoint = Endpoint::builder(Arc::clone(service.catalog()))
        .limits(Limits { held: most, ..Limits::default() });
    let endpoint = endpoint.build();
    let host = Host::<_, Shared>::new(service, time.clone())
        .telling(Notices::new(move |line: &str| told.lock().unwrap().push(line.to_owned())));
    let ends = RefCell::new(Vec::new());
    let cut = RefCell::new(vec![false; clients.len()]);
    let (served, asked): (Vec<_>, Vec<_>) = clients
        .iter()
        .enumerate()
        .map(|(number, client)| {
            let (ours, mut theirs) = pair(1 << 14);
            let machine = Connection::new(endpoint.clone(), time.time());
            let running = host.run(machine, ours, Extensions::new(), pending());
            let (cut, ends, time) = (&cut, &ends, time.clone());
            let serve = async move { cut.borrow_mut()[number] = running.await.is_err() };
            let ask = async move {
                time.sleep(Duration::from_millis(100 * number as u64)).await;
                match *client {
                    Client::Deaf(bytes) => theirs.send(post(bytes).as_bytes()).await,
                    Client::Slow(bytes) => theirs.send(unfinished(bytes).as_bytes()).await,
                    Client::Well(bytes) => {
                        for _ in 0..3 {
                            theirs.send(post(bytes).as_bytes()).await;
                            let mut read = 0;
                            while read < bytes {
                                read += theirs.receive().await.len();
                            }
                        }
                    }
                }
                ends.borrow_mut().push(theirs);
            };
            (serve, ask)
        })
        .unzip();
    let (_, cut) = time.run(join_all(served), async {
        join_all(asked).await;
        time.sleep(Duration::from_secs(20)).await;
        let state = cut.borrow().clone();
        ends.borrow_mut().clear();
        state
    });
    let log = log.lock().unwrap().clone();
    (cut, log)
}

#[test]
fn who_moved_nothing_for_longest_goes_once_all_hold_too_much_and_others_are_served() {
    use Client::{Deaf, Slow, Well};
    const K: usize = 1_000;
    for (clients, expected) in [
        (&[Deaf(900 * K), Deaf(900 * K)][..], &[false, false][..]),
        (&[Deaf(900 * K), Deaf(900 * K), Deaf(900 * K)], &[true, false, false]),
        (&[Slow(900 * K), Slow(900 * K), Slow(900 * K)], &[true, false, false]),
        (&[Slow(900 * K), Deaf(900 * K), Well(900 * K)], &[true, false, false]),
        (&[Deaf(1_500 * K), Slow(500 * K), Deaf(1_500 * K)], &[true, false, false]),
        (&[Deaf(500 * K), Well(100 * K), Slow(2_000 * K)], &[true, false, false]),
        // One by itself may hold too much; and what is small counts for nothing.
        (&[Well(100 * K), Deaf(3_000 * K), Well(100 * K)], &[false, true, false]),
        (&[Slow(10 * K); 300], &[false; 300]),
    ] {
        let (cut, log) = run(clients, MOST);
        assert_eq!(cut, expected, "{clients:?}");
        let told = expected.contains(&true);
        assert_eq!(log.iter().any(|line| line.contains("`Limits::held`")), told, "{log:?}");
    }
}

#[test]
fn however_many_read_nothing_no_more_is_held_than_may_be() {
    let clients = [Client::Deaf(200_000); 60];
    let (cut, _) = run(&clients, MOST);
    let left = cut.iter().filter(|it| !**it).count();
    // Each holds what its pipe has not taken.
    assert!((9..=MOST / 180_000).contains(&left), "{left}");
    assert!(cut.iter().rev().take(left).all(|it| !it), "the youngest are left: {cut:?}");
    // Without the bound, which is the fault that this is to find, nobody goes.
    let (cut, _) = run(&clients, usize::MAX);
    assert_eq!(cut, [false; 60]);
}
