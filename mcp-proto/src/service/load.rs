//! What all connections of a process hold of their peers together, and who gives it up.

use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Waker;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::time::Instant;

/// Who holds less than this is not counted: most connections never take the lock.
pub(crate) const COUNTED: usize = 16 * 1024;

/// The bytes that connections hold. Cloning shares it.
#[derive(Clone, Default)]
pub(crate) struct Load(Arc<Mutex<Ledger>>);

#[derive(Default)]
struct Ledger {
    next: u64,
    bytes: usize,
    holders: HashMap<u64, Holder>,
    /// In the order in which they moved last.
    by_age: BTreeSet<(Instant, u64)>,
}

struct Holder {
    bytes: usize,
    since: Instant,
    waker: Waker,
    given_up: Arc<AtomicBool>,
}

/// One connection's part, given back when this is dropped.
pub(crate) struct Share {
    load: Load,
    /// Its number, while it is counted.
    number: Option<u64>,
    given_up: Option<Arc<AtomicBool>>,
}

impl Load {
    /// A part that holds nothing.
    pub(crate) fn share(&self) -> Share {
        Share { load: self.clone(), number: None, given_up: None }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// The connection holds so many bytes now, and moved none since then. Where all hold more than
    /// `most` together, those that moved nothing for longest are given up, and woken to learn it.
    pub(crate) fn hold(&mut self, bytes: usize, since: Instant, most: usize, waker: &Waker) {
        if bytes < COUNTED {
            return self.give_back();
        }
        if self.is_given_up() {
            return;
        }
        let mut ledger = self.load.ledger();
        let number = *self.number.get_or_insert_with(|| {
            ledger.next += 1;
            ledger.next
        });
        ledger.remove(number);
        let given_up = self.given_up.get_or_insert_default();
        let holder = Holder { bytes, since, waker: waker.clone(), given_up: Arc::clone(given_up) };
        ledger.insert(number, holder);
        let mut woken = Vec::new();
        while ledger.bytes > most
            && let Some(&(_, oldest)) = ledger.by_age.first()
            && let Some(holder) = ledger.remove(oldest)
        {
            holder.given_up.store(true, Ordering::Release);
            woken.push(holder.waker);
        }
        drop(ledger);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Whether the connection is to end, with all that it holds.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.as_ref().is_some_and(|it| it.load(Ordering::Acquire))
    }

    fn give_back(&mut self) {
        if let Some(number) = self.number.take() {
            self.load.ledger().remove(number);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl Ledger {
    fn insert(&mut self, number: u64, holder: Holder) {
        self.bytes += holder.bytes;
        self.by_age.insert((holder.since, number));
        self.holders.insert(number, holder);
    }

    fn remove(&mut self, number: u64) -> Option<Holder> {
        let holder = self.holders.remove(&number)?;
        self.bytes -= holder.bytes;
        self.by_age.remove(&(holder.since, number));
        Some(holder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_millis(1_000 * seconds)
    }

    const KIB: usize = 1_024;

    #[test]
    fn who_moved_nothing_for_longest_is_given_up_until_the_rest_fits() {
        let load = Load::default();
        let mut shares: Vec<_> = (0..5).map(|_| load.share()).collect();
        for (n, share) in shares.iter_mut().enumerate() {
            share.hold(100 * KIB, at(10 - n as u64), 400 * KIB, Waker::noop());
        }
        let given_up: Vec<_> = shares.iter().map(Share::is_given_up).collect();
        assert_eq!(given_up, [false, false, false, false, true]);
        // One that moves is younger, and one that needs more makes several go.
        shares[3].hold(100 * KIB, at(20), 400 * KIB, Waker::noop());
        shares[0].hold(250 * KIB, at(21), 400 * KIB, Waker::noop());
        let given_up: Vec<_> = shares.iter().map(Share::is_given_up).collect();
        assert_eq!(given_up, [false, true, true, false, true]);
        assert_eq!(load.ledger().bytes, 350 * KIB);
        // Who is given up is counted no more, whatever it says until it is gone.
        shares[1].hold(100 * KIB, at(22), 400 * KIB, Waker::noop());
        assert_eq!(load.ledger().bytes, 350 * KIB);
        shares.clear();
        let ledger = load.ledger();
        assert_eq!((ledger.bytes, ledger.by_age.len()), (0, 0));
    }

    #[test]
    fn little_is_not_counted_and_what_is_more_than_all_may_hold_is_given_up_at_once() {
        let load = Load::default();
        let mut shares: Vec<_> = (0..100).map(|_| load.share()).collect();
        for share in &mut shares {
            share.hold(COUNTED - 1, at(0), 1, Waker::noop());
            assert!(!share.is_given_up());
        }
        let mut large = load.share();
        large.hold(KIB * KIB, at(0), KIB * KIB, Waker::noop());
        assert!(!large.is_given_up());
        large.hold(10, at(1), KIB * KIB, Waker::noop());
        assert_eq!(load.ledger().bytes, 0, "it was read");
        large.hold(KIB * KIB + 1, at(2), KIB * KIB, Waker::noop());
        assert!(large.is_given_up());
    }
}
