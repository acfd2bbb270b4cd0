//! TCP.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::task::{Context, Poll, ready};

use async_io::Async;
use async_std::net::ToSocketAddrs;
use mcp_proto::service::Listener;

use crate::keep_alive::keep_alive;

/// A socket that listens, as [`HttpBuilder::listen`](crate::HttpBuilder::listen) takes it.
#[derive(Debug)]
pub struct TcpConnections(Async<TcpListener>);

impl TcpConnections {
    pub(crate) async fn bind(address: &str) -> io::Result<Self> {
        let mut failed = io::Error::new(ErrorKind::InvalidInput, "the name has no address");
        for address in address.to_socket_addrs().await? {
            match Async::<TcpListener>::bind(address) {
                Ok(listener) => return Ok(Self(listener)),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }
}

impl TryFrom<TcpListener> for TcpConnections {
    type Error = io::Error;

    /// Makes the socket non-blocking.
    fn try_from(listener: TcpListener) -> io::Result<Self> {
        Async::new(listener).map(Self)
    }
}

impl Listener for TcpConnections {
    type Stream = Async<TcpStream>;

    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Self::Stream, SocketAddr)>> {
        loop {
            match self.0.get_ref().accept() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    ready!(self.0.poll_readable(cx))?;
                }
                Err(error) => return Poll::Ready(Err(error)),
                Ok((stream, peer)) => {
                    // Only a socket that is gone already refuses, and reading from it will tell.
                    let _ = stream.set_nodelay(true);
                    keep_alive(&stream);
                    return Poll::Ready(Async::new(stream).map(|stream| (stream, peer)));
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.get_ref().local_addr()
    }
}
