//! What is served over HTTP, whoever listens.

use std::sync::{Arc, PoisonError, RwLock};

use super::live::Live;
use super::updater::Unfit;
use super::{Announcer, Host, Runtime, Threading, Updater};
use crate::server::Endpoint;

/// A service in its world, and the endpoint that it has there.
pub(crate) struct Site<R, M: Threading> {
    pub(crate) host: Host<R, M>,
    announcer: Announcer,
    unfit: Unfit<M>,
    /// The endpoint with what the service declared at that version.
    endpoint: Arc<RwLock<(u64, Endpoint)>>,
}

impl<R: Runtime<M>, M: Threading> Site<R, M> {
    pub(crate) fn new(
        host: Host<R, M>,
        announcer: Announcer,
        unfit: Unfit<M>,
        endpoint: Endpoint,
    ) -> Self {
        let endpoint = Arc::new(RwLock::new((Live::<M>::FIRST, endpoint)));
        Self { host, announcer, unfit, endpoint }
    }

    /// The same at another endpoint.
    #[cfg(feature = "tower")]
    pub(crate) fn at(&self, endpoint: Endpoint) -> Self {
        let (host, announcer) = (self.host.clone(), self.announcer.clone());
        Self::new(host, announcer, self.unfit, endpoint)
    }

    /// The endpoint, with what the service declares now.
    pub(crate) fn endpoint(&self) -> Endpoint {
        let (version, endpoint) =
            self.endpoint.read().unwrap_or_else(PoisonError::into_inner).clone();
        if version == self.host.current().version() {
            return endpoint;
        }
        let edition = self.host.current().edition();
        let endpoint = endpoint.with_published(edition.published(endpoint.adapters()));
        let now = (edition.version(), endpoint.clone());
        *self.endpoint.write().unwrap_or_else(PoisonError::into_inner) = now;
        endpoint
    }

    /// Announces changes to the clients that listen, for the namespace of the endpoint.
    pub(crate) fn announcer(&self) -> Announcer {
        self.announcer.clone().namespace(self.endpoint().shared().namespace.clone())
    }

    /// Replaces what is served, while it is.
    pub(crate) fn updater(&self) -> Updater<M> {
        let (live, adapters) = (self.host.current().clone(), self.endpoint().adapters().clone());
        Updater::new(live, self.announcer(), adapters, self.unfit)
    }
}
