//! The connections of a pool: how many there are, which of them are idle, and who waits for one.

use core::future::Future;
use core::mem;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::wire::Wire;
use super::{Dial, Origin, PoolLimits};
use crate::service::{Runtime, Shared as Threads, Timer};
use crate::time::Instant;

pub(super) struct Kept<D: Dial> {
    pub(super) driver: D,
    pub(super) limits: PoolLimits,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    origins: BTreeMap<Origin, Places>,
    sweeping: Sweeping,
}

/// Whether somebody sees to idle connections.
#[derive(Default)]
enum Sweeping {
    #[default]
    Nobody,
    /// Until it is polled for the first time it has nothing to be woken by.
    Sweeper(Option<Waker>),
}

/// The connections to one origin.
#[derive(Default)]
struct Places {
    used: usize,
    /// The last one was used last.
    idle: Vec<Wire>,
    /// Who waits, in the order of coming.
    waiting: BTreeMap<u64, Waker>,
    tickets: u64,
}

impl Places {
    fn is_empty(&self) -> bool {
        self.used == 0 && self.idle.is_empty() && self.waiting.is_empty()
    }

    /// Whoever waits longest is to look again.
    fn wake_next(&self) {
        if let Some((_, waker)) = self.waiting.first_key_value() {
            waker.wake_by_ref();
        }
    }
}

impl State {
    /// Changes the places of an origin, and forgets them once nothing is left of them.
    fn with<T>(&mut self, origin: &Origin, change: impl FnOnce(&mut Places) -> T) -> T {
        let places = self.origins.entry(origin.clone()).or_default();
        let changed = change(places);
        if places.is_empty() {
            self.origins.remove(origin);
        }
        changed
    }
}

impl<D: Dial> Kept<D> {
    pub(super) fn new(driver: D, limits: PoolLimits) -> Arc<Self> {
        Arc::new(Self { driver, limits, state: Mutex::default() })
    }

    pub(super) fn now(&self) -> Instant {
        Runtime::<Threads>::now(&self.driver)
    }

    pub(super) fn idle(&self) -> usize {
        self.lock().origins.values().map(|places| places.idle.len()).sum()
    }

    /// A place among the connections to `origin`, once there is one, with a connection in it where
    /// one is idle.
    pub(super) fn place(kept: &Arc<Self>, origin: Origin) -> impl Future<Output = Place<D>> {
        let mut queued = Queued { kept: kept.clone(), origin, ticket: None };
        core::future::poll_fn(move |cx| queued.poll(cx))
    }

    /// What `work` gives, if it does within `time`.
    pub(super) async fn within<T>(
        &self,
        time: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut timer = Box::pin(Runtime::<Threads>::timer(&self.driver));
        timer.as_mut().reset(self.now() + time);
        let mut work = pin!(work);
        core::future::poll_fn(move |cx| match work.as_mut().poll(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => timer.as_mut().poll_elapsed(cx).map(|()| None),
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: Dial> Drop for Kept<D> {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Sweeping::Sweeper(Some(waker)) = &state.sweeping {
            waker.wake_by_ref();
        }
    }
}

/// Somebody who wants a place.
struct Queued<D: Dial> {
    kept: Arc<Kept<D>>,
    origin: Origin,
    ticket: Option<u64>,
}

impl<D: Dial> Queued<D> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Place<D>> {
        let limits = &self.kept.limits;
        let now = self.kept.now();
        let mut gone = Vec::new();
        let found = self.kept.lock().with(&self.origin, |places| {
            let next = places.waiting.keys().next().copied();
            let is_next = next.is_none() || next == self.ticket;
            while let Some(mut wire) = places.idle.pop_if(|_| is_next) {
                if now.saturating_since(wire.since) < limits.idle_time && wire.is_there() {
                    places.used += 1;
                    return Some(Some(wire));
                }
                gone.push(wire);
            }
            if is_next && places.used < limits.connections.max(1) {
                places.used += 1;
                return Some(None);
            }
            let ticket = *self.ticket.get_or_insert_with(|| {
                places.tickets += 1;
                places.tickets
            });
            places.waiting.insert(ticket, cx.waker().clone());
            None
        });
        match found {
            None => Poll::Pending,
            Some(wire) => {
                let (kept, origin) = (self.kept.clone(), self.origin.clone());
                Poll::Ready(Place { kept, origin, wire })
            }
        }
    }
}

impl<D: Dial> Drop for Queued<D> {
    /// Whether it got a place or no longer wants one, the next in the queue may look.
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.kept.lock().with(&self.origin, |places| {
                places.waiting.remove(&ticket);
                places.wake_next();
            });
        }
    }
}

