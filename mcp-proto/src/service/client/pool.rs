//! Our own HTTP/1.1 connections as a carrier.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker, ready};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use core::time::Duration;
use futures_io::{AsyncRead, AsyncWrite};
use futures_util::Stream;
use http::{HeaderName, HeaderValue, Request, Response};

use super::{CarryError, HttpCarrier};
use crate::frame::http1::client::{Client, Event, RequestLine};
use crate::frame::http1::{Limits, ResponseHead};
use crate::time::Instant;

/// Makes connections: TCP, and TLS where it is wanted.
pub trait Dial: Send + Sync + 'static {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Connects to a host: a name, or an address (one of IPv6 in brackets).
    fn dial(
        &self,
        secure: bool,
        host: String,
        port: u16,
    ) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static;

    /// Now, for telling how long a connection was idle.
    fn now(&self) -> Instant;
}

/// HTTP/1.1 connections that are kept for the next request. It follows no redirects.
///
/// Clones share their connections.
pub struct Pool<D: Dial> {
    shared: Arc<Kept<D>>,
}

struct Kept<D: Dial> {
    dial: Arc<D>,
    headers: Vec<(HeaderName, HeaderValue)>,
    idle: Mutex<VecDeque<Wire<D::Stream>>>,
}

/// One connection.
struct Wire<S> {
    origin: (bool, String, u16),
    stream: S,
    http: Client,
    out: Vec<u8>,
    since: Instant,
}

/// Connections that are kept while they are idle.
const MOST_IDLE: usize = 16;
/// An idle connection is not used again after so long: servers close them, and a request that
/// meets the closing may have run or not.
const IDLE: Duration = Duration::from_secs(30);
const CHUNK: usize = 8 * 1024;

impl<D: Dial> Pool<D> {
    /// A pool without connections.
    pub fn new(dial: D) -> Self {
        Self::with_headers(dial, Vec::new())
    }

    /// A pool that adds these headers to every request.
    pub fn with_headers(dial: D, headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        let idle = Mutex::new(VecDeque::new());
        Self { shared: Arc::new(Kept { dial: Arc::new(dial), headers, idle }) }
    }

    /// Closes what is idle for too long; returns how many connections are kept.
    pub fn sweep(&self) -> usize {
        self.shared.sweep()
    }
}

impl<D: Dial> Clone for Pool<D> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<D: Dial> Kept<D> {
    fn sweep(&self) -> usize {
        let now = self.dial.now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|wire| now.saturating_since(wire.since) < IDLE);
        idle.len()
    }

    /// An idle connection that is still there.
    fn take(&self, origin: &(bool, String, u16)) -> Option<Wire<D::Stream>> {
        self.sweep();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(index) = idle.iter().position(|wire| wire.origin == *origin) {
            let mut wire = idle.remove(index)?;
            // Whatever an idle connection says, it cannot be used: it closes, or is out of step.
            let mut cx = Context::from_waker(Waker::noop());
            if Pin::new(&mut wire.stream).poll_read(&mut cx, &mut [0]).is_pending() {
                return Some(wire);
            }
        }
        None
    }

    fn put(&self, mut wire: Wire<D::Stream>) {
        wire.since = self.dial.now();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= MOST_IDLE {
            idle.pop_front();
        }
        idle.push_back(wire);
    }
}

impl<D: Dial> HttpCarrier for Pool<D> {
    type Body = PoolBody<D>;

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<PoolBody<D>>, CarryError>> + Send + 'static {
        let kept = self.shared.clone();
        async move {
            let origin = origin(&request)?;
            let mut wire = match kept.take(&origin) {
                Some(wire) => wire,
                None => dial(&kept, origin).await?,
            };
            wire.begin(&request, &kept.headers)?;
            let head = core::future::poll_fn(|cx| wire.poll_head(cx)).await?;
            let mut response = Response::builder().status(head.status());
            for (name, value) in head.fields().iter() {
                response = response.header(name, value);
            }
            let body = PoolBody { wire: Some(wire), kept };
            response.body(body).map_err(|error| CarryError::sent(error.to_string()))
        }
    }
}

