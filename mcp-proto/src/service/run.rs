//! The loop that serves one stream.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::io::{self, ErrorKind};

use futures_io::{AsyncRead, AsyncWrite};
use futures_util::stream::{FuturesUnordered, StreamExt};
use http::Extensions;

use super::host::Carrier;
use super::{Command, Dispatched, Execution, Host, Outbox, Running, Runtime, Threading, Timer};
use crate::effect::{EffectError, EffectId, Reply};
use crate::model::{Failure, FailureKind, Outcome};
use crate::server::{CallId, Closing, Event, Output};
use crate::time::{Instant, earlier};

/// How much is read at once. It lives on the stack, so that a stream without traffic has no
/// buffer.
const CHUNK: usize = 8 * 1024;

/// How much may wait to be written before reading stops: what a peer does not read, it must not
/// be able to pile up.
const UNWRITTEN: usize = 1 << 20;

/// How often one poll goes around before other tasks get their turn.
const ROUNDS: usize = 32;

/// One stream's server, between polls.
pub(crate) struct Loop<C, R, M: Threading> {
    host: Host<R, M>,
    machine: C,
    extensions: Extensions,
    outbox: Outbox,
    calls: FuturesUnordered<Running<M>>,
    /// Few at a time, so they are polled in turn.
    effects: Vec<(EffectId, Pin<Box<dyn Future<Output = Answer> + Send>>)>,
    /// Read, and not taken by the machine yet.
    unread: Vec<u8>,
    /// To be written, from `written` on.
    unwritten: Vec<u8>,
    written: usize,
    reading: Side,
    writing: Side,
    /// When the timer goes off at the latest.
    armed: Option<Instant>,
    stopping: bool,
    broken: Option<io::Error>,
}

type Answer = Result<Reply, EffectError>;

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

impl<C: Carrier, R: Runtime<M>, M: Threading> Loop<C, R, M> {
    pub(crate) fn new(host: Host<R, M>, machine: C, extensions: Extensions) -> Self {
        Self {
            host,
            machine,
            extensions,
            outbox: Outbox::new(),
            calls: FuturesUnordered::new(),
            effects: Vec::new(),
            unread: Vec::new(),
            unwritten: Vec::new(),
            written: 0,
            reading: Side::Open,
            writing: Side::Open,
            armed: None,
            stopping: false,
            broken: None,
        }
    }

