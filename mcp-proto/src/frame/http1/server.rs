//! The server's side of one connection: requests in, responses out.

use bytes::{Bytes, BytesMut};
use core::fmt;
use core::time::Duration;
use std::collections::VecDeque;

use super::body::Chunked;
use super::head::{RequestHead, Version};
use super::limits::{Idle, deadline};
use super::scan::HeadScan;
use super::write::{self, Outgoing};
use super::{AbortReason, Closing, Limits, Refusal};
use crate::pace::Pace;
use crate::time::Instant;

mod read;
mod respond;

/// What happened on the connection. One exchange at a time: `Head`, then `Body` if there is
/// one, then `End`; `Refused` or `Aborted` may come instead of any of them and end it.
#[derive(Clone)]
#[non_exhaustive]
pub enum Event {
    /// A request began.
    Head(RequestHead),
    /// Its body, whole and in one piece; an empty body has no event.
    Body(Bytes),
    /// It is complete.
    End,
    /// It cannot be accepted. To be answered like any request, for instance by
    /// [`Server::refuse`]; a response that has begun already is to be finished or aborted. The
    /// connection closes afterwards.
    Refused(Refusal),
    /// The client left before the response was complete; nothing can be answered any more.
    Aborted(AbortReason),
}

/// One connection from the server's side.
///
/// - in: [`handle_input`](Self::handle_input), [`handle_eof`](Self::handle_eof),
///   [`handle_closed`](Self::handle_closed), [`handle_timeout`](Self::handle_timeout)
/// - commands: [`send_continue`](Self::send_continue), [`respond`](Self::respond),
///   [`write_body`](Self::write_body), [`finish`](Self::finish), or
///   [`reply`](Self::reply) for all three; [`refuse`](Self::refuse), [`abort`](Self::abort),
///   [`close`](Self::close)
/// - out: [`poll_event`](Self::poll_event), [`transmit`](Self::transmit)
/// - state: [`poll_timeout`](Self::poll_timeout), [`wants_input`](Self::wants_input),
///   [`closing`](Self::closing)
///
/// While a response is under way, reading goes on so that a leaving client is noticed; what it
/// sends ahead waits, bounded by [`Limits::head`]. Neither how the input is split nor when
/// events and bytes are fetched changes a byte of the output.
///
/// ```
/// use mcp_proto::frame::http1::{Limits, server::{Event, Server}};
/// use mcp_proto::time::Instant;
///
/// let now = Instant::ZERO;
/// let mut server = Server::new(now, Limits::default());
/// server.handle_input(now, b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
/// while let Some(event) = server.poll_event() {
///     match event {
///         Event::End => server.reply(now, 200, [("Content-Type", "text/plain")], b"well")?,
///         Event::Refused(refusal) => server.refuse(now, &refusal)?,
///         _ => {}
///     }
/// }
/// let mut out = Vec::new();
/// server.transmit(&mut out);
/// assert!(out.starts_with(b"HTTP/1.1 200 OK\r\n"));
/// # Ok::<(), mcp_proto::frame::http1::SendError>(())
/// ```
pub struct Server {
    limits: Limits,
    receive: Receive,
    send: Send,
    exchange: Exchange,
    life: Life,
    timer: Option<(Instant, Timer)>,
    /// How the body under way comes.
    pace: Pace,
    peer_closed: bool,
    /// Set by [`close`](Self::close): the exchange under way is the last.
    is_last: bool,
    /// Received and not consumed: part of a head, of a sized body, or of what was sent ahead.
    input: BytesMut,
    /// The decoded part of a chunked body.
    body: BytesMut,
    output: Vec<u8>,
    events: VecDeque<Event>,
}

/// Which part of a request the next byte belongs to.
#[derive(Debug)]
enum Receive {
    Head(HeadScan),
    Sized(u64),
    Chunked(Chunked),
    /// The request is complete; further bytes wait for the response's end.
    Complete,
    /// The request was answered early: so many bytes of its body are thrown away.
    Skip(u64),
    /// Nothing that comes will be understood.
    Discard,
}

#[derive(Debug)]
enum Send {
    /// There is no request to answer.
    Idle,
    /// A request or a refusal waits for its answer.
    Awaiting,
    Body(Outgoing),
    /// Answered, while the rest of the request is being skipped.
    Answered,
}

/// What the response depends on.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    version: Version,
    is_head: bool,
    expects_continue: bool,
    keep_alive: bool,
    /// The client said that this is its last request: nothing follows it.
    asked_to_close: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Open,
    Flushing,
    Lingering,
    Closed,
}

#[derive(Clone, Copy, Debug)]
enum Timer {
    Idle(Idle),
    Head,
    Body,
    Drain,
    Linger,
}

impl Server {
    /// A connection that was accepted at `now`.
    pub fn new(now: Instant, limits: Limits) -> Self {
        Self {
            receive: Receive::Head(HeadScan::default()),
            send: Send::Idle,
            exchange: Exchange::refused(false),
            life: Life::Open,
            timer: limits.idle(now).map(|(at, idle)| (at, Timer::Idle(idle))),
            pace: Pace::begin(now),
            peer_closed: false,
            is_last: false,
            input: BytesMut::new(),
            body: BytesMut::new(),
            output: Vec::new(),
            events: VecDeque::new(),
            limits,
        }
    }

