//! How an origin is reached.

use std::sync::Arc;

use http::header::PROXY_AUTHORIZATION;

use super::line::Line;
use super::proxy::{Proxies, Proxy};
use super::wire::Wire;
use super::{Dial, Origin};
use crate::service::Runtime;

pub(super) struct Ways {
    pub(super) proxies: Proxies,
    #[cfg(feature = "tls")]
    pub(super) tls: super::Tls,
}

impl Ways {
    /// A connection to the origin, or why there is none. Nothing of a request was sent then.
    pub(super) async fn connect<D: Dial>(
        &self,
        driver: &D,
        origin: &Origin,
    ) -> Result<Wire, String> {
        self.can(origin.secure)?;
        let now = Runtime::now(driver);
        let Some(proxy) = self.proxies.of(origin)? else {
            let line = self.secured(origin, dial(driver, origin).await?).await?;
            return Ok(Wire::new(line, None, now));
        };
        let at_proxy = |error| format!("the proxy {proxy}: {error}");
        self.can(proxy.origin.secure).map_err(at_proxy)?;
        let line = dial(driver, &proxy.origin).await.map_err(at_proxy)?;
        let line = self.secured(&proxy.origin, line).await.map_err(at_proxy)?;
        if !origin.secure {
            return Ok(Wire::new(line, Some(proxy), now));
        }
        let tunnel = tunnel(Wire::new(line, None, now), &proxy, origin);
        let line = self.secured(origin, tunnel.await.map_err(at_proxy)?).await?;
        Ok(Wire::new(line, None, now))
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
    async fn secured(&self, origin: &Origin, line: Line) -> Result<Line, String> {
        if origin.secure { self.tls.over(line, &origin.host).await } else { Ok(line) }
    }

    #[cfg(not(feature = "tls"))]
    async fn secured(&self, _: &Origin, line: Line) -> Result<Line, String> {
        Ok(line)
    }
}

async fn dial<D: Dial>(driver: &D, origin: &Origin) -> Result<Line, String> {
    let stream = driver.dial(origin.host.clone(), origin.port).await;
    stream.map(Line::new).map_err(|error| format!("{}: {error}", origin.authority()))
}

/// A line to the origin, through a proxy that only passes bytes on (RFC 9110, section 9.3.6).
async fn tunnel(mut wire: Wire, proxy: &Arc<Proxy>, origin: &Origin) -> Result<Line, String> {
    let credentials = proxy.authorization.as_ref().map(|value| (&PROXY_AUTHORIZATION, value));
    match wire.connect(&origin.authority(), credentials).await {
        Ok(200..300) => wire.into_line(),
        Ok(407) => Err(WANTS_CREDENTIALS.to_owned()),
        Ok(status) => Err(format!("no way to {}: status {status}", origin.authority())),
        Err(error) => Err(error.why),
    }
}

/// What a proxy means by status 407.
pub(super) const WANTS_CREDENTIALS: &str = "it wants (other) credentials (status 407)";
