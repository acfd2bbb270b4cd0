//! Model Context Protocol servers and clients on tokio.
//!
//! This crate adds sockets, timers and standard streams to [`mcp_proto`], whose service layer it
//! exports: handlers go into a [`Registry`], and [`http()`] or [`stdio()`] serves what it builds.
//!
//! ```no_run
//! use mcp_driver_tokio::{Args, Error, Json, Registry, http, schemars, shutdown_signal, tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add { a: i64, b: i64 }
//! #[derive(serde::Serialize, schemars::JsonSchema)]
//! struct Sum { total: i64 }
//!
//! async fn add(Args(Add { a, b }): Args<Add>) -> Json<Sum> {
//!     Json(Sum { total: a + b })
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Error> {
//!     let service = Registry::new("demo", "1.0.0")
//!         .tool(tool("add", add).description("Add two integers."))
//!         .build()?;
//!     http(service).bind("127.0.0.1:8080").await?.serve_with_shutdown(shutdown_signal()).await
//! }
//! ```
//!
//! Each connection is a task of its own. Services of [`Registry::local`] stay on one thread;
//! nothing else changes.
//!
//! [`Client`] calls servers: over HTTP, with connections, proxies and redirects of its own
//! ([`client::Pool`]), or in processes that it starts.
//!
//! | feature | adds |
//! |---|---|
//! | `tls` | `https://` for clients, by rustls and the platform's authorities |
//! | `webpki-roots` | `tls`, and Mozilla's authorities, for where the platform has none |
//! | `reqwest` | `Reqwest`, which makes a client's requests by reqwest |
//! | `gzip`, `jwt`, `schema` | compressed streams; JSON Web Tokens; schemas that arguments are held to |
//! | `sqlite`, `redis`, `postgres` | stores that many workers share |

/// The programs of the workspace's README, compiled.
#[cfg(all(doctest, feature = "tower"))]
#[doc = include_str!("../../README.md")]
mod readme {}

#[cfg(feature = "reqwest")]
mod carrier;
mod dial;
mod keep_alive;
mod net;
mod process;
mod runtime;
mod signal;
mod stdio;
mod thread;
mod tokio_stream;

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
#[cfg(feature = "reqwest")]
pub use reqwest;

#[cfg(feature = "reqwest")]
pub use carrier::{Reqwest, ReqwestBody};
pub use net::TcpConnections;
pub use process::TokioChild;
pub use runtime::Tokio;
pub use signal::shutdown_signal;
pub use stdio::StandardStreams;
pub use tokio_stream::TokioStream;

/// A client on tokio.
///
/// ```no_run
/// use mcp_driver_tokio::Client;
/// use mcp_driver_tokio::client::{Ask, Asked, Declined};
/// use mcp_driver_tokio::model::{Answer, ClientCapabilities, InputRequest, elicit_accept, elicit_decline};
///
/// #[derive(serde::Serialize)]
/// struct Add { a: i64, b: i64 }
/// #[derive(serde::Deserialize)]
/// struct Sum { total: i64 }
/// #[derive(serde::Serialize)]
/// struct Deploy { service: String }
///
/// /// Answers what the server asks. Having it is what declares that it can be asked.
/// struct Terminal;
///
/// impl Ask for Terminal {
///     fn can(&self) -> ClientCapabilities {
///         let mut can = ClientCapabilities::default();
///         can.elicitation_form = true;
///         can
///     }
///
///     async fn ask(&self, asked: Asked) -> Result<Answer, Declined> {
///         match asked.question {
///             InputRequest::Elicit(form) if form.message.ends_with("web?") => {
///                 elicit_accept(&()).map_err(|bad| Declined::failed(bad.to_string()))
///             }
///             _ => Ok(elicit_decline()),
///         }
///     }
/// }
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::http("http://127.0.0.1:8080/mcp").on_ask(Terminal).connect().await?;
/// let server = client.ready().await?;
/// println!("{:?} speaks {}", server.description.server, server.adapter.version);
/// for tool in client.list_tools().await? {
///     println!("{}  {}", tool.name, tool.description.unwrap_or_default());
/// }
/// let Sum { total } = client.call_tool("add", &Add { a: 2, b: 40 }).await?.structured()?;
///
/// let call = client.call_tool("deploy", &Deploy { service: "web".into() }).start();
/// while let Some(update) = call.progress().next().await {
///     eprintln!("{update}");
/// }
/// println!("{total}, {}", call.await?.text());
///
/// // A process instead of a connection; nothing else changes.
/// let server = ["npx", "-y", "@modelcontextprotocol/server-everything"];
/// let client = Client::stdio(server).connect().await?;
/// println!("{:?}", client.revision());
/// # Ok(())
/// # }
/// ```
pub type Client = client::Client<Tokio>;

/// Serves `service` over HTTP: at the path `/mcp`, for loopback hosts, unless told otherwise.
pub fn http<M: Threading>(service: Service<M>) -> HttpBuilder<Tokio, M>
where
    Tokio: Driver<M>,
{
    HttpBuilder::new(Tokio::new(), service)
}

/// Serves `service` on stdin and stdout, which nothing else of the process may write to.
pub fn stdio<M: Threading>(service: Service<M>) -> StdioServer<Tokio, M>
where
    Tokio: Driver<M>,
{
    StdioServer::new(Tokio::new(), service)
}

/// Under web frameworks (feature `tower`): a [`tower_service::Service`](https://docs.rs/tower-service)
/// for hyper, axum and others.
#[cfg(feature = "tower")]
pub mod tower {
    pub use mcp_proto::service::tower::*;

    use crate::{Driver, Error, Service, Threading, Tokio};

    /// `service` for a web framework, for loopback hosts and whatever path the framework leads to
    /// it. Everything else can be set first: `http(service).gate(..).auth(..).mount()` is the same
    /// with a gate and a guard.
    ///
    /// ```
    /// # use mcp_driver_tokio::{Error, Registry, tool, tower};
    /// # fn run() -> Result<(), Error> {
    /// let service = Registry::new("reports", "1.0.0").tool(tool("ping", || async { "pong" })).build()?;
    /// let app: axum::Router = axum::Router::new()
    ///     .nest_service("/reports/mcp", tower::service(service)?);
    /// # Ok(())
    /// # }
    /// # run().unwrap();
    /// ```
    ///
    /// # Errors
    /// Where a handler wants to know who calls, which needs a guard.
    pub fn service<M: Threading>(service: Service<M>) -> Result<HttpService<Tokio, M>, Error>
    where
        Tokio: Driver<M>,
    {
        crate::http(service).mount()
    }
}
