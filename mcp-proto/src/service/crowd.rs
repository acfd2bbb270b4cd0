//! The connections of one listener: how many there are, and how they learn that they are to end.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::sync::atomic::{AtomicU8, Ordering};
use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{Either, select};
use futures_util::task::AtomicWaker;

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
    /// Who waits for members to leave.
    waits: AtomicWaker,
}

#[derive(Default)]
struct Members {
    next: u64,
    wakers: HashMap<u64, Option<Waker>>,
}

/// One connection's place in the crowd, given up when this is dropped.
pub(crate) struct Member {
    crowd: Crowd,
    number: u64,
}

impl Crowd {
    /// Lets one more in.
    pub(crate) fn enter(&self) -> Member {
        let mut members = self.members();
        let number = members.next;
        members.next += 1;
        members.wakers.insert(number, None);
        Member { crowd: self.clone(), number }
    }

    /// Waits until fewer than `most` are in.
    pub(crate) fn poll_fewer_than(&self, most: usize, cx: &mut Context<'_>) -> Poll<()> {
        let is = || self.members().wakers.len() < most;
        if !is() {
            self.0.waits.register(cx.waker());
            if !is() {
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }

    /// Tells everyone.
    pub(crate) fn reach(&self, stage: Stage) {
        let members = self.members();
        self.0.stage.store(stage as u8, Ordering::Release);
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
        poll_fn(move |cx| {
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
                woken = Some(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.crowd.members().wakers.remove(&self.number);
        self.crowd.0.waits.wake();
    }
}
