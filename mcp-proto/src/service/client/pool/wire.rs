//! One connection, and the exchange on it.

use core::pin::Pin;
use core::task::{Context, Poll, Waker, ready};
use core::time::Duration;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use bytes::Bytes;
use futures_io::{AsyncRead, AsyncWrite};
use http::header::PROXY_AUTHORIZATION;
use http::{HeaderName, HeaderValue, Request};

use super::CarryError;
use super::line::Line;
use super::proxy::Proxy;
use super::way::WANTS_CREDENTIALS;
use crate::frame::http1::client::{Client, Event, RequestLine};
use crate::frame::http1::{Limits, ResponseHead, SendError};
use crate::time::Instant;

/// A connection that speaks HTTP/1.1.
pub(super) struct Wire {
    line: Line,
    /// The proxy at its other end, which passes requests on.
    via: Option<Arc<Proxy>>,
    http: Client,
    out: Vec<u8>,
    /// Something was written, and layers below may hold it back.
    unflushed: bool,
    /// Of the request under way, some was written; of its response, some was read.
    sent: bool,
    heard: bool,
    /// Idle since then.
    pub(super) since: Instant,
}

const CHUNK: usize = 8 * 1024;

impl Wire {
    pub(super) fn new(line: Line, via: Option<Arc<Proxy>>, now: Instant) -> Self {
        // How long a response may take, and how long a connection is kept, is not this machine's.
        let limits =
            Limits { idle_time: Duration::MAX, release_time: Duration::MAX, ..Limits::default() };
        let http = Client::new(now, limits);
        let out = Vec::new();
        Self { line, via, http, out, unflushed: false, sent: false, heard: false, since: now }
    }

    /// Makes a request, and waits for the head of its response.
    pub(super) async fn request(
        &mut self,
        request: &Request<Bytes>,
    ) -> Result<ResponseHead, CarryError> {
        let uri = request.uri();
        let whole = self.via.as_ref().map(|_| uri.to_string());
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let target = whole.as_deref().unwrap_or(path);
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let line = RequestLine { method: request.method().as_str(), target, host };
        let via = self.via.clone();
        let credentials = via.as_ref().and_then(|proxy| proxy.authorization.as_ref());
        let credentials = credentials.map(|value| (&PROXY_AUTHORIZATION, value));
        let fields = request.headers().iter().chain(credentials);
        let begun = self.begin(line, fields, request.body());
        begun.map_err(|error| CarryError::unsent(error.to_string()))?;
        let head = self.head().await?;
        match via.filter(|_| head.status() == 407) {
            Some(proxy) => {
                Err(CarryError::unsent(format!("the proxy {proxy}: {WANTS_CREDENTIALS}")))
            }
            None => Ok(head),
        }
    }

    /// Asks the proxy at the other end for a tunnel to `authority`; the status of its answer.
    pub(super) async fn connect(
        &mut self,
        authority: &str,
        credentials: Option<(&HeaderName, &HeaderValue)>,
    ) -> Result<u16, CarryError> {
        let line = RequestLine { method: "CONNECT", target: authority, host: authority };
        let begun = self.begin(line, credentials.into_iter(), b"");
        begun.map_err(|error| CarryError::unsent(error.to_string()))?;
        Ok(self.head().await?.status())
    }

    /// The line, for whoever speaks on it next. The other end must not have begun to.
    pub(super) fn into_line(mut self) -> Result<Line, String> {
        match self.http.poll_event() {
            Some(Event::Body(_)) => Err("it speaks before the tunnel is there".to_owned()),
            _ => Ok(self.line),
        }
    }

    fn begin<'a>(
        &mut self,
        line: RequestLine<'_>,
        fields: impl Iterator<Item = (&'a HeaderName, &'a HeaderValue)>,
        body: &[u8],
    ) -> Result<(), SendError> {
        let fields = fields.map(|(name, value)| (name.as_str(), value.as_bytes()));
        self.http.send(line, fields, body)?;
        self.http.transmit(&mut self.out);
        (self.sent, self.heard) = (false, false);
        Ok(())
    }

    async fn head(&mut self) -> Result<ResponseHead, CarryError> {
        match core::future::poll_fn(|cx| self.poll_event(cx)).await {
            Event::Head(head) => Ok(head),
            Event::Failed(failure) if self.sent => Err(CarryError::sent(failure.to_string())),
            Event::Failed(failure) => Err(CarryError::unsent(failure.to_string())),
            Event::Body(_) | Event::End => Err(CarryError::sent("a response without a head")),
        }
    }

    /// Nothing of the request under way was written, so it cannot have run.
    pub(super) fn is_unsent(&self) -> bool {
        !self.sent
    }

    /// Nothing came in response to the request under way.
    pub(super) fn is_unheard(&self) -> bool {
        !self.heard
    }

    /// Whether another request may be sent.
    pub(super) fn is_reusable(&self) -> bool {
        self.http.can_request()
    }

    /// Whether a connection without a request is still there; whoever polls is woken when it no
    /// longer is. Whatever it says, it cannot be used: it closes, or is out of step.
    pub(super) fn poll_gone(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.line).poll_read(cx, &mut [0]).map(drop)
    }

    /// Whether a connection without a request is still there.
    pub(super) fn is_there(&mut self) -> bool {
        self.poll_gone(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    /// The next event of the exchange.
    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        loop {
            match self.http.poll_event() {
                Some(event) => return Poll::Ready(event),
                None => ready!(self.poll_progress(cx)),
            }
        }
    }

    /// Writes what is to be written and reads once; ready when the machine may have something.
    /// A response may come before all of the request is written.
    fn poll_progress(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.write(cx).is_err() {
            self.http.handle_closed(self.since);
            return Poll::Ready(());
        }
        let mut chunk = [0; CHUNK];
        match ready!(Pin::new(&mut self.line).poll_read(cx, &mut chunk)) {
            Ok(0) => self.http.handle_eof(self.since),
            Ok(read) => {
                self.heard = true;
                // It takes all: what it has said was fetched.
                self.http.handle_input(self.since, chunk.get(..read).unwrap_or_default());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.http.handle_closed(self.since),
        }
        Poll::Ready(())
    }

    /// Writes as much as can be written now.
    fn write(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while !self.out.is_empty() {
            match Pin::new(&mut self.line).poll_write(cx, &self.out) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(0)) => return Err(ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(written)) => {
                    self.out.drain(..written);
                    (self.sent, self.unflushed) = (true, true);
                }
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        if self.unflushed
            && let Poll::Ready(flushed) = Pin::new(&mut self.line).poll_flush(cx)
        {
            flushed?;
            self.unflushed = false;
        }
        Ok(())
    }
}
