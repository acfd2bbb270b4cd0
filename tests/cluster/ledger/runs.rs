//! Runs of handlers that had their answer, and the outcomes that clients were given.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

#[derive(Default)]
pub(crate) struct Runs(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    killed: BTreeSet<u32>,
    /// By the answer's key: the workers that ran with it, in turn.
    ran: BTreeMap<String, Vec<u32>>,
    /// By the answer's key: what the client was told.
    outcomes: BTreeMap<String, String>,
    told: u64,
    refused: u64,
    rerun: u64,
    faults: Vec<String>,
}

impl Runs {
    /// A worker is dead. What it ran may run again.
    pub(crate) fn killed(&self, worker: u32) {
        self.seen().killed.insert(worker);
    }

    /// A handler begins to act on an answer. One that did before must be dead.
    pub(crate) fn ran(&self, worker: u32, key: &str, mark: &str) {
        let seen = &mut *self.seen();
        let runs = seen.ran.entry(key.to_owned()).or_default();
        if let Some(first) = runs.iter().find(|first| !seen.killed.contains(*first)) {
            let what = format!("(ii) the answer to {key} was applied by {first}, and by {mark}");
            seen.faults.push(what);
        }
        seen.rerun += u64::from(!runs.is_empty());
        runs.push(worker);
    }

    /// A client was told an outcome. All that it is told of one state are the same.
    pub(crate) fn told(&self, key: &str, outcome: &str) {
        let seen = &mut *self.seen();
        seen.told += 1;
        let first = seen.outcomes.entry(key.to_owned()).or_insert_with(|| outcome.to_owned());
        if first != outcome {
            let what = format!("(v) the state of {key} led to `{first}` and to `{outcome}`");
            seen.faults.push(what);
        }
    }

    /// Another answer was refused, as the first one counts.
    pub(crate) fn refused(&self) {
        self.seen().refused += 1;
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let seen = self.seen();
        let unknown = seen.outcomes.keys().filter(|key| !seen.ran.contains_key(*key));
        let unknown = unknown.map(|key| format!("(ii) {key} has an outcome, and nobody ran it"));
        seen.faults.iter().cloned().chain(unknown).collect()
    }

    pub(super) fn summary(&self) -> String {
        let seen = self.seen();
        format!(
            "(ii, v) {} answers were applied, {} of them again after a kill; {} outcomes told, of \
             {} calls; {} other answers refused",
            seen.ran.len(),
            seen.rerun,
            seen.told,
            seen.outcomes.len(),
            seen.refused
        )
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().expect("no panic")
    }
}
