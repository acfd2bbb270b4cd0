//! A machine that is driven without a stream of its own.

use core::pin::Pin;
use core::task::{Context, Poll};

use super::host::Carrier;
use super::work::Work;
use super::{Runtime, Threading, Timer};
use crate::time::{Instant, earlier};

/// How often one poll goes around before other tasks get their turn.
const ROUNDS: usize = 32;

/// A machine, all that runs for it, and the one timer of both. How bytes come and go is the
/// caller's.
pub(crate) struct Drive<C, R: Runtime<M>, M: Threading> {
    pub(crate) machine: C,
    pub(crate) work: Work<R, M>,
    timer: Pin<Box<R::Timer>>,
    armed: Option<Instant>,
    /// Since when nothing moves.
    since: Instant,
}

/// What came of carrying bytes to and fro.
pub(crate) enum Carried<T> {
    /// It is over.
    Done(T),
    /// There may be more to do.
    Some,
    /// There is nothing to do now, and nothing before then.
    Nothing(Option<Instant>),
}

impl<C: Carrier, R: Runtime<M>, M: Threading> Drive<C, R, M> {
    pub(crate) fn new(machine: C, work: Work<R, M>, timer: R::Timer) -> Self {
        let since = work.now();
        Self { machine, work, timer: Box::pin(timer), armed: None, since }
    }

    /// Goes on with everything, `carry` included, until nothing is left to do but wait.
    pub(crate) fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut carry: impl FnMut(&mut Self, Instant, &mut Context<'_>) -> Carried<T>,
    ) -> Poll<T> {
        self.work.register(cx.waker());
        for _ in 0..ROUNDS {
            let now = self.work.now();
            let due = self.machine.poll_timeout().is_some_and(|deadline| deadline <= now);
            if due {
                self.machine.handle_timeout(now);
            }
            let moved = self.work.advance(&mut self.machine, now, cx);
            let until = match carry(self, now, cx) {
                Carried::Done(done) => return Poll::Ready(done),
                Carried::Some => {
                    self.since = now;
                    continue;
                }
                Carried::Nothing(until) => until,
            };
            if !due && !moved && self.rest(until, cx).is_pending() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Nothing runs any more.
    pub(crate) fn is_idle(&self) -> bool {
        self.machine.is_idle() && self.work.is_idle()
    }

    /// Waits for the next deadline. The timer is set only to go off earlier than it would.
    fn rest(&mut self, until: Option<Instant>, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = earlier(self.machine.poll_timeout(), self.work.poll_timeout());
        let deadline = earlier(deadline, until);
        if let Some(deadline) = deadline
            && self.armed.is_none_or(|armed| deadline < armed)
        {
            self.timer.as_mut().reset(deadline);
            self.armed = Some(deadline);
        }
        if self.armed.is_none() || self.timer.as_mut().poll_elapsed(cx).is_pending() {
            self.work.weigh(&self.machine, 0, self.since, cx.waker());
            return Poll::Pending;
        }
        self.armed = None;
        Poll::Ready(())
    }
}
