//! What sessions cost in the memory store, and when they are gone.

use std::sync::Arc;

use bytes::Bytes;
use mcp_proto::effect::{Effect, Reply};
use mcp_proto::frame::uri_template::UriTemplate;
use mcp_proto::model::{Catalog, Implementation, ResourceTemplate};
use mcp_proto::server::{Connection, Endpoint, Limits, Machine, Output};
use mcp_proto::service::{Execution, MemorySessionStore, SessionStore};
use mcp_proto::store::SessionOp;
use mcp_proto::testing::Random;
use mcp_proto::time::Instant;

const SESSIONS: usize = 10_000;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{"listChanged":true}},"clientInfo":{"name":"an-ordinary-client","title":"An ordinary client","version":"1.2.3"}}}"#;

fn initialize(endpoint: &Endpoint, store: &MemorySessionStore, random: &mut Random, now: Instant) {
    let response = post(endpoint, store, random, now, "", INITIALIZE);
    assert!(response.contains("Mcp-Session-Id: "));
}

/// The response to a message, on a connection of its own.
fn post(
    endpoint: &Endpoint,
    store: &MemorySessionStore,
    random: &mut Random,
    now: Instant,
    headers: &str,
    message: &str,
) -> String {
    let mut connection = Connection::new(endpoint.clone(), now);
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{message}",
        message.len()
    );
    connection.handle_input(now, request.as_bytes());
    while let Some(output) = connection.poll_output() {
        let Output::Effect(id, effect) = output else { continue };
        let reply = match effect {
            Effect::Random => Ok(Reply::Random(random.bytes())),
            Effect::Session(op) => done(store, now, op),
            // Streams are told of changes, and there are none.
            Effect::Hub(_) => Ok(Reply::Published(1.into())),
            other => panic!("{other:?}"),
        };
        connection.handle_reply(now, id, reply);
    }
    let mut response = Vec::new();
    connection.transmit(&mut response);
    String::from_utf8(response).expect("text")
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
    let mut catalog = Catalog::new(Implementation::new("demo", "1"));
    catalog.features.subscribe = true;
    let template = UriTemplate::parse("a://{id}").expect("a template");
    catalog.insert_template(ResourceTemplate::new(template, "t"));
    Endpoint::builder(Arc::new(catalog)).build()
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
        charged_to: None,
    };
    assert_eq!(done(&store, later, op), Ok(Reply::Created(true)));
    assert_eq!(store.len(), 1, "those whose time is over are gone");
}

#[test]
fn a_call_costs_the_same_whatever_its_session_is_subscribed_to() {
    let (endpoint, mut random) = (endpoint(), Random::new(1));
    let store = MemorySessionStore::new();
    let mut post = |headers: &str, message: &str| {
        post(&endpoint, &store, &mut random, Instant::ZERO, headers, message)
    };
    let opened = post("", INITIALIZE);
    let (_, rest) = opened.split_once("Mcp-Session-Id: ").expect("a session");
    let session = rest.split_once('\r').expect("a line").0;
    let headers = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let ping = |post: &mut dyn FnMut(&str, &str) -> String| {
        let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
        let mut response = String::new();
        let measured = allocation_counter::measure(|| response = post(&headers, ping));
        assert!(response.contains("\"result\""), "{response}");
        (measured.count_total, measured.bytes_total)
    };
    let (count, bytes) = ping(&mut post);
    let mut subscribed = 0;
    for n in 0..900 {
        let uri = format!("a://{n:060}");
        let subscribe = format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{{"uri":"{uri}"}}}}"#
        );
        subscribed += usize::from(post(&headers, &subscribe).contains("\"result\""));
    }
    assert_eq!(subscribed, 900);
    assert!(store.bytes() > 900 * 60);
    // Nothing is made of the subscriptions: not a string, and no copy of the record.
    assert_eq!(ping(&mut post), (count, bytes));
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
