//! The server's machines: bytes in, calls and effects out, answers in, bytes out.
//!
//! | machine | what it is |
//! |---|---|
//! | [`HttpExchange`] | one HTTP exchange of Streamable HTTP, without a socket or framing |
//! | [`Connection`] | an HTTP/1.1 connection: framing, and one exchange after the other |
//! | [`Stdio`] | a pair of byte streams with one message per line |
//!
//! All follow one contract, [`Machine`]. What they share, an [`Endpoint`] holds.

mod accept;
mod asks;
mod batch;
mod calls;
mod claim;
mod connection;
mod core;
mod endpoint;
mod exchange;
mod gate;
mod hold;
mod intake;
mod lease;
mod limits;
mod listening;
mod machine;
mod notice;
mod pending;
mod producer;
mod refusal;
mod reply;
mod request;
mod request_state;
pub(crate) mod session;
mod stdio;
mod stream;
mod subscriptions;
mod task;
mod watch;

pub use crate::frame::http1::Closing;
pub use connection::Connection;
pub use endpoint::{Endpoint, EndpointBuilder};
pub use exchange::HttpExchange;
pub use gate::{Gate, InvalidOrigin};
pub use limits::Limits;
pub(crate) use machine::show;
pub use machine::{Answered, AskId, CallId, Event, Machine, Output};
pub use notice::{Bound, Notice};
pub use refusal::HttpRefusal;
pub use reply::ResponseHead;
pub use request::HttpRequest;
pub use stdio::Stdio;
