//! One value on its way from a connection's loop to a handler that waits for it.

use core::fmt;
use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Promises one value.
pub(crate) fn promise<T>() -> (Promise<T>, Promised<T>) {
    let shared = Arc::new(Mutex::new(State::Open(None)));
    (Promise(Arc::clone(&shared)), Promised(shared))
}

/// The side that keeps the promise, or breaks it by being dropped.
pub(crate) struct Promise<T>(Arc<Mutex<State<T>>>);

/// The side that waits: for the value, or for `None` where the promise was broken.
#[must_use = "a promise is kept whether or not anybody waits"]
pub(crate) struct Promised<T>(Arc<Mutex<State<T>>>);

enum State<T> {
    Open(Option<Waker>),
    Kept(T),
    Over,
}

impl<T> Promise<T> {
    /// Hands the value over.
    pub(crate) fn keep(self, value: T) {
        self.end(State::Kept(value));
    }

    /// Whether anybody still waits.
    pub(crate) fn is_wanted(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    fn end(&self, state: State<T>) {
        let mut shared = lock(&self.0);
        if let State::Open(waker) = &mut *shared {
            let waker = waker.take();
            *shared = state;
            drop(shared);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.end(State::Over);
    }
}

impl<T> Future for Promised<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut shared = lock(&self.0);
        if let State::Open(waker) = &mut *shared {
            if !waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                *waker = Some(cx.waker().clone());
            }
            return Poll::Pending;
        }
        match mem::replace(&mut *shared, State::Over) {
            State::Kept(value) => Poll::Ready(Some(value)),
            _ => Poll::Ready(None),
        }
    }
}

fn lock<T>(shared: &Mutex<State<T>>) -> MutexGuard<'_, State<T>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Promise(wanted: {})", self.is_wanted())
    }
}

impl<T> fmt::Debug for Promised<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Promised")
    }
}
