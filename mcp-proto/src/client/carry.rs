//! What a machine has its messages' carrier do.

use core::fmt;

use bytes::Bytes;

/// Something for whoever carries the messages.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Carry {
    /// Begin an HTTP exchange.
    Open(Open),
    /// End an exchange, wherever it stands: nothing of it is wanted any more, and nothing of it
    /// may be handed in.
    Close(ExchangeId),
    /// End the server's process, start it anew, and call
    /// [`handle_respawned`](super::Stdio::handle_respawned).
    Respawn,
}

/// Names one HTTP exchange of one machine. Ids are never reused within a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExchangeId(pub(super) u64);

impl fmt::Display for ExchangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.0)
    }
}

/// A method of an HTTP request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `POST`
    Post,
    /// `GET`
    Get,
    /// `DELETE`
    Delete,
}

impl Method {
    /// The method as HTTP spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::Get => "GET",
            Self::Delete => "DELETE",
        }
    }
}

/// An HTTP request. It goes to the origin of the machine's URL; the carrier adds `Host`, framing,
/// and credentials, and repeats it nowhere else (R26-ATOK-01).
#[derive(Clone, PartialEq, Eq)]
pub struct Open {
    /// Under which name what comes back is handed in.
    pub exchange: ExchangeId,
    /// The method.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// Header fields, in order.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Bytes,
}

/// Without values of headers and without bodies: they hold secrets.
impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Open")
            .field("exchange", &self.exchange)
            .field("method", &self.method)
            .field("headers", &names)
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Carry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(open) => open.fmt(f),
            Self::Close(exchange) => write!(f, "Close({exchange})"),
            Self::Respawn => f.write_str("Respawn"),
        }
    }
}
