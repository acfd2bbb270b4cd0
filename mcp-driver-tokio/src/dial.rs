//! TCP connections to servers.

use std::ffi::OsString;
use std::future::Future;
use std::io;

use mcp_proto::service::client::Dial;
use tokio::net::TcpStream;

use crate::keep_alive::keep_alive;
use crate::runtime::Tokio;
use crate::tokio_stream::TokioStream;

impl Dial for Tokio {
    type Stream = TokioStream<TcpStream>;

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

async fn connect(host: String, port: u16) -> io::Result<TokioStream<TcpStream>> {
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    keep_alive(&stream);
    Ok(TokioStream::new(stream))
}
