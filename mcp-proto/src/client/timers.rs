//! Deadlines, each under a key.

use std::collections::{BTreeMap, BTreeSet};

use crate::time::Instant;

/// At most one deadline for each key.
#[derive(Debug)]
pub(super) struct Timers<K> {
    order: BTreeSet<(Instant, K)>,
    at: BTreeMap<K, Instant>,
}

impl<K: Ord + Copy> Timers<K> {
    pub(super) fn new() -> Self {
        Self { order: BTreeSet::new(), at: BTreeMap::new() }
    }

    /// Sets the deadline of `key`, in place of an earlier one.
    pub(super) fn set(&mut self, key: K, at: Instant) {
        self.clear(key);
        self.order.insert((at, key));
        self.at.insert(key, at);
    }

    pub(super) fn clear(&mut self, key: K) {
        if let Some(at) = self.at.remove(&key) {
            self.order.remove(&(at, key));
        }
    }

    /// The deadline of `key`.
    pub(super) fn get(&self, key: K) -> Option<Instant> {
        self.at.get(&key).copied()
    }

    /// The next deadline.
    pub(super) fn next(&self) -> Option<Instant> {
        self.order.first().map(|(at, _)| *at)
    }

    /// Takes one deadline that has come by `now`, the earliest first.
    pub(super) fn expire(&mut self, now: Instant) -> Option<K> {
        let (at, key) = *self.order.first()?;
        if at > now {
            return None;
        }
        self.clear(key);
        Some(key)
    }
}