/// A place among the connections to an origin, and the connection in it.
pub(super) struct Place<D: Dial> {
    kept: Arc<Kept<D>>,
    pub(super) origin: Origin,
    pub(super) wire: Option<Wire>,
}

impl<D: Dial> Place<D> {
    /// The connection may serve another request.
    pub(super) fn keep(mut self) {
        let Some(mut wire) = self.wire.take().filter(Wire::is_reusable) else { return };
        wire.since = self.kept.now();
        let most = self.kept.limits.idle;
        let mut state = self.kept.lock();
        let surplus: Vec<_> = state.with(&self.origin, |places| {
            places.idle.push(wire);
            places.idle.drain(..places.idle.len().saturating_sub(most)).collect()
        });
        let is_new = matches!(state.sweeping, Sweeping::Nobody);
        match &state.sweeping {
            Sweeping::Nobody => state.sweeping = Sweeping::Sweeper(None),
            Sweeping::Sweeper(waker) => waker.iter().for_each(Waker::wake_by_ref),
        }
        drop(state);
        drop(surplus);
        if is_new {
            let timer = Box::pin(Runtime::<Threads>::timer(&self.kept.driver));
            let sweeper = Sweeper { kept: Arc::downgrade(&self.kept), timer };
            Runtime::<Threads>::detach::<()>(&self.kept.driver, Box::pin(sweeper));
        }
    }
}

impl<D: Dial> Drop for Place<D> {
    fn drop(&mut self) {
        let wire = self.wire.take();
        self.kept.lock().with(&self.origin, |places| {
            places.used -= 1;
            places.wake_next();
        });
        drop(wire);
    }
}

/// Closes idle connections when their time is over, and those that their servers close. It is
/// there for as long as any connection is idle.
struct Sweeper<D: Dial> {
    kept: Weak<Kept<D>>,
    timer: Pin<Box<D::Timer>>,
}

impl<D: Dial> Sweeper<D> {
    /// Closes what is to be closed; when to look again, while any is left.
    fn sweep(kept: &Kept<D>, cx: &mut Context<'_>) -> Option<Instant> {
        let now = kept.now();
        let time = kept.limits.idle_time;
        let mut gone = Vec::new();
        let mut state = kept.lock();
        let mut next: Option<Instant> = None;
        state.origins.retain(|_, places| {
            for mut wire in mem::take(&mut places.idle) {
                let until = wire.since + time;
                if until > now && wire.poll_gone(cx).is_pending() {
                    next = Some(next.map_or(until, |next| next.min(until)));
                    places.idle.push(wire);
                } else {
                    gone.push(wire);
                }
            }
            !places.is_empty()
        });
        state.sweeping = match next {
            Some(_) => Sweeping::Sweeper(Some(cx.waker().clone())),
            None => Sweeping::Nobody,
        };
        next
    }
}

impl<D: Dial> Future for Sweeper<D> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let Some(kept) = self.kept.upgrade() else { return Poll::Ready(()) };
            let Some(next) = Self::sweep(&kept, cx) else {
                self.kept = Weak::new();
                return Poll::Ready(());
            };
            self.timer.as_mut().reset(next);
            if self.timer.as_mut().poll_elapsed(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

impl<D: Dial> Unpin for Sweeper<D> {}

impl<D: Dial> Drop for Sweeper<D> {
    /// Where a runtime drops its tasks, the next one may have another.
    fn drop(&mut self) {
        if let Some(kept) = self.kept.upgrade() {
            kept.lock().sweeping = Sweeping::Nobody;
        }
    }
}
