//! A clock that stands still until it is told to pass.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Poll, Waker};
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use super::Time;
use crate::service::Sleep;
use crate::time::Instant;

/// Time for stores that take theirs from the caller. Cloning shares it; as a timer, it goes off
/// when enough of it has passed.
#[derive(Clone, Default)]
pub struct VirtualTime(Arc<Mutex<Clock>>);

#[derive(Default)]
struct Clock {
    now: Instant,
    sleepers: Vec<Waker>,
}

impl VirtualTime {
    /// A clock at its epoch.
    pub fn new() -> Self {
        Self::default()
    }

    fn with<T>(&self, then: impl FnOnce(&mut Clock) -> T) -> T {
        then(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Time for VirtualTime {
    fn now(&self) -> Instant {
        self.with(|clock| clock.now)
    }

    fn pass(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let time = self.clone();
        Box::pin(async move {
            let woken = time.with(|clock| {
                clock.now = clock.now + duration;
                core::mem::take(&mut clock.sleepers)
            });
            woken.into_iter().for_each(Waker::wake);
            // Whoever was woken has its turn before what comes next.
            let mut yielded = false;
            core::future::poll_fn(|cx| {
                if core::mem::replace(&mut yielded, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        })
    }
}

impl Sleep for VirtualTime {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let (time, until) = (self.clone(), self.now() + duration);
        Box::pin(core::future::poll_fn(move |cx| {
            time.with(|clock| {
                if clock.now >= until {
                    return Poll::Ready(());
                }
                clock.sleepers.push(cx.waker().clone());
                Poll::Pending
            })
        }))
    }
}

impl fmt::Debug for VirtualTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VirtualTime({})", self.now())
    }
}
