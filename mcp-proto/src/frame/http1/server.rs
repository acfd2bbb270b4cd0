//! The server's side of one connection: requests in, responses out.

use bytes::{Buf, Bytes, BytesMut};
use core::time::Duration;
use std::collections::VecDeque;

use super::body::{ChunkError, Chunked, Framing};
use super::head::{HeadScan, Method, RequestHead, Version};
use super::write::{self, BodyLength, Outgoing, SendError, is_token};
use super::{AbortReason, Closing, Limits, Refusal, request};
use crate::time::Instant;

/// What happened on the connection. One exchange at a time: `Head`, then `Body` if there is
/// one, then `End`; `Refused` or `Aborted` may come instead of any of them and end it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A request began.
    Head(RequestHead),
    /// Its body, whole and in one piece; an empty body has no event.
    Body(Bytes),
    /// It is complete.
    End,
    /// It cannot be accepted. To be answered like any request, for instance by
    /// [`Server::refuse`]; the connection closes afterwards.
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
#[derive(Debug)]
pub struct Server {
    limits: Limits,
    receive: Receive,
    send: Send,
    exchange: Exchange,
    life: Life,
    timer: Option<(Instant, Timer)>,
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
    /// Give the buffers back, then wait for the end of idleness.
    Release(Instant),
    Idle,
    Head,
    Body,
    Linger,
}

/// A buffer that grew beyond this is not kept for the next exchange.
const KEEP: usize = 64 * 1024;

impl Server {
    /// A connection that was accepted at `now`.
    pub fn new(now: Instant, limits: Limits) -> Self {
        let mut server = Self {
            limits,
            receive: Receive::Head(HeadScan::default()),
            send: Send::Idle,
            exchange: Exchange::refused(false),
            life: Life::Open,
            timer: None,
            peer_closed: false,
            is_last: false,
            input: BytesMut::new(),
            body: BytesMut::new(),
            output: Vec::new(),
            events: VecDeque::new(),
        };
        server.start_timer(now, Timer::Idle);
        server
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
        self.timer = None;
        match timer {
            Timer::Release(end) if end > now => {
                self.release();
                self.timer = Some((end, Timer::Idle));
            }
            Timer::Release(_) | Timer::Idle => self.end(Life::Flushing),
            Timer::Head | Timer::Body => self.refuse_request(now, Refusal::Timeout),
            Timer::Linger => self.end(Life::Closed),
        }
    }

    // ---- commands ----

    /// Sends `100 Continue` if the client waits for it; to be called once the body is wanted.
    /// Without it, the final response of such a request closes the connection.
    pub fn send_continue(&mut self) {
        if matches!(self.send, Send::Awaiting) && self.exchange.expects_continue {
            self.exchange.expects_continue = false;
            write::status_line(100, &mut self.output);
            self.output.extend_from_slice(b"\r\n");
        }
    }

    /// Begins the response. The machine adds `Content-Length`, `Transfer-Encoding` and
    /// `Connection` itself; a status without a body, or a `HEAD` request, silences the body.
    ///
    /// # Errors
    /// Nothing is written where the head cannot be: see [`SendError`].
    pub fn respond<N: AsRef<str>, V: AsRef<[u8]>>(
        &mut self,
        status: u16,
        headers: impl IntoIterator<Item = (N, V)>,
        length: BodyLength,
    ) -> Result<(), SendError> {
        match self.send {
            _ if self.life != Life::Open => return Err(SendError::Gone),
            Send::Awaiting => {}
            _ => return Err(SendError::OutOfTurn),
        }
        if !(200..=599).contains(&status) {
            return Err(SendError::FirstLine);
        }
        let start = self.output.len();
        write::status_line(status, &mut self.output);
        if let Err(error) = write::fields(headers, &mut self.output) {
            self.output.truncate(start);
            return Err(error);
        }
        let outgoing = self.frame(status, length);
        self.send = Send::Body(outgoing);
        Ok(())
    }

    /// Sends a part of the body.
    ///
    /// # Errors
    /// [`SendError::Length`] where it is longer than announced.
    pub fn write_body(&mut self, data: &[u8]) -> Result<(), SendError> {
        match &mut self.send {
            _ if self.life != Life::Open => Err(SendError::Gone),
            Send::Body(outgoing) => outgoing.write(data, &mut self.output),
            _ => Err(SendError::OutOfTurn),
        }
    }

