//! The HTTP request that carried a call.

use core::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::Extensions;

use crate::frame::http1::RequestHead;

/// Method, target, headers and extensions of the HTTP request that carried a call. Cloning shares
/// them.
///
/// As a handler's argument it makes the registry one for HTTP: stdio then refuses to start. Where
/// it may be missing, take `Option<Parts>`, or ask [`Exchange::parts`](super::Exchange::parts).
#[derive(Clone)]
pub struct Parts(Arc<Inner>);

struct Inner {
    head: Head,
    extensions: Extensions,
}

enum Head {
    /// As our own framing read it.
    Read(RequestHead),
    /// As another HTTP library gave it.
    Given { method: String, target: String, headers: Vec<(String, Bytes)> },
}

impl Parts {
    /// A request of that method and target, without headers or extensions.
    pub fn builder(method: impl Into<String>, target: impl Into<String>) -> PartsBuilder {
        let (method, target) = (method.into(), target.into());
        PartsBuilder {
            head: Head::Given { method, target, headers: Vec::new() },
            extensions: Extensions::new(),
        }
    }

    /// The request of `head`, whose bytes are shared, without extensions.
    pub fn of(head: RequestHead) -> PartsBuilder {
        PartsBuilder { head: Head::Read(head), extensions: Extensions::new() }
    }

    /// The method.
    pub fn method(&self) -> &str {
        match &self.0.head {
            Head::Read(head) => head.method_str(),
            Head::Given { method, .. } => method,
        }
    }

    /// The target, as it stood in the request line: path and query.
    pub fn target(&self) -> &str {
        match &self.0.head {
            Head::Read(head) => head.target_str(),
            Head::Given { target, .. } => target,
        }
    }

    /// The first header of that name, whose case does not matter.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All headers, in their order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let (read, given) = match &self.0.head {
            Head::Read(head) => (Some(head.fields().iter()), None),
            Head::Given { headers, .. } => (None, Some(headers.iter())),
        };
        let given = given.into_iter().flatten().map(|(name, value)| (name.as_str(), &**value));
        read.into_iter().flatten().chain(given)
    }

    /// What the host framework attached to the request.
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }
}

impl fmt::Debug for Parts {
    /// Shows header names, not their values: those may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("method", &self.method())
            .field("headers", &self.headers().map(|(name, _)| name).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

/// A request under construction, for drivers and tests.
#[must_use]
pub struct PartsBuilder {
    head: Head,
    extensions: Extensions,
}

impl PartsBuilder {
    /// Adds a header to a request that was given piece by piece; one that was read has its own.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<Bytes>) -> Self {
        if let Head::Given { headers, .. } = &mut self.head {
            headers.push((name.into(), value.into()));
        }
        self
    }

    /// Attaches what the host framework knows.
    pub fn extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// The request.
    pub fn build(self) -> Parts {
        Parts(Arc::new(Inner { head: self.head, extensions: self.extensions }))
    }
}

impl fmt::Debug for PartsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PartsBuilder(..)")
    }
}
