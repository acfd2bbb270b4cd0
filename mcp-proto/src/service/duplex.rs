//! Two halves as one stream.

use core::pin::Pin;
use core::task::{Context, Poll};
use std::io;

use futures_io::{AsyncRead, AsyncWrite};

/// A stream that reads from one thing and writes to another, such as stdin and stdout.
#[derive(Clone, Copy, Debug)]
pub struct Duplex<R, W> {
    /// What is read from.
    pub reader: R,
    /// What is written to.
    pub writer: W,
}

impl<R, W> Duplex<R, W> {
    /// A stream of these two.
    pub fn new(reader: R, writer: W) -> Self {
        Self { reader, writer }
    }
}

impl<R: AsyncRead + Unpin, W: Unpin> AsyncRead for Duplex<R, W> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.reader).poll_read(cx, into)
    }
}

impl<R: Unpin, W: AsyncWrite + Unpin> AsyncWrite for Duplex<R, W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.writer).poll_write(cx, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.writer).poll_close(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::super::support::block_on;
    use super::super::world::pair;
    use super::*;

    #[test]
    fn what_is_written_is_not_what_is_read() {
        let (reader, mut feed) = pair(16);
        let (writer, mut sink) = pair(16);
        let mut duplex = Duplex::new(reader, writer);
        let received = block_on(async {
            feed.send(b"in").await;
            let mut read = [0; 2];
            core::future::poll_fn(|cx| Pin::new(&mut duplex).poll_read(cx, &mut read))
                .await
                .unwrap();
            core::future::poll_fn(|cx| Pin::new(&mut duplex).poll_write(cx, b"out")).await.unwrap();
            core::future::poll_fn(|cx| Pin::new(&mut duplex).poll_flush(cx)).await.unwrap();
            core::future::poll_fn(|cx| Pin::new(&mut duplex).poll_close(cx)).await.unwrap();
            (read, sink.receive_all().await)
        });
        assert_eq!(received, (*b"in", "out".to_owned()));
    }
}