    /// Ends the response. If the connection stays, the next request may appear at once.
    ///
    /// # Errors
    /// [`SendError::Length`] where the body is shorter than announced; only
    /// [`abort`](Self::abort) is left then.
    pub fn finish(&mut self, now: Instant) -> Result<(), SendError> {
        match &self.send {
            _ if self.life != Life::Open => return Err(SendError::Gone),
            Send::Body(outgoing) => outgoing.finish(&mut self.output)?,
            _ => return Err(SendError::OutOfTurn),
        }
        // What was not fetched of an answered request is of no interest any more.
        self.events.clear();
        self.send = Send::Answered;
        match &self.receive {
            Receive::Complete if self.exchange.keep_alive => self.next_exchange(now),
            Receive::Complete if self.input.is_empty() => self.end(Life::Flushing),
            Receive::Sized(length) if self.exchange.keep_alive => {
                self.receive = Receive::Skip(*length);
                self.advance(now);
            }
            _ => self.linger(now),
        }
        Ok(())
    }

    /// A whole response in one call: [`respond`](Self::respond), [`write_body`](Self::write_body)
    /// and [`finish`](Self::finish).
    ///
    /// # Errors
    /// As those three.
    pub fn reply<N: AsRef<str>, V: AsRef<[u8]>>(
        &mut self,
        now: Instant,
        status: u16,
        headers: impl IntoIterator<Item = (N, V)>,
        body: &[u8],
    ) -> Result<(), SendError> {
        let length = match body {
            [] => BodyLength::None,
            _ => BodyLength::Sized(body.len() as u64),
        };
        self.respond(status, headers, length)?;
        self.write_body(body)?;
        self.finish(now)
    }

    /// Answers [`Event::Refused`] plainly, with the refusal's text as the body.
    ///
    /// # Errors
    /// As [`reply`](Self::reply).
    pub fn refuse(&mut self, now: Instant, refusal: &Refusal) -> Result<(), SendError> {
        let headers = [("Content-Type", "text/plain; charset=utf-8")];
        self.reply(now, refusal.status(), headers, refusal.text().as_bytes())
    }

    /// Gives up on the response: the connection closes without completing it, so that the
    /// client can tell.
    pub fn abort(&mut self, now: Instant) {
        if self.life == Life::Open {
            self.events.clear();
            self.linger(now);
        }
    }

    /// Closes the connection: at once if it is idle, else behind the exchange under way.
    pub fn close(&mut self, _now: Instant) {
        self.is_last = true;
        self.exchange.keep_alive = false;
        if matches!((&self.send, self.life), (Send::Idle, Life::Open)) {
            self.end(Life::Flushing);
        }
    }

    // ---- out ----

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Appends to `out` everything that is to be sent.
    pub fn transmit(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.output);
        self.output.clear();
        if self.output.capacity() > KEEP {
            self.output = Vec::new();
        }
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

    // ---- reading ----

    /// Consumes a part of `data`: as much as the state of the request has room for.
    fn take(&mut self, now: Instant, data: &[u8]) -> usize {
        let buffered = self.input.len();
        let room = match (self.life, &self.receive) {
            (Life::Open, Receive::Head(_) | Receive::Complete) => {
                self.limits.head_bytes().saturating_sub(buffered)
            }
            (Life::Open, Receive::Sized(length)) => {
                usize::try_from(*length).unwrap_or(usize::MAX).saturating_sub(buffered)
            }
            (Life::Open, Receive::Chunked(_)) => return self.decode_chunks(now, data),
            (Life::Open, Receive::Skip(length)) => return self.skip(now, *length, data),
            (Life::Open, Receive::Discard) => return data.len(),
            (Life::Flushing | Life::Lingering | Life::Closed, _) => return data.len(),
        };
        let taken = data.get(..room).unwrap_or(data);
        self.input.extend_from_slice(taken);
        self.advance(now);
        taken.len()
    }

