//! Reading requests.

use bytes::{Buf, Bytes, BytesMut};

use super::super::body::{ChunkError, Chunked};
use super::super::framing::Framing;
use super::super::head::Method;
use super::super::scan::HeadScan;
use super::super::write::{KEEP, is_token};
use super::super::{Refusal, request};
use super::{Event, Exchange, Life, Receive, Send, Server, Timer};
use crate::pace::Pace;
use crate::time::Instant;

/// The input buffer grows by so much at least: a whole small request shares one allocation,
/// also when its body comes later than its head.
const SPARE: usize = 4 * 1024;

impl Server {
    /// Consumes a part of `data`: as much as the state of the request has room for.
    pub(super) fn take(&mut self, now: Instant, data: &[u8]) -> usize {
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
        if self.input.capacity() - buffered < taken.len() {
            self.input.reserve(taken.len().max(SPARE));
        }
        self.input.extend_from_slice(taken);
        if matches!(self.receive, Receive::Sized(_)) {
            self.body_came(now, taken.len());
        }
        self.advance(now);
        taken.len()
    }

    /// Makes of the buffered input what can be made of it.
    pub(super) fn advance(&mut self, now: Instant) {
        match &mut self.receive {
            Receive::Head(_) => self.read_head(now),
            Receive::Sized(length) => {
                let length = usize::try_from(*length).unwrap_or(usize::MAX);
                if self.input.len() < length {
                    return;
                }
                if length > 0 {
                    let body = self.input.split_to(length).freeze();
                    self.events.push_back(Event::Body(body));
                    if length > KEEP {
                        self.input = BytesMut::from(&self.input[..]);
                    }
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
            Ok(None) => self.start_timer(now, Timer::Head, self.limits.head_time),
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
            asked_to_close: !request.keep_alive,
        };
        self.receive = match request.framing {
            Framing::Sized(length) => Receive::Sized(length),
            Framing::Chunked => {
                Receive::Chunked(Chunked::new(self.limits.body, self.limits.trailers))
            }
        };
        self.send = Send::Awaiting;
        self.events.push_back(Event::Head(request.head));
        self.pace = Pace::begin(now);
        self.body_came(now, self.input.len());
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
                self.body_came(now, used);
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
            // What is thrown away has its time as a whole, however it comes.
            _ if matches!(self.timer, Some((_, Timer::Drain))) => {}
            _ => self.start_timer(now, Timer::Drain, self.limits.drain_time),
        }
    }

    /// The request was read to its end.
    fn complete(&mut self) {
        self.receive = Receive::Complete;
        self.timer = None;
        self.events.push_back(Event::End);
    }

    pub(super) fn next_exchange(&mut self, now: Instant) {
        if self.is_last {
            return self.linger(now);
        }
        self.receive = Receive::Head(HeadScan::default());
        self.send = Send::Idle;
        self.exchange = Exchange::refused(false);
        if self.body.capacity() > KEEP {
            self.body = BytesMut::new();
        }
        self.start_idle(now);
        self.advance(now);
    }

    fn refuse_malformed(&mut self, now: Instant, complaint: &'static str) {
        self.refuse_request(now, Refusal::Malformed(complaint));
    }

    /// Framing is lost or a limit exceeded: the client is told if it was told nothing yet.
    pub(super) fn refuse_request(&mut self, now: Instant, refusal: Refusal) {
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
            Send::Body(_) => self.events.push_back(Event::Refused(refusal)),
            Send::Answered => self.linger(now),
        }
    }
}
