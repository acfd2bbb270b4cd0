//! A call while its handler runs.

use core::fmt;
use core::future::Future;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::panic::catch_unwind;

use super::Threading;
use super::trace::CallSpan;
use crate::model::Outcome;
use crate::server::CallId;

/// A call whose handler runs while this is polled. Dropping it cancels the call.
#[must_use = "a handler runs only while it is polled"]
pub struct Running<M: Threading> {
    id: CallId,
    /// Gone once the call is over.
    handler: Option<M::Boxed<'static, Outcome>>,
    waker: Option<Waker>,
    span: CallSpan,
}

impl<M: Threading> Running<M> {
    pub(crate) fn new(id: CallId, handler: M::Boxed<'static, Outcome>, span: CallSpan) -> Self {
        Self { id, handler: Some(handler), waker: None, span }
    }

    /// Which call it is.
    pub fn id(&self) -> CallId {
        self.id
    }

    /// Whether it is neither done nor cancelled.
    pub(crate) fn is_running(&self) -> bool {
        self.handler.is_some()
    }

    /// Drops the handler where it waits; this then ends without an outcome.
    pub fn cancel(&mut self) {
        self.stop(None);
    }

    /// The same, where something else gave the call this outcome, if anything did.
    pub(crate) fn stop(&mut self, outcome: Option<&Outcome>) {
        if let Some(handler) = self.handler.take() {
            self.span.end(outcome);
            // What a handler does while it is dropped is its own affair, a panic included.
            let dropped = AssertUnwindSafe(|| self.span.within(|| drop(handler)));
            let _ = catch_unwind(dropped);
        }
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl<M: Threading> Unpin for Running<M> {}

impl<M: Threading> Future for Running<M> {
    /// `None` where the call was cancelled.
    type Output = (CallId, Option<Outcome>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(handler) = &mut this.handler else {
            return Poll::Ready((this.id, None));
        };
        match this.span.within(|| Pin::new(handler).poll(cx)) {
            Poll::Ready(outcome) => {
                this.span.end(Some(&outcome));
                this.handler = None;
                Poll::Ready((this.id, Some(outcome)))
            }
            Poll::Pending => {
                if !this.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                    this.waker = Some(cx.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

impl<M: Threading> Drop for Running<M> {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl<M: Threading> fmt::Debug for Running<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Running").field(&self.id).finish()
    }
}
