//! Changes, as a stream.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use futures_util::Stream;

use super::inner::Shared;
use crate::client::{ClientError, ErrorKind, ListenId};
use crate::model::{Change, Filter};

/// What a subscription tells.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListenEvent {
    /// It is in force, for so much of what was wanted.
    Listening(Filter),
    /// Something changed.
    Changed(Change),
    /// It was interrupted: changes may have been missed.
    Missed,
}

/// A subscription to changes: a stream that ends with the subscription. Dropping it ends the
/// subscription.
#[must_use = "dropping a subscription ends it"]
pub struct Listening {
    shared: Arc<Shared>,
    listen: ListenId,
    is_over: bool,
}

impl Listening {
    pub(super) fn new(shared: &Arc<Shared>, filter: Filter) -> Self {
        let listen = shared.command(|machine, now| machine.listen(now, filter));
        shared.lock().listens.entry(listen).or_default();
        Self { shared: shared.clone(), listen, is_over: false }
    }

    /// What is told next; `None` once the subscription has ended in good order.
    #[expect(clippy::should_implement_trait, reason = "it is that of streams")]
    pub fn next(
        &mut self,
    ) -> impl Future<Output = Option<Result<ListenEvent, ClientError>>> + Send + '_ {
        core::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx))
    }
}

impl Stream for Listening {
    type Item = Result<ListenEvent, ClientError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let shared = self.shared.clone();
        let mut state = shared.lock();
        let loop_is_over = state.is_over;
        let Some(slot) = state.listens.get_mut(&self.listen) else { return Poll::Ready(None) };
        if let Some(event) = slot.events.pop_front() {
            return Poll::Ready(Some(Ok(event)));
        }
        let end = match slot.end.take() {
            Some(end) => end,
            None if loop_is_over => Err(ClientError::never(ErrorKind::Closed)),
            None => {
                slot.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
        };
        self.is_over = true;
        Poll::Ready(end.err().map(Err))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let listen = self.listen;
        self.shared.lock().listens.remove(&listen);
        if !self.is_over {
            self.shared.command(|machine, now| machine.unlisten(now, listen));
            self.shared.lock().listens.remove(&listen);
        }
    }
}
