use core::time::Duration;
use std::sync::Arc;

use super::*;
use crate::model::{Call, Catalog, Implementation, Json, Progress, Tool, ToolResult};
use crate::server::{Endpoint, Machine, Stdio};
use crate::time::Instant;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn stdio() -> Stdio {
    let mut catalog = Catalog::new(Implementation::new("demo", "1"));
    catalog.insert_tool(Tool::new("t", Json::parse("{}").unwrap()));
    Stdio::new(Endpoint::builder(Arc::new(catalog)).build(), Instant::ZERO)
}

fn application(_: &Call) -> Script {
    Script::silent().wait(MS(20)).progress(Progress::new(1.0)).respond(ToolResult::text("done"))
}

const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}
"#;

#[test]
fn a_world_runs_scripts_in_virtual_time() {
    let mut world = World::new(stdio(), application);
    world.send(CALL);
    assert!(!world.run_until_sent(MS(19)));
    assert!(world.run_until_sent(MS(5)));
    assert_eq!(world.now(), Instant::from_millis(20));
    world.run();
    let sent = String::from_utf8(world.take_sent()).unwrap();
    assert_eq!(sent.lines().count(), 2, "{sent}");
}

#[test]
fn a_recording_replays_to_the_same_outputs() {
    let link = Link::seeded(7).pieces(9).delay(MS(3)).stall(4, MS(50));
    let mut world = World::new(Recorder::new(stdio()), application).with_link(link);
    world.send(CALL);
    world.send_eof();
    world.run();
    let recorded = world.machine();
    assert!(recorded.inputs().len() > CALL.len() / 9);
    assert!(!recorded.transcript().sent.is_empty());
    assert_eq!(&replay(recorded.inputs(), stdio()), recorded.transcript());
}

#[test]
fn a_link_keeps_order_and_loses_what_comes_after_a_cut() {
    let text: Vec<u8> = (0..=255).collect();
    let mut link = Link::seeded(3).pieces(5).delay(MS(2));
    let mut arrivals = link.carry(Instant::ZERO, &text);
    arrivals.extend(link.end(Instant::ZERO));
    assert!(arrivals.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    let bytes: Vec<u8> = arrivals
        .iter()
        .flat_map(|(_, arrival)| match arrival {
            Arrival::Bytes(bytes) => bytes.clone(),
            _ => Vec::new(),
        })
        .collect();
    assert_eq!(bytes, text);
    assert_eq!(arrivals.last().unwrap().1, Arrival::Eof);

    let mut link = Link::seeded(3).pieces(5).cut(4);
    let arrivals = link.carry(Instant::ZERO, &text);
    assert_eq!(arrivals.last().unwrap().1, Arrival::Cut);
    assert!(link.carry(Instant::ZERO, &text).is_empty() && link.end(Instant::ZERO).is_none());
}

#[test]
fn a_store_expires_sessions_and_refuses_stale_versions() {
    use crate::effect::{Effect, Reply};
    use crate::store::SessionOp;
    let mut store = Store::new(1, Faults::default());
    let (id, data) = (String::from("s"), bytes::Bytes::from("{}"));
    let mut at = |millis, op| {
        let effect = Effect::Session(op);
        store.perform(Instant::from_millis(millis), &effect).unwrap()
    };
    let create =
        SessionOp::Create { id: id.clone(), data: data.clone(), ttl: MS(10), charged_to: None };
    assert_eq!(at(0, create.clone()), Reply::Created(true));
    assert_eq!(at(1, create.clone()), Reply::Created(false));
    let save = |expected_version| SessionOp::Save {
        id: id.clone(),
        data: data.clone(),
        expected_version,
        ttl: MS(10),
    };
    assert_eq!(at(5, save(1)), Reply::Saved(true));
    assert_eq!(at(5, save(1)), Reply::Saved(false));
    let get = SessionOp::Get { id: id.clone(), renew: None };
    assert!(matches!(at(14, get.clone()), Reply::Record(Some(record)) if record.version == 2));
    assert_eq!(at(15, get), Reply::Record(None));
    assert_eq!(at(16, create), Reply::Created(true));
}

#[test]
fn a_faulty_store_fails_repeats_and_says_nothing() {
    use crate::effect::Effect;
    let count = |faults| {
        let mut store = Store::new(5, faults);
        store.answers(Instant::ZERO, &Effect::Random)
    };
    assert!(count(Faults { failing: 1, ..Faults::default() })[0].1.is_err());
    assert_eq!(count(Faults { repeating: 1, ..Faults::default() }).len(), 2);
    assert!(count(Faults { silent: 1, ..Faults::default() }).is_empty());
}

#[test]
fn a_peer_that_does_not_read_gets_everything_later() {
    let mut world = World::new(stdio(), application);
    world.set_reading(false);
    world.send(CALL);
    world.run();
    assert!(world.take_sent().is_empty());
    world.set_reading(true);
    world.run();
    assert!(!world.take_sent().is_empty() && world.machine().wants_input());
}