    /// Does all that can be done now: reads, runs what came of it, and writes what came of that
    /// in one piece. A write that blocks holds up no read.
    pub(crate) fn poll(
        &mut self,
        mut stream: Pin<&mut (impl AsyncRead + AsyncWrite)>,
        mut timer: Pin<&mut R::Timer>,
        mut until: Pin<&mut impl Future<Output = ()>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        self.outbox.register(cx.waker());
        if !self.stopping && until.as_mut().poll(cx).is_ready() {
            self.stopping = true;
            self.machine.close();
        }
        for _ in 0..ROUNDS {
            let now = self.host.runtime().now();
            let mut moved = self.tick(now);
            moved |= self.read(stream.as_mut(), now, cx);
            moved |= self.advance(now, cx);
            moved |= self.write(stream.as_mut(), now, cx);
            if self.is_over(now) {
                self.advance(now, cx);
                self.detach();
                return Poll::Ready(self.broken.take().map_or(Ok(()), Err));
            }
            if !moved && self.rest(timer.as_mut(), cx).is_pending() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Hands one chunk in.
    fn read(
        &mut self,
        stream: Pin<&mut (impl AsyncRead + AsyncWrite)>,
        now: Instant,
        cx: &mut Context<'_>,
    ) -> bool {
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
        match stream.poll_read(cx, &mut chunk) {
            Poll::Pending => return false,
            Poll::Ready(Ok(0)) => {
                self.reading = Side::Closed;
                self.machine.handle_eof(now);
            }
            Poll::Ready(Ok(read)) => {
                let chunk = chunk.get(..read).unwrap_or_default();
                let taken = self.machine.handle_input(now, chunk);
                self.unread.extend_from_slice(chunk.get(taken..).unwrap_or_default());
            }
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
            Poll::Ready(Err(error)) => self.break_off(now, error),
        }
        true
    }

    /// Runs everything that runs: calls, what they say, effects; until nothing is left to do.
    fn advance(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        loop {
            let mut again = self.drain(now, cx);
            while let Poll::Ready(Some((id, outcome))) = self.calls.poll_next_unpin(cx) {
                again = true;
                self.settle(id, outcome);
            }
            again |= self.obey();
            again |= self.poll_effects(now, cx);
            if !again {
                return moved;
            }
            moved = true;
        }
    }

    /// Does what the machine says.
    fn drain(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        while let Some(output) = self.machine.poll_output() {
            moved = true;
            match output {
                Output::Event(Event::Call(id, call)) => {
                    let parts = || self.machine.parts(&self.extensions);
                    match self.host.service().dispatch(id, call, parts, &self.outbox) {
                        Dispatched::Done(outcome) => self.machine.respond(id, outcome),
                        Dispatched::Running(running) => self.begin(running, cx),
                    }
                }
                Output::Event(Event::Cancelled(id)) => {
                    self.cancel(id);
                }
                Output::Effect(id, effect) => match self.host.answer(effect) {
                    Execution::Done(reply) => self.machine.handle_reply(now, id, reply),
                    Execution::Later(reply) => self.effects.push((id, reply)),
                },
                Output::Abandon(id) => self.effects.retain(|(own, _)| *own != id),
            }
        }
        moved
    }

    /// Most handlers are done the first time they are polled, and cost no bookkeeping.
    fn begin(&mut self, mut running: Running<M>, cx: &mut Context<'_>) {
        match Pin::new(&mut running).poll(cx) {
            Poll::Ready((id, outcome)) => self.settle(id, outcome),
            Poll::Pending => self.calls.push(running),
        }
    }

    /// What a handler said before its result goes out before it.
    fn settle(&mut self, id: CallId, outcome: Option<Outcome>) {
        self.obey();
        if let Some(outcome) = outcome {
            self.machine.respond(id, outcome);
        }
    }

    /// Does what handlers say.
    fn obey(&mut self) -> bool {
        let mut moved = false;
        // What is said meanwhile has its turn when this is polled again.
        for (id, command) in self.outbox.take() {
            moved = true;
            match command {
                Command::Progress(progress) => self.machine.progress(id, progress),
                Command::Log(message) => self.machine.log(id, message),
                Command::Cancel => {
                    if self.cancel(id) {
                        let why = "the server cancelled the call";
                        let failure = Failure::new(FailureKind::Internal, why);
                        self.machine.respond(id, failure.into());
                    }
                }
            }
        }
        moved
    }

    /// Drops a call's handler; false where there is none any more.
    fn cancel(&mut self, id: CallId) -> bool {
        let found = self.calls.iter_mut().find(|running| running.id() == id);
        found.is_some_and(|running| {
            let runs = running.is_running();
            running.cancel();
            runs
        })
    }

    fn poll_effects(&mut self, now: Instant, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        let machine = &mut self.machine;
        self.effects.retain_mut(|(id, effect)| match effect.as_mut().poll(cx) {
            Poll::Ready(reply) => {
                machine.handle_reply(now, *id, reply);
                moved = true;
                false
            }
            Poll::Pending => true,
        });
        moved
    }

    /// Tells the machine what time it is, if it wants to know.
    fn tick(&mut self, now: Instant) -> bool {
        let due = self.machine.poll_timeout().is_some_and(|deadline| deadline <= now);
        if due {
            self.machine.handle_timeout(now);
        }
        due
    }

    /// Nothing is left to do until something comes, or time has passed. The timer is set only to
    /// go off earlier than it would: most deadlines move away before they are reached.
    fn rest(&mut self, mut timer: Pin<&mut R::Timer>, cx: &mut Context<'_>) -> Poll<()> {
        let linger = match self.machine.closing() {
            Closing::Linger(until) => Some(until),
            _ => None,
        };
        let deadline = earlier(self.machine.poll_timeout(), linger);
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
    fn write(
        &mut self,
        mut stream: Pin<&mut (impl AsyncRead + AsyncWrite)>,
        now: Instant,
        cx: &mut Context<'_>,
    ) -> bool {
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
            let polled = match self.writing {
                Side::Closed => return moved,
                Side::Closing => stream.as_mut().poll_close(cx).map_ok(|()| None),
                _ if !rest.is_empty() => stream.as_mut().poll_write(cx, rest).map_ok(Some),
                Side::Unflushed => stream.as_mut().poll_flush(cx).map_ok(|()| None),
                Side::Open => {
                    if self.machine.closing() == Closing::Open {
                        return moved;
                    }
                    self.writing = Side::Closing;
                    continue;
                }
            };
            match polled {
                Poll::Pending => return moved,
                Poll::Ready(Ok(Some(0))) => self.break_off(now, ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(Some(written))) => {
                    self.written += written;
                    self.writing = Side::Unflushed;
                }
                Poll::Ready(Ok(None)) => {
                    let done = self.writing == Side::Closing;
                    self.writing = if done { Side::Closed } else { Side::Open };
                }
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                Poll::Ready(Err(error)) => self.break_off(now, error),
            }
            moved = true;
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

    /// Lets the calls run on that outlive their stream: those that the machine did not cancel.
    fn detach(&mut self) {
        for running in core::mem::take(&mut self.calls) {
            if let Some(handler) = running.into_handler() {
                self.host.runtime().detach(handler);
            }
        }
    }

    /// A stream without traffic keeps no buffers.
    fn release(&mut self) {
        if self.unwritten.is_empty() && self.calls.is_empty() {
            self.unwritten = Vec::new();
        }
        if self.unread.is_empty() {
            self.unread = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests;
