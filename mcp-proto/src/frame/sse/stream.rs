//! An event stream that an application writes: a queue with bounds, a heartbeat and an end.

use core::fmt;
use core::time::Duration;

use super::{Event, append_comment};
use crate::frame::coding::Coding;
#[cfg(feature = "gzip")]
use crate::frame::gzip::Gzip;
use crate::time::{Instant, earlier};

/// One response of type `text/event-stream`, as its sender sees it. A pure machine: it has no
/// socket and no clock.
///
/// - **commands**: [`send`](Self::send), [`close`](Self::close)
/// - **in**: [`handle_timeout`](Self::handle_timeout), [`handle_closed`](Self::handle_closed)
/// - **out**: [`transmit`](Self::transmit) appends what is queued to the caller's buffer. Call it
///   when the bytes of the last call have been written, not before: what is not taken is how the
///   stream knows that its reader is slow.
/// - **state**: [`poll_timeout`](Self::poll_timeout), [`has_output`](Self::has_output),
///   [`closed`](Self::closed), [`end`](Self::end)
///
/// A reader that is too slow costs a bounded amount of memory, and no event is dropped unseen:
/// when the queue is full, `send` says [`SendError::Full`] and the sender decides whether to wait,
/// to merge or to give up. When nothing was taken for [`StreamOptions::stall`] though something
/// was there, the reader is gone: the queue is dropped and the stream [ends](StreamEnd::Stalled).
///
/// ```
/// use mcp_proto::frame::sse::{Event, SendError, Stream, StreamOptions};
/// use mcp_proto::time::Instant;
///
/// let mut stream = Stream::new(Instant::ZERO, StreamOptions::default());
/// stream.send(Instant::ZERO, &Event::data("one"))?;
/// let mut wire = Vec::new();
/// stream.transmit(&mut wire);
///
/// // After 15 s of silence a comment keeps proxies from closing the connection.
/// let later = stream.poll_timeout().unwrap();
/// stream.handle_timeout(later);
/// stream.close(later);
/// stream.transmit(&mut wire);
/// assert_eq!(wire, b"data: one\n\n:\n");
/// assert!(stream.end().is_some());
/// assert_eq!(stream.send(later, &Event::data("two")), Err(SendError::Closed));
/// # Ok::<(), SendError>(())
/// ```
#[derive(Debug)]
pub struct Stream {
    options: StreamOptions,
    state: State,
    queue: Queue,
    /// The latest time that was seen.
    now: Instant,
    /// Since when no event was queued.
    silent_since: Instant,
}

/// The settings of a [`Stream`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamOptions {
    /// Bytes that may be queued, counted before compression: 1 MiB.
    pub max_bytes: usize,
    /// Events that may be queued: 1,024.
    pub max_events: usize,
    /// Silence after which a comment is sent: 15 s; `None` sends none.
    pub heartbeat: Option<Duration>,
    /// How long a reader may take nothing of what is queued: 30 s.
    pub stall: Duration,
    /// How long the client shall wait before it connects again, sent first; `None` leaves it to
    /// the client.
    pub retry: Option<Duration>,
    /// How the body is coded; a compressor is flushed behind every event.
    pub coding: Coding,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            max_bytes: 1 << 20,
            max_events: 1_024,
            heartbeat: Some(Duration::from_secs(15)),
            stall: Duration::from_secs(30),
            retry: None,
            coding: Coding::Identity,
        }
    }
}

/// Why an event was not queued. Nothing of it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The reader is slow: as much is queued as may be. Try again when something was taken.
    Full,
    /// The event alone is larger than the queue may be.
    TooLarge,
    /// The stream was closed, or its reader is gone; [`Stream::end`] says which.
    Closed,
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamEnd {
    /// It was closed, and everything queued was taken.
    Complete,
    /// The reader took nothing for [`StreamOptions::stall`]; what was queued is lost. Its
    /// connection is to be closed.
    Stalled,
    /// The connection failed or was closed by the reader; what was queued is lost.
    Disconnected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Closing,
    Ended(StreamEnd),
}

impl Stream {
    /// A stream that is open, and silent since `now`.
    pub fn new(now: Instant, options: StreamOptions) -> Self {
        let mut stream = Self {
            state: State::Open,
            queue: Queue::new(options.coding),
            now,
            silent_since: now,
            options,
        };
        if let Some(retry) = stream.options.retry {
            let milliseconds = u64::try_from(retry.as_millis()).unwrap_or(u64::MAX);
            let event = Event::default().with_retry(milliseconds);
            let _ = stream.queue.push(now, &stream.options, |out| event.encode(out));
        }
        stream
    }

