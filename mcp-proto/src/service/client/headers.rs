//! Headers for every request.

use core::fmt;
use core::future::Future;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};

use super::{CarryError, HttpCarrier};

/// A carrier that adds headers to every request.
pub struct WithHeaders<C> {
    carrier: C,
    headers: HeaderMap,
}

impl<C: HttpCarrier> WithHeaders<C> {
    /// `carrier`, with no header yet.
    pub fn new(carrier: C) -> Self {
        Self { carrier, headers: HeaderMap::new() }
    }

    /// Adds a header. What the protocol itself sends is not to be repeated.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    pub(super) fn with(carrier: C, headers: HeaderMap) -> Self {
        Self { carrier, headers }
    }
}

impl<C: HttpCarrier> HttpCarrier for WithHeaders<C> {
    type Body = C::Body;

    fn send(
        &self,
        mut request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<C::Body>, CarryError>> + Send + 'static {
        for (name, value) in &self.headers {
            request.headers_mut().append(name, value.clone());
        }
        self.carrier.send(request)
    }
}

/// Without the values: they may be secrets.
impl<C> fmt::Debug for WithHeaders<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.keys().collect();
        f.debug_struct("WithHeaders").field("headers", &names).finish_non_exhaustive()
    }
}
