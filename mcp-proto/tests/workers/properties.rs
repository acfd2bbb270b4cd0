//! What holds whatever links do: cut, stall, cut up, repeat. Each seed is one conversation.

use mcp_proto::revision::Revision;
use mcp_proto::testing::{Cluster, LineId, Link, Random};

use crate::fixture::{Caller, Way};
use crate::service::{MS, SEC, Service, cluster};

const CASES: u64 = 1_000;

/// The progress that a client heard of under its own token, and the results.
fn heard(
    cluster: &Cluster<Service>,
    caller: &Caller,
    lines: &[LineId],
    token: &str,
) -> Vec<String> {
    let messages = lines.iter().flat_map(|line| caller.heard(cluster, *line));
    messages
        // A request of which a part was lost on the way.
        .filter(|message| !message.contains("took too long to arrive"))
        .map(|message| {
            let own = format!("\"progressToken\":\"{token}\"");
            if !message.contains("progressToken") {
                assert!(message.contains("counted"), "{message}");
                return "result".into();
            }
            assert!(message.contains(&own), "{token} heard {message}");
            let (_, rest) = message.split_once("\"progress\":").expect("progress");
            rest.split([',', '}']).next().unwrap_or_default().to_owned()
        })
        .collect()
}

/// Lets a client come back for its call until it has the result, or cannot come back.
fn fetch(cluster: &mut Cluster<Service>, caller: &mut Caller, first: LineId) -> Vec<LineId> {
    let mut lines = vec![first];
    let mut last = None;
    for _ in 0..60 {
        let line = *lines.last().expect("a line");
        let response = cluster.responses(line).pop();
        last = response.as_ref().and_then(|it| it.last_event_id()).or(last);
        // Another reader took the stream up, or the line broke.
        let is_over = cluster.is_over(line) || response.as_ref().is_some_and(|it| it.is_complete);
        let is_done =
            response.is_some_and(|it| it.messages().iter().any(|it| it.contains("counted")));
        match &last {
            _ if is_done => break,
            Some(id) if is_over => lines.push(caller.listen(cluster, Some(id))),
            None if is_over => break,
            _ => {}
        }
        cluster.run_for(MS(500));
    }
    lines
}

#[test]
fn a_resumable_stream_loses_nothing_and_repeats_nothing() {
    let (mut fetched, mut unreachable, mut resumed) = (0, 0, 0);
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let mut cluster = cluster(3);
        let revision = Revision::V2025_11_25;
        let mut callers = [(); 2].map(|()| Caller::new(revision, Way::Http, 3).open(&mut cluster));
        let link = Link::seeded(seed)
            .pieces(20 + random.up_to(300) as usize)
            .delay(MS(random.up_to(20)))
            .stall(random.up_to(20), MS(700))
            .cut(5 + random.up_to(60));
        cluster.set_link(link);
        let repeats = random.up_to(3);
        let firsts = [0, 1].map(|n| {
            callers[n].repeat(seed + n as u64, repeats);
            let meta = format!("\"progressToken\":\"{n}\"");
            callers[n].call(&mut cluster, "count", &meta)
        });
        for (n, caller) in callers.iter_mut().enumerate() {
            let lines = fetch(&mut cluster, caller, firsts[n]);
            let found = heard(&cluster, caller, &lines, &n.to_string());
            if lines.len() > 1 {
                resumed += 1;
            }
            if found.last().is_some_and(|it| it == "result") {
                let mut expected: Vec<String> = (1..=10).map(|n| n.to_string()).collect();
                expected.push("result".into());
                assert_eq!(found, expected, "seed {seed}, client {n}");
                fetched += 1;
            } else {
                // The request itself was lost, or the line broke before there was an event id; or
                // the client could not get through in time.
                assert!(
                    found.windows(2).all(|pair| {
                        pair[0].parse::<u32>().expect("a number") + 1
                            == pair[1].parse::<u32>().expect("one")
                    }),
                    "seed {seed}: {found:?}"
                );
                unreachable += 1;
            }
        }
        let most = if repeats == 0 { 2 } else { 4 };
        assert!(cluster.ran().len() <= most, "seed {seed}: a call ran more often than it arrived");
        // Nothing is left behind, whatever happened.
        cluster.run_for(SEC(400));
        let now = cluster.now();
        assert_eq!(cluster.hub().topics(now), 0, "seed {seed}");
        assert_eq!(cluster.store().sessions(now), 2, "seed {seed}");
    }
    println!("{CASES} seeds: {fetched} fetched, {resumed} resumed, {unreachable} unreachable");
    assert!(fetched > unreachable && resumed > 300);
}

#[test]
fn how_bytes_are_cut_up_changes_none_of_a_conversation() {
    for revision in Revision::ALL {
        for way in Way::ALL {
            if way == Way::Sse && !revision.adapter().has_handshake {
                continue;
            }
            let talk = |link: Link| {
                let mut cluster = cluster(2).with_link(link);
                let mut caller = Caller::new(revision, way, 2)
                    .declaring(r#"{"sampling":{},"elicitation":{}}"#)
                    .open(&mut cluster);
                let tools = ["count", "chat", "ask", "test_simple_text"];
                let lines: Vec<_> = tools
                    .iter()
                    .map(|tool| caller.call(&mut cluster, tool, "\"progressToken\":1"))
                    .collect();
                cluster.run_for(SEC(30));
                lines.iter().map(|line| cluster.received(*line).to_vec()).collect::<Vec<_>>()
            };
            assert_eq!(talk(Link::direct()), talk(Link::bytewise()), "{revision} {way:?}");
        }
    }
}

#[test]
fn a_repeated_request_ends_once_wherever_it_arrived() {
    for revision in Revision::ALL {
        for seed in 0..50 {
            let link = Link::seeded(seed).pieces(100).delay(MS(20)).stall(5, MS(300));
            let mut cluster = cluster(3);
            let mut caller = Caller::new(revision, Way::Http, 3).open(&mut cluster);
            cluster.set_link(link);
            caller.repeat(seed, 1 + seed % 3);
            let lines: Vec<_> = (0..4)
                .map(|n| caller.call(&mut cluster, "count", &format!("\"progressToken\":\"{n}\"")))
                .collect();
            cluster.run_for(SEC(60));
            let whole: Vec<_> =
                (1..=10).map(|n| n.to_string()).chain(["result".to_owned()]).collect();
            for (n, line) in lines.iter().enumerate() {
                let found = heard(&cluster, &caller, &[*line], &n.to_string());
                assert_eq!(found, whole, "{revision}, seed {seed}, call {n}");
            }
            assert!(seed % 3 != 0 || cluster.ran().len() == 8, "{revision}, seed {seed}");
        }
    }
}
