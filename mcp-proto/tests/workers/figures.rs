//! What it may cost.

use mcp_proto::revision::Revision;
use mcp_proto::testing::Cluster;

use crate::fixture::{Caller, Way};
use crate::service::{MS, SEC, Service, cluster};

const MIB: u64 = 1 << 20;

#[test]
fn a_gibibyte_to_a_reader_that_stalls_is_under_four_mebibytes() {
    for (revision, way) in [
        (Revision::V2025_11_25, Way::Http),
        (Revision::V2025_06_18, Way::Http),
        (Revision::V2026_07_28, Way::Http),
        (Revision::V2025_06_18, Way::Stdio),
        (Revision::V2026_07_28, Way::Stdio),
    ] {
        let mut cluster = cluster(1);
        let mut caller = Caller::new(revision, way, 1).open(&mut cluster);
        let line = caller.call(&mut cluster, "flood", LOGS);
        cluster.set_reading(line, false);
        // What the application means to say is there before it says any of it.
        cluster.run_for(MS(0));
        let measured = allocation_counter::measure(|| cluster.run_for(SEC(20)));
        let (most, held) = (measured.bytes_max, measured.bytes_current);
        println!("{revision} {way:?}: {most} bytes at most, {held} in the end");
        assert_eq!(cluster.ran().len(), 1);
        assert!(most < 4 * MIB, "{revision} {way:?}: {most}");
    }
}

const LOGS: &str = "\"progressToken\":1,\"io.modelcontextprotocol/logLevel\":\"debug\"";

#[test]
fn thousands_of_replies_that_nobody_asked_for_leave_nothing() {
    for way in [Way::Http, Way::Sse] {
        let mut cluster = cluster(2);
        let mut caller = Caller::new(Revision::V2025_06_18, way, 2).open(&mut cluster);
        cluster.run_for(SEC(100));
        let topics = |cluster: &mut Cluster<Service>| {
            let now = cluster.now();
            (cluster.hub().topics(now), cluster.store().sessions(now))
        };
        let before = topics(&mut cluster);
        for n in 0..2_000 {
            let reply = format!(r#"{{"jsonrpc":"2.0","id":"nobody-{n}","result":{{}}}}"#);
            caller.send(&mut cluster, &reply);
            cluster.run();
        }
        assert_eq!(topics(&mut cluster), before, "{way:?}");
    }
}

#[test]
fn listeners_that_hear_nothing_do_nothing_but_wait() {
    const LISTENERS: u64 = 1_000;
    let mut cluster = cluster(4);
    let mut callers: Vec<_> = (0..LISTENERS)
        .map(|_| Caller::new(Revision::V2025_06_18, Way::Http, 4).open(&mut cluster))
        .collect();
    for caller in &mut callers {
        caller.listen(&mut cluster, None);
    }
    // The connections that the sessions began on are closed by then.
    cluster.run_for(SEC(120));
    let (effects, timeouts) = cluster.activity();
    cluster.run_for(SEC(60));
    let (effects, timeouts) = (cluster.activity().0 - effects, cluster.activity().1 - timeouts);
    println!("{LISTENERS} listeners, a minute: {effects} effects, {timeouts} timeouts");
    // One poll of 30 seconds after the other, and a heartbeat every 15.
    assert!(effects <= 2 * LISTENERS && timeouts <= 4 * LISTENERS + 4);
}
