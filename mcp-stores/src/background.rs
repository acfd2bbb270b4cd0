//! Work beside the calls: waiting for news, sweeping. It ends with what it is for.

use core::fmt;
use core::future::Future;
use std::sync::Arc;

use futures_util::future::{AbortHandle, abortable};
use mcp_proto::effect::EffectError;
use mcp_proto::service::{Execution, Hub, SessionStore};
use mcp_proto::store::{HubOp, SessionOp};
use mcp_proto::time::Instant;

use crate::runtime::Runtime;

/// Whoever is told of failures in the background.
pub(crate) type Report = Arc<dyn Fn(&EffectError) + Send + Sync>;

/// Running work. Dropping it ends the work.
#[derive(Debug, Default)]
pub(crate) struct Background(Vec<AbortHandle>);

impl Background {
    pub(crate) fn run(
        &mut self,
        runtime: &Runtime,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let (work, handle) = abortable(work);
        self.0.push(handle);
        runtime.spawn(async move {
            let _ended = work.await;
        });
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

/// A store or hub, with the background work that it needs.
pub(crate) struct Kept<T> {
    pub(crate) inner: T,
    pub(crate) background: Arc<Background>,
}

impl<T: SessionStore> SessionStore for Kept<T> {
    fn execute(&self, now: Instant, op: SessionOp) -> Execution {
        self.inner.execute(now, op)
    }
}

impl<T: Hub> Hub for Kept<T> {
    fn execute(&self, now: Instant, op: HubOp) -> Execution {
        self.inner.execute(now, op)
    }
}

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({:?})", self.background)
    }
}