    /// Makes of the buffered input what can be made of it.
    fn advance(&mut self, now: Instant) {
        match &mut self.receive {
            Receive::Head(_) => self.read_head(now),
            Receive::Sized(length) => {
                let length = usize::try_from(*length).unwrap_or(usize::MAX);
                if self.input.len() < length {
                    return self.start_timer(now, Timer::Body);
                }
                if length > 0 {
                    let body = self.input.split_to(length).freeze();
                    self.events.push_back(Event::Body(body));
                }
                self.complete();
            }
            Receive::Chunked(_) => {
                let mut data = core::mem::take(&mut self.input);
                let used = self.decode_chunks(now, &data);
                data.advance(used.min(data.len()));
                self.input = data;
            }
            Receive::Skip(length) => {
                let length = *length;
                let mut data = core::mem::take(&mut self.input);
                let used = usize::try_from(length).unwrap_or(usize::MAX).min(data.len());
                data.advance(used);
                self.input = data;
                self.skipped(now, length - used as u64);
            }
            Receive::Complete | Receive::Discard => {}
        }
    }

    fn read_head(&mut self, now: Instant) {
        // Empty lines before a request are a courtesy to old clients (RFC 9112, section 2.2).
        while self.input.starts_with(b"\r\n") {
            self.input.advance(2);
        }
        match self.input.first() {
            None => return,
            Some(b'\r') if self.input.len() == 1 => return,
            Some(&first) if is_token(first) => {}
            Some(_) => return self.refuse_malformed(now, "the request line is invalid"),
        }
        let Receive::Head(scan) = &mut self.receive else { return };
        match scan.find_end(&self.input) {
            Err(complaint) => self.refuse_malformed(now, complaint),
            Ok(Some(end)) => {
                let bytes = self.input.split_to(end).freeze();
                self.begin(now, bytes);
            }
            Ok(None) if self.input.len() >= self.limits.head_bytes() => {
                let refusal = match scan.past_first_line() {
                    true => Refusal::HeadTooLarge,
                    false => Refusal::TargetTooLong,
                };
                self.refuse_request(now, refusal);
            }
            Ok(None) if matches!(self.timer, Some((_, Timer::Head))) => {}
            Ok(None) => self.start_timer(now, Timer::Head),
        }
    }

    fn begin(&mut self, now: Instant, bytes: Bytes) {
        self.timer = None;
        let is_head = bytes.starts_with(b"HEAD ");
        let request = match request::parse(bytes, &self.limits) {
            Ok(request) => request,
            Err(refusal) => {
                self.exchange.is_head = is_head;
                return self.refuse_request(now, refusal);
            }
        };
        self.exchange = Exchange {
            version: request.head.version(),
            is_head: request.head.method() == Method::Head,
            expects_continue: request.head.expects_continue(),
            keep_alive: request.keep_alive && !self.is_last,
        };
        self.receive = match request.framing {
            Framing::Sized(length) => Receive::Sized(length),
            Framing::Chunked => {
                Receive::Chunked(Chunked::new(self.limits.body, self.limits.trailers))
            }
        };
        self.send = Send::Awaiting;
        self.events.push_back(Event::Head(request.head));
        self.start_timer(now, Timer::Body);
        self.advance(now);
    }

    fn decode_chunks(&mut self, now: Instant, data: &[u8]) -> usize {
        let Receive::Chunked(chunked) = &mut self.receive else { return 0 };
        let body = &mut self.body;
        match chunked.decode(data, |piece| body.extend_from_slice(piece)) {
            Ok(used) if chunked.is_done() => {
                if !self.body.is_empty() {
                    let body = self.body.split().freeze();
                    self.events.push_back(Event::Body(body));
                }
                self.complete();
                used
            }
            Ok(used) => {
                self.start_timer(now, Timer::Body);
                used
            }
            Err(error) => {
                self.refuse_request(
                    now,
                    match error {
                        ChunkError::Malformed(complaint) => Refusal::Malformed(complaint),
                        ChunkError::TooLarge => Refusal::BodyTooLarge,
                    },
                );
                data.len()
            }
        }
    }

    fn skip(&mut self, now: Instant, left: u64, data: &[u8]) -> usize {
        let used = usize::try_from(left).unwrap_or(usize::MAX).min(data.len());
        self.skipped(now, left - used as u64);
        used
    }

    fn skipped(&mut self, now: Instant, left: u64) {
        self.receive = Receive::Skip(left);
        match left {
            0 => self.next_exchange(now),
            _ => self.start_timer(now, Timer::Body),
        }
    }

