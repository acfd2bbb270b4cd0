//! What an exchange must know of an HTTP request, whoever parsed it.

use crate::frame::http1::{Headers, RequestHead};

/// The head of an HTTP request. Implement it for the head of another HTTP library and an
/// [`HttpExchange`](super::HttpExchange) serves that; the exchange gives the head back with
/// everything else that it carries.
pub trait HttpRequest: Headers {
    /// The method, as it was sent.
    fn method(&self) -> &str;

    /// The target's path.
    fn path(&self) -> &str;

    /// The target's query, without the question mark.
    fn query(&self) -> Option<&str>;

    /// The part of the client's path in front of [`path`](Self::path), where the server is mounted
    /// under a prefix.
    fn mount(&self) -> &str {
        ""
    }

    /// The host (and port) that is addressed: of the target or `:authority`, else of `Host`.
    fn authority(&self) -> Option<&str>;
}

impl HttpRequest for RequestHead {
    fn method(&self) -> &str {
        self.method_str()
    }

    fn path(&self) -> &str {
        Self::path(self)
    }

    fn query(&self) -> Option<&str> {
        self.target().query()
    }

    fn authority(&self) -> Option<&str> {
        Self::authority(self)
    }
}
