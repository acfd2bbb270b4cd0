//! The service layer: handlers, what they take and return, and the loop that runs them. It needs
//! futures, and no runtime.
//!
//! A [`Registry`] takes handlers and checks them; the [`Service`] that it builds runs calls; a
//! [`Host`] serves it on a [`Runtime`], stream by stream, with a [`SessionStore`] beside it. A
//! handler is an async function of [arguments](FromExchange) that returns what its kind
//! [may](IntoOutcome):
//!
//! | argument | what it is |
//! |---|---|
//! | [`Args<T>`](Args) | the arguments, or a template's variables, as a `T` |
//! | [`RawArgs`], [`Variables`], [`Uri`] | the same, as they came |
//! | [`Completing`](crate::model::Completing) | what a completer completes |
//! | [`Exchange`] | the call: its client, its progress and log, its cancellation |
//! | [`State<S>`](State) | the registry's state |
//! | [`Provided<T>`](Provided) | a value made for this call, or an instance of some trait |
//! | [`Parts`], [`Extension<T>`](Extension) | the HTTP request, and what the host framework knows |
//!
//! ```
//! use mcp_proto::service::{Args, Error, Exchange, Json, Registry, State, schemars, tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Find { needle: String }
//! #[derive(serde::Serialize, schemars::JsonSchema)]
//! struct Found { lines: Vec<String> }
//!
//! async fn find(
//!     Args(Find { needle }): Args<Find>,
//!     State(text): State<&'static str>,
//!     ex: Exchange,
//! ) -> Result<Json<Found>, Error> {
//!     if needle.is_empty() {
//!         return Err(Error::tool("`needle` is empty; say what to look for"));
//!     }
//!     ex.progress(1, 1).message("searched");
//!     let lines = text.lines().filter(|line| line.contains(&needle));
//!     Ok(Json(Found { lines: lines.map(str::to_owned).collect() }))
//! }
//!
//! let service = Registry::new("demo", "1.0.0")
//!     .state("one\ntwo")
//!     .tool(tool("find", find).description("Finds lines."))
//!     .build()?;
//! # Ok::<(), mcp_proto::service::BuildError>(())
//! ```

mod accept;
mod announcer;
mod args;
mod asking;
mod auth;
mod build;
pub mod client;
mod convert;
mod crowd;
mod declare;
mod diagnostics;
mod drive;
mod driver;
mod duplex;
mod errands;
mod error;
mod exchange;
#[doc(hidden)]
pub mod explain;
mod extract;
mod extraction;
mod handler;
mod host;
mod http_server;
pub mod hub;
pub mod kind;
mod line;
mod live;
mod load;
mod memory;
mod need_input;
mod needs;
mod notices;
mod outbox;
mod outliving;
mod pair;
mod parts;
mod promise;
mod registry;
mod run;
mod running;
mod runtime;
mod schema;
mod scope;
#[allow(clippy::module_inception)]
mod service;
mod session;
mod site;
#[cfg(unix)]
mod standard_streams;
mod stdio_server;
pub mod storage;
mod store;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tests;
mod threading;
#[cfg(feature = "tower")]
pub mod tower;
mod trace;
mod updater;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod virtual_time;
pub(crate) mod work;
#[cfg(test)]
mod world;

pub use http::Extensions;
/// The crate that derives schemas of arguments and results. The derive macro writes paths that begin
/// with `schemars`, so the crate's name has to be in scope where it is used:
///
/// ```
/// use mcp_proto::service::schemars;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add { a: i64, b: i64 }
/// ```
///
/// Elsewhere the type says where the crate is, and needs no import:
///
/// ```
/// #[derive(serde::Deserialize, mcp_proto::service::schemars::JsonSchema)]
/// #[schemars(crate = "mcp_proto::service::schemars")]
/// struct Add { a: i64, b: i64 }
/// ```
pub use schemars;

pub use announcer::Announcer;
pub use asking::{Ask, Question, Round, form};
pub use auth::{Guard, InvalidToken, StaticTokens, TokenVerifier, Verification, VerifyError};
#[cfg(feature = "jwt")]
pub use auth::{InvalidKey, JwtAlgorithm, JwtVerifier};
pub use build::BuildError;
pub use convert::{IntoOutcome, Json};
pub use declare::{
    PromptDeclaration, Readable, ResourceDeclaration, ToolDeclaration, prompt, resource, tool,
};
pub use diagnostics::Diagnostics;
pub use driver::{Driver, Listener};
pub use duplex::Duplex;
pub use error::{Error, OrTool};
pub use exchange::{Amount, Exchange, Log, ProgressReport, Total};
pub use extract::{Args, Extension, Provided, RawArgs, State, Uri, Variables};
pub use extraction::{Extraction, FromExchange};
pub use handler::Handler;
pub use host::{Carrier, Host};
pub use http_server::{HttpBuilder, HttpServer};
pub use hub::{Hub, MemoryHub, SimpleHub};
pub use line::Errand;
pub use memory::MemorySessionStore;
pub use need_input::NeedInput;
pub use needs::Needs;
pub use outbox::{Command, Outbox};
pub use outliving::Outliving;
pub use parts::{Parts, PartsBuilder};
pub use registry::Registry;
pub use running::Running;
pub use runtime::{Runtime, Sleep, Timer};
pub use schema::SchemaStyle;
pub use scope::{Origin, Scope};
pub use service::{Dispatched, Report, Service};
pub use session::{Session, Sessions};
#[cfg(unix)]
pub use standard_streams::standard_streams;
pub use stdio_server::StdioServer;
pub use storage::Storage;
pub use store::{Execution, SessionStore, Simple, SimpleSessionStore};
pub use threading::{Keep, Later, Local, Make, Shared, Threading};
pub use updater::Updater;

pub use crate::server::{Gate, InvalidOrigin};
