//! The properties, and planted faults that show that they can fail.

use core::time::Duration;

use mcp_proto::client::{CallId, ClientError, ErrorKind, Event, Ran};
use mcp_proto::revision::Revision;
use mcp_proto::testing::Way;

use super::{Ledger, Run, SECOND};

impl Run {
    /// Every call has ended once, and what it ended with fits what the server saw; and once the
    /// client is closed, the pair is quiet.
    pub(crate) fn judge(&mut self, what: &str) {
        if let Err(why) = judge(self.pair.events(), &self.calls, &self.ledger) {
            panic!("{what}: {why}");
        }
        self.pair.close();
        self.pair.run_for(Duration::from_secs(7_200));
        let pair = &mut self.pair;
        assert!(pair.client().is_closed(), "{what}");
        assert_eq!(pair.client().poll_timeout(), None, "{what}");
        assert_eq!(pair.connections(), 0, "{what}");
        assert_eq!(pair.served(), 0, "{what}");
    }
}

fn judge(events: &[Event], calls: &[(CallId, u64)], ledger: &Ledger) -> Result<(), String> {
    for (call, n) in calls {
        let ends: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                Event::Ended(own, result) if own == call => Some(result),
                _ => None,
            })
            .collect();
        let begun = ledger.begun(*n);
        match ends[..] {
            [Err(ClientError { ran: Ran::Never, kind })] if begun > 0 => {
                return Err(format!("{call} ran, and is said not to have: {kind:?}"));
            }
            [Ok(_)] if begun == 0 => return Err(format!("{call} has a result and never ran")),
            [_] => {}
            _ => return Err(format!("{call} ended {} times", ends.len())),
        }
    }
    Ok(())
}

/// A run with a call that was answered, and one that was cancelled after it had begun.
fn judged() -> (Vec<Event>, Vec<(CallId, u64)>, Ledger) {
    let mut run = Run::new(Revision::V2025_11_25, Way::Http);
    run.call("echo");
    let slow = run.call("slow");
    run.pair.run_for(SECOND);
    run.pair.cancel(slow);
    run.pair.run();
    (run.pair.events().to_vec(), run.calls, run.ledger)
}

#[test]
fn an_end_that_is_swallowed_would_be_found() {
    let (mut events, calls, ledger) = judged();
    judge(&events, &calls, &ledger).unwrap();
    events.retain(|event| !matches!(event, Event::Ended(..)));
    assert!(judge(&events, &calls, &ledger).unwrap_err().contains("ended 0 times"));
}

#[test]
fn an_end_that_comes_twice_would_be_found() {
    let (mut events, calls, ledger) = judged();
    let end = events.iter().rfind(|event| matches!(event, Event::Ended(..))).cloned();
    events.extend(end);
    assert!(judge(&events, &calls, &ledger).unwrap_err().contains("ended 2 times"));
}

#[test]
fn a_call_that_ran_and_is_said_not_to_have_would_be_found() {
    let (mut events, calls, ledger) = judged();
    for event in &mut events {
        if let Event::Ended(_, Err(error)) = event {
            assert_eq!((&error.kind, error.ran), (&ErrorKind::Cancelled, Ran::Maybe));
            error.ran = Ran::Never;
        }
    }
    assert!(judge(&events, &calls, &ledger).unwrap_err().contains("is said not to have"));
}

#[test]
fn a_result_of_what_never_ran_would_be_found() {
    let (events, calls, _) = judged();
    assert!(judge(&events, &calls, &Ledger::default()).unwrap_err().contains("never ran"));
}