    /// The request was read to its end.
    fn complete(&mut self) {
        self.receive = Receive::Complete;
        self.timer = None;
        self.events.push_back(Event::End);
    }

    fn next_exchange(&mut self, now: Instant) {
        self.receive = Receive::Head(HeadScan::default());
        self.send = Send::Idle;
        self.exchange = Exchange::refused(false);
        if self.body.capacity() > KEEP {
            self.body = BytesMut::new();
        }
        self.start_timer(now, Timer::Idle);
        self.advance(now);
    }

    fn refuse_malformed(&mut self, now: Instant, complaint: &'static str) {
        self.refuse_request(now, Refusal::Malformed(complaint));
    }

    /// Framing is lost or a limit exceeded: the client is told if it was told nothing yet.
    fn refuse_request(&mut self, now: Instant, refusal: Refusal) {
        self.timer = None;
        self.receive = Receive::Discard;
        self.exchange.keep_alive = false;
        self.input = BytesMut::new();
        self.body = BytesMut::new();
        match self.send {
            Send::Idle | Send::Awaiting => {
                self.send = Send::Awaiting;
                self.events.push_back(Event::Refused(refusal));
            }
            Send::Body(_) => {}
            Send::Answered => self.linger(now),
        }
    }

    // ---- writing ----

    /// Writes the fields that frame the response and the blank line.
    fn frame(&mut self, status: u16, length: BodyLength) -> Outgoing {
        let has_body = !matches!(status, 204 | 304);
        let is_http10 = self.exchange.version == Version::Http10;
        let until_close = is_http10 && has_body && length == BodyLength::Stream;
        if until_close || self.exchange.expects_continue || !self.reads_to_the_end() {
            self.exchange.keep_alive = false;
        }
        let outgoing = match length {
            _ if !has_body => Outgoing::Silent,
            BodyLength::None => Outgoing::Sized(0),
            BodyLength::Sized(length) => Outgoing::Sized(length),
            BodyLength::Stream if is_http10 => Outgoing::UntilClose,
            BodyLength::Stream => Outgoing::Chunked,
        };
        match outgoing {
            Outgoing::Sized(length) => write::content_length(length, &mut self.output),
            Outgoing::Chunked => {
                self.output.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
            }
            Outgoing::Silent | Outgoing::UntilClose => {}
        }
        match (self.exchange.keep_alive, is_http10) {
            (false, _) => self.output.extend_from_slice(b"Connection: close\r\n"),
            (true, true) => self.output.extend_from_slice(b"Connection: keep-alive\r\n"),
            (true, false) => {}
        }
        self.output.extend_from_slice(b"\r\n");
        if self.exchange.is_head { Outgoing::Silent } else { outgoing }
    }

    /// Whether what is still to come of the request is worth reading for the next one's sake.
    /// How much of it has come already must not matter.
    fn reads_to_the_end(&self) -> bool {
        match self.receive {
            Receive::Complete => true,
            Receive::Sized(length) => length <= self.limits.drain,
            _ => false,
        }
    }

    // ---- ending ----

    fn peer_left(&mut self, reason: AbortReason, life: Life) {
        self.peer_closed = true;
        match self.life {
            Life::Open => {
                if matches!(self.send, Send::Awaiting | Send::Body(_)) {
                    self.events.clear();
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
        self.start_timer(now, Timer::Linger);
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

    /// Starts the one timer; one that would be due at once, or never, is not started.
    fn start_timer(&mut self, now: Instant, timer: Timer) {
        let limits = &self.limits;
        let at = match timer {
            Timer::Head => now + limits.head_time,
            Timer::Body => now + limits.body_time,
            Timer::Linger => now + limits.linger_time,
            Timer::Idle | Timer::Release(_) => {
                let end = now + limits.idle_time;
                let release = now + limits.release_time;
                if now < release && release < end {
                    self.timer = Some((release, Timer::Release(end)));
                    return;
                }
                end
            }
        };
        let never = now + Duration::MAX;
        self.timer = (now < at && at < never).then_some((at, timer));
    }
}

impl Exchange {
    /// Before a head was read, and where it was refused.
    fn refused(is_head: bool) -> Self {
        Self { version: Version::Http11, is_head, expects_continue: false, keep_alive: false }
    }
}

#[cfg(test)]
mod tests;
