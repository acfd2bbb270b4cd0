//! One connection, and the exchange on it.

use core::pin::Pin;
use core::task::{Context, Poll, Waker, ready};
use core::time::Duration;
use std::io::{self, ErrorKind};

use bytes::Bytes;
use futures_io::{AsyncRead, AsyncWrite};
use http::{HeaderName, HeaderValue, Request};

use super::CarryError;
use super::line::Line;
use crate::frame::http1::client::{Client, Event, RequestLine};
use crate::frame::http1::{Limits, ResponseHead, SendError};
use crate::time::Instant;

/// A connection that speaks HTTP/1.1.
pub(super) struct Wire {
    line: Line,
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
    pub(super) fn new(line: Line, now: Instant) -> Self {
        // How long a response may take, and how long a connection is kept, is not this machine's.
        let limits =
            Limits { idle_time: Duration::MAX, release_time: Duration::MAX, ..Limits::default() };
        let http = Client::new(now, limits);
        let out = Vec::new();
        Self { line, http, out, unflushed: false, sent: false, heard: false, since: now }
    }

    /// Makes a request, with `more` headers, and waits for the head of its response.
    pub(super) async fn request(
        &mut self,
        request: &Request<Bytes>,
        more: &[(HeaderName, HeaderValue)],
    ) -> Result<ResponseHead, CarryError> {
        let uri = request.uri();
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let line = RequestLine { method: request.method().as_str(), target, host };
        let own = request.headers().iter();
        let fields = own.chain(more.iter().map(|(name, value)| (name, value)));
        let begun = self.begin(line, fields, request.body());
        begun.map_err(|error| CarryError::unsent(error.to_string()))?;
        self.head().await
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
