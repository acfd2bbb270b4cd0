//! Streams that are taken up again on another worker (R2503-RESUME, R2511-RESUME, C37, C50, C53).

use mcp_proto::revision::{Resumption, Revision};
use mcp_proto::testing::{Cluster, LineId, Received};

use crate::fixture::{Caller, Way};
use crate::service::{MS, SEC, Service, cluster};

const RESUMABLE: [Revision; 3] =
    [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

const COUNT: &str = "\"progressToken\":\"p\"";

fn response(cluster: &Cluster<Service>, line: LineId) -> Received {
    cluster.responses(line).pop().expect("a response")
}

/// The progress that was reported, and whether the result came.
fn counted(messages: &[String]) -> (Vec<u32>, usize) {
    let progress = |message: &String| {
        let rest = message.split_once("\"progress\":")?.1;
        rest.split([',', '}']).next()?.parse().ok()
    };
    let results = messages.iter().filter(|message| message.contains("counted")).count();
    (messages.iter().filter_map(progress).collect(), results)
}

#[test]
fn a_cut_stream_goes_on_elsewhere_with_exactly_what_was_missed() {
    for revision in RESUMABLE {
        for cut_after in [500, 1_500, 4_500, 9_500] {
            let mut cluster = cluster(3);
            let mut caller = Caller::new(revision, Way::Http, 3).open(&mut cluster);
            let first = caller.call(&mut cluster, "count", COUNT);
            // Another stream of the same session, none of which may turn up here.
            let other = caller.call(&mut cluster, "count", "\"progressToken\":\"other\"");
            cluster.run_for(MS(cut_after));
            let mut heard = caller.heard(&cluster, first);
            let last = response(&cluster, first).last_event_id().expect("an event id");
            cluster.cut(first);
            cluster.run_for(SEC(3));
            let second = caller.listen(&mut cluster, Some(&last));
            cluster.run_for(SEC(20));
            let resumed = response(&cluster, second);
            assert_eq!(resumed.status, 200, "{revision}");
            assert!(resumed.is_complete, "{revision}: the stream ends after the result");
            heard.extend(resumed.messages());
            assert!(heard.iter().all(|message| !message.contains("other")), "{heard:?}");
            assert_eq!(counted(&heard), ((1..=10).collect(), 1), "{revision} at {cut_after}");
            assert_eq!(counted(&caller.heard(&cluster, other)), ((1..=10).collect(), 1));
            // After the end: what is left is nothing, and the stream ends.
            let last = resumed.last_event_id().expect("an event id");
            let third = caller.listen(&mut cluster, Some(&last));
            cluster.run_for(SEC(5));
            let nothing = response(&cluster, third);
            assert!(nothing.messages().is_empty() && nothing.is_complete, "{nothing:?}");
            assert_eq!(cluster.ran().len(), 2);
        }
    }
}

#[test]
fn who_takes_a_stream_up_ends_its_older_readers() {
    let mut cluster = cluster(3);
    let mut caller = Caller::new(Revision::V2025_11_25, Way::Http, 3).open(&mut cluster);
    let first = caller.call(&mut cluster, "count", COUNT);
    cluster.run_for(MS(2_500));
    let last = response(&cluster, first).last_event_id().expect("an event id");
    let second = caller.listen(&mut cluster, Some(&last));
    cluster.run_for(SEC(2));
    assert!(response(&cluster, first).is_complete);
    let third = caller.listen(&mut cluster, Some(&last));
    cluster.run_for(SEC(10));
    assert!(response(&cluster, second).is_complete);
    let mut heard = caller.heard(&cluster, first);
    heard.extend(caller.heard(&cluster, third));
    assert_eq!(counted(&heard), ((1..=10).collect(), 1));
}

#[test]
fn a_call_can_send_its_client_away_and_is_fetched_later() {
    for revision in RESUMABLE {
        let primed = revision.adapter().resumption == Resumption::Primed;
        let mut cluster = cluster(2);
        let mut caller = Caller::new(revision, Way::Http, 2).open(&mut cluster);
        let first = caller.call(&mut cluster, "polled", "");
        cluster.run_for(SEC(1));
        if !primed {
            // The client could not come back for it.
            cluster.run_for(SEC(2));
            assert!(caller.heard(&cluster, first).pop().expect("a result").contains("polled"));
            continue;
        }
        let sent_away = response(&cluster, first);
        assert!(sent_away.is_complete && sent_away.messages().is_empty(), "{sent_away:?}");
        let events = sent_away.events();
        assert!(events[0].id().is_some() && events[0].raw_data() == Some(""), "{events:?}");
        assert!(events.iter().any(|event| event.retry().is_some()));
        let last = sent_away.last_event_id().expect("an event id");
        let second = caller.listen(&mut cluster, Some(&last));
        cluster.run_for(SEC(5));
        let heard = caller.heard(&cluster, second);
        assert!(heard.last().is_some_and(|it| it.contains("polled")), "{heard:?}");
        assert!(response(&cluster, second).is_complete);
    }
}

#[test]
fn an_event_id_that_never_was_ends_in_silence() {
    for revision in RESUMABLE {
        let mut cluster = cluster(2);
        let mut caller = Caller::new(revision, Way::Http, 2).open(&mut cluster);
        let long = "a".repeat(500);
        for id in ["never.1", "never.999999", "changes.999999", "x", ".", "1", "a.b.c", &long] {
            let line = caller.listen(&mut cluster, Some(id));
            cluster.run_for(SEC(10));
            let response = response(&cluster, line);
            assert_eq!((response.status, response.messages().len()), (200, 0), "{id}");
            cluster.cut(line);
        }
        cluster.run_for(SEC(400));
        let now = cluster.now();
        assert_eq!(cluster.hub().topics(now), 0, "something is left behind");
        assert_eq!(cluster.hub().waiting(), 0);
    }
}

#[test]
fn the_stream_of_a_lost_worker_ends_with_one_error() {
    for revision in RESUMABLE {
        let mut cluster = cluster(3);
        let mut caller = Caller::new(revision, Way::Http, 3).open(&mut cluster);
        let first = caller.call(&mut cluster, "count", COUNT);
        cluster.run_for(MS(3_500));
        let mut heard = caller.heard(&cluster, first);
        let last = response(&cluster, first).last_event_id().expect("an event id");
        let worker = cluster.ran().last().expect("a call").0;
        cluster.kill(worker);
        // Everybody who still lives looks at once.
        let alive = [(worker + 1) % 3, (worker + 2) % 3];
        let readers = alive.map(|worker| caller.listen_at(&mut cluster, worker, Some(&last)));
        cluster.run_for(SEC(60));
        // The second reader took the stream from the first.
        assert!(caller.heard(&cluster, readers[0]).is_empty());
        let resumed = response(&cluster, readers[1]);
        assert!(resumed.is_complete);
        heard.extend(resumed.messages());
        let (progress, results) = counted(&heard);
        assert_eq!((progress, results), (vec![1, 2, 3, 4], 0), "{revision}");
        let errors: Vec<_> = heard.iter().filter(|it| it.contains("-32603")).collect();
        assert_eq!(errors.len(), 1, "{heard:?}");
        assert!(errors[0].contains("\"id\":2") && errors[0].contains("may have run"), "{errors:?}");
    }
}

/// Before the call is worth a record.
#[test]
fn a_worker_lost_as_it_begins_is_noticed_all_the_same() {
    for revision in RESUMABLE {
        for (after, id) in [(400, "5"), (700, "\"a/b\""), (700, LONG)] {
            let mut cluster = cluster(3);
            let mut caller = Caller::new(revision, Way::Http, 3).open(&mut cluster);
            let params = "\"name\":\"count\"";
            let message = caller.peer.request_as(id, "tools/call", params, COUNT);
            let first = caller.send(&mut cluster, &message);
            cluster.run_for(MS(after));
            let last = response(&cluster, first).last_event_id().expect("an event id");
            let worker = cluster.ran().last().expect("a call").0;
            cluster.kill(worker);
            let alive = [(worker + 1) % 3, (worker + 2) % 3];
            let [older, newer] =
                alive.map(|worker| caller.listen_at(&mut cluster, worker, Some(&last)));
            cluster.run_for(SEC(40));
            assert!(caller.heard(&cluster, older).is_empty());
            let heard = caller.heard(&cluster, newer);
            assert!(response(&cluster, newer).is_complete && heard.len() == 1, "{heard:?}");
            assert!(heard[0].contains("-32603") && heard[0].contains("may have run"), "{heard:?}");
            assert!(heard[0].contains(&format!("\"id\":{id}")), "{heard:?}");
            // Who comes again after that hears no second end.
            let again = response(&cluster, newer).last_event_id().expect("an event id");
            let again = caller.listen_at(&mut cluster, alive[0], Some(&again));
            cluster.run_for(SEC(40));
            let again = response(&cluster, again);
            assert!(again.messages().is_empty() && again.is_complete, "{id}: {again:?}");
        }
    }
}

/// Longer than event ids tell.
const LONG: &str = "\"0123456789012345678901234567890123456789\"";

#[test]
fn who_comes_back_when_the_result_is_no_longer_kept_is_told_that_it_may_have_run() {
    for revision in RESUMABLE {
        let mut cluster = cluster(2);
        let mut caller = Caller::new(revision, Way::Http, 2).open(&mut cluster);
        let first = caller.call(&mut cluster, "count", COUNT);
        cluster.run_for(MS(3_500));
        let last = response(&cluster, first).last_event_id().expect("an event id");
        cluster.cut(first);
        cluster.run_for(SEC(200));
        let late = caller.listen(&mut cluster, Some(&last));
        cluster.run_for(SEC(30));
        let heard = caller.heard(&cluster, late);
        assert!(heard.len() == 1 && heard[0].contains("may have run"), "{heard:?}");
        assert!(response(&cluster, late).is_complete);
    }
}

#[test]
fn a_worker_that_lives_keeps_its_streams_however_long_they_are_silent() {
    let mut cluster = cluster(2);
    let mut caller = Caller::new(Revision::V2025_06_18, Way::Http, 2).open(&mut cluster);
    let first = caller.call(&mut cluster, "long", COUNT);
    cluster.run_for(SEC(1));
    let last = response(&cluster, first).last_event_id().expect("an event id");
    cluster.cut(first);
    let second = caller.listen(&mut cluster, Some(&last));
    cluster.run_for(SEC(300));
    let heard = caller.heard(&cluster, second);
    assert_eq!(heard.len(), 1, "{heard:?}");
    assert!(heard[0].contains("long"), "{heard:?}");
    let now = cluster.now();
    assert_eq!(cluster.store().sessions(now), 1, "the record of the stream is gone");
}

#[test]
fn another_principal_and_another_session_resume_nothing() {
    let mut cluster = cluster(2);
    let mut caller = Caller::new(Revision::V2025_11_25, Way::Http, 2).open(&mut cluster);
    let mut stranger = Caller::new(Revision::V2025_11_25, Way::Http, 2).open(&mut cluster);
    let line = caller.call(&mut cluster, "count", COUNT);
    cluster.run_for(MS(3_500));
    let last = response(&cluster, line).last_event_id().expect("an event id");
    let foreign = stranger.listen(&mut cluster, Some(&last));
    cluster.run_for(SEC(20));
    // As if it had never been: all that is known of it is what the id says.
    let made_up = format!("x{last}");
    let unknown = stranger.listen(&mut cluster, Some(&made_up));
    cluster.run_for(SEC(20));
    let [foreign, unknown] = [foreign, unknown].map(|line| response(&cluster, line).messages());
    assert_eq!(foreign, unknown);
    assert!(foreign.iter().all(|message| message.contains("may have run")), "{foreign:?}");
    assert_eq!(counted(&caller.heard(&cluster, line)), ((1..=10).collect(), 1));
}
