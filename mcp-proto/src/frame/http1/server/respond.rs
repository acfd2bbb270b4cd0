//! The commands: answering requests.

use super::super::Refusal;
use super::super::head::Version;
use super::super::write::{self, BodyLength, Outgoing, SendError};
use super::{Life, Receive, Send, Server};
use crate::time::Instant;

/// Commands.
/// What a response's head usually takes.
const HEAD_ROOM: usize = 256;

/// More is not reserved on a promise.
const MOST_RESERVED: u64 = 1 << 20;

impl Server {
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
        // One allocation for a large response, whose buffer is not kept.
        let expected = match length {
            BodyLength::Sized(length) => length.min(MOST_RESERVED) as usize,
            BodyLength::None | BodyLength::Stream => 0,
        };
        self.output.reserve(HEAD_ROOM + expected);
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
    /// [`SendError::Length`] where the body is shorter than announced: the rest is still to be
    /// written, or the response to be given up by [`abort`](Self::abort).
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
            Receive::Complete if self.exchange.asked_to_close => self.end(Life::Flushing),
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
        self.respond(status, headers, BodyLength::of(body))?;
        self.write_body(body)?;
        self.finish(now)
    }

    /// Answers [`Event::Refused`](super::Event::Refused) plainly, with the refusal's text as the body.
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
        write::framing(outgoing, &mut self.output);
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
}
