//! The loop that serves one stream.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::io::{self, ErrorKind};

use futures_io::{AsyncRead, AsyncWrite};

use super::host::Carrier;
use super::work::Work;
use super::{Outliving, Runtime, Threading, Timer};
use crate::frame::http1;
use crate::pace::Pace;
use crate::server::{Bound, Closing, Notice};
use crate::time::{Instant, earlier};

/// How much is read at once. It lives on the stack, so that a stream without traffic has no
/// buffer.
const CHUNK: usize = 8 * 1024;

/// How much may wait to be written before reading stops: what a peer does not read, it must not
/// be able to pile up.
const UNWRITTEN: usize = 1 << 20;

/// For how long a peer may take nothing of the last that is written to it, where it may take its
/// time otherwise.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// How many bytes a second a peer has to take of what waits for it, with its patience in hand.
const LEAST_RATE: u64 = 4 * 1024;

/// How often one poll goes around before other tasks get their turn.
const ROUNDS: usize = 32;

/// One stream's server, between polls.
pub(crate) struct Loop<C, R: Runtime<M>, M: Threading, S> {
    stream: S,
    machine: C,
    work: Work<R, M>,
    /// Read, and not taken by the machine yet.
    unread: Vec<u8>,
    /// To be written, from `written` on.
    unwritten: Vec<u8>,
    written: usize,
    reading: Side,
    writing: Side,
    /// How the peer takes what is written, while it does not take all.
    stalled: Option<Pace>,
    /// When a byte moved last.
    moved: Instant,
    /// When the timer goes off at the latest.
    armed: Option<Instant>,
    stopping: bool,
    broken: Option<io::Error>,
}

/// One direction of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Open,
    /// Everything was written, and what may be buffered below is not flushed yet.
    Unflushed,
    /// Being shut down.
    Closing,
    Closed,
}

