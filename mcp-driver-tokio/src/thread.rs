//! Blocking files as streams, each with a thread of its own. The process may end while they block:
//! nobody waits for them.

use std::io::{self, ErrorKind, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use futures_io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// How much is read at once.
const CHUNK: usize = 8 * 1024;

/// Reads something that blocks. A chunk is read ahead.
pub(crate) struct ThreadReader {
    chunks: Receiver<io::Result<Vec<u8>>>,
    /// What of the last chunk was not handed out yet.
    rest: Vec<u8>,
}

impl ThreadReader {
    pub(crate) fn new(mut file: impl Read + Send + 'static) -> io::Result<Self> {
        let (send, chunks) = channel(1);
        thread::Builder::new().name("mcp-stdin".into()).spawn(move || {
            loop {
                let mut chunk = vec![0; CHUNK];
                let read = match file.read(&mut chunk) {
                    Ok(0) => return,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    read => read,
                };
                let ended = read.is_err();
                let chunk = read.map(|length| {
                    chunk.truncate(length);
                    chunk
                });
                if send.blocking_send(chunk).is_err() || ended {
                    return;
                }
            }
        })?;
        Ok(Self { chunks, rest: Vec::new() })
    }
}

impl AsyncRead for ThreadReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        if self.rest.is_empty() {
            match ready!(self.chunks.poll_recv(cx)) {
                None => return Poll::Ready(Ok(0)),
                Some(chunk) => self.rest = chunk?,
            }
        }
        let length = self.rest.len().min(into.len());
        for (into, byte) in into.iter_mut().zip(self.rest.drain(..length)) {
            *into = byte;
        }
        Poll::Ready(Ok(length))
    }
}

/// Writes to something that blocks. One piece is under way at a time.
pub(crate) struct ThreadWriter {
    /// `None` once this is closed.
    pieces: Option<Sender<Vec<u8>>>,
    written: Receiver<io::Result<()>>,
    /// A piece is under way.
    busy: bool,
}

impl ThreadWriter {
    pub(crate) fn new(mut file: impl Write + Send + 'static) -> io::Result<Self> {
        let (pieces, mut next) = channel::<Vec<u8>>(1);
        let (done, written) = channel(1);
        thread::Builder::new().name("mcp-stdout".into()).spawn(move || {
            while let Some(piece) = next.blocking_recv() {
                let result = file.write_all(&piece).and_then(|()| file.flush());
                if done.blocking_send(result).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { pieces: Some(pieces), written, busy: false })
    }
}

impl AsyncWrite for ThreadWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.as_mut().poll_flush(cx))?;
        let sent = self.pieces.as_ref().map(|pieces| pieces.try_send(from.to_vec()));
        if !matches!(sent, Some(Ok(()))) {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        self.busy = true;
        Poll::Ready(Ok(from.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.busy {
            let written = ready!(self.written.poll_recv(cx));
            self.busy = false;
            return Poll::Ready(written.unwrap_or(Err(ErrorKind::BrokenPipe.into())));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(self.as_mut().poll_flush(cx));
        self.pieces = None;
        Poll::Ready(flushed)
    }
}

#[cfg(test)]
mod tests;
