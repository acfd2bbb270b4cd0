//! TCP connections to servers.

use std::future::Future;
use std::io::{self, ErrorKind};

use mcp_proto::service::Runtime;
use mcp_proto::service::client::Dial;
use mcp_proto::time::Instant;
use tokio::net::TcpStream;

use crate::runtime::Tokio;
use crate::tokio_stream::TokioStream;

impl Dial for Tokio {
    type Stream = TokioStream<TcpStream>;

    fn dial(
        &self,
        secure: bool,
        host: String,
        port: u16,
    ) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static {
        connect(secure, host, port)
    }

    fn now(&self) -> Instant {
        Runtime::<mcp_proto::service::Shared>::now(self)
    }
}

async fn connect(secure: bool, host: String, port: u16) -> io::Result<TokioStream<TcpStream>> {
    if secure {
        let why = "this client has no TLS; give it an `HttpCarrier` that does";
        return Err(io::Error::new(ErrorKind::Unsupported, why));
    }
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    Ok(TokioStream::new(stream))
}
