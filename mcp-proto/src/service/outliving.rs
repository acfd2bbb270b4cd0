//! What goes on when a stream is gone.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::drive::{Carried, Drive};
use super::host::Carrier;
use super::work::Work;
use super::{Runtime, Threading};

/// A machine whose stream is gone, with the calls that run on: a client can come back for their
/// results, wherever it is served then. It ends when nothing runs any more.
///
/// A [`Host`](super::Host) [detaches](Runtime::detach) it; that it can be is why it has a name.
pub struct Outliving<C, R: Runtime<M>, M: Threading>(Drive<C, R, M>);

impl<C: Carrier, R: Runtime<M>, M: Threading> Outliving<C, R, M> {
    pub(crate) fn new(machine: C, work: Work<R, M>, timer: R::Timer) -> Self {
        Self(Drive::new(machine, work, timer))
    }
}

impl<C, R: Runtime<M>, M: Threading> Unpin for Outliving<C, R, M> {}

impl<C: Carrier, R: Runtime<M>, M: Threading> Future for Outliving<C, R, M> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll(cx, |drive, _, _| {
            // Nobody reads it.
            let mut said = Vec::new();
            drive.machine.transmit(&mut said);
            match (drive.is_idle() || drive.work.is_given_up(), said.is_empty()) {
                (true, _) => Carried::Done(()),
                (false, true) => Carried::Nothing(None),
                (false, false) => Carried::Some,
            }
        })
    }
}

impl<C, R: Runtime<M>, M: Threading> fmt::Debug for Outliving<C, R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Outliving")
    }
}

#[cfg(test)]
mod tests;
