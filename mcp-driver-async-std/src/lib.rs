#![doc = include_str!("../README.md")]
//!
//! Each connection is a task of its own. Services of [`Registry::local`] stay on the thread that
//! serves them; nothing else changes.

mod dial;
mod keep_alive;
mod net;
mod process;
mod runtime;
mod signal;
mod stdio;

pub use mcp_proto;
pub use mcp_proto::explain;
pub use mcp_proto::model;
pub use mcp_proto::service::*;
#[cfg(feature = "postgres")]
pub use mcp_stores::{PostgresBuilder, PostgresStorage};
#[cfg(feature = "redis")]
pub use mcp_stores::{RedisBuilder, RedisStorage};
#[cfg(feature = "sqlite")]
pub use mcp_stores::{SqliteBuilder, SqliteStorage};

pub use net::TcpConnections;
pub use process::AsyncStdChild;
pub use runtime::AsyncStd;
pub use signal::shutdown_signal;
pub use stdio::StandardStreams;

/// A client on async-std.
pub type Client = client::Client<AsyncStd>;

/// Serves `service` over HTTP: at the path `/mcp`, for loopback hosts, unless told otherwise.
pub fn http<M: Threading>(service: Service<M>) -> HttpBuilder<AsyncStd, M>
where
    AsyncStd: Driver<M>,
{
    HttpBuilder::new(AsyncStd::new(), service)
}

/// Serves `service` on stdin and stdout, which nothing else of the process may write to.
pub fn stdio<M: Threading>(service: Service<M>) -> StdioServer<AsyncStd, M>
where
    AsyncStd: Driver<M>,
{
    StdioServer::new(AsyncStd::new(), service)
}
