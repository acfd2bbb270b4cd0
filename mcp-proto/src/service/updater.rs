//! Replacing what a running server declares.

use core::fmt;

use super::live::Live;
use super::{Announcer, Error, Service, Shared, Threading};
use crate::revision::AdapterSet;

/// Why a service cannot be served somewhere, if it cannot.
pub(crate) type Unfit<M> = fn(&Service<M>) -> Option<&str>;

/// Replaces what a running server offers; [`HttpServer::updater`](super::HttpServer::updater) and
/// [`StdioServer::updater`](super::StdioServer::updater) give one. Cloning shares it.
///
/// ```
/// # use mcp_proto::service::{Error, Registry, Updater, tool};
/// # async fn learn(updater: Updater) -> Result<(), Error> {
/// let registry = Registry::new("demo", "1.0.0")
///     .tool(tool("old", || async { "as before" }))
///     .tool(tool("new", || async { "only since now" }));
/// updater.replace(registry.build()?).await?;
/// # Ok(())
/// # }
/// ```
pub struct Updater<M: Threading = Shared> {
    live: Live<M>,
    announcer: Announcer,
    adapters: AdapterSet,
    unfit: Unfit<M>,
}

impl<M: Threading> Updater<M> {
    pub(crate) fn new(
        live: Live<M>,
        announcer: Announcer,
        adapters: AdapterSet,
        unfit: Unfit<M>,
    ) -> Self {
        Self { live, announcer, adapters, unfit }
    }

    /// Serves `service` from now on: to new connections, and to those that are open from their
    /// next request on. Calls that run go on with the handler that they have.
    ///
    /// Clients that listen are told which lists differ from before, each once, and of nothing
    /// else (R24-TOOL-05, R26-SUBS-04); with the server's [`Announcer`], so where principals have
    /// namespaces of their own, those are to be told with announcers of theirs. Of workers that
    /// share a hub, each replaces its own service, and each tells.
    ///
    /// # Errors
    /// Where `service` cannot be served here, as when the server starts: nothing is replaced then.
    /// Where the hub fails: it is replaced, and not everybody knows.
    pub async fn replace(&self, service: Service<M>) -> Result<(), Error> {
        if let Some(why) = (self.unfit)(&service) {
            return Err(Error::internal(why.to_owned()));
        }
        let changes = {
            let (before, next) = self.live.replace(service);
            next.published(&self.adapters).changes(&before.published(&self.adapters))
        };
        for change in &changes {
            self.announcer.announce(change).await?;
        }
        Ok(())
    }
}

impl<M: Threading> Clone for Updater<M> {
    fn clone(&self) -> Self {
        let (live, announcer) = (self.live.clone(), self.announcer.clone());
        Self { live, announcer, adapters: self.adapters.clone(), unfit: self.unfit }
    }
}

impl<M: Threading> fmt::Debug for Updater<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Updater").field(&self.live).finish()
    }
}

#[cfg(test)]
mod tests;
