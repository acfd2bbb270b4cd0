//! Our own HTTP/1.1 connections as a carrier.

use core::fmt;
use core::future::Future;
use core::net::IpAddr;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_io::{AsyncRead, AsyncWrite};
use futures_util::Stream;
use http::{Method, Request, Response};

use self::kept::{Kept, Place};
use self::proxy::{Proxies, Told};
use self::way::Ways;
use self::wire::Wire;
use super::{CarryError, HttpCarrier};
use crate::frame::http1::ResponseHead;
use crate::frame::http1::client::Event;
use crate::service::{Runtime, Shared as Threads};

mod kept;
mod line;
mod proxy;
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;
mod way;
mod wire;

pub use proxy::{InvalidProxy, Proxy};
#[cfg(feature = "tls")]
pub use tls::Tls;

/// A runtime that makes connections over TCP.
pub trait Dial: Runtime<Threads, Timer: Send> + Clone + Send + Sync {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Connects to a host: a name, or an address (one of IPv6 without brackets).
    fn dial(
        &self,
        host: String,
        port: u16,
    ) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static;

    /// A variable of the process's environment, for what is configured there: proxies.
    fn variable(&self, name: &str) -> Option<OsString>;
}

/// HTTP/1.1 connections that are kept for the next request.
///
/// Clones share their connections.
pub struct Pool<D: Dial> {
    shared: Arc<Shared<D>>,
}

struct Shared<D: Dial> {
    kept: Arc<Kept<D>>,
    ways: Ways,
}

/// How many connections a pool has, and for how long.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PoolLimits {
    /// Connections to one origin, those of streams that stay open included; further requests wait
    /// for one. 2,048: more than a client has calls under way, since the answer to a server's
    /// question needs one beside that of the call.
    pub connections: usize,
    /// Of these, the ones that may be idle. 16.
    pub idle: usize,
    /// How long a connection may be idle before it is closed. Servers close them too, and a
    /// request that meets the closing may have run or not. 30 s.
    pub idle_time: Duration,
    /// How long it may take to connect: by TCP, through a proxy, and with TLS. 10 s.
    pub connect_time: Duration,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self {
            connections: 2_048,
            idle: 16,
            idle_time: Duration::from_secs(30),
            connect_time: Duration::from_secs(10),
        }
    }
}

/// What a [`Pool`] is to be.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct PoolBuilder {
    limits: PoolLimits,
    proxies: Told,
    #[cfg(feature = "tls")]
    tls: Tls,
}

impl PoolBuilder {
    /// A pool with the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has so many connections, and for so long.
    pub fn limits(mut self, limits: PoolLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Makes all requests through this proxy, whatever the environment says, and those to this
    /// machine as well. Without this and without [`no_proxy`](Self::no_proxy), the environment's
    /// variables count: `https_proxy`, `http_proxy` (but not in a CGI program), `all_proxy` for
    /// both, and `no_proxy`, all of them in lower or upper case; and this machine is reached
    /// directly.
    pub fn proxy(mut self, proxy: Proxy) -> Self {
        self.proxies = Told::Always(proxy);
        self
    }

    /// Makes no request through a proxy, whatever the environment says.
    pub fn no_proxy(mut self) -> Self {
        self.proxies = Told::Never;
        self
    }

    /// Knows servers, and is known to them, in this way.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = tls;
        self
    }

    /// The pool, without a connection yet.
    pub fn build<D: Dial>(self, driver: D) -> Pool<D> {
        let ways = Ways {
            proxies: Proxies::new(self.proxies, |name| driver.variable(name)),
            #[cfg(feature = "tls")]
            tls: self.tls,
        };
        let kept = Kept::new(driver, self.limits);
        Pool { shared: Arc::new(Shared { kept, ways }) }
    }
}

impl<D: Dial> Pool<D> {
    /// A pool with the defaults.
    pub fn new(driver: D) -> Self {
        PoolBuilder::default().build(driver)
    }

    /// How many connections are idle.
    pub fn idle(&self) -> usize {
        self.shared.kept.idle()
    }
}

