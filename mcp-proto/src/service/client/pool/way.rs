//! How an origin is reached.

use super::line::Line;
use super::{Dial, Origin};

pub(super) struct Ways {
    #[cfg(feature = "tls")]
    pub(super) tls: super::Tls,
}

impl Ways {
    /// A connection to the origin, or why there is none.
    pub(super) async fn connect<D: Dial>(
        &self,
        driver: &D,
        origin: &Origin,
    ) -> Result<Line, String> {
        let Origin { secure, host, port } = origin;
        self.can(*secure)?;
        let stream = driver.dial(host.clone(), *port).await;
        let stream = stream.map_err(|error| format!("{host}, port {port}: {error}"))?;
        self.secured(*secure, host, Line::new(stream)).await
    }

    #[cfg(feature = "tls")]
    fn can(&self, secure: bool) -> Result<(), String> {
        if secure { self.tls.check() } else { Ok(()) }
    }

    #[cfg(not(feature = "tls"))]
    fn can(&self, secure: bool) -> Result<(), String> {
        let why = "this client speaks no TLS: switch on the driver's feature `tls`, or give it an \
                   `HttpCarrier` that does";
        if secure { Err(why.to_owned()) } else { Ok(()) }
    }

    #[cfg(feature = "tls")]
    async fn secured(&self, secure: bool, host: &str, line: Line) -> Result<Line, String> {
        if secure { self.tls.over(line, host).await } else { Ok(line) }
    }

    #[cfg(not(feature = "tls"))]
    async fn secured(&self, _: bool, _: &str, line: Line) -> Result<Line, String> {
        Ok(line)
    }
}
