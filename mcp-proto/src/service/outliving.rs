//! What goes on when a stream is gone.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::host::Carrier;
use super::work::Work;
use super::{Runtime, Threading, Timer};
use crate::time::{Instant, earlier};

/// How often one poll goes around before other tasks get their turn.
const ROUNDS: usize = 32;

/// A machine whose stream is gone, with the calls that run on: a client can come back for their
/// results, wherever it is served then. It ends when nothing runs any more.
///
/// A [`Host`](super::Host) [detaches](Runtime::detach) it; that it can be is why it has a name.
pub struct Outliving<C, R: Runtime<M>, M: Threading> {
    machine: C,
    work: Work<R, M>,
    timer: Pin<Box<R::Timer>>,
    armed: Option<Instant>,
}

impl<C: Carrier, R: Runtime<M>, M: Threading> Outliving<C, R, M> {
    pub(crate) fn new(machine: C, work: Work<R, M>, timer: R::Timer) -> Self {
        Self { machine, work, timer: Box::pin(timer), armed: None }
    }

    fn round(&mut self, cx: &mut Context<'_>) -> bool {
        let now = self.work.now();
        let due = self.machine.poll_timeout().is_some_and(|deadline| deadline <= now);
        if due {
            self.machine.handle_timeout(now);
        }
        let moved = self.work.advance(&mut self.machine, now, cx);
        // Nobody reads it.
        self.machine.transmit(&mut Vec::new());
        due | moved
    }
}

impl<C, R: Runtime<M>, M: Threading> Unpin for Outliving<C, R, M> {}

impl<C: Carrier, R: Runtime<M>, M: Threading> Future for Outliving<C, R, M> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.work.register(cx.waker());
        for _ in 0..ROUNDS {
            let moved = this.round(cx);
            if this.machine.is_idle() && this.work.is_idle() {
                return Poll::Ready(());
            }
            if moved {
                continue;
            }
            let deadline = earlier(this.machine.poll_timeout(), this.work.poll_timeout());
            if let Some(deadline) = deadline
                && this.armed.is_none_or(|armed| deadline < armed)
            {
                this.timer.as_mut().reset(deadline);
                this.armed = Some(deadline);
            }
            if this.armed.is_none() || this.timer.as_mut().poll_elapsed(cx).is_pending() {
                return Poll::Pending;
            }
            this.armed = None;
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<C, R: Runtime<M>, M: Threading> fmt::Debug for Outliving<C, R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outliving")
    }
}

#[cfg(test)]
mod tests;
