//! A server's cookies.

mod date;
mod jar;
#[cfg(test)]
mod tests;

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{COOKIE, SET_COOKIE};
use http::{HeaderValue, Request, Response, Uri};

use self::jar::{Jar, Site};
use super::{CarryError, HttpCarrier};
use crate::client::Url;

/// A carrier that keeps its server's cookies and sends them back (RFC 6265), so that a balancer which
/// tells its workers apart by one finds that of a session again.
///
/// They are kept in memory for as long as the carrier, sent to the one origin that it was made for and to
/// no other, by its path, and over TLS alone where they are `Secure`. `Max-Age` and `Expires` end them.
/// There are 50 at most, of 4 KiB each and 8 KiB together; the oldest make room. A cookie whose name or
/// value is not printable ASCII is ignored, as is one for a domain that is not the server's.
pub struct Cookies<C> {
    carrier: C,
    jar: Option<Arc<Shared>>,
}

struct Shared {
    origin: Url,
    jar: Mutex<Jar>,
    wall: Box<dyn Fn() -> Duration + Send + Sync>,
}

impl<C: HttpCarrier> Cookies<C> {
    /// `carrier`, with a jar for the origin of `url`; `wall` tells the time since the Unix epoch.
    pub fn new(carrier: C, url: &Url, wall: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        let jar = Mutex::new(Jar::default());
        let shared = Shared { origin: url.clone(), jar, wall: Box::new(wall) };
        Self { carrier, jar: Some(Arc::new(shared)) }
    }

    /// `carrier` without a jar: no cookie is kept.
    pub(super) fn none(carrier: C) -> Self {
        Self { carrier, jar: None }
    }
}

impl<C: HttpCarrier> HttpCarrier for Cookies<C> {
    type Body = C::Body;

    fn send(
        &self,
        mut request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<C::Body>, CarryError>> + Send + 'static {
        let uri = request.uri().clone();
        let jar = self.jar.clone().filter(|jar| jar.is_for(&uri));
        if let Some(jar) = &jar {
            jar.add(&mut request);
        }
        let sent = self.carrier.send(request);
        async move {
            let response = sent.await?;
            if let Some(jar) = jar {
                jar.keep(&uri, &response);
            }
            Ok(response)
        }
    }
}

impl Shared {
    /// Whether a request goes to the origin of the jar.
    fn is_for(&self, uri: &Uri) -> bool {
        Url::parse(&uri.to_string()).is_ok_and(|url| url.is_same_origin(&self.origin))
    }

    fn site<'a>(&'a self, uri: &'a Uri) -> Site<'a> {
        Site { is_secure: self.origin.is_secure(), host: self.origin.host(), path: uri.path() }
    }

    /// Adds the cookies of a request, behind those that the application gives.
    fn add<B>(&self, request: &mut Request<B>) {
        let mut jar = self.jar.lock().unwrap_or_else(PoisonError::into_inner);
        let own = jar.cookies(&self.site(request.uri()), (self.wall)());
        drop(jar);
        let Some(own) = own else { return };
        let given = request.headers().get_all(COOKIE).iter().map(HeaderValue::as_bytes);
        let all: Vec<_> = given.chain([own.as_bytes()]).filter(|it| !it.is_empty()).collect();
        let all = all.join(&b"; "[..]);
        if let Ok(mut value) = HeaderValue::from_bytes(&all) {
            value.set_sensitive(true);
            request.headers_mut().insert(COOKIE, value);
        }
    }

    fn keep<B>(&self, uri: &Uri, response: &Response<B>) {
        let set = response.headers().get_all(SET_COOKIE).iter().take(jar::MOST);
        let (site, now) = (self.site(uri), (self.wall)());
        let mut jar = self.jar.lock().unwrap_or_else(PoisonError::into_inner);
        for value in set {
            jar.set(&site, value.as_bytes(), now);
        }
    }
}

/// Without the cookies: they are secrets.
impl<C> fmt::Debug for Cookies<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keeps = self.jar.is_some();
        f.debug_struct("Cookies").field("keeps", &keeps).finish_non_exhaustive()
    }
}
