//! The client's machines: calls in, messages out, replies and questions in, results out.
//!
//! | machine | what it is |
//! |---|---|
//! | [`Session`] | one server over HTTP: many exchanges, whoever carries them |
//! | [`Stdio`] | one server behind a pair of byte streams, one message per line |
//!
//! Both follow one contract, [`Machine`]. They find out which revision the server speaks
//! ([`Learned`] keeps it), and the application's side is the same for all of them.

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
mod properties;
mod session;
mod stdio;
mod timers;
mod url;

pub use carry::{Carry, ExchangeId, Method, Open};
pub use config::Config;
pub use connection::Connection;
pub use error::{ClientError, Erred, ErrorKind, Ran};
pub use ids::{AskId, CallId, ListenId};
pub use limits::Limits;
pub use machine::{Declined, Event, Machine, Output, Question, Server};
pub use negotiation::{Carriage, Learned, ParseLearnedError};
pub use session::Session;
pub use stdio::Stdio;
pub use url::{InvalidUrl, Url};
