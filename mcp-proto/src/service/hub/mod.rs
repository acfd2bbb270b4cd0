//! Hubs: who answers a machine's [`HubOp`]s, as an application can write them.

mod bells;
mod memory;
mod waiting;

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;

use super::{Execution, Simple};
use crate::effect::{EffectError, Reply};
use crate::store::{Cursor, HubOp, Polled};
use crate::time::Instant;

pub use bells::{Bells, Listening};
pub use memory::MemoryHub;
pub use waiting::{Log, News, WaitingHub, Wake};

/// Where events are kept, by topic.
///
/// Every operation is answered by the [`Reply`] that it names. Messages of a topic have one order,
/// in which every reader sees them. To write a hub of your own, implement [`SimpleHub`], which is
/// four async functions, or a [`Log`] where the waiting should be done for you.
pub trait Hub: Send + Sync {
    /// Does `op` at `now`; a hub of more than one process goes by its own clock instead.
    ///
    /// Dropping the execution of a poll ends the waiting.
    fn execute(&self, now: Instant, op: HubOp) -> Execution;
}

impl<H: Hub + ?Sized> Hub for Arc<H> {
    fn execute(&self, now: Instant, op: HubOp) -> Execution {
        (**self).execute(now, op)
    }
}

/// A hub of an application's own: four async functions. [`Simple`] makes a [`Hub`] of it.
pub trait SimpleHub: Send + Sync + 'static {
    /// What the hub fails with; its text is for the server's own log.
    type Error: fmt::Display;

    /// Appends one message to a topic, to be kept for at least `ttl` and among the newest `keep`.
    fn publish(
        &self,
        topic: String,
        message: Bytes,
        ttl: Duration,
        keep: u32,
    ) -> impl Future<Output = Result<Cursor, Self::Error>> + Send;

    /// Where the topic ends now.
    fn position(&self, topic: String) -> impl Future<Output = Result<Cursor, Self::Error>> + Send;

    /// What came after each cursor, as soon as there is anything, or nothing after `wait`.
    fn poll(
        &self,
        topics: Vec<(String, Cursor)>,
        wait: Duration,
    ) -> impl Future<Output = Result<Vec<Polled>, Self::Error>> + Send;

    /// Forgets a topic.
    fn delete(&self, topic: String) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

impl<H: SimpleHub> Hub for Simple<H> {
    fn execute(&self, _: Instant, op: HubOp) -> Execution {
        let hub = Arc::clone(&self.0);
        Execution::Later(Box::pin(async move {
            let done = match op {
                HubOp::Publish { topic, message, ttl, keep } => {
                    hub.publish(topic, message, ttl, keep).await.map(Reply::Published)
                }
                HubOp::Position { topic } => hub.position(topic).await.map(Reply::Position),
                HubOp::Poll { topics, wait } => hub.poll(topics, wait).await.map(Reply::Polled),
                HubOp::Delete { topic } => hub.delete(topic).await.map(|()| Reply::Deleted),
            };
            done.map_err(|error| EffectError::Unavailable(error.to_string()))
        }))
    }
}
