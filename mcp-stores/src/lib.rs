//! Sessions and events of [`mcp_proto`] on real servers: any number of workers share them.
//!
//! | feature | type | for |
//! |---|---|---|
//! | `sqlite` | [`SqliteStorage`] | workers on one machine |
//! | `redis` | [`RedisStorage`] | workers anywhere |
//! | `postgres` | [`PostgresStorage`] | workers anywhere |
//!
//! Feature `tokio` or `async-std` says on what they run; with both, it is the runtime on which a
//! storage is opened. What they send and how they keep things is
//! [`mcp_proto::store`]'s; how they wait for news is [`mcp_proto::service::hub`]'s.
//!
//! ```no_run
//! # #[cfg(feature = "sqlite")]
//! # async fn open() -> Result<(), mcp_proto::effect::EffectError> {
//! use mcp_proto::service::Storage;
//!
//! let storage = mcp_stores::SqliteStorage::open("mcp.sqlite").await?;
//! let (sessions, hub) = (storage.session_store(), storage.hub());
//! # Ok(())
//! # }
//! ```
//!
//! Servers that want TLS get it from the clients' own features: name `sqlx` 0.8 with `tls-rustls`,
//! or `redis` 1 with `tokio-rustls-comp` or `smol-rustls-comp`, in your own `Cargo.toml`.
//!
//! Errors name the server, what went wrong and what to do; no call takes longer than five seconds.
//! A storage lives on in what it handed out, and its background work ends with the last of those.

#[cfg(any(feature = "sqlite", feature = "redis", feature = "postgres"))]
mod background;
#[cfg(any(feature = "sqlite", feature = "redis", feature = "postgres"))]
mod builder;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "sqlite", feature = "redis", feature = "postgres"))]
mod runtime;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod sql;
#[cfg(feature = "sqlite")]
mod sqlite;

#[cfg(all(
    any(feature = "sqlite", feature = "redis", feature = "postgres"),
    not(any(feature = "tokio", feature = "async-std"))
))]
compile_error!("a store needs a runtime: turn on feature `tokio` or `async-std` of mcp-stores");

#[cfg(any(feature = "sqlite", feature = "redis", feature = "postgres"))]
pub use builder::Builder;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresBuilder, PostgresDatabase, PostgresStorage};
#[cfg(feature = "redis")]
pub use redis::{RedisBuilder, RedisServer, RedisStorage};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteBuilder, SqliteFile, SqliteStorage};

/// How long after a failure news are asked for again, and every listener looks by itself.
#[cfg(any(feature = "sqlite", feature = "redis", feature = "postgres"))]
const LOOK_AGAIN: core::time::Duration = core::time::Duration::from_millis(250);

/// How long connecting to a server may take.
#[cfg(any(feature = "redis", feature = "postgres"))]
const CONNECT: core::time::Duration = core::time::Duration::from_secs(3);

/// After how long without news the server is asked whether it is still there: a machine that lost
/// its power closes no connections.
#[cfg(any(feature = "redis", feature = "postgres"))]
const QUIET: core::time::Duration = core::time::Duration::from_secs(10);
