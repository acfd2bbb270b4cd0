//! A handshake that happens once, on every way and at whatever worker it arrives.

use mcp_proto::revision::Revision;
use mcp_proto::testing::{Cluster, LineId};
use serde_json::Value;

use crate::fixture::{Caller, Way};
use crate::service::{SEC, Service, cluster};

fn handshakes() -> impl Iterator<Item = (Revision, Way)> {
    let all = Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake);
    all.flat_map(|revision| Way::ALL.map(|way| (revision, way)))
}

fn initialize(id: u32, revision: Revision, capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

/// What was heard on a line under that id.
fn heard(cluster: &Cluster<Service>, caller: &Caller, line: LineId, id: u32) -> Vec<Value> {
    let all = caller.heard(cluster, line).into_iter();
    let all = all.map(|text| serde_json::from_str::<Value>(&text).expect("JSON"));
    all.filter(|message| message["id"] == id && message.get("method").is_none()).collect()
}

/// What a session's revision and capabilities show in: how tools are listed, and whether its client is
/// asked.
fn shown(cluster: &mut Cluster<Service>, caller: &mut Caller, id: u32) -> String {
    let list = caller.peer.request_as(&id.to_string(), "tools/list", "", "");
    let line = caller.send(cluster, &list);
    cluster.run_for(SEC(1));
    let listed = heard(cluster, caller, line, id).pop().expect("a list")["result"].to_string();
    let asks = (id + 1).to_string();
    let chat = caller.peer.request_as(&asks, "tools/call", r#""name":"chat""#, "");
    let line = caller.send(cluster, &chat);
    cluster.run_for(SEC(1));
    let asked = caller.heard(cluster, line);
    let asked = asked.iter().filter(|it| it.contains("sampling/createMessage")).count();
    let refused = heard(cluster, caller, line, id + 1).len();
    format!("asked: {}, refused: {}, {listed}", asked > 0, refused > 0)
}

#[test]
fn a_second_initialize_is_refused_wherever_it_arrives_and_the_first_stays() {
    // R24-LIFE-01
    for (first, way) in handshakes() {
        for second in handshakes().map(|(revision, _)| revision) {
            for capabilities in ["{}", r#"{"sampling":{}}"#] {
                let what = format!("{first} {way:?}, then {second} {capabilities}");
                let mut cluster = cluster(3);
                let caller = Caller::new(first, way, 3).declaring(r#"{"sampling":{}}"#);
                let mut caller = caller.open(&mut cluster);
                let before = shown(&mut cluster, &mut caller, 100);
                assert!(before.contains("asked: true"), "{what}: {before}");
                for id in [200, 201] {
                    let line = caller.send(&mut cluster, &initialize(id, second, capabilities));
                    cluster.run_for(SEC(1));
                    let said = heard(&cluster, &caller, line, id);
                    assert_eq!(said.len(), 1, "{what}: {said:?}");
                    assert_eq!(said[0]["error"]["code"], -32600, "{what}: {said:?}");
                }
                assert_eq!(shown(&mut cluster, &mut caller, 300), before, "{what}");
            }
        }
    }
}

#[test]
fn of_two_that_come_at_once_one_is_kept() {
    // R24-LIFE-01
    for first in handshakes().map(|(revision, _)| revision) {
        for second in handshakes().map(|(revision, _)| revision) {
            let what = format!("{first} beside {second}");
            let mut cluster = cluster(3);
            // Over HTTP+SSE the session is there before the handshake.
            let mut caller = Caller::new(Revision::V2026_07_28, Way::Sse, 3).open(&mut cluster);
            caller.peer.revision = first;
            let line = caller.send(&mut cluster, &initialize(1, first, r#"{"sampling":{}}"#));
            caller.send(&mut cluster, &initialize(2, second, "{}"));
            cluster.run_for(SEC(1));
            let said: Vec<Value> =
                [1, 2].iter().flat_map(|id| heard(&cluster, &caller, line, *id)).collect();
            assert_eq!(said.len(), 2, "{what}: {said:?}");
            let kept: Vec<_> = said.iter().filter(|it| it.get("result").is_some()).collect();
            assert_eq!(kept.len(), 1, "{what}: {said:?}");
            let version = if kept[0]["id"] == 1 { first } else { second };
            assert_eq!(kept[0]["result"]["protocolVersion"], version.as_str(), "{what}");
            caller.send(&mut cluster, &caller.peer.initialized());
            caller.peer.revision = version;
            let shown = shown(&mut cluster, &mut caller, 100);
            let is_first = kept[0]["id"] == 1;
            assert!(shown.starts_with(&format!("asked: {is_first}")), "{what}: {shown}");
        }
    }
}