impl<D: Dial> Clone for Pool<D> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<D: Dial> fmt::Debug for Pool<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("idle", &self.idle()).finish_non_exhaustive()
    }
}

/// Where connections lead.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Origin {
    secure: bool,
    /// One of IPv6 without brackets.
    host: String,
    port: u16,
}

impl Origin {
    /// `host` may have brackets.
    fn new(secure: bool, host: &str, port: u16) -> Self {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Self { secure, host, port }
    }

    fn of(request: &Request<Bytes>) -> Result<Self, CarryError> {
        let uri = request.uri();
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(CarryError::unsent("the URL begins neither with http nor with https")),
        };
        let host = uri.host().ok_or_else(|| CarryError::unsent("the URL has no host"))?;
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        Ok(Self::new(secure, host, port))
    }

    /// Host and port.
    fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// It is on this machine.
    fn is_loopback(&self) -> bool {
        let host = self.host.trim_end_matches('.').to_ascii_lowercase();
        let address = host.parse::<IpAddr>().map(|address| address.is_loopback());
        address.unwrap_or(host == "localhost" || host.ends_with(".localhost"))
    }
}

impl<D: Dial> HttpCarrier for Pool<D> {
    type Body = PoolBody<D>;

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<PoolBody<D>>, CarryError>> + Send + 'static {
        let shared = self.shared.clone();
        async move {
            let origin = Origin::of(&request)?;
            let mut place = Kept::place(&shared.kept, origin).await;
            let head = shared.head(&mut place, &request).await?;
            let mut response = Response::builder().status(head.status());
            for (name, value) in head.fields().iter() {
                response = response.header(name, value);
            }
            let body = PoolBody { place: Some(place) };
            response.body(body).map_err(|error| CarryError::sent(error.to_string()))
        }
    }
}

impl<D: Dial> Shared<D> {
    /// Makes a request, and waits for the head of its response. A connection that was kept may end
    /// just now, and then the request gets a new one, unless it may have run (RFC 9112, section
    /// 9.3.1).
    async fn head(
        &self,
        place: &mut Place<D>,
        request: &Request<Bytes>,
    ) -> Result<ResponseHead, CarryError> {
        if let Some(wire) = &mut place.wire {
            match wire.request(request).await {
                Err(_) if wire.is_unsent() => {}
                Err(_) if wire.is_unheard() && is_repeatable(request.method()) => {}
                result => return result,
            }
            place.wire = None;
        }
        let wire = self.connect(&place.origin).await?;
        place.wire.insert(wire).request(request).await
    }

    async fn connect(&self, origin: &Origin) -> Result<Wire, CarryError> {
        let kept = &self.kept;
        let connecting = self.ways.connect(&kept.driver, origin);
        let connected = kept.within(kept.limits.connect_time, connecting).await;
        let late = || format!("no connection within {:?}", kept.limits.connect_time);
        connected.unwrap_or_else(|| Err(late())).map_err(CarryError::unsent)
    }
}

/// RFC 9110, section 9.2.2.
fn is_repeatable(method: &Method) -> bool {
    method.is_idempotent()
}

/// The body of a response. Once it is read to its end, its connection serves the next request.
pub struct PoolBody<D: Dial> {
    place: Option<Place<D>>,
}

impl<D: Dial> Stream for PoolBody<D> {
    type Item = Result<Bytes, CarryError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(wire) = self.place.as_mut().and_then(|place| place.wire.as_mut()) else {
            return Poll::Ready(None);
        };
        Poll::Ready(match ready!(wire.poll_event(cx)) {
            Event::Body(bytes) => Some(Ok(bytes)),
            Event::End => {
                if let Some(place) = self.place.take() {
                    place.keep();
                }
                None
            }
            Event::Failed(failure) => {
                self.place = None;
                Some(Err(CarryError::sent(failure.to_string())))
            }
            Event::Head(_) => Some(Err(CarryError::sent("a second head"))),
        })
    }
}

impl<D: Dial> Unpin for PoolBody<D> {}
