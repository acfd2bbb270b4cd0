//! A pair of byte streams in memory.

use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_io::{AsyncRead, AsyncWrite};

/// One direction of a pipe.
#[derive(Default)]
pub(super) struct Channel {
    bytes: VecDeque<u8>,
    capacity: usize,
    /// The writer is done.
    ended: bool,
    /// The reader is gone.
    broken: bool,
    /// How many writes there were.
    #[cfg(test)]
    pub(super) writes: usize,
    waiting: Vec<Waker>,
}

/// One end of a pair of pipes.
pub(crate) struct End {
    pub(super) incoming: Arc<Mutex<Channel>>,
    outgoing: Arc<Mutex<Channel>>,
}

/// Two ends, whose pipes hold `capacity` bytes each way.
pub(crate) fn pair(capacity: usize) -> (End, End) {
    let channel = || Arc::new(Mutex::new(Channel { capacity, ..Channel::default() }));
    let (there, back) = (channel(), channel());
    let end = |incoming: &Arc<_>, outgoing: &Arc<_>| End {
        incoming: Arc::clone(incoming),
        outgoing: Arc::clone(outgoing),
    };
    (end(&there, &back), end(&back, &there))
}

/// Nothing is left half done by who panicked meanwhile.
fn lock(channel: &Mutex<Channel>) -> MutexGuard<'_, Channel> {
    channel.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Channel {
    fn wake(&mut self) {
        self.waiting.drain(..).for_each(Waker::wake);
    }
}

impl End {
    /// Ends this side.
    pub(crate) fn end(&self) {
        let mut outgoing = lock(&self.outgoing);
        outgoing.ended = true;
        outgoing.wake();
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.end();
        let mut incoming = lock(&self.incoming);
        incoming.broken = true;
        incoming.wake();
    }
}

impl AsyncRead for End {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut incoming = lock(&self.incoming);
        let read = into.len().min(incoming.bytes.len());
        if read == 0 && !incoming.ended {
            incoming.waiting.push(cx.waker().clone());
            return Poll::Pending;
        }
        for (into, byte) in into.iter_mut().zip(incoming.bytes.drain(..read)) {
            *into = byte;
        }
        incoming.wake();
        Poll::Ready(Ok(read))
    }
}

impl AsyncWrite for End {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut outgoing = lock(&self.outgoing);
        if outgoing.broken {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = outgoing.capacity.saturating_sub(outgoing.bytes.len());
        if room == 0 {
            outgoing.waiting.push(cx.waker().clone());
            return Poll::Pending;
        }
        let written = room.min(from.len());
        outgoing.bytes.extend(&from[..written]);
        #[cfg(test)]
        {
            outgoing.writes += 1;
        }
        outgoing.wake();
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.end();
        Poll::Ready(Ok(()))
    }
}