    // ---- in ----

    /// Takes bytes from the client and returns how many were consumed: all of them, unless
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

    /// The client will send nothing more. In the middle of an exchange that means it left.
    pub fn handle_eof(&mut self, _now: Instant) {
        self.peer_left(AbortReason::PeerClosed, Life::Flushing);
    }

    /// The connection is gone: it was reset, or writing failed.
    pub fn handle_closed(&mut self, _now: Instant) {
        self.peer_left(AbortReason::ConnectionLost, Life::Closed);
        self.output.clear();
        self.life = Life::Closed;
    }

    /// Acts on the deadline if it has passed; does nothing otherwise.
    pub fn handle_timeout(&mut self, now: Instant) {
        let Some((_, timer)) = self.timer.filter(|(at, _)| *at <= now) else { return };
        match timer {
            Timer::Idle(Idle::Release { close }) if close.is_none_or(|close| now < close) => {
                self.release();
                self.timer = close.map(|at| (at, Timer::Idle(Idle::Close)));
            }
            Timer::Idle(_) => self.end(Life::Flushing),
            Timer::Head | Timer::Body | Timer::Drain => self.refuse_request(now, Refusal::Timeout),
            Timer::Linger => self.end(Life::Closed),
        }
    }

    // ---- out ----

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
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

    /// Whether more input is useful now; false while what was sent ahead fills its buffer, and
    /// at the end.
    pub fn wants_input(&self) -> bool {
        match (self.life, &self.receive) {
            (Life::Open, Receive::Complete) => self.input.len() < self.limits.head_bytes(),
            (Life::Open | Life::Lingering, _) => true,
            (Life::Flushing | Life::Closed, _) => false,
        }
    }

    /// Whether and how the connection is to be closed.
    pub fn closing(&self) -> Closing {
        match (self.life, self.timer) {
            (Life::Open, _) => Closing::Open,
            (Life::Lingering, Some((until, _))) => Closing::Linger(until),
            (Life::Flushing | Life::Lingering, _) => Closing::AfterFlush,
            (Life::Closed, _) => Closing::Closed,
        }
    }

    /// Whether the client has ended its side or the connection broke.
    pub fn peer_closed(&self) -> bool {
        self.peer_closed
    }

    /// How many bytes wait to be fetched by [`transmit`](Self::transmit).
    pub fn pending_output(&self) -> usize {
        self.output.len()
    }

    /// How many bytes are held of requests that are not complete, and of output.
    #[cfg(feature = "service")]
    pub(crate) fn held(&self) -> usize {
        self.input.len() + self.body.len() + self.output.len()
    }

    // ---- ending ----

    fn peer_left(&mut self, reason: AbortReason, life: Life) {
        self.peer_closed = true;
        match self.life {
            Life::Open => {
                if matches!(self.send, Send::Awaiting | Send::Body(_)) {
                    self.events.push_back(Event::Aborted(reason));
                }
                self.end(life);
            }
            Life::Lingering => self.end(Life::Closed),
            Life::Flushing | Life::Closed => {}
        }
    }

    fn linger(&mut self, now: Instant) {
        self.end(Life::Lingering);
        self.start_timer(now, Timer::Linger, self.limits.linger_time);
    }

    fn end(&mut self, life: Life) {
        self.life = life;
        self.timer = None;
        self.receive = Receive::Discard;
        self.input = BytesMut::new();
        self.body = BytesMut::new();
    }

    /// Gives back what an idle connection does not need.
    fn release(&mut self) {
        if self.input.is_empty() {
            self.input = BytesMut::new();
        }
        if self.output.is_empty() {
            self.output = Vec::new();
        }
        if self.events.is_empty() {
            self.events = VecDeque::new();
        }
        self.body = BytesMut::new();
    }

    fn start_timer(&mut self, now: Instant, timer: Timer, wait: Duration) {
        self.timer = deadline(now, wait).map(|at| (at, timer));
    }

    /// More of the body has come, and more is to come.
    fn body_came(&mut self, now: Instant, bytes: usize) {
        self.pace.moved(now, bytes);
        if self.limits.body_time.is_zero() {
            self.timer = None;
            return;
        }
        let at = self.pace.deadline(self.limits.body_time, self.limits.body_rate);
        // What comes late all the same is too late in an instant.
        let wait = at.saturating_since(now).max(Duration::from_micros(1));
        self.start_timer(now, Timer::Body, wait);
    }

    fn start_idle(&mut self, now: Instant) {
        self.timer = self.limits.idle(now).map(|(at, idle)| (at, Timer::Idle(idle)));
    }
}

impl Exchange {
    /// Before a head was read, and where it was refused.
    fn refused(is_head: bool) -> Self {
        Self {
            version: Version::Http11,
            is_head,
            expects_continue: false,
            keep_alive: false,
            asked_to_close: false,
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
            Self::Refused(refusal) => f.debug_tuple("Refused").field(refusal).finish(),
            Self::Aborted(reason) => f.debug_tuple("Aborted").field(reason).finish(),
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("life", &self.life)
            .field("receive", &self.receive)
            .field("send", &self.send)
            .field("timer", &self.timer)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
