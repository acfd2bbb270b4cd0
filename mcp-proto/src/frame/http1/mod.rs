//! HTTP/1.1 framing after RFC 9112: bytes to heads and bodies, and back. It knows nothing of MCP.
//!
//! Two machines, one connection each: [`server::Server`] reads requests and writes responses,
//! [`client::Client`] the reverse. Both are strict: a message that two readers could frame
//! differently is refused and its connection closed, because that is what request smuggling
//! lives on. Neither panics on what a peer sends, nor holds more of it than [`Limits`] allow.
//!
//! ```text
//!              handle_input            poll_event
//!   socket ──────────────────▶ Server ────────────▶ Head, Body, End | Refused | Aborted
//!          ◀──────────────────        ◀────────────
//!               transmit               respond, write_body, finish
//! ```

mod body;
pub mod client;
mod framing;
mod head;
mod limits;
mod refusal;
mod request;
mod response;
mod scan;
pub mod server;
mod target;
mod write;

pub use head::{Fields, Headers, Method, RequestHead, ResponseHead, Version};
pub use limits::Limits;
pub use refusal::Refusal;
pub use target::Target;
pub(crate) use write::KEEP;
pub use write::{BodyLength, SendError};

use crate::time::Instant;

/// Whether a connection goes on, and if not, how it is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closing {
    /// The connection is in use or waits for the next exchange.
    Open,
    /// Send what [`transmit`](server::Server::transmit) gives, then close.
    AfterFlush,
    /// Send what is left, shut the sending side down, then read and discard until the peer
    /// closes or this instant: closing at once could destroy the response on its way
    /// (RFC 9112, section 9.6).
    Linger(Instant),
    /// Nothing more will be read or written.
    Closed,
}

impl Closing {
    /// Whether the socket can go once what was transmitted is written: nobody reads any more.
    pub fn is_done(self) -> bool {
        matches!(self, Self::AfterFlush | Self::Closed)
    }
}

/// Why an exchange ended before its response was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AbortReason {
    /// The peer ended its side of the connection; a half-close counts as leaving.
    PeerClosed,
    /// The connection broke: a reset, or a failed write.
    ConnectionLost,
}
