//! Calls whose stream goes before they are done.

use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::pending;
use http::Extensions;

use super::super::world::{VirtualTime, pair};
use super::super::{Host, Registry, Shared, tool};
use crate::server::{Connection, Endpoint};
use crate::time::Instant;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work"}}"#;

fn post(headers: &str, body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: \
         application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_call_in_a_session_outlives_its_stream_and_one_without_does_not() {
    for in_session in [true, false] {
        let time = VirtualTime::default();
        let (clock, done) = (time.clone(), Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&done);
        let service = Registry::new("test", "1")
            .tool(tool("work", move || {
                let (clock, flag) = (clock.clone(), Arc::clone(&flag));
                async move {
                    clock.sleep(Duration::from_secs(30)).await;
                    flag.store(true, Ordering::Relaxed);
                    "done"
                }
            }))
            .build()
            .expect("valid");
        let endpoint = Endpoint::builder(service.catalog().clone()).build();
        let host = Host::<_, Shared>::new(service, time.clone());
        let (ours, mut theirs) = pair(1 << 16);
        let machine = Connection::new(endpoint, Instant::ZERO);
        let served = host.run(machine, ours, Extensions::new(), pending());
        let clock = time.clone();
        let client = async move {
            let mut headers = String::new();
            if in_session {
                theirs.send(post("", HELLO).as_bytes()).await;
                let greeted = theirs.receive_until(|text| text.contains("serverInfo")).await;
                let session = greeted
                    .lines()
                    .find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"));
                headers = format!("{}\r\n", session.expect("a session"));
            }
            theirs.send(post(&headers, CALL).as_bytes()).await;
            clock.sleep(Duration::from_secs(6)).await;
            drop(theirs);
            clock.sleep(Duration::from_secs(60)).await;
        };
        let _ = time.run(served, client);
        assert_eq!(time.detached(), usize::from(in_session));
        assert_eq!(done.load(Ordering::Relaxed), in_session);
    }
}
