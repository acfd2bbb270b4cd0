//! Servers, each on a thread of its own.

use std::future::{Future, pending};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use mcp_driver_tokio::{Args, Json, Registry, Service, http, schemars, tool};

use super::bare;

/// A server that runs until the program ends.
pub(crate) struct Server {
    address: Option<SocketAddr>,
    /// Where the kernel tells how long its thread was busy.
    statistics: Option<PathBuf>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    total: i64,
}

async fn add(Args(Add { a, b }): Args<Add>) -> Json<Sum> {
    Json(Sum { total: a + b })
}

fn service() -> Service {
    Registry::new("loops", "1.0.0").tool(tool("add", add)).build().expect("a service")
}

impl Server {
    pub(crate) fn http() -> io::Result<Self> {
        Self::start(|started| async move {
            let server = http(service()).bind("127.0.0.1:0").await.expect("a port");
            started.tell(Some(server.local_addr()));
            server.serve().await.expect("a server");
        })
    }

    /// Answers every request with the same.
    pub(crate) fn bare_http(reply: &[u8]) -> io::Result<Self> {
        let reply = reply.to_vec();
        Self::start(|started| async move {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            started.tell(listener.local_addr().ok());
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                tokio::spawn(bare::http(stream, reply.clone()));
            }
        })
    }

    #[cfg(unix)]
    pub(crate) fn stdio() -> io::Result<(Self, super::call::Pipe)> {
        use mcp_driver_tokio::{Duplex, StdioServer, Tokio, TokioStream};

        Self::on_pipes(|reader, writer| async {
            let stream = Duplex::new(TokioStream::new(reader), TokioStream::new(writer));
            let server = StdioServer::new(Tokio::new(), service());
            server.serve_on(stream, pending()).await.expect("a server");
        })
    }

    /// Answers every line with the same.
    #[cfg(unix)]
    pub(crate) fn bare_lines(reply: &[u8]) -> io::Result<(Self, super::call::Pipe)> {
        let reply = reply.to_vec();
        Self::on_pipes(|reader, writer| bare::lines(reader, writer, reply))
    }

    #[cfg(unix)]
    fn on_pipes<F: Future<Output = ()>>(
        serve: impl FnOnce(tokio::net::unix::pipe::Receiver, tokio::net::unix::pipe::Sender) -> F
        + Send
        + 'static,
    ) -> io::Result<(Self, super::call::Pipe)> {
        use tokio::net::unix::pipe::{Receiver, Sender};

        let (reader, requests) = io::pipe()?;
        let (replies, writer) = io::pipe()?;
        let server = Self::start(|started| async move {
            let reader = Receiver::from_owned_fd(reader.into()).expect("a pipe");
            let writer = Sender::from_owned_fd(writer.into()).expect("a pipe");
            started.tell(None);
            serve(reader, writer).await;
        })?;
        Ok((server, super::call::Pipe { requests, replies }))
    }

    fn start<F: Future<Output = ()>>(
        serve: impl FnOnce(Started) -> F + Send + 'static,
    ) -> io::Result<Self> {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(serve(Started(sender)));
        });
        receiver.recv().map_err(io::Error::other)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address.expect("a server with an address")
    }

    /// How long its thread was busy so far.
    pub(crate) fn busy(&self) -> Option<Duration> {
        let statistics = std::fs::read_to_string(self.statistics.as_ref()?).ok()?;
        let nanoseconds = statistics.split(' ').next()?.parse().ok()?;
        Some(Duration::from_nanos(nanoseconds))
    }
}

/// Where a server's thread says that it begins.
struct Started(Sender<Server>);

impl Started {
    fn tell(self, address: Option<SocketAddr>) {
        let thread = std::fs::read_link("/proc/thread-self").ok();
        let statistics = thread.map(|thread| PathBuf::from("/proc").join(thread).join("schedstat"));
        // Nobody listens where the program is over.
        let _ = self.0.send(Server { address, statistics });
    }
}
