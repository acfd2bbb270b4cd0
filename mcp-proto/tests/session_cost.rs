//! What sessions cost in the memory store, and when they are gone.

use std::sync::Arc;

use bytes::Bytes;
use mcp_proto::effect::{Effect, Reply};
use mcp_proto::model::{Catalog, Implementation};
use mcp_proto::server::{Connection, Endpoint, Limits, Machine, Output};
use mcp_proto::service::{Execution, MemorySessionStore, SessionStore};
use mcp_proto::store::SessionOp;
use mcp_proto::testing::Random;
use mcp_proto::time::Instant;

const SESSIONS: usize = 10_000;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{"listChanged":true}},"clientInfo":{"name":"an-ordinary-client","title":"An ordinary client","version":"1.2.3"}}}"#;

fn initialize(endpoint: &Endpoint, store: &MemorySessionStore, random: &mut Random, now: Instant) {
    let mut connection = Connection::new(endpoint.clone(), now);
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{INITIALIZE}",
        INITIALIZE.len()
    );
    connection.handle_input(now, request.as_bytes());
    while let Some(output) = connection.poll_output() {
        let Output::Effect(id, effect) = output else { continue };
        let reply = match effect {
            Effect::Random => Ok(Reply::Random(random.bytes())),
            Effect::Session(op) => done(store, now, op),
            other => panic!("{other:?}"),
        };
        connection.handle_reply(now, id, reply);
    }
    let mut response = Vec::new();
    connection.transmit(&mut response);
    assert!(String::from_utf8_lossy(&response).contains("Mcp-Session-Id: "));
}

fn done(
    store: &MemorySessionStore,
    now: Instant,
    op: SessionOp,
) -> Result<Reply, mcp_proto::effect::EffectError> {
    match store.execute(now, op) {
        Execution::Done(reply) => reply,
        Execution::Later(_) => panic!("the memory store answers at once"),
    }
}

fn endpoint() -> Endpoint {
    Endpoint::builder(Arc::new(Catalog::new(Implementation::new("demo", "1")))).build()
}

#[test]
fn ten_thousand_sessions_cost_less_than_a_kibibyte_each_and_end_in_time() {
    let (endpoint, store, mut random) = (endpoint(), MemorySessionStore::new(), Random::new(1));
    let measured = allocation_counter::measure(|| {
        for _ in 0..SESSIONS {
            initialize(&endpoint, &store, &mut random, Instant::ZERO);
        }
    });
    let each = measured.bytes_current / SESSIONS as i64;
    println!("{SESSIONS} sessions: {each} bytes each");
    assert_eq!(store.len(), SESSIONS);
    assert!((100..1024).contains(&each), "{each} bytes each");
    let later = Instant::ZERO + Limits::default().session_ttl;
    let op = SessionOp::Create {
        id: "x".into(),
        data: Bytes::from_static(b"{}"),
        ttl: Limits::default().session_ttl,
    };
    assert_eq!(done(&store, later, op), Ok(Reply::Created(true)));
    assert_eq!(store.len(), 1, "those whose time is over are gone");
}

#[test]
fn past_the_cap_the_session_that_was_idle_longest_makes_room() {
    let (endpoint, mut random) = (endpoint(), Random::new(1));
    let store = MemorySessionStore::with_capacity(100);
    for second in 0..150 {
        initialize(&endpoint, &store, &mut random, Instant::from_millis(second * 1_000));
    }
    assert_eq!(store.len(), 100);
}
