//! Calls over links that lose nothing.

use core::time::Duration;

use mcp_proto::client::ErrorKind;
use mcp_proto::model::{Completing, Operation, ReplyValue, Request};
use mcp_proto::revision::Revision;
use mcp_proto::testing::{Link, Way};

use super::{Run, everything, good_links};

/// What came of one of everything, without what only says when.
fn one_of_everything(revision: Revision, way: Way, link: Link, seed: u64) -> Vec<String> {
    let mut run = Run::with(revision, way, |pair| pair.link(link).seed(seed));
    let what = format!("{revision:?} {way:?} seed {seed}");
    let echo = run.call("echo");
    let slow = run.call("slow");
    let never = run.call("never");
    let fails = run.call("fails");
    let away = run.call("away");
    let list = run.pair.call(Request::list(Operation::ListTools));
    let read = run.pair.call(Request::read_resource("a://b"));
    let none = run.pair.call(Request::call_tool("none", None));
    let unread = run.pair.call(Request::read_resource("no://such"));
    let prompt = run.pair.call(Request::get_prompt("hi", None));
    let complete = run.pair.call(Request::complete(Completing::prompt("hi", "x", "y")));
    let ping = run.pair.call(Request::ping());
    let describe = run.pair.call(Request::describe());
    run.pair.run_for(Duration::from_secs(60));
    run.pair.cancel(never);
    run.pair.run();

    assert_eq!(run.text(echo), "0", "{what}");
    assert_eq!(run.text(slow), "1", "{what}");
    assert_eq!(run.text(away), "4", "{what}");
    let steps: Vec<_> = run.pair.progress(slow).map(|step| step.progress).collect();
    assert_eq!(steps, [1.0, 2.0, 3.0], "{what}");
    let ReplyValue::Tools(tools) = run.pair.reply(list).unwrap().value else { panic!("{what}") };
    assert_eq!(tools.entries.len(), 9, "{what}");
    assert_eq!(run.pair.reply(never).unwrap_err().kind, ErrorKind::Cancelled, "{what}");
    for (call, code) in [(none, -32602), (fails, -32602)] {
        assert_eq!(run.pair.reply(call).unwrap_err().server().unwrap().code, code, "{what}");
    }
    for n in [echo, slow, never, fails, away].map(|call| run.number(call)) {
        assert_eq!(run.ledger.begun(n), 1, "{what}: {n}");
    }
    let server = run.pair.client().server().unwrap();
    assert_eq!(server.adapter.version, revision.adapter().version);
    let all = [echo, slow, away, list, read, unread, prompt, complete, ping, describe, never];
    let ends = all.map(|call| match run.pair.reply(call) {
        Ok(reply) => format!("{:?}", reply.value),
        Err(error) => format!("{error:?}"),
    });
    run.judge(&what);
    ends.to_vec()
}

#[test]
fn calls_are_made_alike_whatever_the_revision_the_way_and_the_link() {
    for (revision, way) in everything() {
        let direct = one_of_everything(revision, way, Link::direct(), 0);
        for (seed, link) in (1..).zip(good_links()) {
            // Neither how bytes are cut up nor whose turn comes first changes what comes of calls.
            let other = one_of_everything(revision, way, link, seed);
            assert_eq!(direct, other, "{revision:?} {way:?} seed {seed}");
        }
    }
}

#[test]
fn cancelling_reaches_the_server_in_every_revisions_way() {
    // R24-CANC-01, R26-HTTP-17
    for (revision, way) in everything() {
        let mut run = Run::new(revision, way);
        let never = run.call("never");
        run.pair.run_for(Duration::from_secs(5));
        assert_eq!(run.ledger.begun(run.number(never)), 1);
        run.pair.cancel(never);
        run.pair.run();
        // The server holds nothing for it any more; else it would go on for ever.
        run.judge(&format!("{revision:?} {way:?}"));
    }
}
