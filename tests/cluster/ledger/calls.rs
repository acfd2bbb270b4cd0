//! Calls, and how they ended: each once.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

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
    /// The call that took longest.
    longest: (Duration, String),
    /// What servers said that is no result, and how often.
    errors: BTreeMap<String, u64>,
    faults: Vec<String>,
}

/// A call that was begun. It must end.
pub(crate) struct Call<'a> {
    calls: &'a Calls,
    what: String,
    since: Instant,
    is_over: bool,
}

impl Calls {
    pub(crate) fn begin(&self, what: impl Into<String>) -> Call<'_> {
        self.seen().begun += 1;
        Call { calls: self, what: what.into(), since: Instant::now(), is_over: false }
    }

    /// A stream was taken up again.
    pub(crate) fn resumed(&self) {
        self.seen().resumed += 1;
    }

    /// A server said this in place of a result.
    pub(crate) fn error(&self, error: impl ToString) {
        *self.seen().errors.entry(error.to_string()).or_default() += 1;
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
        let (time, longest) = &seen.longest;
        let errors = seen.errors.iter().map(|(error, count)| format!("\n    {count} x {error}"));
        format!(
            "(i) {} calls, ended by {:?}; {} resumptions; the longest took {:.1} s: {longest}{}",
            seen.begun,
            seen.ends,
            seen.resumed,
            time.as_secs_f64(),
            errors.collect::<String>()
        )
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
        if self.since.elapsed() > seen.longest.0 {
            seen.longest = (self.since.elapsed(), format!("{}, by {end:?}", self.what));
        }
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if !self.is_over && !std::thread::panicking() {
            self.calls.fault(format!("{} never ended", self.what));
        }
    }
}
