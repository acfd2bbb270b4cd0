//! What a client is told of a call's progress.

use core::time::Duration;

use mcp_proto::model::{Call, Operation, Progress, ToolResult};
use mcp_proto::revision::Revision;
use mcp_proto::server::Machine;
use mcp_proto::testing::{Script, World};
use proptest::prelude::*;

use crate::fixture::{Peer, Wire, application};
use crate::traffic;

/// What a handler reports of one call, each after a pause in ms.
#[derive(Clone, Debug)]
pub(crate) struct Reports {
    revision: Revision,
    values: Vec<(f64, u64)>,
}

pub(crate) fn reports() -> impl Strategy<Value = Reports> {
    let few = (-4..4i8).prop_map(|it| f64::from(it) / 2.0);
    let odd = prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY)];
    let value = prop_oneof![6 => few, 2 => -1e3..1e3, 1 => odd];
    let values = prop::collection::vec((value, 0..300u64), 0..12);
    (traffic::revision(), values).prop_map(|(revision, values)| Reports { revision, values })
}

/// Whether what is told is what rises of it, and no more.
pub(crate) fn rises<M: Machine>(
    machine: M,
    wire: Wire,
    Reports { revision, values }: &Reports,
) -> Result<(), TestCaseError> {
    let script = values.iter().fold(Script::silent(), |script, (value, pause)| {
        script.wait(Duration::from_millis(*pause)).progress(Progress::new(*value))
    });
    let script = script.respond(ToolResult::text("done"));
    let app = move |call: &Call| match call.operation() {
        Operation::CallTool => script.clone(),
        _ => application(call),
    };
    let mut world = World::new(machine, app);
    let mut peer = Peer::new(*revision, wire);
    let hello = peer.hello();
    world.send(&peer.frame(&hello));
    world.run();
    let reply = String::from_utf8_lossy(&world.take_sent()).into_owned();
    let session = reply.split_once("Mcp-Session-Id: ").and_then(|(_, it)| it.split_once('\r'));
    peer.session = session.map(|(session, _)| session.to_owned());
    let params = r#""name":"hang""#;
    let call = peer.request_with("tools/call", params, r#""progressToken":"t""#);
    world.send(&peer.frame(&call));
    world.run_for(Duration::from_secs(10));
    let said = String::from_utf8_lossy(&world.take_sent()).into_owned();
    prop_assert!(said.contains("done"), "{said}");
    let reports = said.split("\"progress\":").skip(1);
    let number = |rest: &str| rest.split([',', '}']).next()?.parse::<f64>().ok();
    let told: Option<Vec<f64>> = reports.map(number).collect();
    let mut expected: Vec<f64> = Vec::new();
    for (value, _) in values.iter().filter(|(value, _)| value.is_finite()) {
        if expected.last().is_none_or(|last| value > last) {
            expected.push(*value);
        }
    }
    prop_assert_eq!(told, Some(expected), "{}", said);
    Ok(())
}
