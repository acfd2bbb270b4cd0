//! How long workers wait for others: each default is applied, and to the instant.

use core::time::Duration;

use mcp_proto::revision::Revision;
use mcp_proto::server::Limits;

use crate::fixture::{Caller, Way};
use crate::service::{SEC, cluster};

const TICK: Duration = Duration::from_micros(1);

#[test]
fn a_poll_of_the_hub_waits_so_long_and_is_made_again() {
    let wait = Limits::default().hub_poll;
    for (revision, way) in [
        (Revision::V2025_11_25, Way::Http),
        (Revision::V2024_11_05, Way::Sse),
        (Revision::V2025_06_18, Way::Stdio),
    ] {
        let mut cluster = cluster(1);
        let mut caller = Caller::new(revision, way, 1).open(&mut cluster);
        if way == Way::Http {
            caller.listen(&mut cluster, None);
        }
        cluster.run();
        for _ in 0..3 {
            let due = cluster.hub().poll_timeout().expect("somebody listens");
            let (effects, _) = cluster.activity();
            cluster.run_for(due.saturating_since(cluster.now()) - TICK);
            assert_eq!(cluster.activity().0, effects, "{way:?}: woken too early");
            cluster.run_for(TICK);
            assert!(cluster.activity().0 > effects, "{way:?}: not made again");
            assert_eq!(cluster.hub().poll_timeout(), Some(due + wait), "{way:?}");
        }
    }
}

#[test]
fn the_state_of_a_call_that_asked_waits_so_long() {
    let ttl = Limits::default().request_state_ttl;
    for (pause, runs) in [(ttl - TICK, 2), (ttl, 1)] {
        let mut cluster = cluster(1);
        let mut caller = Caller::new(Revision::V2026_07_28, Way::Http, 1)
            .declaring(r#"{"elicitation":{}}"#)
            .open(&mut cluster);
        let line = caller.call(&mut cluster, "ask", "");
        cluster.run_for(Duration::ZERO);
        let reply = caller.heard(&cluster, line).pop().expect("a reply");
        let (_, rest) = reply.split_once("requestState\":\"").expect("a state");
        let (state, _) = rest.split_once('"').expect("text");
        cluster.run_for(pause);
        let params = format!(
            r#""name":"ask","requestState":"{state}","inputResponses":{{"who":{{"action":"accept","content":{{"name":"ada"}}}}}}"#
        );
        let retry = caller.peer.request("tools/call", &params);
        caller.send(&mut cluster, &retry);
        cluster.run_for(SEC(2));
        assert_eq!(cluster.ran().len(), runs, "after {pause:?}");
    }
}

#[test]
fn a_client_has_so_long_to_answer_a_question() {
    let time = Limits::default().ask;
    for way in [Way::Http, Way::Stdio] {
        let mut cluster = cluster(1);
        let mut caller = Caller::new(Revision::V2025_11_25, way, 1)
            .declaring(r#"{"sampling":{}}"#)
            .open(&mut cluster);
        let line = caller.call(&mut cluster, "chat", "");
        cluster.run_for(Duration::ZERO);
        let asked = caller.heard(&cluster, line);
        assert!(asked.last().is_some_and(|it| it.contains("sampling/createMessage")), "{asked:?}");
        cluster.run_for(time - TICK);
        assert_eq!(caller.heard(&cluster, line).len(), asked.len(), "{way:?}: given up too early");
        cluster.run_for(TICK);
        cluster.run();
        let heard = caller.heard(&cluster, line);
        let [withdrawn, result] = &heard[asked.len()..] else { panic!("{way:?}: {heard:?}") };
        assert!(withdrawn.contains("notifications/cancelled"), "{withdrawn}");
        assert!(result.contains("\"result\""), "{result}");
    }
}

#[test]
fn a_client_that_is_sent_away_is_told_when_to_come_back() {
    let mut cluster = cluster(1);
    let mut caller = Caller::new(Revision::V2025_11_25, Way::Http, 1).open(&mut cluster);
    let line = caller.call(&mut cluster, "polled", "");
    cluster.run_for(SEC(1));
    let response = cluster.responses(line).pop().expect("a response");
    assert!(response.is_complete);
    let told: Vec<_> = response.events().iter().filter_map(|event| event.retry()).collect();
    let retry = Limits::default().retry.as_millis();
    assert!(!told.is_empty() && told.iter().all(|&it| u128::from(it) == retry), "{told:?}");
}
