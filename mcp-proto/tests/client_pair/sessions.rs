//! Servers that lose their sessions, and those that come back as others.

use core::time::Duration;

use mcp_proto::client::Event;
use mcp_proto::model::{Change, Filter};
use mcp_proto::testing::{Link, Way};

use super::{Run, SECOND, everything};

fn handshakes(run: &Run) -> usize {
    run.pair.events().iter().filter(|event| matches!(event, Event::Connected(_))).count()
}

#[test]
fn a_session_that_expired_is_made_anew_once_for_all_calls_that_wait() {
    // C58, R2503-SESS-07: the server answers 404 from then on.
    for (revision, way) in everything().filter(|(_, way)| *way == Way::Http) {
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::with(revision, way, |pair| {
            pair.link(Link::direct().delay(Duration::from_millis(5)))
                .configure(|config| config.unasked = false)
        });
        run.call("echo");
        run.pair.run();
        assert_eq!(handshakes(&run), 1, "{what}");
        run.pair.run_for(Duration::from_secs(3 * 3_600));
        let calls = [0; 5].map(|_| run.call("echo"));
        run.pair.run();
        for call in calls {
            let n = run.number(call);
            assert_eq!(run.text(call), n.to_string(), "{what}");
            assert_eq!(run.ledger.begun(n), 1, "{what}");
        }
        let expected = if revision.adapter().has_handshake { 2 } else { 1 };
        assert_eq!(handshakes(&run), expected, "{what}");
        run.judge(&what);
    }
}

#[test]
fn a_server_that_starts_anew_costs_the_calls_that_ran_and_no_other() {
    for (revision, way) in everything() {
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::new(revision, way);
        let before = run.call("echo");
        let cut_off = run.call("never");
        run.pair.run_for(10 * SECOND);
        run.pair.restart();
        run.pair.run_for(10 * SECOND);
        let after = run.call("echo");
        run.pair.run();
        assert_eq!((run.text(before), run.text(after)), ("0".into(), "2".into()), "{what}");
        let lost = run.pair.reply(cut_off).unwrap_err();
        assert_eq!(lost.ran, mcp_proto::client::Ran::Maybe, "{what}: {lost}");
        run.judge(&what);
    }
}

#[test]
fn listening_goes_on_with_a_server_that_starts_anew() {
    for (revision, way) in everything() {
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::new(revision, way);
        run.pair.listen(Filter::lists());
        run.pair.run_for(10 * SECOND);
        run.pair.restart();
        run.pair.run_for(60 * SECOND);
        run.pair.announce(&Change::Tools);
        run.pair.run_for(10 * SECOND);
        let count =
            |is_one: fn(&Event) -> bool| run.pair.events().iter().filter(|it| is_one(it)).count();
        assert_eq!(count(|it| matches!(it, Event::Changed(..))), 1, "{what}");
        assert_eq!(count(|it| matches!(it, Event::Unlistened(..))), 0, "{what}");
        run.judge(&what);
    }
}
