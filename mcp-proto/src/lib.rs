//! The Model Context Protocol as a pure state machine.
//!
//! No socket, clock, thread, runtime or random source is inside: bytes and the time go in, calls,
//! effects and bytes come out. It speaks all five revisions of the protocol, as server and as
//! client, over Streamable HTTP, HTTP+SSE and stdio, and an application never names a revision.
//! A driver adds what a machine cannot have: `mcp-driver-tokio` and `mcp-driver-async-std` do, and
//! so can any event loop, a fuzzer, or a test in virtual time.
//!
//! In scope: everything that a server or a client does, sessions and events that any number of
//! workers share, and the part of a protected resource in OAuth. Out of scope: tasks, which are
//! never advertised; the OAuth client; authorization servers.
//!
//! # Layers
//!
//! ```text
//! service          handlers, the run loop, stores and hubs; futures, no I/O   (feature)
//! server, client   the machines: effects out, replies in
//! revision         one file for each revision: what differs, as data
//! model            operations, calls, outcomes: the same in every revision
//! frame            JSON, lines, SSE, HTTP/1.1
//! ```
//!
//! Each knows only those below it, and `auth`, `store`, [`effect`] and [`time`] beside them.
//! Nothing outside of [`revision`] names or compares a version.
//!
//! | where | Streamable HTTP | HTTP+SSE | stdio | revisions |
//! |---|---|---|---|---|
//! | server | [`server::Connection`], or [`server::HttpExchange`] under another's HTTP | the same, with [`http_sse`](server::EndpointBuilder::http_sse) | [`server::Stdio`] | [`revision::AdapterSet`] of its [`server::Endpoint`] |
//! | client | [`client::Session`], with [`client::Connection`] or under another's HTTP | found by itself | [`client::Stdio`] | that of its [`client::Config`], found out |
//!
//! The revision without a handshake has no HTTP+SSE; all else goes with all.
//!
//! # The loop
//!
//! Every machine is driven in one way: tell it what happened and when, do what it says, write what
//! it transmits. [`server::Machine`] and [`client::Machine`] have the contract.
//!
//! ```
//! use std::io::{self, Read, Write};
//! use std::sync::Arc;
//!
//! use mcp_proto::effect::{Effect, EffectError, Reply};
//! use mcp_proto::model::{Catalog, Failure, FailureKind, Implementation, Json, Tool, ToolResult};
//! use mcp_proto::server::{Connection, Endpoint, Event, Machine, Output};
//! use mcp_proto::time::Instant;
//!
//! fn serve(
//!     endpoint: Endpoint,
//!     mut socket: impl Read,
//!     mut to: impl Write,
//!     now: impl Fn() -> Instant,
//! ) -> io::Result<()> {
//!     let mut connection = Connection::new(endpoint, now());
//!     let (mut incoming, mut outgoing) = ([0; 8192], Vec::new());
//!     loop {
//!         // A driver reads no longer than `poll_timeout` says, and then calls `handle_timeout`.
//!         let mut input = match socket.read(&mut incoming)? {
//!             0 => {
//!                 connection.handle_eof(now());
//!                 &[]
//!             }
//!             read => &incoming[..read],
//!         };
//!         loop {
//!             let taken = connection.handle_input(now(), input);
//!             input = &input[taken..];
//!             while let Some(output) = connection.poll_output() {
//!                 match output {
//!                     Output::Event(Event::Call(id, call)) => connection.respond(id, match call.target() {
//!                         Some("greet") => ToolResult::text("hello").into(),
//!                         _ => Failure::new(FailureKind::UnknownTarget, "only `greet`").into(),
//!                     }),
//!                     Output::Effect(id, effect) => connection.handle_reply(now(), id, world(effect)),
//!                     _ => {} // nothing here takes its time, so there is nothing to stop
//!                 }
//!             }
//!             if input.is_empty() { break }
//!         }
//!         connection.transmit(&mut outgoing);
//!         to.write_all(&outgoing)?;
//!         outgoing.clear();
//!         if connection.closing().is_done() { return Ok(()) }
//!     }
//! }
//!
//! /// Randomness, the time of day, the session store, the hub: whatever the world has of these.
//! fn world(effect: Effect) -> Result<Reply, EffectError> {
//!     match effect {
//!         Effect::Random => Ok(Reply::Random([7; 32])), // for want of a real source
//!         _ => Err(EffectError::Unavailable("there is no store in this example".into())),
//!     }
//! }
//!
//! let mut catalog = Catalog::new(Implementation::new("demo", "1.0.0"));
//! catalog.insert_tool(Tool::new("greet", Json::parse(r#"{"type":"object"}"#)?));
//! let endpoint = Endpoint::builder(Arc::new(catalog)).path("/mcp").build();
//!
//! let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}"#;
//! let request = format!(
//!     "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\
//!      Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
//!     body.len()
//! );
//! let mut response = Vec::new();
//! serve(endpoint, request.as_bytes(), &mut response, || Instant::ZERO)?;
//! assert!(response.starts_with(b"HTTP/1.1 200 "));
//! assert!(response.ends_with(br#"{"content":[{"type":"text","text":"hello"}]}}"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/std_net.rs` is the whole of it, with sockets, timers and sessions.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | (none, the default) | the pure core: its dependencies name no runtime and no futures |
//! | `service` | handlers, extractors, the run loop, stores and hubs, the client's handle |
//! | `gzip` | compression of event streams |
//! | `schema` | `service`, and validation of arguments against schemas that no type gives |
//! | `jwt` | `service`, and a verifier of JSON Web Tokens |
//! | `tls` | `service`, and TLS for clients, by rustls |
//! | `webpki-roots` | `tls`, and Mozilla's authorities, for where the platform has none |
//! | `tower` | `service`, and servers as services of `tower`, for web frameworks |
//! | `tracing` | `service`, with a span of `tracing` for each call |
//! | `testing` | machines in virtual time, links that break, the contract of stores and hubs |
//!
//! # Bounds and panics
//!
//! Whatever a peer sends, a machine does not panic, does not loop, and holds no more than
//! [`server::Limits`] or [`client::Limits`] say: all bounds are there, with their defaults. One
//! message that fails ends no connection, except where its framing is lost. A panic in this crate
//! is a bug in it; one in a handler is an internal error of that call. No code here is `unsafe`.

pub mod auth;
pub mod client;
pub mod effect;
pub mod frame;
pub mod model;
mod near;
mod pace;
mod printable;
pub mod revision;
pub mod server;
#[cfg(feature = "service")]
pub mod service;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
pub mod time;

pub use printable::{Printable, PrintableLines};
