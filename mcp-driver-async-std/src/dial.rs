//! TCP connections to servers.

use std::ffi::OsString;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::TcpStream;

use async_io::Async;
use async_std::net::ToSocketAddrs;
use mcp_proto::service::client::Dial;

use crate::keep_alive::keep_alive;
use crate::runtime::AsyncStd;

impl Dial for AsyncStd {
    type Stream = Async<TcpStream>;

    fn dial(
        &self,
        host: String,
        port: u16,
    ) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static {
        connect(host, port)
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }
}

async fn connect(host: String, port: u16) -> io::Result<Async<TcpStream>> {
    let mut failed = io::Error::new(ErrorKind::NotFound, "the name has no address");
    for address in (&*host, port).to_socket_addrs().await? {
        match Async::<TcpStream>::connect(address).await {
            Ok(stream) => {
                stream.get_ref().set_nodelay(true)?;
                keep_alive(stream.get_ref());
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}
