//! The client's side of one connection: requests out, responses in.

use bytes::{Bytes, BytesMut};
use core::fmt;

use super::body::Chunked;
use super::head::ResponseHead;
use super::limits::Idle;
use super::scan::HeadScan;
use super::write::{self, BodyLength, Outgoing, SendError};
use super::{Closing, Limits};
use crate::time::Instant;

mod read;

/// What happened to the request that was sent last: `Head`, any number of `Body`, then `End`;
/// `Failed` may come instead of any of them and ends the exchange and the connection.
#[derive(Clone)]
#[non_exhaustive]
pub enum Event {
    /// The final response began; interim ones are not shown.
    Head(ResponseHead),
    /// The next piece of its body, as it came.
    Body(Bytes),
    /// The response is complete.
    End,
    /// There will be no complete response.
    Failed(Failure),
}

/// Why a response is missing or incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The server closed without a byte of a response. A kept connection may do so at any
    /// moment, so a request that is safe to repeat may be sent again on another one.
    NoResponse,
    /// The server closed in the middle of the response.
    Truncated,
    /// The connection broke: a reset, or a failed write.
    ConnectionLost,
    /// The bytes are no unambiguous response; the text says what is wrong.
    Malformed(&'static str),
    /// The head exceeds [`Limits::head`] or [`Limits::headers`].
    HeadTooLarge,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoResponse => "the server closed the connection without a response",
            Self::Truncated => "the server closed the connection within the response",
            Self::ConnectionLost => "the connection was lost",
            Self::Malformed(why) => why,
            Self::HeadTooLarge => "the response's head is too large",
        })
    }
}

impl std::error::Error for Failure {}

/// The first line of a request, and the host it goes to.
#[derive(Clone, Copy, Debug)]
pub struct RequestLine<'a> {
    /// The method, a token.
    pub method: &'a str,
    /// The target: path and query; to a proxy a whole URL, or of `CONNECT` host and port.
    pub target: &'a str,
    /// The `Host` field: host, and port if it is not the scheme's own.
    pub host: &'a str,
}

/// One connection from the client's side.
///
/// - in: [`handle_input`](Self::handle_input), [`handle_eof`](Self::handle_eof),
///   [`handle_closed`](Self::handle_closed), [`handle_timeout`](Self::handle_timeout)
/// - commands: [`request`](Self::request), [`write_body`](Self::write_body),
///   [`finish`](Self::finish), or [`send`](Self::send) for all three; [`close`](Self::close)
/// - out: [`poll_event`](Self::poll_event), [`transmit`](Self::transmit)
/// - state: [`poll_timeout`](Self::poll_timeout), [`wants_input`](Self::wants_input),
///   [`can_request`](Self::can_request), [`closing`](Self::closing)
///
/// Bodies are handed on as they come and not limited here: an event stream has no end. How long
/// a response may take is the caller's affair, too; the one timer is that of an idle connection.
///
/// ```
/// use mcp_proto::frame::http1::{Limits, client::{Client, Event, RequestLine}};
/// use mcp_proto::time::Instant;
///
/// let now = Instant::ZERO;
/// let mut client = Client::new(now, Limits::default());
/// let line = RequestLine { method: "POST", target: "/mcp", host: "localhost:8080" };
/// client.send(line, [("Content-Type", "application/json")], b"{}")?;
/// let mut out = Vec::new();
/// client.transmit(&mut out);
/// client.handle_input(now, b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
/// assert!(matches!(client.poll_event(), Some(Event::Head(head)) if head.status() == 202));
/// assert!(matches!(client.poll_event(), Some(Event::End)));
/// assert!(client.can_request());
/// # Ok::<(), mcp_proto::frame::http1::SendError>(())
/// ```
pub struct Client {
    limits: Limits,
    receive: Receive,
    send: Send,
    life: Life,
    timer: Option<(Instant, Idle)>,
    /// The request's method was `HEAD`.
    to_head: bool,
    keep_alive: bool,
    /// How many interim responses may still precede the final one.
    interim: u8,
    /// A part of a head.
    input: BytesMut,
    output: Vec<u8>,
    // Events not fetched yet, in this order.
    head: Option<ResponseHead>,
    body: BytesMut,
    last: Option<Event>,
}

