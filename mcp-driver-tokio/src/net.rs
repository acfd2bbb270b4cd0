//! TCP.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use mcp_proto::service::Listener;
use tokio::net::{TcpListener, TcpStream};

use crate::keep_alive::keep_alive;
use crate::tokio_stream::TokioStream;

/// A socket that listens, as [`HttpBuilder::listen`](crate::HttpBuilder::listen) takes it.
#[derive(Debug)]
pub struct TcpConnections(TcpListener);

impl TcpConnections {
    pub(crate) async fn bind(address: &str) -> io::Result<Self> {
        TcpListener::bind(address).await.map(Self)
    }
}

impl From<TcpListener> for TcpConnections {
    fn from(listener: TcpListener) -> Self {
        Self(listener)
    }
}

impl Listener for TcpConnections {
    type Stream = TokioStream<TcpStream>;

    fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Self::Stream, SocketAddr)>> {
        self.0.poll_accept(cx).map_ok(|(stream, peer)| {
            // Only a socket that is gone already refuses, and reading from it will tell.
            let _ = stream.set_nodelay(true);
            keep_alive(&stream);
            (TokioStream::new(stream), peer)
        })
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}
