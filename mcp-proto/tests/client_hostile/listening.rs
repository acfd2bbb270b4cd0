//! Servers that flood, or cheat, those who listen.

use core::time::Duration;

use mcp_proto::client::{Carry, Event, Machine, Output, Session, Stdio};
use mcp_proto::model::Filter;
use mcp_proto::revision::Revision;
use mcp_proto::time::Instant;

use super::config;
use super::play::{EVENTS, id};
use super::scene::known;

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

#[test]
fn changes_without_end_do_not_pile_up() {
    // On a byte stream, nobody fetches them.
    let mut client = Stdio::new(config([Revision::V2025_11_25]), Instant::ZERO);
    let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}}}}"#;
    client.handle_input(Instant::ZERO, format!("{hello}\n").as_bytes());
    client.listen(Instant::ZERO, Filter::lists());
    let line = format!("{CHANGED}\n");
    let mut taken = 0;
    for _ in 0..20_000 {
        taken += client.handle_input(Instant::ZERO, line.as_bytes());
    }
    assert!(!client.wants_input() && taken < 20_000 * line.len());
    let queued = core::iter::from_fn(|| client.poll_output()).count();
    assert!(queued <= 4_200, "{queued}");
    // And then it goes on.
    assert!(client.wants_input());
    assert_eq!(client.handle_input(Instant::ZERO, line.as_bytes()), line.len());
}

#[test]
fn a_stream_that_always_ends_is_given_up() {
    let mut session = known(Revision::V2026_07_28);
    let listen = session.listen(Instant::ZERO, Filter::lists());
    let (mut now, mut exchanges, mut end) = (Instant::ZERO, 0, None);
    while end.is_none() {
        while let Some(output) = session.poll_output() {
            match output {
                Output::Carry(Carry::Open(open)) => {
                    exchanges += 1;
                    assert!(!id(&open).is_empty());
                    let headers = [("Content-Type", EVENTS)];
                    session.handle_head(now, open.exchange, 200, &headers[..]);
                    session.handle_end(now, open.exchange);
                }
                Output::Event(Event::Unlistened(own, how)) if own == listen => end = Some(how),
                _ => {}
            }
        }
        if end.is_none() {
            now = session.poll_timeout().expect("it is tried again");
            session.handle_timeout(now);
        }
    }
    let error = end.unwrap().unwrap_err();
    assert!(error.to_string().starts_with("the stream ended before the answer"), "{error}");
    assert_eq!(exchanges, 6);
    assert!(now <= Instant::ZERO + Duration::from_secs(30), "{now}");
}

#[test]
fn acknowledgements_without_end_tell_no_more_than_there_is_room_for() {
    let mut session: Session = known(Revision::V2026_07_28);
    session.listen(Instant::ZERO, Filter::lists());
    let open = core::iter::from_fn(|| session.poll_output()).find_map(|output| match output {
        Output::Carry(Carry::Open(open)) => Some(open),
        _ => None,
    });
    let open = open.expect("it listens by a request");
    let note = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{"toolsListChanged":true}},"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}}}}}"#,
        id(&open)
    );
    let headers = [("Content-Type", EVENTS)];
    session.handle_head(Instant::ZERO, open.exchange, 200, &headers[..]);
    for _ in 0..20_000 {
        session.handle_body(Instant::ZERO, open.exchange, format!("data: {note}\n\n").as_bytes());
    }
    let queued = core::iter::from_fn(|| session.poll_output()).count();
    assert!(queued <= 4_200, "{queued}");
}