impl<C, R, M, S> Loop<C, R, M, S>
where
    C: Carrier,
    R: Runtime<M>,
    M: Threading,
    S: AsyncRead + AsyncWrite + Unpin,
{
    pub(crate) fn new(stream: S, machine: C, work: Work<R, M>) -> Self {
        let moved = work.now();
        Self {
            stream,
            machine,
            work,
            unread: Vec::new(),
            unwritten: Vec::new(),
            written: 0,
            reading: Side::Open,
            writing: Side::Open,
            stalled: None,
            moved,
            armed: None,
            stopping: false,
            broken: None,
        }
    }

    /// Does all that can be done now: reads, runs what came of it, and writes what came of that
    /// in one piece. A write that blocks holds up no read.
    pub(crate) fn poll(
        &mut self,
        mut timer: Pin<&mut R::Timer>,
        mut until: Pin<&mut impl Future<Output = ()>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        self.work.register(cx.waker());
        if !self.stopping && until.as_mut().poll(cx).is_ready() {
            self.stopping = true;
            self.machine.close();
        }
        for _ in 0..ROUNDS {
            let now = self.work.now();
            if self.work.is_given_up() && self.broken.is_none() {
                self.work.tell(&Notice::Bound(Bound::Held));
                self.break_off(now, ErrorKind::TimedOut.into());
            }
            let mut moved = self.tick(now);
            self.work.refresh(&mut self.machine, now);
            moved |= self.read(now, cx);
            moved |= self.work.advance(&mut self.machine, now, cx);
            moved |= self.write(now, cx);
            if self.is_over(now) {
                self.work.advance(&mut self.machine, now, cx);
                return Poll::Ready(self.broken.take().map_or(Ok(()), Err));
            }
            if !moved && self.rest(timer.as_mut(), cx).is_pending() {
                let around = self.unread.capacity() + self.unwritten.capacity();
                self.work.weigh(&self.machine, around, self.moved, cx.waker());
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// What goes on though the stream is gone, if anything does.
    pub(crate) fn outliving(self, timer: R::Timer) -> Option<Outliving<C, R, M>> {
        let Self { machine, work, .. } = self;
        (!machine.is_idle()).then(|| Outliving::new(machine, work, timer))
    }

    /// Hands one chunk in.
    fn read(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        let full = self.unwritten.len() - self.written >= UNWRITTEN;
        if self.reading != Side::Open || full || !self.machine.wants_input() {
            return false;
        }
        if !self.unread.is_empty() {
            let taken = self.machine.handle_input(now, &self.unread);
            self.unread.drain(..taken);
            return taken > 0;
        }
        let mut chunk = [0; CHUNK];
        match Pin::new(&mut self.stream).poll_read(cx, &mut chunk) {
            Poll::Pending => return false,
            Poll::Ready(Ok(0)) => {
                self.reading = Side::Closed;
                self.machine.handle_eof(now);
            }
            Poll::Ready(Ok(read)) => {
                self.moved = now;
                let chunk = chunk.get(..read).unwrap_or_default();
                let taken = self.machine.handle_input(now, chunk);
                self.unread.extend_from_slice(chunk.get(taken..).unwrap_or_default());
            }
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
            Poll::Ready(Err(error)) => self.break_off(now, error),
        }
        true
    }

    /// Tells the machine what time it is, if it wants to know.
    fn tick(&mut self, now: Instant) -> bool {
        if self.given_up().is_some_and(|at| at <= now) {
            if self.machine.closing() == Closing::Open {
                self.work.tell(&Notice::Bound(Bound::Unread));
            }
            self.break_off(now, ErrorKind::TimedOut.into());
            return true;
        }
        let due = self.machine.poll_timeout().is_some_and(|deadline| deadline <= now);
        if due {
            self.machine.handle_timeout(now);
        }
        due
    }

    /// When a peer that takes nothing has had its time.
    fn given_up(&self) -> Option<Instant> {
        let pace = self.stalled.filter(|_| self.writing != Side::Closed)?;
        let closes = self.machine.closing() != Closing::Open;
        let patience = self.machine.patience().or(closes.then_some(LAST_WORDS))?;
        Some(pace.deadline(patience, LEAST_RATE))
    }

    /// Nothing is left to do until something comes, or time has passed. The timer is set only to
    /// go off earlier than it would: most deadlines move away before they are reached.
    fn rest(&mut self, mut timer: Pin<&mut R::Timer>, cx: &mut Context<'_>) -> Poll<()> {
        let linger = match self.machine.closing() {
            Closing::Linger(until) => Some(until),
            _ => None,
        };
        let deadline = earlier(self.machine.poll_timeout(), linger);
        let deadline = earlier(deadline, self.given_up());
        let deadline = earlier(deadline, self.work.poll_timeout());
        if let Some(deadline) = deadline
            && self.armed.is_none_or(|armed| deadline < armed)
        {
            timer.as_mut().reset(deadline);
            self.armed = Some(deadline);
        }
        if self.armed.is_some() && timer.poll_elapsed(cx).is_ready() {
            self.armed = None;
            return Poll::Ready(());
        }
        self.release();
        Poll::Pending
    }

    /// Writes what there is, and shuts the writing side down after the last of it.
    fn write(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        loop {
            if self.written == self.unwritten.len() {
                self.unwritten.clear();
                self.written = 0;
                if matches!(self.writing, Side::Open | Side::Unflushed) {
                    self.machine.transmit(&mut self.unwritten);
                }
            }
            let rest = self.unwritten.get(self.written..).unwrap_or_default();
            let stream = Pin::new(&mut self.stream);
            let polled = match self.writing {
                Side::Closed => return moved,
                Side::Closing => stream.poll_close(cx).map_ok(|()| None),
                _ if !rest.is_empty() => stream.poll_write(cx, rest).map_ok(Some),
                Side::Unflushed => stream.poll_flush(cx).map_ok(|()| None),
                Side::Open => {
                    if self.machine.closing() == Closing::Open {
                        return moved;
                    }
                    self.writing = Side::Closing;
                    continue;
                }
            };
            match polled {
                Poll::Pending => {
                    self.stalled.get_or_insert(Pace::begin(now));
                    self.trim();
                    return moved;
                }
                Poll::Ready(Ok(Some(0))) => self.break_off(now, ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(Some(written))) => {
                    self.written += written;
                    self.moved = now;
                    if let Some(pace) = &mut self.stalled {
                        pace.moved(now, written);
                    }
                    self.writing = Side::Unflushed;
                }
                Poll::Ready(Ok(None)) => {
                    let done = self.writing == Side::Closing;
                    self.writing = if done { Side::Closed } else { Side::Open };
                }
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => self.break_off(now, error),
            }
            if self.written == self.unwritten.len() {
                self.stalled = None;
            }
            moved = true;
        }
    }

    /// Of a large reply only what is not written yet is kept, though not moved at every write.
    fn trim(&mut self) {
        let left = self.unwritten.len() - self.written;
        if self.unwritten.capacity() > http1::KEEP && left < self.unwritten.capacity() / 2 {
            self.unwritten = self.unwritten.split_off(self.written);
            self.written = 0;
        }
    }

    /// The stream is gone.
    fn break_off(&mut self, now: Instant, error: io::Error) {
        self.machine.handle_closed(now);
        (self.reading, self.writing) = (Side::Closed, Side::Closed);
        self.broken.get_or_insert(error);
    }

    fn is_over(&self, now: Instant) -> bool {
        match self.machine.closing() {
            Closing::Open => false,
            Closing::AfterFlush | Closing::Closed => self.writing == Side::Closed,
            Closing::Linger(until) => {
                self.writing == Side::Closed && (self.reading == Side::Closed || until <= now)
            }
        }
    }

    /// A stream without traffic keeps no buffers.
    fn release(&mut self) {
        if self.unwritten.is_empty() && self.work.is_idle() {
            self.unwritten = Vec::new();
        }
        if self.unread.is_empty() {
            self.unread = Vec::new();
        }
    }
}

#[cfg(test)]
mod held_tests;
#[cfg(test)]
mod scripted_tests;
#[cfg(test)]
mod tests;