/// Which part of a response the next byte belongs to.
#[derive(Debug)]
enum Receive {
    /// No request is under way.
    Idle,
    Head(HeadScan),
    Sized(u64),
    Chunked(Chunked),
    UntilClose,
}

#[derive(Debug)]
enum Send {
    Body(Outgoing),
    Complete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Open,
    Flushing,
    Closed,
}

/// Reading pauses while so much of a body was not fetched.
const PENDING: usize = 64 * 1024;

/// Interim responses allowed per request.
const INTERIM: u8 = 16;

impl Client {
    /// A connection that was opened at `now`.
    pub fn new(now: Instant, limits: Limits) -> Self {
        Self {
            receive: Receive::Idle,
            send: Send::Complete,
            life: Life::Open,
            timer: limits.idle(now),
            to_head: false,
            keep_alive: true,
            interim: 0,
            input: BytesMut::new(),
            output: Vec::new(),
            head: None,
            body: BytesMut::new(),
            last: None,
            limits,
        }
    }

    // ---- in ----

    /// Takes bytes from the server and returns how many were consumed: all of them, unless
    /// [`wants_input`](Self::wants_input) has become false.
    pub fn handle_input(&mut self, now: Instant, data: &[u8]) -> usize {
        let mut rest = data;
        while !rest.is_empty() {
            let taken = self.take(now, rest);
            if taken == 0 {
                break;
            }
            rest = rest.get(taken..).unwrap_or_default();
        }
        data.len() - rest.len()
    }

    /// The server will send nothing more: the end of some responses, the truncation of others.
    pub fn handle_eof(&mut self, _now: Instant) {
        match &self.receive {
            _ if self.life != Life::Open => self.life = Life::Closed,
            Receive::Idle => self.end(None),
            Receive::UntilClose => self.end(Some(Event::End)),
            Receive::Head(_) if self.input.is_empty() && self.interim == INTERIM => {
                self.fail(Failure::NoResponse);
            }
            Receive::Head(_) | Receive::Sized(_) | Receive::Chunked(_) => {
                self.fail(Failure::Truncated);
            }
        }
    }

    /// The connection is gone: it was reset, or writing failed.
    pub fn handle_closed(&mut self, _now: Instant) {
        if self.life == Life::Open && !matches!(self.receive, Receive::Idle) {
            self.fail(Failure::ConnectionLost);
        }
        self.end(None);
        self.output.clear();
        self.life = Life::Closed;
    }

    /// Acts on the deadline if it has passed; does nothing otherwise.
    pub fn handle_timeout(&mut self, now: Instant) {
        match self.timer {
            Some((at, Idle::Release { close })) if at <= now => {
                self.release();
                match close {
                    Some(close) if close <= now => self.end(None),
                    close => self.timer = close.map(|at| (at, Idle::Close)),
                }
            }
            Some((at, Idle::Close)) if at <= now => self.end(None),
            _ => {}
        }
    }

    // ---- commands ----

    /// Begins a request. The machine adds `Host`, `Content-Length` and `Transfer-Encoding`.
    ///
    /// # Errors
    /// Nothing is written where the head cannot be: see [`SendError`].
    pub fn request<N: AsRef<str>, V: AsRef<[u8]>>(
        &mut self,
        line: RequestLine<'_>,
        headers: impl IntoIterator<Item = (N, V)>,
        length: BodyLength,
    ) -> Result<(), SendError> {
        if self.life != Life::Open {
            return Err(SendError::Gone);
        }
        if !self.can_request() {
            return Err(SendError::OutOfTurn);
        }
        let start = self.output.len();
        let written = write::request_line(line, &mut self.output)
            .and_then(|()| write::fields(headers, &mut self.output));
        if let Err(error) = written {
            self.output.truncate(start);
            return Err(error);
        }
        let expects_length = matches!(line.method, "POST" | "PUT" | "PATCH");
        let outgoing = match length {
            BodyLength::None if expects_length => Outgoing::Sized(0),
            BodyLength::None => Outgoing::Nothing,
            BodyLength::Sized(length) => Outgoing::Sized(length),
            BodyLength::Stream => Outgoing::Chunked,
        };
        write::framing(outgoing, &mut self.output);
        self.output.extend_from_slice(b"\r\n");
        self.send = Send::Body(outgoing);
        self.receive = Receive::Head(HeadScan::default());
        self.to_head = line.method == "HEAD";
        self.interim = INTERIM;
        self.timer = None;
        Ok(())
    }

