//! Time that passes only when nothing else can happen.

use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Timer;
use crate::time::Instant;

/// A clock for handlers under test: it stands still until whoever drives the test moves it. Cloning
/// shares it.
#[derive(Clone, Default)]
pub struct VirtualTime(Arc<Mutex<Clock>>);

#[derive(Default)]
struct Clock {
    now: Instant,
    timers: u64,
    /// Timers that somebody waits for, by their numbers.
    waiting: BTreeMap<u64, (Instant, Waker)>,
}

impl VirtualTime {
    /// A clock at its epoch.
    pub fn new() -> Self {
        Self::default()
    }

    /// What time it is.
    pub fn now(&self) -> Instant {
        self.clock().now
    }

    /// Waits until so much time has passed.
    pub async fn sleep(&self, duration: Duration) {
        let mut timer = self.timer();
        timer.at = Some(self.now() + duration);
        core::future::poll_fn(|cx| Pin::new(&mut timer).poll_elapsed(cx)).await;
    }

    /// A timer that is not set.
    pub(crate) fn timer(&self) -> VirtualTimer {
        let mut clock = self.clock();
        clock.timers += 1;
        VirtualTimer { clock: self.clone(), number: clock.timers, at: None }
    }

    /// When the next timer goes off that somebody waits for.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.clock().waiting.values().map(|(at, _)| *at).min()
    }

    /// It is `now`, unless it is later already. Whose time has come is woken.
    pub(crate) fn advance(&self, now: Instant) {
        let mut clock = self.clock();
        clock.now = clock.now.max(now);
        let now = clock.now;
        let (due, waiting) =
            core::mem::take(&mut clock.waiting).into_iter().partition(|(_, (at, _))| *at <= now);
        clock.waiting = waiting;
        drop(clock);
        let due: BTreeMap<u64, (Instant, Waker)> = due;
        due.into_values().for_each(|(_, waker)| waker.wake());
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VirtualTime").field(&self.now()).finish()
    }
}

/// A timer of a [`VirtualTime`].
pub(crate) struct VirtualTimer {
    clock: VirtualTime,
    number: u64,
    at: Option<Instant>,
}

impl Timer for VirtualTimer {
    fn reset(mut self: Pin<&mut Self>, at: Instant) {
        self.at = Some(at);
    }

    fn poll_elapsed(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        let mut clock = self.clock.clock();
        if at <= clock.now {
            return Poll::Ready(());
        }
        clock.waiting.insert(self.number, (at, cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for VirtualTimer {
    fn drop(&mut self) {
        self.clock.clock().waiting.remove(&self.number);
    }
}
