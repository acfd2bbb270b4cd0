//! What a driver is: a runtime, a listener, and this process's standard streams.

use core::future::Future;
use core::net::SocketAddr;
use core::task::{Context, Poll};
use std::io;

use futures_io::{AsyncRead, AsyncWrite};

use super::{Runtime, Shared, Threading};

/// A [`Runtime`] with sockets. Everything above it is written once, in
/// [`HttpServer`](super::HttpServer) and [`StdioServer`](super::StdioServer).
pub trait Driver<M: Threading = Shared>: Runtime<M, Timer: Send> + Clone + Send + Sync {
    /// A socket that listens.
    type Listener: Listener;

    /// Standard input and output, as one stream.
    type Stdio: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Listens at `address`: `host:port`, where port 0 is any free one.
    ///
    /// # Errors
    /// Where the address is none, or not to be had.
    fn bind(&self, address: String) -> impl Future<Output = io::Result<Self::Listener>> + Send;

    /// Opens standard input and output, each as the kind of thing that it is. Where they are
    /// `private`, nothing else of the process reads or writes them from now on; systems other than
    /// Unix have no way to that, and ignore it.
    ///
    /// # Errors
    /// Where one of them is closed.
    fn stdio(&self, private: bool) -> io::Result<Self::Stdio>;

    /// Runs `work` where [`detach`](Runtime::detach) works.
    fn within<F: Future>(&self, work: F) -> impl Future<Output = F::Output> {
        work
    }
}

/// A socket that listens.
pub trait Listener: Send + 'static {
    /// A connection. What is written to it is sent at once (`TCP_NODELAY`).
    type Stream: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// The next connection, and who opened it. Errors end nothing: this is polled again.
    fn poll_accept(&mut self, cx: &mut Context<'_>)
    -> Poll<io::Result<(Self::Stream, SocketAddr)>>;

    /// Where it listens.
    ///
    /// # Errors
    /// Where the system does not say.
    fn local_addr(&self) -> io::Result<SocketAddr>;
}
