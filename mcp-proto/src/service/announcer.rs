//! Telling clients that listen what changed.

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use super::{Error, Execution, Hub};
use crate::effect::Reply;
use crate::model::Change;
use crate::store::{self, HubOp};
use crate::time::Instant;

/// How long a change can be told to a client that comes back for what it missed.
const TTL: Duration = Duration::from_secs(300);

/// How many changes are kept for such clients.
const KEEP: u32 = 1_000;

/// Announces changes from outside of a handler; from within one, there is
/// [`Exchange::announce`](super::Exchange::announce). Cloning shares it.
///
/// It reaches the clients of every worker that shares the hub. Where
/// [namespaces](crate::server::EndpointBuilder::namespace) are told apart, it reaches those of one.
#[derive(Clone)]
pub struct Announcer {
    hub: Arc<dyn Hub>,
    now: Arc<dyn Fn() -> Instant + Send + Sync>,
    namespace: String,
}

impl Announcer {
    /// Announces on `hub`, whose time is `now`.
    pub fn new(
        hub: Arc<dyn Hub>,
        now: impl Fn() -> Instant + Send + Sync + 'static,
        namespace: impl Into<String>,
    ) -> Self {
        Self { hub, now: Arc::new(now), namespace: namespace.into() }
    }

    /// The same for another namespace: that of a principal is its
    /// [identity](crate::auth::Principal::identity).
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Announces a change.
    ///
    /// # Errors
    /// Where the hub fails.
    pub fn announce(
        &self,
        change: &Change,
    ) -> impl Future<Output = Result<(), Error>> + Send + use<> {
        let execution = self.hub.execute((self.now)(), publish(&self.namespace, change));
        async move {
            let reply = match execution {
                Execution::Done(reply) => reply,
                Execution::Later(reply) => reply.await,
            };
            match reply? {
                Reply::Published(_) => Ok(()),
                _ => Err(Error::internal("the hub answered something else")),
            }
        }
    }

    /// The list of tools changed.
    ///
    /// # Errors
    /// Where the hub fails.
    pub async fn tools_changed(&self) -> Result<(), Error> {
        self.announce(&Change::Tools).await
    }

    /// The list of prompts changed.
    ///
    /// # Errors
    /// Where the hub fails.
    pub async fn prompts_changed(&self) -> Result<(), Error> {
        self.announce(&Change::Prompts).await
    }

    /// The lists of resources and templates changed.
    ///
    /// # Errors
    /// Where the hub fails.
    pub async fn resources_changed(&self) -> Result<(), Error> {
        self.announce(&Change::Resources).await
    }

    /// The resource at `uri` changed.
    ///
    /// # Errors
    /// Where the hub fails.
    pub async fn resource_updated(&self, uri: impl Into<String>) -> Result<(), Error> {
        self.announce(&Change::Updated(uri.into())).await
    }
}

/// The operation that announces a change.
pub(crate) fn publish(namespace: &str, change: &Change) -> HubOp {
    let topic = store::topic(namespace, "changes", None);
    HubOp::Publish { topic, message: change.encode(), ttl: TTL, keep: KEEP }
}

impl fmt::Debug for Announcer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcer").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
