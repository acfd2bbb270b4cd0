//! A service on stdin and stdout.

use core::fmt;
use core::future::{Future, pending};
use std::io::ErrorKind;

use futures_io::{AsyncRead, AsyncWrite};
use http::Extensions;

use super::{Driver, Error, Host, Service, Shared, Threading};
use crate::revision::AdapterSet;
use crate::server::{Endpoint, EndpointBuilder, Limits, Stdio};

/// A service on a pair of byte streams with one message per line: stdin and stdout, unless told
/// otherwise. Nothing else of the process may write to stdout; stderr is free (R24-STDIO-04).
#[must_use = "nothing is answered before `serve`"]
pub struct StdioServer<D, M: Threading = Shared> {
    driver: D,
    service: Service<M>,
    endpoint: EndpointBuilder,
}

impl<D: Driver<M>, M: Threading> StdioServer<D, M> {
    /// `service`, driven by `driver`.
    pub fn new(driver: D, service: Service<M>) -> Self {
        let endpoint = Endpoint::builder(service.catalog().clone());
        Self { driver, service, endpoint }
    }

    /// Speaks only these revisions.
    pub fn adapters(mut self, adapters: AdapterSet) -> Self {
        self.endpoint = self.endpoint.adapters(adapters);
        self
    }

    /// Keeps these bounds.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.endpoint = self.endpoint.limits(limits);
        self
    }

    /// Serves until stdin ends: the calls that run get the grace of the
    /// [limits](Limits::eof_grace), then they are cancelled and this returns. The process should
    /// end then (R26-STDIO-16); no thread that still reads stdin keeps it from that.
    ///
    /// # Errors
    /// Where a handler needs an HTTP request, or stdin or stdout failed. That the client is gone
    /// is no error.
    pub async fn serve(self) -> Result<(), Error> {
        self.serve_with_shutdown(pending()).await
    }

    /// Serves until stdin ends or `until` is done, whichever comes first.
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    pub async fn serve_with_shutdown(self, until: impl Future<Output = ()>) -> Result<(), Error> {
        let stream = self.driver.stdio()?;
        self.serve_on(stream, until).await
    }

    /// Serves another stream in the same way, such as a socket.
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    pub async fn serve_on(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin,
        until: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        if let Some(why) = self.service.http_only() {
            return Err(Error::internal(why.to_owned()));
        }
        let machine = Stdio::new(self.endpoint.build(), self.driver.now());
        let host = Host::new(self.service, self.driver.clone());
        let served = host.run(machine, stream, Extensions::new(), until);
        match self.driver.within(served).await {
            Err(error) if !is_gone(error.kind()) => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// The client closed its end while it was written to (C80).
fn is_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

impl<D, M: Threading> fmt::Debug for StdioServer<D, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StdioServer").field(&self.endpoint).finish()
    }
}
