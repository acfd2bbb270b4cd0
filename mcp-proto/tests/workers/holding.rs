//! A session lives for as long as anything of it goes on, and so long after that
//! (R2503-SESS-05, C47).

use core::time::Duration;

use mcp_proto::revision::Revision;
use mcp_proto::server::Limits;
use mcp_proto::testing::{Cluster, Faults, LineId, Store};

use crate::fixture::{Caller, Way};
use crate::service::{MS, SEC, Service, builder};

const HANDSHAKE: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

/// Less than any call of these tests takes, than a poll of the hub and a question may; and none of
/// them a multiple of another.
const LIVES: [u64; 4] = [700, 3_000, 7_000, 29_000];

/// Each revision on each way that has sessions which outlive a request, with each life.
fn each(test: impl Fn(&mut Cluster<Service>, Caller, Duration, &str)) {
    for (revision, way) in HANDSHAKE.iter().flat_map(|it| [(*it, Way::Http), (*it, Way::Sse)]) {
        for life in LIVES.map(MS) {
            let limits = || {
                let mut limits = Limits::default();
                limits.session_ttl = life;
                limits
            };
            let workers = (0..2).map(|_| builder().limits(limits()).build());
            let mut cluster = Cluster::new(workers, Service);
            let caller = Caller::new(revision, way, 2).declaring(r#"{"sampling":{}}"#);
            let caller = caller.open(&mut cluster);
            test(&mut cluster, caller, life, &format!("{revision} {way:?} {life:?}"));
        }
    }
}

/// Whether the session is known.
fn is_known(cluster: &mut Cluster<Service>, caller: &mut Caller) -> bool {
    let id = "\"known\"";
    let ping = caller.peer.request_as(id, "ping", "", "");
    let line = caller.send(cluster, &ping);
    cluster.run_for(MS(100));
    caller.heard(cluster, line).iter().any(|it| it.contains(id) && it.contains("\"result\""))
}

/// How many messages came where the next reply will come too.
fn said(cluster: &Cluster<Service>, caller: &Caller) -> usize {
    if caller.way == Way::Sse { caller.heard(cluster, caller.line()).len() } else { 0 }
}

/// The messages that came since there were so many.
fn since(cluster: &Cluster<Service>, caller: &Caller, line: LineId, known: usize) -> String {
    caller.heard(cluster, line).split_off(known).concat()
}

#[test]
fn calls_hold_their_session_whether_they_say_anything_or_not() {
    // A minute of silence, ten seconds of progress, and one message before a long silence.
    for (tool, time) in [("slow", SEC(60)), ("count", SEC(10)), ("long", SEC(200))] {
        each(|cluster, mut caller, life, what| {
            let before = said(cluster, &caller);
            let line = caller.call(cluster, tool, "\"progressToken\":\"p\"");
            cluster.run_for(time + MS(100));
            let heard = since(cluster, &caller, line, before);
            assert!(heard.contains("\"content\""), "{what} {tool}: {heard}");
            assert!(is_known(cluster, &mut caller), "{what} {tool}");
            if caller.way == Way::Http {
                cluster.run_for(life + MS(100));
                assert!(!is_known(cluster, &mut caller), "{what} {tool}: the call is over");
            }
        });
    }
}

#[test]
fn a_call_holds_its_session_though_its_client_went_away() {
    for revision in HANDSHAKE {
        let mut limits = Limits::default();
        limits.session_ttl = SEC(3);
        let mut cluster = Cluster::new([builder().limits(limits).build()], Service);
        let mut caller = Caller::new(revision, Way::Http, 1).open(&mut cluster);
        let line = caller.call(&mut cluster, "slow", "");
        cluster.run_for(SEC(1));
        cluster.cut(line);
        cluster.run_for(SEC(58));
        assert!(is_known(&mut cluster, &mut caller), "{revision}");
        cluster.run_for(SEC(10));
        assert!(!is_known(&mut cluster, &mut caller), "{revision}: the call is over");
    }
}

#[test]
fn open_streams_hold_their_session_and_nothing_holds_it_after_them() {
    each(|cluster, mut caller, life, what| {
        let line = match caller.way {
            Way::Http => caller.listen(cluster, None),
            _ => caller.line(),
        };
        cluster.run_for(SEC(300));
        assert!(is_known(cluster, &mut caller), "{what}");
        cluster.cut(line);
        cluster.run_for(life + MS(100));
        let now = cluster.now();
        assert_eq!(cluster.store().sessions(now), 0, "{what}");
    });
}

#[test]
fn open_questions_hold_their_session_until_they_are_answered() {
    each(|cluster, mut caller, _, what| {
        let before = said(cluster, &caller);
        let line = caller.call(cluster, "chat", "");
        cluster.run_for(SEC(40));
        let asked = since(cluster, &caller, line, before);
        let id = asked.split_once("\"id\":").and_then(|(_, rest)| rest.split_once([',', '}']));
        let Some((id, _)) = id.filter(|_| asked.contains("sampling/createMessage")) else {
            panic!("{what}: {asked}")
        };
        let result = r#"{"role":"assistant","model":"m","content":{"type":"text","text":"hello"}}"#;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        caller.send(cluster, &answer);
        cluster.run_for(SEC(1));
        let heard = since(cluster, &caller, line, before);
        assert!(heard.contains("given ") && heard.contains("hello"), "{what}: {heard}");
    });
}

#[test]
fn a_session_that_is_lost_all_the_same_ends_its_streams() {
    each(|cluster, mut caller, life, what| {
        let line = match caller.way {
            Way::Http => caller.listen(cluster, None),
            _ => caller.line(),
        };
        cluster.run_for(MS(1));
        *cluster.store() = Store::new(1, Faults::default());
        cluster.run_for(life);
        let response = cluster.responses(line).pop().expect("a response");
        assert!(response.is_complete, "{what}");
    });
}
