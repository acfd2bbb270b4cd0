//! What everybody saw, and whether it fits together.
//!
//! (i) each call ends once: [`calls`]. (ii) each answer is applied at most once, and (v) no state
//! has two outcomes: [`runs`]. (iii) each change reaches each listener exactly once: [`changes`].
//! (iv) counters equal the updates that were acknowledged: [`counters`].

mod calls;
mod changes;
mod counters;
mod runs;

pub(crate) use calls::{Call, Calls, End};
pub(crate) use changes::{Changes, Segment};
pub(crate) use counters::Counters;
pub(crate) use runs::Runs;

/// All that the test knows.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) calls: Calls,
    pub(crate) counters: Counters,
    pub(crate) runs: Runs,
    pub(crate) changes: Changes,
}

impl Ledger {
    /// What does not fit together, each in a line that begins with its number.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = self.calls.faults();
        faults.extend(self.runs.faults());
        faults.extend(self.changes.faults());
        faults.extend(self.counters.faults());
        faults
    }

    /// How much was seen, a line each.
    pub(crate) fn summary(&self) -> Vec<String> {
        vec![
            self.calls.summary(),
            self.runs.summary(),
            self.changes.summary(),
            self.counters.summary(),
        ]
    }
}