fn origin(request: &Request<Bytes>) -> Result<(bool, String, u16), CarryError> {
    let uri = request.uri();
    let secure = uri.scheme_str() == Some("https");
    let host = uri.host().ok_or_else(|| CarryError::unsent("the URL has no host"))?;
    let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
    Ok((secure, host.to_owned(), port))
}

async fn dial<D: Dial>(
    kept: &Kept<D>,
    origin: (bool, String, u16),
) -> Result<Wire<D::Stream>, CarryError> {
    let (secure, host, port) = origin.clone();
    let stream = kept.dial.dial(secure, host, port).await;
    let stream = stream.map_err(|error| CarryError::unsent(error.to_string()))?;
    let now = kept.dial.now();
    // How long a response may take, and how long a connection is kept, is not this machine's.
    let limits =
        Limits { idle_time: Duration::MAX, release_time: Duration::MAX, ..Limits::default() };
    Ok(Wire { origin, stream, http: Client::new(now, limits), out: Vec::new(), since: now })
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    fn begin(
        &mut self,
        request: &Request<Bytes>,
        more: &[(HeaderName, HeaderValue)],
    ) -> Result<(), CarryError> {
        let uri = request.uri();
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let line = RequestLine { method: request.method().as_str(), target, host };
        let own = request.headers().iter();
        let fields = own.chain(more.iter().map(|(name, value)| (name, value)));
        let fields = fields.map(|(name, value)| (name.as_str(), value.as_bytes()));
        let begun = self.http.send(line, fields, request.body());
        begun.map_err(|error| CarryError::unsent(error.to_string()))?;
        self.http.transmit(&mut self.out);
        Ok(())
    }

    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<ResponseHead, CarryError>> {
        loop {
            match self.http.poll_event() {
                Some(Event::Head(head)) => return Poll::Ready(Ok(head)),
                Some(Event::Failed(failure)) => {
                    return Poll::Ready(Err(CarryError::sent(failure.to_string())));
                }
                Some(_) => {}
                None => ready!(self.poll_progress(cx)),
            }
        }
    }

    /// Writes what is to be written and reads once; ready when the machine may have something.
    /// A response may come before all of the request is written.
    fn poll_progress(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.out.is_empty() {
            match Pin::new(&mut self.stream).poll_write(cx, &self.out) {
                Poll::Pending => break,
                Poll::Ready(Ok(written)) if written > 0 => {
                    self.out.drain(..written);
                    if self.out.is_empty() {
                        // Layers below may hold it back; a pending flush goes on by itself.
                        let _ = Pin::new(&mut self.stream).poll_flush(cx);
                    }
                }
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Poll::Ready(_) => {
                    self.http.handle_closed(self.since);
                    return Poll::Ready(());
                }
            }
        }
        let mut chunk = [0; CHUNK];
        match ready!(Pin::new(&mut self.stream).poll_read(cx, &mut chunk)) {
            Ok(0) => self.http.handle_eof(self.since),
            Ok(read) => {
                // It takes all: what it has said was fetched.
                self.http.handle_input(self.since, chunk.get(..read).unwrap_or_default());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.http.handle_closed(self.since),
        }
        Poll::Ready(())
    }
}

/// The body of a response. Once it is read to its end, its connection serves the next request.
pub struct PoolBody<D: Dial> {
    wire: Option<Wire<D::Stream>>,
    kept: Arc<Kept<D>>,
}

impl<D: Dial> Stream for PoolBody<D> {
    type Item = Result<Bytes, CarryError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let Some(wire) = &mut self.wire else { return Poll::Ready(None) };
            match wire.http.poll_event() {
                Some(Event::Body(bytes)) => return Poll::Ready(Some(Ok(bytes))),
                Some(Event::End) => {
                    if let Some(wire) = self.wire.take().filter(|wire| wire.http.can_request()) {
                        self.kept.put(wire);
                    }
                    return Poll::Ready(None);
                }
                Some(Event::Failed(failure)) => {
                    self.wire = None;
                    return Poll::Ready(Some(Err(CarryError::sent(failure.to_string()))));
                }
                Some(Event::Head(_)) => {}
                None => ready!(wire.poll_progress(cx)),
            }
        }
    }
}

impl<D: Dial> Unpin for PoolBody<D> {}
