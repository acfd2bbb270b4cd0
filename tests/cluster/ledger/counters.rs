//! Counters: what was tried, what was acknowledged, and what they hold in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use serde::Deserialize;

#[derive(Default)]
pub(crate) struct Counters(Mutex<BTreeMap<String, Counter>>);

#[derive(Default)]
struct Counter {
    tried: BTreeSet<String>,
    acknowledged: BTreeSet<String>,
    held: Option<Tally>,
}

/// What a counter holds.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Tally {
    count: u64,
    keys: Vec<String>,
}

impl Counters {
    /// An update is sent, or sent again.
    pub(crate) fn tried(&self, counter: &str, key: &str) {
        self.counters().entry(counter.to_owned()).or_default().tried.insert(key.to_owned());
    }

    /// The server said that it was made.
    pub(crate) fn acknowledged(&self, counter: &str, key: &str) {
        let mut counters = self.counters();
        counters.entry(counter.to_owned()).or_default().acknowledged.insert(key.to_owned());
    }

    /// What the counter holds, once nobody changes it any more.
    pub(crate) fn held(&self, counter: &str, tally: Tally) {
        self.counters().entry(counter.to_owned()).or_default().held = Some(tally);
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let counters = self.counters();
        let faults = counters.iter().flat_map(|(name, counter)| {
            counter.faults().into_iter().map(move |fault| format!("(iv) counter {name}: {fault}"))
        });
        faults.collect()
    }

    pub(super) fn summary(&self) -> String {
        let counters = self.counters();
        let sum = |of: fn(&Counter) -> usize| counters.values().map(of).sum::<usize>();
        format!(
            "(iv) {} counters: {} updates tried, {} acknowledged, {} held",
            counters.len(),
            sum(|it| it.tried.len()),
            sum(|it| it.acknowledged.len()),
            sum(|it| it.held.as_ref().map_or(0, |held| held.keys.len()))
        )
    }

    fn counters(&self) -> MutexGuard<'_, BTreeMap<String, Counter>> {
        self.0.lock().expect("no panic")
    }
}

impl Counter {
    /// Updates have keys, so that they can be sent until they are acknowledged: every one that was
    /// acknowledged is held, each once, and nothing that was never tried.
    fn faults(&self) -> Vec<String> {
        let Some(held) = &self.held else { return vec!["it was never read".into()] };
        let keys: BTreeSet<String> = held.keys.iter().cloned().collect();
        let mut faults = Vec::new();
        if held.count != keys.len() as u64 || keys.len() != held.keys.len() {
            let (count, many) = (held.count, held.keys.len());
            faults.push(format!("it says {count}, with {many} keys, {} of them once", keys.len()));
        }
        let lost: Vec<_> = self.acknowledged.difference(&keys).collect();
        if !lost.is_empty() {
            faults.push(format!("{} acknowledged updates were lost, as {}", lost.len(), lost[0]));
        }
        let unknown: Vec<_> = keys.difference(&self.tried).collect();
        if !unknown.is_empty() {
            faults.push(format!("{} were never tried, as {}", unknown.len(), unknown[0]));
        }
        faults
    }
}