    /// The response's header fields. Neither caches nor proxies may hold the body back or change
    /// it.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        const HEADERS: [(&str, &str); 3] = [
            ("Content-Type", "text/event-stream"),
            ("Cache-Control", "no-cache, no-transform"),
            ("X-Accel-Buffering", "no"),
        ];
        HEADERS.into_iter().chain(self.options.coding.headers().iter().copied())
    }

    /// Queues an event.
    ///
    /// # Errors
    /// [`SendError`]. The event is not queued then, not even in part.
    pub fn send(&mut self, now: Instant, event: &Event) -> Result<(), SendError> {
        let now = self.advance(now);
        if self.state != State::Open {
            return Err(SendError::Closed);
        }
        if self.queue.push(now, &self.options, |out| event.encode(out))? {
            self.silent_since = now;
        }
        Ok(())
    }

    /// Ends the stream behind what is queued. Nothing can be sent any more.
    pub fn close(&mut self, now: Instant) {
        let now = self.advance(now);
        if self.state == State::Open {
            self.queue.finish(now);
            self.state = State::Closing;
            self.settle();
        }
    }

    /// Appends everything queued to `out`.
    pub fn transmit(&mut self, out: &mut Vec<u8>) {
        self.queue.drain(out);
        self.settle();
    }

    /// The reader is gone: its connection ended, or a write failed.
    pub fn handle_closed(&mut self) {
        self.fail(StreamEnd::Disconnected);
    }

    /// What time has brought: a heartbeat, or the end for a reader that stalls.
    pub fn handle_timeout(&mut self, now: Instant) {
        let now = self.advance(now);
        if self.stalls_at().is_some_and(|at| at <= now) {
            self.fail(StreamEnd::Stalled);
        } else if self.beats_at().is_some_and(|at| at <= now) {
            self.silent_since = now;
            // Behind a full queue a comment would keep nothing alive.
            let _ = self.queue.push(now, &self.options, append_comment);
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is to be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        earlier(self.stalls_at(), self.beats_at())
    }

    /// Whether [`transmit`](Self::transmit) would append anything.
    pub fn has_output(&self) -> bool {
        !self.queue.wire.is_empty()
    }

    /// Nothing can be sent any more: the stream was closed, or has failed.
    pub fn closed(&self) -> bool {
        self.state != State::Open
    }

    /// How it ended; `None` while it is open, or something queued is still to be taken.
    pub fn end(&self) -> Option<StreamEnd> {
        match self.state {
            State::Ended(end) => Some(end),
            State::Open | State::Closing => None,
        }
    }

    fn advance(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.now
    }

    fn stalls_at(&self) -> Option<Instant> {
        Some(self.queue.waiting_since? + self.options.stall.max(TICK))
    }

    fn beats_at(&self) -> Option<Instant> {
        let heartbeat = self.options.heartbeat.filter(|_| self.state == State::Open)?;
        Some(self.silent_since + heartbeat.max(TICK))
    }

    /// Ends a closing stream whose queue is empty.
    fn settle(&mut self) {
        if self.state == State::Closing && !self.has_output() {
            self.state = State::Ended(StreamEnd::Complete);
        }
    }

    fn fail(&mut self, end: StreamEnd) {
        if !matches!(self.state, State::Ended(_)) {
            self.state = State::Ended(end);
            self.queue = Queue::new(Coding::Identity);
        }
    }
}

/// What was sent and not yet taken.
#[derive(Debug)]
struct Queue {
    /// As it will be on the wire.
    wire: Vec<u8>,
    bytes: usize,
    events: usize,
    /// Since when something waits that nobody took.
    waiting_since: Option<Instant>,
    #[cfg(feature = "gzip")]
    gzip: Option<Gzip>,
}

/// What an empty queue may keep of its buffer, in bytes.
const KEEP: usize = 1 << 10;

/// No deadline is nearer than this, so that time always moves on.
const TICK: Duration = Duration::from_millis(1);

impl Queue {
    #[cfg_attr(not(feature = "gzip"), expect(unused_variables))]
    fn new(coding: Coding) -> Self {
        Self {
            wire: Vec::new(),
            bytes: 0,
            events: 0,
            waiting_since: None,
            #[cfg(feature = "gzip")]
            gzip: (coding == Coding::Gzip).then(Gzip::new),
        }
    }

    /// Adds what `write` appends, as one event, unless that would be too much. False where it
    /// appends nothing.
    fn push(
        &mut self,
        now: Instant,
        bounds: &StreamOptions,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<bool, SendError> {
        let start = self.wire.len();
        write(&mut self.wire);
        let length = self.wire.len() - start;
        if length == 0 {
            return Ok(false);
        }
        let full = self.bytes + length > bounds.max_bytes || self.events >= bounds.max_events;
        if full {
            self.wire.truncate(start);
            self.wire.shrink_to(bounds.max_bytes);
            let alone = length > bounds.max_bytes;
            return Err(if alone { SendError::TooLarge } else { SendError::Full });
        }
        self.bytes += length;
        self.events += 1;
        #[cfg(feature = "gzip")]
        if let Some(gzip) = &mut self.gzip {
            let text = self.wire.split_off(start);
            gzip.write(&text, &mut self.wire);
        }
        self.wait(now);
        Ok(true)
    }

    /// Adds the end of the body, where its coding has one.
    fn finish(&mut self, now: Instant) {
        #[cfg(feature = "gzip")]
        if let Some(gzip) = self.gzip.take() {
            gzip.finish(&mut self.wire);
        }
        self.wait(now);
    }

    fn drain(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.wire);
        self.wire.clear();
        self.wire.shrink_to(KEEP);
        (self.bytes, self.events, self.waiting_since) = (0, 0, None);
    }

    fn wait(&mut self, now: Instant) {
        if !self.wire.is_empty() {
            self.waiting_since.get_or_insert(now);
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the reader of the event stream is slow: its queue is full",
            Self::TooLarge => "the event is larger than the stream's queue may be",
            Self::Closed => "the event stream is closed",
        })
    }
}

impl core::error::Error for SendError {}

#[cfg(test)]
mod tests;
