//! Who in this process waits for which topic.

use core::fmt;
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Poll;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::task::AtomicWaker;
use smallvec::SmallVec;

use crate::store::Bell;

/// The listeners of this process, by the bells that they wait for. Cloning shares them.
///
/// Ringing costs its listeners only; listening and leaving cost the logarithm of how many there
/// are.
#[derive(Clone, Default)]
pub struct Bells(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    /// Counts listeners, to tell them apart.
    listeners: u64,
    by_bell: BTreeMap<(Bell, u64), Arc<Ear>>,
}

#[derive(Default)]
struct Ear {
    rung: AtomicBool,
    waker: AtomicWaker,
}

impl Bells {
    /// Nobody listens yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Listens for `bells` from now on, until dropped. Who looks for news listens first.
    pub fn listen(&self, bells: impl IntoIterator<Item = Bell>) -> Listening {
        let ear = Arc::new(Ear::default());
        let mut waiting = self.waiting();
        waiting.listeners += 1;
        let listener = waiting.listeners;
        let keys: SmallVec<_> = bells.into_iter().map(|bell| (bell, listener)).collect();
        waiting.by_bell.extend(keys.iter().map(|key| (*key, Arc::clone(&ear))));
        drop(waiting);
        Listening { bells: self.clone(), keys, ear }
    }

    /// There is news for whoever waits for `bell`.
    pub fn ring(&self, bell: Bell) {
        let ears: SmallVec<[Arc<Ear>; 4]> = {
            let waiting = self.waiting();
            waiting
                .by_bell
                .range((bell, 0)..=(bell, u64::MAX))
                .map(|(_, ear)| ear.clone())
                .collect()
        };
        ears.iter().for_each(|ear| ear.ring()); // outside the lock: waking runs foreign code
    }

    /// There may be news for anyone: some bells were not heard.
    pub fn ring_all(&self) {
        let ears: Vec<_> = self.waiting().by_bell.values().cloned().collect();
        ears.iter().for_each(|ear| ear.ring());
    }

    /// Whether nobody listens.
    pub fn is_empty(&self) -> bool {
        self.waiting().by_bell.is_empty()
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Bells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bells({} awaited)", self.waiting().by_bell.len())
    }
}

impl Ear {
    fn ring(&self) {
        self.rung.store(true, Ordering::Release);
        self.waker.wake();
    }
}

/// One listener. Dropping it ends the listening.
#[must_use = "dropping it ends the listening"]
pub struct Listening {
    bells: Bells,
    keys: SmallVec<[(Bell, u64); 4]>,
    ear: Arc<Ear>,
}

impl Listening {
    /// Waits until a bell was rung since the listening began, or since this last returned.
    pub async fn heard(&mut self) {
        poll_fn(|cx| {
            self.ear.waker.register(cx.waker());
            match self.ear.rung.swap(false, Ordering::AcqRel) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut waiting = self.bells.waiting();
        for key in &self.keys {
            waiting.by_bell.remove(key);
        }
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Listening({} bells)", self.keys.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn a_bell_reaches_its_own_listeners_and_no_other() {
        let (bells, a, b) = (Bells::new(), Bell::of("a"), Bell::of("b"));
        let (mut one, mut both, mut other) =
            (bells.listen([a]), bells.listen([b, a]), bells.listen([b]));
        bells.ring(a);
        assert_eq!(one.heard().now_or_never(), Some(()));
        assert_eq!(one.heard().now_or_never(), None, "heard once");
        assert_eq!(both.heard().now_or_never(), Some(()));
        assert_eq!(other.heard().now_or_never(), None);
        bells.ring_all();
        assert_eq!(other.heard().now_or_never(), Some(()));
    }

    #[test]
    fn who_leaves_is_forgotten() {
        let bells = Bells::new();
        let listening = bells.listen([Bell::of("a"), Bell::of("b")]);
        assert!(!bells.is_empty());
        drop(listening);
        assert!(bells.is_empty());
    }
}
