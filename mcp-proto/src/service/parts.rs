//! The HTTP request that carried a call.

use core::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{Extensions, HeaderMap, Method, Uri};

use crate::frame::http1::{Headers, RequestHead};
use crate::server::HttpRequest;

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
    /// As a web framework read it.
    Framework { method: Method, uri: Uri, headers: HeaderMap },
    /// As it was given piece by piece.
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
            Head::Framework { method, .. } => method.as_str(),
            Head::Given { method, .. } => method,
        }
    }

    /// The target, as it stood in the request line: path and query. Under a web framework it is
    /// what that left of it.
    pub fn target(&self) -> &str {
        match &self.0.head {
            Head::Read(head) => head.target_str(),
            Head::Framework { uri, .. } => uri.path_and_query().map_or("/", |it| it.as_str()),
            Head::Given { target, .. } => target,
        }
    }

    /// The first header of that name, whose case does not matter.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All headers, in their order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let (mut read, mut framework, mut given) = (None, None, None);
        match &self.0.head {
            Head::Read(head) => read = Some(head.fields().iter()),
            Head::Framework { headers, .. } => framework = Some(headers.iter()),
            Head::Given { headers, .. } => given = Some(headers.iter()),
        }
        let framework = framework.into_iter().flatten();
        let framework = framework.map(|(name, value)| (name.as_str(), value.as_bytes()));
        let given = given.into_iter().flatten().map(|(name, value)| (name.as_str(), &**value));
        read.into_iter().flatten().chain(framework).chain(given)
    }

    /// What the host framework attached to the request.
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }
}

/// A request as a web framework read it; what it attached comes along.
impl From<http::request::Parts> for Parts {
    fn from(parts: http::request::Parts) -> Self {
        let http::request::Parts { method, uri, headers, extensions, .. } = parts;
        Self(Arc::new(Inner { head: Head::Framework { method, uri, headers }, extensions }))
    }
}

impl Headers for Parts {
    fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let is = move |own: &str| own.eq_ignore_ascii_case(name);
        self.headers().filter(move |(own, _)| is(own)).map(|(_, value)| value)
    }

    fn get<'a>(&'a self, name: &'a str) -> Option<&'a [u8]> {
        match &self.0.head {
            Head::Framework { headers, .. } => headers.get(name).map(|value| value.as_bytes()),
            _ => self.get_all(name).next(),
        }
    }
}

impl HttpRequest for Parts {
    fn method(&self) -> &str {
        Self::method(self)
    }

    fn path(&self) -> &str {
        let target = self.target();
        target.split_once('?').map_or(target, |(path, _)| path)
    }

    fn query(&self) -> Option<&str> {
        Some(self.target().split_once('?')?.1)
    }

    /// That of the target (which is where HTTP/2 has it), else the only `Host`.
    fn authority(&self) -> Option<&str> {
        if let Head::Framework { uri, .. } = &self.0.head
            && let Some(authority) = uri.authority()
        {
            return Some(authority.as_str());
        }
        let mut hosts = self.get_all("host");
        let host = hosts.next().filter(|_| hosts.next().is_none())?;
        core::str::from_utf8(host).ok()
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
