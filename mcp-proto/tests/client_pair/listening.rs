//! Changes and logs, told to the client.

use core::time::Duration;

use mcp_proto::client::{Event, ListenId};
use mcp_proto::model::{Change, Filter, LogLevel, Request};

use super::{Run, SECOND, everything, good_links};

fn filter() -> Filter {
    let mut filter = Filter::lists();
    filter.uris.push("a://b".into());
    filter
}

fn changes(run: &Run, listen: ListenId) -> Vec<Change> {
    let changed = |event: &Event| match event {
        Event::Changed(own, change) if *own == listen => Some(change.clone()),
        _ => None,
    };
    run.pair.events().iter().filter_map(changed).collect()
}

fn count(run: &Run, is_one: impl Fn(&Event) -> bool) -> usize {
    run.pair.events().iter().filter(|event| is_one(event)).count()
}

#[test]
fn changes_are_told_over_every_link_and_after_any_silence() {
    for (revision, way) in everything() {
        for (seed, link) in (0..).zip(good_links()) {
            let what = format!("{revision:?} {way:?} seed {seed}");
            let mut run = Run::with(revision, way, |pair| pair.link(link).seed(seed));
            let listen = run.pair.listen(filter());
            // Longer than any poll of a hub.
            run.pair.run_for(Duration::from_secs(100));
            assert_eq!(count(&run, |it| matches!(it, Event::Listening(..))), 1, "{what}");
            let told = [Change::Tools, Change::Updated("a://b".into())];
            for change in &told {
                run.pair.announce(change);
                run.pair.run_for(20 * SECOND);
            }
            assert_eq!(changes(&run, listen), told, "{what}");
            let now = run.pair.now();
            run.pair.client().unlisten(now, listen);
            run.pair.run_for(20 * SECOND);
            assert_eq!(count(&run, |it| matches!(it, Event::Unlistened(_, Ok(())))), 1, "{what}");
            run.pair.announce(&Change::Prompts);
            run.pair.run_for(20 * SECOND);
            assert_eq!(changes(&run, listen), told, "{what}");
            run.judge(&what);
        }
    }
}

#[test]
fn listening_survives_a_broken_link_and_says_what_it_may_have_missed() {
    for (revision, way) in everything() {
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::new(revision, way);
        let listen = run.pair.listen(filter());
        run.pair.run_for(20 * SECOND);
        run.pair.cut();
        run.pair.run_for(20 * SECOND);
        run.pair.announce(&Change::Tools);
        run.pair.run_for(20 * SECOND);
        assert_eq!(changes(&run, listen), [Change::Tools], "{what}");
        assert_eq!(count(&run, |it| matches!(it, Event::Missed(_))), 1, "{what}");
        assert_eq!(count(&run, |it| matches!(it, Event::Unlistened(..))), 0, "{what}");
        run.judge(&what);
        assert_eq!(count(&run, |it| matches!(it, Event::Unlistened(..))), 1, "{what}");
    }
}

#[test]
fn a_call_logs_what_was_asked_for() {
    for (revision, way) in everything() {
        let what = format!("{revision:?} {way:?}");
        let mut run = Run::with(revision, way, |pair| {
            pair.configure(|config| config.log_level = Some(LogLevel::Info))
        });
        let slow = run.call("slow");
        run.pair.run();
        assert_eq!(run.text(slow), "0", "{what}");
        assert_eq!(count(&run, |it| matches!(it, Event::Log(..))), 3, "{what}");
        let level = run.pair.call(Request::set_log_level(LogLevel::Error));
        run.pair.run();
        run.pair.reply(level).unwrap();
        run.call("slow");
        run.pair.run();
        assert_eq!(count(&run, |it| matches!(it, Event::Log(..))), 3, "{what}");
        run.judge(&what);
    }
}
