//! Cancellation (R24-CANC, R26-CANC, C52, C83).

use mcp_proto::revision::Revision;

use crate::fixture::{Caller, Way};
use crate::service::{MS, SEC, cluster};

const HANDSHAKE: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

fn cancelled(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

#[test]
fn a_cancellation_reaches_the_call_wherever_it_runs() {
    for revision in HANDSHAKE {
        for way in Way::ALL {
            let mut cluster = cluster(3);
            let mut caller = Caller::new(revision, way, 3).open(&mut cluster);
            let message = caller.peer.request_as("77", "tools/call", "\"name\":\"slow\"", "");
            let line = caller.send(&mut cluster, &message);
            cluster.run_for(MS(500));
            let before = caller.heard(&cluster, line).len();
            let other = caller.send(&mut cluster, &cancelled("\"77\""));
            cluster.run_for(MS(500));
            assert_eq!(cluster.cancelled_calls(), 0, "{revision} {way:?}: \"77\" is not 77");
            let line_of_cancel = caller.send(&mut cluster, &cancelled("77"));
            cluster.run_for(SEC(90));
            assert_eq!(cluster.cancelled_calls(), 1, "{revision} {way:?}");
            assert_eq!(caller.heard(&cluster, line).len(), before, "{revision} {way:?}");
            if way == Way::Http {
                assert_eq!(cluster.responses(other)[0].status, 202);
                assert_eq!(cluster.responses(line_of_cancel)[0].status, 202);
                assert!(cluster.responses(line)[0].is_complete, "{revision}: the stream ends");
            }
        }
    }
}

#[test]
fn cancellations_of_nothing_are_taken_note_of() {
    for revision in HANDSHAKE {
        for way in Way::ALL {
            let mut cluster = cluster(2);
            let mut caller = Caller::new(revision, way, 2).open(&mut cluster);
            for id in ["null", "{}", "12", "\"never\"", "12"] {
                caller.send(&mut cluster, &cancelled(id));
                cluster.run();
            }
            let message = caller.peer.request_as("12", "ping", "", "");
            let line = caller.send(&mut cluster, &message);
            cluster.run();
            let heard = caller.heard(&cluster, line);
            assert!(
                heard.last().is_some_and(|it| it.contains("\"id\":12,\"result\"")),
                "{heard:?}"
            );
        }
    }
}

#[test]
fn a_disconnect_cancels_where_the_revision_says_so_and_nowhere_else() {
    for revision in Revision::ALL {
        let mut cluster = cluster(2);
        let mut caller = Caller::new(revision, Way::Http, 2).open(&mut cluster);
        let line = caller.call(&mut cluster, "slow", "");
        cluster.run_for(SEC(1));
        cluster.cut(line);
        cluster.run_for(SEC(90));
        let expected = usize::from(revision.adapter().disconnect_cancels);
        assert_eq!(cluster.cancelled(line), expected, "{revision}");
        assert!(cluster.is_released(line), "{revision}: something is left behind");
    }
}

#[test]
fn a_disconnect_cancels_what_no_session_can_fetch() {
    for revision in [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
        let mut cluster = cluster(2);
        let mut caller = Caller::new(revision, Way::Http, 2);
        let line = caller.call(&mut cluster, "slow", "");
        cluster.run_for(SEC(1));
        cluster.cut(line);
        cluster.run_for(SEC(1));
        assert_eq!(cluster.cancelled(line), 1, "{revision}");
    }
}

#[test]
fn the_question_of_a_cancelled_call_is_taken_back() {
    for revision in HANDSHAKE {
        for way in Way::ALL {
            let mut cluster = cluster(3);
            let mut caller =
                Caller::new(revision, way, 3).declaring(r#"{"sampling":{}}"#).open(&mut cluster);
            let message = caller.peer.request_as("77", "tools/call", "\"name\":\"chat\"", "");
            let line = caller.send(&mut cluster, &message);
            cluster.run_for(SEC(1));
            let asked = caller.heard(&cluster, line).pop().expect("a question");
            assert!(asked.contains("sampling/createMessage"), "{asked}");
            caller.send(&mut cluster, &cancelled("77"));
            cluster.run_for(SEC(1));
            let last = caller.heard(&cluster, line).pop().expect("a message");
            assert!(last.contains("notifications/cancelled"), "{revision} {way:?}: {last}");
        }
    }
}
