//! The client's machines: calls in, messages out, replies and questions in, results out.
//!
//! | machine | what it is |
//! |---|---|
//! | [`Session`] | one server over HTTP: many exchanges, whoever carries them |
//! | [`Stdio`] | one server behind a pair of byte streams, one message per line |
//!
//! Both follow one contract, [`Machine`]. They find out which revision the server speaks
//! ([`Learned`] keeps it), and the application's side is the same for all of them. A
//! [`Connection`] carries a session's exchanges over HTTP/1.1.
//!
//! A client in an event loop of one's own:
//!
//! ```
//! use mcp_proto::client::{Config, Event, Machine, Output, Stdio};
//! use mcp_proto::model::{Implementation, Operation, ReplyValue, Request};
//! use mcp_proto::time::Instant;
//!
//! /// Lists a server's tools over a pair of byte streams.
//! fn tools(mut io: impl std::io::Read + std::io::Write, now: impl Fn() -> Instant) -> Vec<String> {
//!     let mut client = Stdio::new(Config::new(Implementation::new("demo", "1.0.0")), now());
//!     let call = client.call(now(), Request::list(Operation::ListTools));
//!     let (mut outgoing, mut buffer) = (Vec::new(), [0; 4096]);
//!     loop {
//!         while let Some(output) = client.poll_output() {
//!             match output {
//!                 Output::Event(Event::Ended(ended, result)) if ended == call => {
//!                     return match result.map(|reply| reply.value) {
//!                         Ok(ReplyValue::Tools(tools)) => {
//!                             tools.entries.into_iter().map(|tool| tool.name).collect()
//!                         }
//!                         _ => Vec::new(),
//!                     };
//!                 }
//!                 // Progress, questions, logs; and `Carry::Respawn`, for servers of old.
//!                 _ => {}
//!             }
//!         }
//!         client.transmit(&mut outgoing);
//!         if io.write_all(&outgoing).is_err() {
//!             client.handle_closed(now());
//!         }
//!         outgoing.clear();
//!         // An event loop would also wait for `poll_timeout`, and call `handle_timeout`.
//!         match io.read(&mut buffer) {
//!             Ok(0) | Err(_) => client.handle_eof(now()),
//!             Ok(read) => {
//!                 client.handle_input(now(), &buffer[..read]);
//!             }
//!         }
//!     }
//! }
//!
//! /// A server that says these things, whatever it hears.
//! struct Said(std::io::Cursor<&'static str>);
//! # impl std::io::Read for Said {
//! #     fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> { self.0.read(into) }
//! # }
//! # impl std::io::Write for Said {
//! #     fn write(&mut self, from: &[u8]) -> std::io::Result<usize> { Ok(from.len()) }
//! #     fn flush(&mut self) -> std::io::Result<()> { Ok(()) }
//! # }
//! let said = concat!(
//!     r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#,
//!     "\n",
//!     r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}}"#,
//!     "\n",
//! );
//! assert_eq!(tools(Said(std::io::Cursor::new(said)), || Instant::ZERO), ["add"]);
//! ```

mod carry;
mod config;
mod connection;
mod core;
mod error;
mod ids;
mod limits;
mod machine;
mod negotiation;
#[cfg(test)]
mod property_tests;
mod retry;
mod session;
mod stdio;
mod timers;
#[cfg(test)]
mod unreadable_answers;
mod url;

pub use carry::{Carry, ExchangeId, Method, Open};
pub use config::Config;
pub use connection::Connection;
pub use error::{ClientError, Erred, ErrorKind, Ran, Unfollowed};
pub use ids::{AskId, CallId, ListenId};
pub use limits::Limits;
pub use machine::{Declined, Event, Machine, Output, Question, Server};
pub use negotiation::{Carriage, Learned, ParseLearnedError};
pub use retry::Retry;
pub use session::Session;
pub use stdio::Stdio;
pub use url::{InvalidUrl, Url};
