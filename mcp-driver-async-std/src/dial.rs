//! TCP connections to servers.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::TcpStream;

use async_io::Async;
use async_std::net::ToSocketAddrs;
use mcp_proto::service::client::Dial;
use mcp_proto::service::{Runtime, Shared};
use mcp_proto::time::Instant;

use crate::runtime::AsyncStd;

impl Dial for AsyncStd {
    type Stream = Async<TcpStream>;

    fn dial(
        &self,
        secure: bool,
        host: String,
        port: u16,
    ) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static {
        connect(secure, host, port)
    }

    fn now(&self) -> Instant {
        Runtime::<Shared>::now(self)
    }
}

async fn connect(secure: bool, host: String, port: u16) -> io::Result<Async<TcpStream>> {
    if secure {
        let why = "this client has no TLS; give it an `HttpCarrier` that does";
        return Err(io::Error::new(ErrorKind::Unsupported, why));
    }
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let mut failed = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs().await? {
        match Async::<TcpStream>::connect(address).await {
            Ok(stream) => {
                stream.get_ref().set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}
