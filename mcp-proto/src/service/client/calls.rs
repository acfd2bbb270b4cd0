//! Calls that are awaited.

use core::future::{Future, IntoFuture};
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::Stream;

use super::inner::{Outcome, Shared};
use crate::client::{CallId, ClientError, ErrorKind};
use crate::model::{Entries, Json, Operation, Progress, Reply, Request};

/// Reads what a call gives.
pub(super) type Read<T> = fn(Reply) -> Result<T, ClientError>;

/// A call that was not made yet. Awaiting it makes it; so does [`start`](Self::start).
#[must_use = "a call is made once it is awaited or started"]
pub struct Pending<T> {
    shared: Arc<Shared>,
    request: Result<Request, ClientError>,
    read: Read<T>,
}

impl<T> Pending<T> {
    pub(super) fn new(
        shared: &Arc<Shared>,
        request: Result<Request, ClientError>,
        read: Read<T>,
    ) -> Self {
        Self { shared: shared.clone(), request, read }
    }

    /// The same call, given up after this much silence (R2503-TIME-02).
    pub fn patience(self, patience: Duration) -> Self {
        self.with(|request| request.with_patience(patience))
    }

    /// The same call, given up after this long in all, whatever progress it makes
    /// (R2503-TIME-04).
    pub fn deadline(self, deadline: Duration) -> Self {
        self.with(|request| request.with_deadline(deadline))
    }

    /// The same call with members for its `_meta`, such as a trace context (R26-META-15).
    pub fn meta(self, meta: Json) -> Self {
        self.with(|request| request.with_meta(meta))
    }

    /// The same call, not reporting how far it has come.
    pub fn without_progress(self) -> Self {
        self.with(Request::without_progress)
    }

    /// The same call with the answers to what the server asked when it was made before
    /// (R26-MRTR-20); `state` as it came.
    pub fn answers(self, responses: Vec<(String, Json)>, state: Option<Json>) -> Self {
        self.with(|request| request.with_answers(responses, state))
    }

    /// Makes the call now.
    pub fn start(self) -> Running<T> {
        self.run()
    }

    fn with(mut self, change: impl FnOnce(Request) -> Request) -> Self {
        self.request = self.request.map(change);
        self
    }

    fn run(self) -> Running<T> {
        let Self { shared, request, read } = self;
        let call = request.map(|request| shared.call(request));
        Running { guard: Arc::new(Guard { shared, call }), read, result: PhantomData }
    }
}

impl<T: 'static> IntoFuture for Pending<T> {
    type Output = Result<T, ClientError>;
    type IntoFuture = Running<T>;

    fn into_future(self) -> Running<T> {
        self.run()
    }
}

/// A call under way: a future of its result. Dropping it cancels the call.
#[must_use = "dropping a call cancels it"]
pub struct Running<T> {
    guard: Arc<Guard>,
    read: Read<T>,
    result: PhantomData<fn() -> T>,
}

/// Cancels a call when nobody waits for it any more.
struct Guard {
    shared: Arc<Shared>,
    call: Result<CallId, ClientError>,
}

impl<T> Running<T> {
    /// The call's id in the machine's events; none where the call could not be made.
    pub fn id(&self) -> Option<CallId> {
        self.guard.call.as_ref().ok().copied()
    }

    /// How far the call has come, as it is told; ends with the call, and after all that was told
    /// before its result, whether that was awaited already or not.
    pub fn progress(&self) -> ProgressUpdates {
        ProgressUpdates { guard: self.guard.clone() }
    }

    /// Ends the call; its future then gives [`ErrorKind::Cancelled`].
    pub fn cancel(&self) {
        if let Some(call) = self.id() {
            self.guard.shared.command(|machine, now| machine.cancel(now, call));
        }
    }
}

impl<T> Future for Running<T> {
    type Output = Result<T, ClientError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let call = match &self.guard.call {
            Ok(call) => *call,
            Err(error) => return Poll::Ready(Err(error.clone())),
        };
        let mut state = self.guard.shared.lock();
        let is_over = state.is_over;
        let Some(slot) = state.calls.get_mut(&call) else {
            return Poll::Ready(Err(ClientError::maybe(ErrorKind::Closed)));
        };
        match core::mem::take(&mut slot.result) {
            Outcome::There(result) => {
                // What came before it stays for whoever follows the progress.
                slot.result = Outcome::Taken;
                drop(state);
                Poll::Ready(result.and_then(self.read))
            }
            Outcome::Taken => {
                slot.result = Outcome::Taken;
                Poll::Ready(Err(ClientError::maybe(ErrorKind::Closed)))
            }
            // The loop was dropped with its runtime: nobody will say more.
            Outcome::Awaited if is_over => Poll::Ready(Err(ClientError::maybe(ErrorKind::Closed))),
            Outcome::Awaited => {
                slot.register(cx.waker());
                Poll::Pending
            }
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let Ok(call) = self.call else { return };
        let has_ended = match self.shared.lock().calls.remove(&call) {
            Some(slot) => !matches!(slot.result, Outcome::Awaited),
            None => true,
        };
        if !has_ended {
            self.shared.command(|machine, now| machine.cancel(now, call));
        }
    }
}

/// How far a call has come, as a stream.
pub struct ProgressUpdates {
    guard: Arc<Guard>,
}

impl ProgressUpdates {
    /// The next report; `None` once the call has ended.
    #[expect(clippy::should_implement_trait, reason = "it is that of streams")]
    pub fn next(&mut self) -> impl Future<Output = Option<Progress>> + Send + '_ {
        core::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx))
    }
}

impl Stream for ProgressUpdates {
    type Item = Progress;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Progress>> {
        let Ok(call) = self.guard.call else { return Poll::Ready(None) };
        let mut state = self.guard.shared.lock();
        let is_over = state.is_over;
        let Some(slot) = state.calls.get_mut(&call) else { return Poll::Ready(None) };
        match slot.progress.pop_front() {
            Some(progress) => Poll::Ready(Some(progress)),
            None if !matches!(slot.result, Outcome::Awaited) || is_over => Poll::Ready(None),
            None => {
                slot.register(cx.waker());
                Poll::Pending
            }
        }
    }
}

/// A list, page after page.
pub struct Pages<T> {
    shared: Arc<Shared>,
    operation: Operation,
    read: fn(Reply) -> Result<Entries<T>, ClientError>,
    next: Option<Option<String>>,
    seen: BTreeSet<String>,
}

impl<T: 'static> Pages<T> {
    pub(super) fn new(
        shared: &Arc<Shared>,
        operation: Operation,
        read: fn(Reply) -> Result<Entries<T>, ClientError>,
    ) -> Self {
        Self { shared: shared.clone(), operation, read, next: Some(None), seen: BTreeSet::new() }
    }

    /// The next page; `None` after the last one. A page whose cursor came before is the last: the
    /// list would never end.
    ///
    /// # Errors
    /// What a call's may be.
    pub async fn next(&mut self) -> Result<Option<Vec<T>>, ClientError> {
        let Some(cursor) = self.next.take() else { return Ok(None) };
        let request = Request::page(self.operation, cursor);
        let page = Pending::new(&self.shared, Ok(request), self.read).await?;
        self.next = page.next.filter(|cursor| self.seen.insert(cursor.clone())).map(Some);
        Ok(Some(page.entries))
    }
}
