//! Tokio's streams as those of `futures-io`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::{AsyncRead, AsyncWrite};
use tokio::io::ReadBuf;

/// A stream of tokio's, for [`Host::run`](crate::Host::run) and
/// [`StdioServer::serve_on`](crate::StdioServer::serve_on).
#[derive(Debug)]
pub struct TokioStream<S>(S);

impl<S> TokioStream<S> {
    /// The same stream.
    pub fn new(stream: S) -> Self {
        Self(stream)
    }

    #[cfg(test)]
    pub(crate) fn get_ref(&self) -> &S {
        &self.0
    }
}

impl<S: tokio::io::AsyncRead + Unpin> AsyncRead for TokioStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut into = ReadBuf::new(into);
        ready!(Pin::new(&mut self.0).poll_read(cx, &mut into))?;
        Poll::Ready(Ok(into.filled().len()))
    }
}

impl<S: tokio::io::AsyncWrite + Unpin> AsyncWrite for TokioStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
