//! Work beside the calls: waiting for news, sweeping, telling of failures. It ends with what it is
//! for.

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant as Clock;

use futures_util::future::{AbortHandle, abortable};
use mcp_proto::effect::{EffectError, Reply};
use mcp_proto::service::{Execution, Hub, SessionStore};
use mcp_proto::store::{HubOp, SessionOp};
use mcp_proto::time::Instant;

use crate::runtime::Runtime;

/// Whoever is told of failures.
pub(crate) type Report = Arc<dyn Fn(&EffectError) + Send + Sync>;

/// Running work. Dropping it ends the work.
pub(crate) struct Background {
    work: Vec<AbortHandle>,
    report: Report,
    told: Mutex<Told>,
}

/// When the last failed call was told of, and how many failed since.
#[derive(Default)]
struct Told {
    at: Option<Clock>,
    untold: u64,
}

/// A server that is away fails many calls: one line in so long is enough.
const TELL_AGAIN: Duration = Duration::from_secs(10);

impl Background {
    /// No work yet. `report` is told of calls that fail.
    pub(crate) fn new(report: Report) -> Self {
        Self { work: Vec::new(), report, told: Mutex::default() }
    }

    pub(crate) fn run(
        &mut self,
        runtime: &Runtime,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let (work, handle) = abortable(work);
        self.work.push(handle);
        runtime.spawn(async move {
            let _ended = work.await;
        });
    }

    /// The same execution, which tells of its failure.
    fn watched(self: &Arc<Self>, execution: Execution) -> Execution {
        let own = Arc::clone(self);
        let told =
            move |reply: Result<Reply, EffectError>| reply.inspect_err(|error| own.tell(error));
        match execution {
            Execution::Done(reply) => Execution::Done(told(reply)),
            Execution::Later(reply) => Execution::Later(Box::pin(async move { told(reply.await) })),
        }
    }

    fn tell(&self, error: &EffectError) {
        let untold = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.at.is_some_and(|at| at.elapsed() < TELL_AGAIN) {
                told.untold += 1;
                return;
            }
            told.at = Some(Clock::now());
            core::mem::take(&mut told.untold)
        };
        match untold {
            0 => (self.report)(error),
            _ => (self.report)(&EffectError::Unavailable(format!(
                "{error} ({untold} more calls failed since it was last told)"
            ))),
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.work.iter().for_each(AbortHandle::abort);
    }
}

impl fmt::Debug for Background {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Background({} at work)", self.work.len())
    }
}

/// A store or hub, with the background work that it needs.
pub(crate) struct Kept<T> {
    pub(crate) inner: T,
    pub(crate) background: Arc<Background>,
}

impl<T: SessionStore> SessionStore for Kept<T> {
    fn execute(&self, now: Instant, op: SessionOp) -> Execution {
        self.background.watched(self.inner.execute(now, op))
    }
}

impl<T: Hub> Hub for Kept<T> {
    fn execute(&self, now: Instant, op: HubOp) -> Execution {
        self.background.watched(self.inner.execute(now, op))
    }
}

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({:?})", self.background)
    }
}
