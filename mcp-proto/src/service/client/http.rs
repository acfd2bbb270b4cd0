//! Exchanges over somebody's HTTP client.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use ::http::{HeaderMap, Request, Response};
use bytes::Bytes;
use futures_util::Stream;

use super::drive::Link;
use super::inner::Carried;
use crate::client::{Carry, ExchangeId, Open, Session, Url};
use crate::frame::http1::Headers;
use crate::time::Instant;

/// Makes HTTP requests: a pool of connections, or another library's client.
///
/// A request's URI is absolute, and its headers are complete but for `Host`, framing and
/// credentials. Whoever follows redirects does so within the origin only, and never makes another
/// request of a POST.
pub trait HttpCarrier: Send + Sync + 'static {
    /// A response's body, piece by piece. Dropping it ends the exchange.
    type Body: Stream<Item = Result<Bytes, CarryError>> + Send + 'static;

    /// Makes a request. Dropping the future ends the exchange.
    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<Self::Body>, CarryError>> + Send + 'static;
}

/// An exchange that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarryError {
    /// Some of the request may have reached the server, so that it may have run.
    pub sent: bool,
    /// What went wrong, for a person.
    pub why: String,
}

impl CarryError {
    /// Nothing reached the server.
    pub fn unsent(why: impl Into<String>) -> Self {
        Self { sent: false, why: why.into() }
    }

    /// The server may have got the request.
    pub fn sent(why: impl Into<String>) -> Self {
        Self { sent: true, why: why.into() }
    }
}

impl core::fmt::Display for CarryError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.why)
    }
}

impl core::error::Error for CarryError {}

/// The exchanges under way.
pub(super) struct HttpLink<C: HttpCarrier> {
    carrier: C,
    url: Url,
    exchanges: Vec<(ExchangeId, Stage<C::Body>)>,
}

type Sending<B> = Pin<Box<dyn Future<Output = Result<Response<B>, CarryError>> + Send>>;

enum Stage<B> {
    Sending(Sending<B>),
    Receiving(Pin<Box<B>>),
}

impl<C: HttpCarrier> HttpLink<C> {
    pub(super) fn new(carrier: C, url: Url) -> Self {
        Self { carrier, url, exchanges: Vec::new() }
    }

    fn open(&mut self, session: &mut Session, now: Instant, open: Open) {
        let exchange = open.exchange;
        match request(&self.url, open) {
            Ok(request) => {
                let sending = Box::pin(self.carrier.send(request));
                self.exchanges.push((exchange, Stage::Sending(sending)));
            }
            Err(error) => session.handle_failed(now, exchange, false, &error.to_string()),
        }
    }
}

impl<C: HttpCarrier> Link for HttpLink<C> {
    fn carry(&mut self, carried: &mut Carried, now: Instant, what: Carry) {
        let Carried::Http(session) = carried else { return };
        match what {
            Carry::Open(open) => self.open(session, now, open),
            Carry::Close(exchange) => self.exchanges.retain(|(id, _)| *id != exchange),
            Carry::Respawn => {}
        }
    }

    fn poll(&mut self, carried: &mut Carried, now: Instant, cx: &mut Context<'_>) -> bool {
        let Carried::Http(session) = carried else { return false };
        let mut moved = false;
        let mut index = 0;
        while let Some((exchange, stage)) = self.exchanges.get_mut(index) {
            let exchange = *exchange;
            let is_over = match stage {
                Stage::Receiving(_) if !session.wants_input() => false,
                Stage::Sending(sending) => match sending.as_mut().poll(cx) {
                    Poll::Pending => false,
                    Poll::Ready(Ok(response)) => {
                        moved = true;
                        let (head, body) = response.into_parts();
                        *stage = Stage::Receiving(Box::pin(body));
                        let headers = Fields(&head.headers);
                        session.handle_head(now, exchange, head.status.as_u16(), &headers);
                        // The body may be there already.
                        continue;
                    }
                    Poll::Ready(Err(error)) => {
                        session.handle_failed(now, exchange, error.sent, &error.why);
                        true
                    }
                },
                Stage::Receiving(body) => match body.as_mut().poll_next(cx) {
                    Poll::Pending => false,
                    Poll::Ready(Some(Ok(bytes))) => {
                        moved = true;
                        session.handle_body(now, exchange, &bytes);
                        false
                    }
                    Poll::Ready(Some(Err(error))) => {
                        session.handle_failed(now, exchange, true, &error.why);
                        true
                    }
                    Poll::Ready(None) => {
                        session.handle_end(now, exchange);
                        true
                    }
                },
            };
            if is_over {
                moved = true;
                drop(self.exchanges.swap_remove(index));
            } else {
                index += 1;
            }
        }
        moved
    }

    fn is_flushed(&self) -> bool {
        true
    }
}

impl<C: HttpCarrier> Unpin for HttpLink<C> {}

fn request(url: &Url, open: Open) -> Result<Request<Bytes>, ::http::Error> {
    let scheme = if url.is_secure() { "https" } else { "http" };
    let mut request = Request::builder().method(open.method.as_str()).uri(format!(
        "{scheme}://{}{}",
        url.authority(),
        open.target
    ));
    for (name, value) in open.headers {
        request = request.header(name, value);
    }
    request.body(open.body)
}

struct Fields<'a>(&'a HeaderMap);

impl Headers for Fields<'_> {
    fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.get_all(name).iter().map(::http::HeaderValue::as_bytes)
    }
}
