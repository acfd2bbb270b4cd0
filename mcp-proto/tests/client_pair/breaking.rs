//! Links that break, and requests that arrive twice.

use core::time::Duration;

use mcp_proto::client::Method;
use mcp_proto::model::{Operation, Request};
use mcp_proto::revision::{AskBy, Resumption};
use mcp_proto::testing::{Link, Way};
use serde_json::json;

use super::{Run, SECOND, everything};

/// Many calls of many kinds, one after the other and at once.
fn busy(run: &mut Run) {
    for round in 0..3 {
        for tool in ["slow", "echo", "deploy", "fails", "look", "away", "plan"] {
            run.call(tool);
            run.pair.run_for(Duration::from_millis(300));
        }
        run.pair.call(Request::list(Operation::ListTools));
        for _ in 0..8 {
            run.pair.run_for(SECOND);
            answer(run, round > 0);
        }
        if round == 1 {
            let (call, _) = run.calls[run.calls.len() - 2];
            run.pair.cancel(call);
        }
    }
    for _ in 0..4 {
        run.pair.run_for(Duration::from_secs(150));
        answer(run, false);
    }
    // Nothing is left to be given up by the longest time of all.
    run.pair.run_for(Duration::from_secs(300));
    for (call, n) in &run.calls {
        assert!(run.pair.has_ended(*call), "{call}, number {n}, asked {:?}", run.pair.asked());
    }
}

/// Answers whatever is asked.
fn answer(run: &mut Run, agrees: bool) {
    let wants_roots = |run: &Run| run.pair.questions().next().map(|it| it.method == "roots/list");
    while let Some(roots) = wants_roots(run) {
        match roots {
            true => run.pair.accept(&json!({ "roots": [] })),
            false if agrees => run.pair.accept(&json!({ "after": "lunch" })),
            false => run.pair.decline(),
        }
    }
}

fn breaking_links() -> [Link; 3] {
    let link = Link::direct().pieces(60).delay(Duration::from_millis(5));
    [link.clone().cut(200), link.clone().cut(60), link.cut(20).stall(20, 3 * SECOND)]
}

#[test]
fn over_links_that_break_every_call_ends_once_and_says_whether_it_may_have_run() {
    for (revision, way) in everything() {
        for (index, link) in breaking_links().into_iter().enumerate() {
            for seed in 0..4 {
                let mut run = Run::with(revision, way, |pair| pair.link(link.clone()).seed(seed));
                busy(&mut run);
                run.judge(&format!("{revision:?} {way:?} link {index} seed {seed}"));
            }
        }
    }
}

#[test]
fn requests_that_arrive_twice_change_nothing_for_whoever_made_them() {
    for (revision, way) in everything().filter(|(_, way)| *way != Way::Stdio) {
        for seed in 0..6 {
            let mut run = Run::with(revision, way, |pair| pair.repeats(3).seed(seed));
            busy(&mut run);
            run.judge(&format!("{revision:?} {way:?} seed {seed}"));
        }
    }
}

#[test]
fn an_answer_whose_stream_broke_is_fetched_where_the_revision_has_that() {
    // R2503-RESUME-04
    for (revision, way) in everything().filter(|(_, way)| *way == Way::Http) {
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::new(revision, way);
        let slow = run.call("slow");
        run.pair.run_for(Duration::from_millis(1_500));
        run.pair.cut();
        run.pair.run();
        let resumed = run.pair.requests().iter().filter(|open| {
            open.method == Method::Get
                && open.headers.iter().any(|(name, _)| name == "Last-Event-ID")
        });
        let resumed = resumed.count();
        match revision.adapter().resumption {
            Resumption::None => {
                let error = run.pair.reply(slow).unwrap_err();
                assert_eq!(error.ran, mcp_proto::client::Ran::Maybe, "{what}");
                assert_eq!(resumed, 0, "{what}");
            }
            _ => {
                assert_eq!(run.text(slow), "0", "{what}");
                assert!(resumed > 0, "{what}");
                let steps: Vec<_> = run.pair.progress(slow).map(|it| it.progress).collect();
                assert_eq!(steps, [1.0, 2.0, 3.0], "{what}");
            }
        }
        assert_eq!(run.ledger.begun(0), 1, "{what}");
        run.judge(&what);
    }
}

#[test]
fn an_answer_that_is_lost_on_its_way_is_sent_again() {
    for (revision, way) in everything().filter(|(_, way)| *way == Way::Http) {
        let adapter = revision.adapter();
        if adapter.ask_elicitation != AskBy::Push || adapter.resumption == Resumption::None {
            continue;
        }
        let mut run = Run::with(revision, way, |pair| pair.link(Link::direct().stall(1, SECOND)));
        let deploy = run.call("deploy");
        run.pair.run();
        run.pair.accept(&json!({}));
        run.pair.run_for(SECOND / 2);
        // What carries the answer breaks, and so does the stream of the call.
        run.pair.cut();
        run.pair.run();
        assert_eq!(run.text(deploy), "accept", "{revision:?}");
        let is_answer =
            |body: &[u8]| String::from_utf8_lossy(body).contains(r#""action":"accept""#);
        let answers = run.pair.requests().iter().filter(|open| is_answer(&open.body)).count();
        assert_eq!(answers, 2, "{revision:?}");
        run.judge(&format!("{revision:?}"));
    }
}

#[test]
fn a_call_goes_on_though_the_connection_broke_while_its_person_thought() {
    for (revision, way) in everything() {
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::new(revision, way);
        let deploy = run.call("deploy");
        run.pair.run();
        run.pair.cut();
        run.pair.run_for(10 * SECOND);
        let waits = run.pair.asked().len();
        match revision.adapter().ask_elicitation {
            AskBy::Push if way != Way::Http => {
                // Who asked is gone, and with it the question.
                assert_eq!(waits, 0, "{what}");
                run.pair.reply(deploy).unwrap_err();
            }
            _ => {
                assert_eq!(waits, 1, "{what}");
                run.pair.accept(&json!({}));
                run.pair.run_for(10 * SECOND);
                assert_eq!(run.text(deploy), "accept", "{what}");
            }
        }
        run.judge(&what);
    }
}
