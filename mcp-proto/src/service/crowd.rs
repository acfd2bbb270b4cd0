//! The connections of one listener: how many there are, and how they learn that they are to end.

use core::future::{Future, poll_fn};
use core::net::IpAddr;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicU8, Ordering};
use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{Either, select};

use super::Timer;

/// How the end of all connections comes about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// What runs may end; nothing new begins.
    Draining = 1,
    /// Whoever is left is cut off.
    Over = 2,
}

/// All connections. Its lock is held only where one comes or goes, never while one is served.
#[derive(Clone, Default)]
pub(crate) struct Crowd(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// The [`Stage`] that was reached, 0 before the first; changes only under the lock.
    stage: AtomicU8,
    members: Mutex<Members>,
}

#[derive(Default)]
struct Members {
    next: u64,
    wakers: HashMap<u64, Option<Waker>>,
    /// How many came from each network, where that is counted.
    peers: HashMap<IpAddr, usize>,
    /// Who waits for members to leave.
    waiting: Vec<Waker>,
}

impl Members {
    fn add(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        self.wakers.insert(number, None);
        number
    }
}

/// One connection's place in the crowd, given up when this is dropped.
pub(crate) struct Member {
    crowd: Crowd,
    number: u64,
    /// Where it came from, where that is counted.
    peer: Option<IpAddr>,
}

impl Crowd {
    /// Lets one more in.
    pub(crate) fn enter(&self) -> Member {
        let number = self.members().add();
        Member { crowd: self.clone(), number, peer: None }
    }

    /// Lets one more in that comes from `network`, unless `most` of there are in.
    pub(crate) fn enter_from(&self, network: IpAddr, most: usize) -> Option<Member> {
        let mut members = self.members();
        let there = members.peers.entry(network).or_default();
        if *there >= most {
            return None;
        }
        *there += 1;
        Some(Member { crowd: self.clone(), number: members.add(), peer: Some(network) })
    }

    /// Lets one more in, unless `most` are.
    #[cfg(feature = "tower")]
    pub(crate) fn enter_below(&self, most: usize) -> Option<Member> {
        let mut members = self.members();
        let number = (members.wakers.len() < most).then(|| members.add())?;
        Some(Member { crowd: self.clone(), number, peer: None })
    }

    /// Waits until fewer than `most` are in.
    pub(crate) fn poll_fewer_than(&self, most: usize, cx: &mut Context<'_>) -> Poll<()> {
        let mut members = self.members();
        if members.wakers.len() < most {
            return Poll::Ready(());
        }
        if !members.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            members.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Has everyone end, and cuts off who is left when `timer`, which is set, goes off. Says
    /// whether nobody was.
    pub(crate) async fn drain(&self, mut timer: Pin<&mut impl Timer>) -> bool {
        self.reach(Stage::Draining);
        let left = poll_fn(|cx| match self.poll_fewer_than(1, cx) {
            Poll::Ready(()) => Poll::Ready(true),
            Poll::Pending => timer.as_mut().poll_elapsed(cx).map(|()| false),
        })
        .await;
        self.reach(Stage::Over);
        poll_fn(|cx| self.poll_fewer_than(1, cx)).await;
        left
    }

    /// Tells everyone. What was reached stays so.
    pub(crate) fn reach(&self, stage: Stage) {
        let members = self.members();
        self.0.stage.fetch_max(stage as u8, Ordering::Release);
        let wakers: Vec<_> = members.wakers.values().flatten().cloned().collect();
        drop(members);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn members(&self) -> MutexGuard<'_, Members> {
        self.0.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_reached(&self, stage: Stage) -> bool {
        self.0.stage.load(Ordering::Acquire) >= stage as u8
    }
}

impl Member {
    /// Does `what`, unless the crowd is over before it is done.
    pub(crate) async fn stay<T>(&self, what: impl Future<Output = T>) -> Option<T> {
        match select(pin!(what), pin!(self.until(Stage::Over))).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }

    /// Waits until the crowd reached `stage`. Whatever one member waits for, it does in one task.
    pub(crate) async fn until(&self, stage: Stage) {
        let mut woken: Option<Waker> = None;
        poll_fn(move |cx| self.poll_until(stage, &mut woken, cx)).await;
    }

    /// The same; `woken` is who was promised to be.
    pub(crate) fn poll_until(
        &self,
        stage: Stage,
        woken: &mut Option<Waker>,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        if self.crowd.has_reached(stage) {
            return Poll::Ready(());
        }
        // This is polled with every byte that comes: the lock is for the first time only.
        if !woken.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            let mut members = self.crowd.members();
            if self.crowd.has_reached(stage) {
                return Poll::Ready(());
            }
            members.wakers.insert(self.number, Some(cx.waker().clone()));
            *woken = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut members = self.crowd.members();
        members.wakers.remove(&self.number);
        if let Some(Entry::Occupied(mut there)) = self.peer.map(|peer| members.peers.entry(peer)) {
            *there.get_mut() -= 1;
            if *there.get() == 0 {
                there.remove();
            }
        }
        let waiting = core::mem::take(&mut members.waiting);
        drop(members);
        waiting.into_iter().for_each(Waker::wake);
    }
}
