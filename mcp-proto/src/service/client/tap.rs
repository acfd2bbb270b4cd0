//! What goes over the wire, for a log.

use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::{AtomicU64, Ordering};
use core::task::{Context, Poll, ready};
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_io::{AsyncRead, AsyncWrite};
use futures_util::Stream;
use http::header::{AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION, SET_COOKIE};
use http::{HeaderMap, HeaderName, Request, Response};

use super::{CarryError, HttpCarrier, Respawn};

/// What goes over the wire. Exchanges of HTTP are numbered, for many are under way at once.
///
/// Headers that are known to hold secrets, `Mcp-Session-Id` among them, are marked
/// [sensitive](http::HeaderValue::is_sensitive), so that their `Debug` shows none. URLs and bodies
/// are what they are.
#[derive(Debug)]
#[non_exhaustive]
pub enum Wire<'a> {
    /// A request, with all that its body has.
    Request(u64, &'a Request<Bytes>),
    /// The head of the response.
    Response(u64, &'a Response<()>),
    /// Some of the response's body.
    Body(u64, &'a [u8]),
    /// The exchange failed.
    Failed(u64, &'a CarryError),
    /// The exchange is over: it came to its end, it failed, or nobody wants the rest.
    Over(u64),
    /// Bytes that were written to a stream.
    Written(&'a [u8]),
    /// Bytes that were read from a stream.
    Read(&'a [u8]),
}

/// Is told what goes over the wire. It must not wait.
pub type Tap = Arc<dyn Fn(&Wire<'_>) + Send + Sync>;

/// A carrier ([`HttpCarrier`], [`Respawn`]) or a stream that tells a [`Tap`] what it carries.
pub struct Tapped<T> {
    inner: T,
    tap: Tap,
    exchanges: AtomicU64,
}

impl<T> Tapped<T> {
    /// `inner`, and who is told.
    pub fn new(inner: T, tap: Tap) -> Self {
        Self { inner, tap, exchanges: AtomicU64::new(1) }
    }
}

impl<C: HttpCarrier> HttpCarrier for Tapped<C> {
    type Body = TappedBody<C::Body>;

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<Self::Body>, CarryError>> + Send + 'static {
        let id = self.exchanges.fetch_add(1, Ordering::Relaxed);
        let exchange = Exchange { id, tap: self.tap.clone() };
        let mut shown = request.clone();
        mark_secrets(shown.headers_mut());
        exchange.tell(&Wire::Request(id, &shown));
        let sent = self.inner.send(request);
        async move {
            let response =
                sent.await.inspect_err(|error| exchange.tell(&Wire::Failed(id, error)))?;
            let (head, body) = response.into_parts();
            let mut shown = Response::from_parts(head.clone(), ());
            mark_secrets(shown.headers_mut());
            exchange.tell(&Wire::Response(id, &shown));
            let body = TappedBody(Some((Box::pin(body), exchange)));
            Ok(Response::from_parts(head, body))
        }
    }
}

/// An exchange, which is over when this is dropped.
struct Exchange {
    id: u64,
    tap: Tap,
}

impl Exchange {
    fn tell(&self, what: &Wire<'_>) {
        (self.tap)(what);
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.tell(&Wire::Over(self.id));
    }
}

fn mark_secrets(headers: &mut HeaderMap) {
    let session = HeaderName::from_static("mcp-session-id");
    for (name, value) in headers.iter_mut() {
        if [&AUTHORIZATION, &COOKIE, &PROXY_AUTHORIZATION, &SET_COOKIE, &session].contains(&name) {
            value.set_sensitive(true);
        }
    }
}

/// The body of a response, of which a [`Tap`] is told.
pub struct TappedBody<B>(Option<(Pin<Box<B>>, Exchange)>);

impl<B: Stream<Item = Result<Bytes, CarryError>>> Stream for TappedBody<B> {
    type Item = Result<Bytes, CarryError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some((body, exchange)) = &mut self.0 else { return Poll::Ready(None) };
        let item = ready!(body.as_mut().poll_next(cx));
        match &item {
            Some(Ok(bytes)) => exchange.tell(&Wire::Body(exchange.id, bytes)),
            Some(Err(error)) => exchange.tell(&Wire::Failed(exchange.id, error)),
            None => self.0 = None,
        }
        Poll::Ready(item)
    }
}

impl<R: Respawn> Respawn for Tapped<R> {
    type Stream = Tapped<R::Stream>;

    fn start(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static {
        let (started, tap) = (self.inner.start(), self.tap.clone());
        async move { started.await.map(|stream| Tapped::new(stream, tap)) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tapped<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let read = ready!(Pin::new(&mut self.inner).poll_read(cx, into))?;
        (self.tap)(&Wire::Read(into.get(..read).unwrap_or_default()));
        Poll::Ready(Ok(read))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tapped<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.inner).poll_write(cx, from))?;
        (self.tap)(&Wire::Written(from.get(..written).unwrap_or_default()));
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_close(cx)
    }
}

impl<T> Unpin for Tapped<T> {}

impl<B> Unpin for TappedBody<B> {}
