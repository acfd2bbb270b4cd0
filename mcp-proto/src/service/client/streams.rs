//! A pair of byte streams, of a process that may be started again.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::io::{self, ErrorKind};

use futures_io::{AsyncRead, AsyncWrite};

use super::drive::Link;
use super::inner::Carried;
use crate::client::{Carry, Machine, Stdio};
use crate::time::Instant;

/// Starts what speaks on a pair of byte streams.
pub trait Respawn: Send + 'static {
    /// The streams. Dropping them ends the process, in the order of R26-STDIO-15. An error of the
    /// kind [`UnexpectedEof`](ErrorKind::UnexpectedEof) is an end that says why, for a person.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Starts it: at first, and again where it ended and there is a call for it.
    fn start(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static;
}

type Starting<S> = Pin<Box<dyn Future<Output = io::Result<S>> + Send>>;

pub(super) struct StreamLink<S: Respawn> {
    respawn: S,
    stage: Stage<S::Stream>,
    /// To be written, from `written` on.
    unwritten: Vec<u8>,
    written: usize,
    unflushed: bool,
    unread: Vec<u8>,
    /// The machine waits to hear that the process was started again.
    again: bool,
}

enum Stage<S> {
    Starting(Starting<S>),
    Open(S),
    /// Its end is told; what is left is to be written.
    Ended(S),
    Gone,
}

const CHUNK: usize = 8 * 1024;

impl<S: Respawn> StreamLink<S> {
    pub(super) fn new(mut respawn: S) -> Self {
        let stage = Stage::Starting(Box::pin(respawn.start()));
        Self {
            respawn,
            stage,
            unwritten: Vec::new(),
            written: 0,
            unflushed: false,
            unread: Vec::new(),
            again: false,
        }
    }

    fn read(&mut self, stdio: &mut Stdio, now: Instant, cx: &mut Context<'_>) -> bool {
        let Stage::Open(stream) = &mut self.stage else { return false };
        if !stdio.wants_input() {
            return false;
        }
        if !self.unread.is_empty() {
            let taken = stdio.handle_input(now, &self.unread);
            self.unread.drain(..taken);
            return taken > 0;
        }
        let mut chunk = [0; CHUNK];
        match Pin::new(stream).poll_read(cx, &mut chunk) {
            Poll::Pending => return false,
            Poll::Ready(Ok(0)) => {
                self.end();
                stdio.handle_eof(now);
            }
            Poll::Ready(Ok(read)) => {
                let chunk = chunk.get(..read).unwrap_or_default();
                let taken = stdio.handle_input(now, chunk);
                self.unread.extend_from_slice(chunk.get(taken..).unwrap_or_default());
            }
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
            Poll::Ready(Err(error)) if error.kind() == ErrorKind::UnexpectedEof => {
                self.end();
                stdio.handle_exit(now, &error.to_string());
            }
            Poll::Ready(Err(_)) => {
                self.stage = Stage::Gone;
                stdio.handle_closed(now);
            }
        }
        true
    }

    fn end(&mut self) {
        self.stage = match core::mem::replace(&mut self.stage, Stage::Gone) {
            Stage::Open(stream) => Stage::Ended(stream),
            stage => stage,
        };
    }

    /// Writes what there is. A write that blocks holds up no read.
    fn write(&mut self, stdio: &mut Stdio, now: Instant, cx: &mut Context<'_>) -> bool {
        let mut moved = false;
        loop {
            if self.written == self.unwritten.len() {
                self.unwritten.clear();
                self.written = 0;
                stdio.transmit(&mut self.unwritten);
            }
            let (Stage::Open(stream) | Stage::Ended(stream)) = &mut self.stage else {
                return moved;
            };
            let rest = self.unwritten.get(self.written..).unwrap_or_default();
            let polled = match (rest.is_empty(), self.unflushed) {
                (false, _) => Pin::new(stream).poll_write(cx, rest).map_ok(Some),
                (true, true) => Pin::new(stream).poll_flush(cx).map_ok(|()| None),
                (true, false) => return moved,
            };
            match polled {
                Poll::Pending => return moved,
                Poll::Ready(Ok(Some(written))) if written > 0 => {
                    self.written += written;
                    self.unflushed = true;
                }
                Poll::Ready(Ok(None)) => self.unflushed = false,
                Poll::Ready(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
                // A server that ends may have said something first: reading goes on (C80).
                Poll::Ready(Ok(Some(_)) | Err(_)) => {
                    self.unwritten.clear();
                    self.written = 0;
                    self.unflushed = false;
                    if matches!(self.stage, Stage::Ended(_)) {
                        self.stage = Stage::Gone;
                    } else if stdio.is_closed() {
                        stdio.handle_closed(now);
                    }
                    return true;
                }
            }
            moved = true;
        }
    }
}

impl<S: Respawn> Link for StreamLink<S> {
    fn carry(&mut self, _: &mut Carried, _: Instant, what: Carry) {
        if let Carry::Respawn = what {
            // Dropping the old streams ends the old process.
            self.stage = Stage::Gone;
            self.stage = Stage::Starting(Box::pin(self.respawn.start()));
            self.unwritten.clear();
            self.written = 0;
            self.unread.clear();
            self.again = true;
        }
    }

    fn poll(&mut self, carried: &mut Carried, now: Instant, cx: &mut Context<'_>) -> bool {
        let Carried::Stdio(stdio) = carried else { return false };
        if let Stage::Starting(starting) = &mut self.stage {
            match starting.as_mut().poll(cx) {
                Poll::Pending => return false,
                Poll::Ready(started) => {
                    if core::mem::take(&mut self.again) {
                        stdio.handle_respawned(now);
                    }
                    match started {
                        Ok(stream) => self.stage = Stage::Open(stream),
                        Err(error) => {
                            self.stage = Stage::Gone;
                            stdio.handle_unstarted(now, &error.to_string());
                        }
                    }
                }
            }
            return true;
        }
        let moved = self.read(stdio, now, cx);
        moved | self.write(stdio, now, cx)
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (Stage::Open(stream) | Stage::Ended(stream)) = &mut self.stage else {
            return Poll::Ready(());
        };
        // What it did not take by now, it may never take; nor is it anybody's concern any more how
        // it closes.
        Pin::new(stream).poll_close(cx).map(|_| self.stage = Stage::Gone)
    }
}

impl<S: Respawn> Unpin for StreamLink<S> {}
