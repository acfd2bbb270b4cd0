//! A client and its server in one process.

use core::fmt;
use core::future::{Future, pending, ready};
use std::io;
use std::sync::Arc;

use http::Extensions;

use super::Respawn;
use crate::server::{Endpoint, Stdio};
use crate::service::pair::{End, pair};
use crate::service::{Host, Runtime, Service, Shared};

/// How many bytes are on their way, each way.
const CAPACITY: usize = 64 * 1024;

/// The way to a service in this process: it is served as over stdio, and nothing leaves the process.
pub struct InProcess(pub(super) Service);

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InProcess").field(&self.0.catalog().server).finish()
    }
}

/// Serves the service beside the client, on its runtime.
pub(super) struct Beside<R> {
    pub(super) runtime: R,
    pub(super) service: Service,
}

impl<R> Respawn for Beside<R>
where
    R: Runtime<Shared, Timer: Send> + Clone + Send + Sync + 'static,
{
    type Stream = End;

    fn start(&mut self) -> impl Future<Output = io::Result<End>> + Send + 'static {
        let (ours, theirs) = pair(CAPACITY);
        let (runtime, service) = (self.runtime.clone(), self.service.clone());
        let endpoint = Endpoint::builder(Arc::clone(service.catalog())).build();
        let machine = Stdio::new(endpoint, runtime.now());
        let host = Host::<_, Shared>::new(service, runtime.clone());
        runtime.detach::<()>(Box::pin(async move {
            // It ends with its client, who knows how.
            let _ = host.run(machine, theirs, Extensions::new(), pending()).await;
        }));
        ready(Ok(ours))
    }
}
