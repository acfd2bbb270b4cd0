//! Calls that end with a question and are repeated with the answer (R26-MRTR, C100).

use mcp_proto::revision::Revision;
use mcp_proto::server::Limits;
use mcp_proto::testing::{Cluster, Faults, LineId};

use crate::fixture::{Caller, Way};
use crate::service::{MS, SEC, Service, builder, cluster};

const WORKERS: usize = 3;

fn asked() -> (Cluster<Service>, Caller, String) {
    asked_on(cluster(WORKERS))
}

fn asked_on(mut cluster: Cluster<Service>) -> (Cluster<Service>, Caller, String) {
    let mut caller = Caller::new(Revision::V2026_07_28, Way::Http, WORKERS)
        .declaring(r#"{"elicitation":{}}"#)
        .open(&mut cluster);
    let line = caller.call(&mut cluster, "ask", "");
    cluster.run();
    let reply = only(&cluster, &caller, line);
    assert!(reply.contains(r#""resultType":"input_required""#), "{reply}");
    let state = reply.split_once(r#""requestState":""#).expect("a state").1;
    let state = state.split_once('"').expect("text").0.to_owned();
    (cluster, caller, state)
}

fn retry(caller: &mut Caller, cluster: &mut Cluster<Service>, state: &str, name: &str) -> LineId {
    retry_as(caller, cluster, "\"name\":\"ask\"", state, name)
}

fn retry_as(
    caller: &mut Caller,
    cluster: &mut Cluster<Service>,
    call: &str,
    state: &str,
    name: &str,
) -> LineId {
    let answer = format!(r#"{{"action":"accept","content":{{"name":"{name}"}}}}"#);
    let params = format!(r#"{call},"requestState":"{state}","inputResponses":{{"who":{answer}}}"#);
    let message = caller.peer.request("tools/call", &params);
    caller.send(cluster, &message)
}

fn only(cluster: &Cluster<Service>, caller: &Caller, line: LineId) -> String {
    let heard = caller.heard(cluster, line);
    assert_eq!(heard.len(), 1, "{heard:?}");
    heard[0].clone()
}

/// What a response says, without whom it says it to.
fn payload(message: &str) -> &str {
    message
        .split_once(",\"result\"")
        .or_else(|| message.split_once(",\"error\""))
        .expect("a reply")
        .1
}

fn runs(cluster: &Cluster<Service>) -> usize {
    cluster.ran().len()
}

#[test]
fn a_retry_whose_reply_was_lost_is_repeated_with_the_same_outcome() {
    let (mut cluster, mut caller, state) = asked();
    let lost = retry(&mut caller, &mut cluster, &state, "ada");
    cluster.run();
    let first = only(&cluster, &caller, lost);
    assert!(first.contains("ada"), "{first}");
    let again = retry(&mut caller, &mut cluster, &state, "ada");
    cluster.run();
    assert_eq!(payload(&only(&cluster, &caller, again)), payload(&first));
    assert_eq!(runs(&cluster), 2, "the question, and one run with the answer");
}

#[test]
fn three_retries_at_once_on_three_workers_spend_the_state_once() {
    let (mut cluster, mut caller, state) = asked();
    let lines = [(); 3].map(|()| retry(&mut caller, &mut cluster, &state, "ada"));
    cluster.run_for(SEC(10));
    let replies = lines.map(|line| only(&cluster, &caller, line));
    assert!(replies.iter().all(|reply| payload(reply) == payload(&replies[0])), "{replies:?}");
    assert!(replies[0].contains("ada"), "{replies:?}");
    assert_eq!(runs(&cluster), 2);
}

#[test]
fn equal_answers_wait_for_the_first_outcome() {
    let (mut cluster, mut caller, state) = asked();
    let first = retry(&mut caller, &mut cluster, &state, "ada");
    cluster.run_for(MS(500));
    let second = retry(&mut caller, &mut cluster, &state, "ada");
    cluster.run_for(MS(400));
    assert!(caller.heard(&cluster, second).is_empty());
    cluster.run_for(SEC(5));
    let replies = [first, second].map(|line| only(&cluster, &caller, line));
    assert_eq!(payload(&replies[0]), payload(&replies[1]));
    assert_eq!(runs(&cluster), 2);
}

#[test]
fn other_answers_are_refused_while_it_runs_and_afterwards() {
    let (mut cluster, mut caller, state) = asked();
    let first = retry(&mut caller, &mut cluster, &state, "ada");
    cluster.run_for(MS(500));
    for _ in 0..2 {
        let other = retry(&mut caller, &mut cluster, &state, "eve");
        cluster.run_for(SEC(5));
        let reply = only(&cluster, &caller, other);
        assert!(reply.contains("-32602") && !reply.contains("eve"), "{reply}");
    }
    assert!(only(&cluster, &caller, first).contains("ada"));
    assert_eq!(runs(&cluster), 2);
}

#[test]
fn a_state_that_is_tampered_with_foreign_or_expired_is_refused_alike() {
    let (mut cluster, mut caller, state) = asked();
    let unknown = retry(&mut caller, &mut cluster, "never-was", "ada");
    let tampered = retry(&mut caller, &mut cluster, &format!("{state}-TAMPERED"), "ada");
    let cut = retry(&mut caller, &mut cluster, &state[1..], "ada");
    let foreign = retry_as(&mut caller, &mut cluster, "\"name\":\"count\"", &state, "ada");
    let call = "\"name\":\"ask\",\"arguments\":{\"more\":1}";
    let other_arguments = retry_as(&mut caller, &mut cluster, call, &state, "ada");
    cluster.run();
    cluster.run_for(SEC(601));
    let expired = retry(&mut caller, &mut cluster, &state, "ada");
    cluster.run();
    let replies = [unknown, tampered, cut, foreign, other_arguments, expired]
        .map(|line| only(&cluster, &caller, line));
    for reply in &replies {
        assert!(reply.contains("-32602"), "{reply}");
        assert_eq!(payload(reply), payload(&replies[0]));
    }
    assert_eq!(runs(&cluster), 1);
}

#[test]
fn what_a_dead_worker_had_claimed_runs_again_once_the_claim_lapsed() {
    let (mut cluster, mut caller, state) = asked();
    // The next request goes to worker 1, which dies while it runs.
    let dead = retry(&mut caller, &mut cluster, &state, "ada");
    cluster.run_for(MS(500));
    assert_eq!(cluster.ran().last().expect("a run").0, 1);
    cluster.kill(1);
    let early = retry(&mut caller, &mut cluster, &state, "ada");
    cluster.run_for(SEC(10));
    assert!(caller.heard(&cluster, early).is_empty() && caller.heard(&cluster, dead).is_empty());
    cluster.run_for(SEC(10));
    assert!(only(&cluster, &caller, early).contains("ada"));
    assert_eq!(runs(&cluster), 3);
}

#[test]
fn a_lease_is_as_long_as_it_was_set() {
    let mut limits = Limits::default();
    limits.lease = SEC(3);
    let endpoints = (0..WORKERS).map(|_| builder().limits(limits).build());
    let (mut cluster, mut caller, state) = asked_on(Cluster::new(endpoints, Service));
    retry(&mut caller, &mut cluster, &state, "ada");
    cluster.run_for(MS(500));
    cluster.kill(1);
    let early = retry(&mut caller, &mut cluster, &state, "ada");
    cluster.run_for(SEC(2));
    assert!(caller.heard(&cluster, early).is_empty());
    cluster.run_for(SEC(3));
    assert!(only(&cluster, &caller, early).contains("ada"));
}

#[test]
fn an_answer_that_takes_longer_than_the_state_lives_is_given_all_the_same() {
    let (mut cluster, mut caller, state) = asked();
    let line = retry_as(&mut caller, &mut cluster, "\"name\":\"ask\"", &state, "slow");
    cluster.run_for(SEC(20 * 60));
    let reply = only(&cluster, &caller, line);
    assert!(reply.contains("slow"), "{reply}");
}

#[test]
fn a_handler_that_takes_its_time_is_not_run_again_by_a_repeat() {
    for outage in [SEC(0), SEC(9)] {
        let (mut cluster, mut caller, state) = asked();
        let first = retry(&mut caller, &mut cluster, &state, "slow");
        cluster.run_for(SEC(5 * 60));
        // Shorter than a lease: nothing is renewed meanwhile, and nothing is lost.
        let failing = u64::from(!outage.is_zero());
        cluster.store().set_faults(Faults { failing, ..Faults::default() });
        cluster.run_for(outage);
        cluster.store().set_faults(Faults::default());
        let second = retry(&mut caller, &mut cluster, &state, "slow");
        cluster.run_for(SEC(20 * 60));
        let replies = [first, second].map(|line| only(&cluster, &caller, line));
        assert!(replies[0].contains("slow"), "{replies:?}");
        assert_eq!(payload(&replies[0]), payload(&replies[1]));
        assert_eq!(runs(&cluster), 2, "the question, and one run with the answer");
    }
}
