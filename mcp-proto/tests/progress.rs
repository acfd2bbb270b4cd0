//! What a client is told of a call's progress rises, whatever the handler reports, in every revision
//! and on every transport (R24-PROG-02).

mod fixture;

use core::time::Duration;

use fixture::{Caller, Way, builder};
use mcp_proto::model::{Call, Operation, Progress, ToolResult};
use mcp_proto::revision::Revision;
use mcp_proto::testing::{Cluster, Script};
use serde_json::Value;

/// What a handler reports, and what of it is told.
const SEQUENCES: [(&[f64], &[f64]); 10] = [
    (&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]),
    (&[10.0, 9.0, 8.0, 0.0, -19.0], &[10.0]),
    (&[1.0, 1.0, 2.0, 1.5, 3.0], &[1.0, 2.0, 3.0]),
    (&[0.1, 0.2, 0.2, 0.200_000_1, 0.15, 0.3], &[0.1, 0.2, 0.200_000_1, 0.3]),
    (&[f64::NAN, 1.0, f64::NAN, 0.5, 2.0], &[1.0, 2.0]),
    (&[1.0, f64::INFINITY, 2.0, f64::NEG_INFINITY, 1.0, 3.0], &[1.0, 2.0, 3.0]),
    (&[f64::NEG_INFINITY, -3.0, -2.5, -2.5, -7.0, 0.0], &[-3.0, -2.5, 0.0]),
    (&[0.0, -0.0, 0.0, f64::MIN_POSITIVE], &[0.0, f64::MIN_POSITIVE]),
    (&[f64::MAX, f64::MAX, f64::MIN], &[f64::MAX]),
    (&[], &[]),
];

fn report(values: &[f64], pause: Duration) -> Script {
    let step = |script: Script, value: &f64| script.progress(Progress::new(*value)).wait(pause);
    values.iter().fold(Script::silent(), step).respond(ToolResult::text("done"))
}

/// What is told of the progress of the call with this token.
fn told(messages: &[String], token: &str) -> Vec<f64> {
    let messages = messages.iter().map(|it| serde_json::from_str::<Value>(it).expect("JSON"));
    let reports = messages.filter(|it| it["method"] == "notifications/progress");
    let own = reports.filter(|it| it["params"]["progressToken"] == token);
    own.map(|it| it["params"]["progress"].as_f64().expect("a number")).collect()
}

/// The revisions that travel in this way: the oldest HTTP is for those with a handshake.
fn revisions(way: Way) -> impl Iterator<Item = Revision> {
    let travels = move |it: &Revision| way != Way::Sse || it.adapter().has_handshake;
    Revision::ALL.into_iter().filter(travels)
}

/// Makes one call after the other, which report these values, and gives what came for each.
fn reported(
    revision: Revision,
    way: Way,
    sequences: &[&'static [f64]],
    pause: Duration,
) -> Vec<Vec<f64>> {
    let mut left = sequences.iter().copied();
    let application = move |call: &Call| match call.operation() {
        Operation::CallTool => report(left.next().expect("no more calls"), pause),
        _ => fixture::application(call),
    };
    let endpoint = builder().http_sse(Caller::STREAM, Caller::MESSAGES).build();
    let mut cluster = Cluster::new([endpoint], application);
    let mut caller = Caller::new(revision, way, 1).open(&mut cluster);
    let lines: Vec<_> = (0..sequences.len())
        .map(|call| {
            let token = format!("\"progressToken\":\"{call}\"");
            caller.call(&mut cluster, "hang", &token)
        })
        .collect();
    cluster.run_for(Duration::from_secs(30));
    let heard = |(call, line): (usize, &_)| {
        let messages = caller.heard(&cluster, *line);
        assert!(messages.iter().any(|it| it.contains("done")), "{revision:?} {way:?}");
        told(&messages, &call.to_string())
    };
    lines.iter().enumerate().map(heard).collect()
}

fn what_is_told_rises(way: Way) {
    for revision in revisions(way) {
        for pause in [Duration::ZERO, Duration::from_millis(100), Duration::from_secs(2)] {
            for (values, expected) in SEQUENCES {
                let told = reported(revision, way, &[values], pause);
                assert_eq!(told, [expected], "{revision:?} {values:?} {pause:?}");
            }
        }
    }
}

#[test]
fn what_is_told_over_http_rises_whatever_is_reported() {
    what_is_told_rises(Way::Http);
}

#[test]
fn what_is_told_over_http_with_sse_rises_whatever_is_reported() {
    what_is_told_rises(Way::Sse);
}

#[test]
fn what_is_told_over_stdio_rises_whatever_is_reported() {
    what_is_told_rises(Way::Stdio);
}

#[test]
fn calls_side_by_side_rise_each_for_itself() {
    let (values, expected): (Vec<_>, Vec<_>) = SEQUENCES.into_iter().unzip();
    for way in Way::ALL {
        for revision in revisions(way) {
            let told = reported(revision, way, &values, Duration::from_millis(10));
            assert_eq!(told, expected, "{revision:?} {way:?}");
        }
    }
}
