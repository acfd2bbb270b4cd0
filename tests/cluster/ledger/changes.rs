//! Changes, numbered in the order in which they were announced, and who heard of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

#[derive(Default)]
pub(crate) struct Changes(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    /// The last one that was tried. One is tried after the other, each once.
    tried: u64,
    acknowledged: BTreeSet<u64>,
    /// Who heard of this one, or a later one, has heard enough.
    enough: Option<u64>,
    segments: BTreeMap<Segment, Listened>,
    next: u64,
}

/// A time during which a listener is promised every change: as long as its stream can be taken up
/// again, or else as long as its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment(u64);

struct Listened {
    who: String,
    /// It began before this one was tried. `None` where it is not known when it began.
    from: Option<u64>,
    heard: Vec<u64>,
}

impl Changes {
    /// The next change is announced: its number.
    pub(crate) fn announce(&self) -> u64 {
        let mut seen = self.seen();
        seen.tried += 1;
        seen.tried
    }

    /// The server said that everybody will hear of it.
    pub(crate) fn acknowledged(&self, n: u64) {
        self.seen().acknowledged.insert(n);
    }

    /// No more is to be heard than what was announced by now, and then one more.
    pub(crate) fn close(&self) {
        let mut seen = self.seen();
        seen.enough = seen.enough.or(Some(seen.tried + 1));
    }

    /// Whether a listener that heard of this one has heard enough.
    pub(crate) fn is_enough(&self, n: u64) -> bool {
        self.seen().enough.is_some_and(|enough| n >= enough)
    }

    /// A listener is in force now; `exactly` where it is known to be.
    pub(crate) fn listen(&self, who: &str, exactly: bool) -> Segment {
        let mut seen = self.seen();
        let from = exactly.then_some(seen.tried + 1);
        let segment = Segment(seen.next);
        seen.next += 1;
        let listened = Listened { who: who.to_owned(), from, heard: Vec::new() };
        seen.segments.insert(segment, listened);
        segment
    }

    pub(crate) fn heard(&self, segment: Segment, n: u64) {
        if let Some(listened) = self.seen().segments.get_mut(&segment) {
            listened.heard.push(n);
        }
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let seen = self.seen();
        let faults = seen.segments.values().flat_map(|it| it.faults(&seen));
        faults.map(|fault| format!("(iii) {fault}")).collect()
    }

    pub(super) fn summary(&self) -> String {
        let seen = self.seen();
        let mut listeners: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for segment in seen.segments.values() {
            let (heard, segments) = listeners.entry(&segment.who).or_default();
            (*heard, *segments) = (*heard + segment.heard.len(), *segments + 1);
        }
        let listeners = listeners.iter().map(|(who, (heard, segments))| {
            format!("\n    {who} heard {heard}, in {segments} segments")
        });
        format!(
            "(iii) {} changes announced, {} acknowledged{}",
            seen.tried,
            seen.acknowledged.len(),
            listeners.collect::<String>()
        )
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().expect("no panic")
    }
}

impl Listened {
    fn faults(&self, seen: &Seen) -> Vec<String> {
        let who = &self.who;
        let mut faults = Vec::new();
        let mut once = BTreeSet::new();
        for n in &self.heard {
            if !once.insert(*n) {
                faults.push(format!("{who} heard of {n} twice"));
            }
            if *n > seen.tried {
                faults.push(format!("{who} heard of {n}, which was never announced"));
            }
        }
        // What nobody acknowledged may have been said late, or never.
        let sure: Vec<u64> =
            self.heard.iter().copied().filter(|n| seen.acknowledged.contains(n)).collect();
        if !sure.is_sorted() {
            faults.push(format!("{who} heard of changes in another order than they were made"));
        }
        let ends = (self.from.or(sure.first().copied()), sure.last().copied());
        let (Some(first), Some(last)) = ends else { return faults };
        let mut missed = seen.acknowledged.range(first..).take_while(|n| **n <= last);
        if let Some(missed) = missed.find(|n| !once.contains(n)) {
            faults.push(format!("{who} never heard of {missed}, from {first} to {last}"));
        }
        faults
    }
}