    /// Sends a part of the body.
    ///
    /// # Errors
    /// [`SendError::Length`] where it is longer than announced; [`SendError::Gone`] once the
    /// response came early and complete.
    pub fn write_body(&mut self, data: &[u8]) -> Result<(), SendError> {
        match &mut self.send {
            _ if self.life != Life::Open => Err(SendError::Gone),
            Send::Body(outgoing) => outgoing.write(data, &mut self.output),
            Send::Complete => Err(SendError::OutOfTurn),
        }
    }

    /// Ends the request.
    ///
    /// # Errors
    /// [`SendError::Length`] where the body is shorter than announced.
    pub fn finish(&mut self) -> Result<(), SendError> {
        match &self.send {
            _ if self.life != Life::Open => return Err(SendError::Gone),
            Send::Body(outgoing) => outgoing.finish(&mut self.output)?,
            Send::Complete => return Err(SendError::OutOfTurn),
        }
        self.send = Send::Complete;
        Ok(())
    }

    /// A whole request in one call.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn send<N: AsRef<str>, V: AsRef<[u8]>>(
        &mut self,
        line: RequestLine<'_>,
        headers: impl IntoIterator<Item = (N, V)>,
        body: &[u8],
    ) -> Result<(), SendError> {
        self.request(line, headers, BodyLength::of(body))?;
        self.write_body(body)?;
        self.finish()
    }

    /// Closes the connection and forgets the exchange under way.
    pub fn close(&mut self, _now: Instant) {
        self.end(None);
        self.head = None;
        self.body = BytesMut::new();
        self.last = None;
    }

    // ---- out ----

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(head) = self.head.take() {
            return Some(Event::Head(head));
        }
        if !self.body.is_empty() {
            return Some(Event::Body(self.body.split().freeze()));
        }
        self.last.take()
    }

    /// Appends to `out` everything that is to be sent.
    pub fn transmit(&mut self, out: &mut Vec<u8>) {
        write::hand_over(&mut self.output, out);
    }

    // ---- state ----

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.timer.map(|(at, _)| at)
    }

    /// Whether more input is useful now; false while what was not fetched fills its buffer, and
    /// at the end.
    pub fn wants_input(&self) -> bool {
        self.life == Life::Open && self.body.len() < PENDING
    }

    /// Whether a request may be sent: the one before is answered, its events are fetched, and
    /// the connection stays.
    pub fn can_request(&self) -> bool {
        let is_drained = self.head.is_none() && self.body.is_empty() && self.last.is_none();
        self.life == Life::Open && matches!(self.receive, Receive::Idle) && is_drained
    }

    /// Whether and how the connection is to be closed; a client never lingers.
    pub fn closing(&self) -> Closing {
        match self.life {
            Life::Open => Closing::Open,
            Life::Flushing => Closing::AfterFlush,
            Life::Closed => Closing::Closed,
        }
    }

    // ---- ending ----

    fn fail(&mut self, failure: Failure) {
        self.end(Some(Event::Failed(failure)));
    }

    /// The connection serves no further exchange; `last` ends the one under way.
    fn end(&mut self, last: Option<Event>) {
        if self.life == Life::Open {
            self.life = Life::Flushing;
        }
        self.receive = Receive::Idle;
        self.timer = None;
        self.input = BytesMut::new();
        self.last = last.or(self.last.take());
    }

    /// Gives back what an idle connection does not need.
    fn release(&mut self) {
        self.input = BytesMut::new();
        if self.body.is_empty() {
            self.body = BytesMut::new();
        }
        if self.output.is_empty() {
            self.output = Vec::new();
        }
    }
}

/// Bodies are shown by their length: they may hold secrets.
impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Head(head) => head.fmt(f),
            Self::Body(body) => write!(f, "Body({} bytes)", body.len()),
            Self::End => f.write_str("End"),
            Self::Failed(failure) => f.debug_tuple("Failed").field(failure).finish(),
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("life", &self.life)
            .field("receive", &self.receive)
            .field("send", &self.send)
            .field("timer", &self.timer)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
