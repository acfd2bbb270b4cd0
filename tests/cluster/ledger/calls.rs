//! Calls, and how they ended: each once.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// How a call ended, for its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    /// A result.
    Result,
    /// An error of the protocol, such as that its worker was lost.
    Error,
    /// The connection broke, and there is no stream to come back to.
    Broken,
    /// It was cancelled.
    Cancelled,
}

#[derive(Default)]
pub(crate) struct Calls(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    begun: u64,
    ended: u64,
    ends: BTreeMap<End, u64>,
    resumed: u64,
    faults: Vec<String>,
}

/// A call that was begun. It must end.
pub(crate) struct Call<'a> {
    calls: &'a Calls,
    what: String,
    is_over: bool,
}

impl Calls {
    pub(crate) fn begin(&self, what: impl Into<String>) -> Call<'_> {
        self.seen().begun += 1;
        Call { calls: self, what: what.into(), is_over: false }
    }

    /// A stream was taken up again.
    pub(crate) fn resumed(&self) {
        self.seen().resumed += 1;
    }

    /// Something that must not be.
    pub(crate) fn fault(&self, what: impl Into<String>) {
        self.seen().faults.push(format!("(i) {}", what.into()));
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let seen = self.seen();
        let mut faults = seen.faults.clone();
        if seen.begun != seen.ended {
            faults.push(format!("(i) {} calls were begun, {} ended", seen.begun, seen.ended));
        }
        faults
    }

    pub(super) fn summary(&self) -> String {
        let seen = self.seen();
        format!("(i) {} calls, ended by {:?}; {} resumptions", seen.begun, seen.ends, seen.resumed)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().expect("no panic")
    }
}

impl Call<'_> {
    /// Its end. A second one is a fault.
    pub(crate) fn end(&mut self, end: End) {
        if self.is_over {
            return self.calls.fault(format!("{} ended again, by {end:?}", self.what));
        }
        self.is_over = true;
        let mut seen = self.calls.seen();
        seen.ended += 1;
        *seen.ends.entry(end).or_default() += 1;
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.is_over && !std::thread::panicking() {
            self.calls.fault(format!("{} never ended", self.what));
        }
    }
}
