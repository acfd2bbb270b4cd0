//! Where a server is, and what it may send its clients to.

use core::fmt;

use crate::frame::http1::Target;

#[cfg(test)]
mod tests;

/// The URL of a server: its origin, and a path with a query.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    secure: bool,
    /// In lower case; an IPv6 address in brackets.
    host: String,
    port: u16,
    target: String,
}

/// The text is no URL of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidUrl {
    /// It begins neither with `http://` nor with `https://`.
    Scheme,
    /// It names no host, or one with a user's name or an invalid port.
    Authority,
    /// Its path or query has characters that must be percent-encoded.
    Target,
    /// It leads to another origin (C56).
    Foreign,
}

impl fmt::Display for InvalidUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scheme => "a server's URL begins with http:// or https://",
            Self::Authority => "the URL's host or port is invalid, or it names a user",
            Self::Target => "the URL's path or query is invalid",
            Self::Foreign => "the URL leads to another origin",
        })
    }
}

impl core::error::Error for InvalidUrl {}

impl Url {
    /// Reads an absolute URL. A fragment is dropped: it is for the client alone.
    ///
    /// # Errors
    /// Where it is none, or one that no request can be made to.
    pub fn parse(text: &str) -> Result<Self, InvalidUrl> {
        let (scheme, rest) = text.split_once("://").ok_or(InvalidUrl::Scheme)?;
        let secure = match scheme {
            _ if scheme.eq_ignore_ascii_case("http") => false,
            _ if scheme.eq_ignore_ascii_case("https") => true,
            _ => return Err(InvalidUrl::Scheme),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at_checked(end).ok_or(InvalidUrl::Authority)?;
        let (host, port) = authority_of(authority, secure)?;
        let target = target.split('#').next().unwrap_or_default();
        let target = match target.strip_prefix('/') {
            Some(_) => target.to_owned(),
            None => format!("/{target}"),
        };
        match Target::parse(&target, false) {
            Ok(_) => Ok(Self { secure, host, port, target }),
            Err(_) => Err(InvalidUrl::Target),
        }
    }

    /// Whether it is `https`.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// The host: a name in lower case, or an address; one of IPv6 in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The `Host` field of requests: the port is left out where it is the scheme's own.
    pub fn authority(&self) -> String {
        match self.port == default_port(self.secure) {
            true => self.host.clone(),
            false => format!("{}:{}", self.host, self.port),
        }
    }

    /// Path and query.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The URL that `reference` means here (RFC 3986, section 5.2), if it is of the same origin.
    ///
    /// # Errors
    /// [`InvalidUrl::Foreign`] where it is not: whoever follows it takes credentials there.
    pub fn join(&self, reference: &str) -> Result<Self, InvalidUrl> {
        let url = self.resolve(reference)?;
        if self.is_same_origin(&url) { Ok(url) } else { Err(InvalidUrl::Foreign) }
    }

    /// Whether it is of the same origin: scheme, host and port.
    pub fn is_same_origin(&self, other: &Self) -> bool {
        (self.secure, self.port, &self.host) == (other.secure, other.port, &other.host)
    }

    /// What to show of it: a query may hold a secret.
    pub(super) fn without_query(&self) -> String {
        let mut text = self.to_string();
        text.truncate(text.find('?').unwrap_or(text.len()));
        text
    }

    /// The URL that `reference` means here, of whatever origin.
    pub(super) fn resolve(&self, reference: &str) -> Result<Self, InvalidUrl> {
        let reference = reference.trim_matches([' ', '\t']);
        let is_absolute =
            reference.split(['/', '?', '#']).next().is_some_and(|it| it.contains(':'));
        if is_absolute {
            return Self::parse(reference);
        }
        let scheme = if self.secure { "https" } else { "http" };
        if reference.starts_with("//") {
            return Self::parse(&format!("{scheme}:{reference}"));
        }
        let reference = reference.split('#').next().unwrap_or_default();
        let (own_path, _) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let (path, query) = match reference.split_once('?') {
            Some((path, query)) => (path, format!("?{query}")),
            None => (reference, String::new()),
        };
        let path = match path {
            "" => own_path.to_owned(),
            path if path.starts_with('/') => without_dots(path),
            path => {
                let directory = own_path.rfind('/').and_then(|at| own_path.get(..=at));
                without_dots(&format!("{}{path}", directory.unwrap_or("/")))
            }
        };
        Self::parse(&format!("{scheme}://{}{path}{query}", self.authority()))
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority(), self.target)
    }
}

/// Without the query, which may hold a secret.
impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.target.split('?').next().unwrap_or_default();
        write!(f, "{}{path}", self.authority())
    }
}

const fn default_port(secure: bool) -> u16 {
    if secure { 443 } else { 80 }
}

fn authority_of(text: &str, secure: bool) -> Result<(String, u16), InvalidUrl> {
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%:[]".contains(&byte);
    if text.is_empty() || !text.bytes().all(is_host) {
        return Err(InvalidUrl::Authority);
    }
    let after_address = text.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match text.get(after_address..).and_then(|rest| rest.rfind(':')) {
        Some(at) => text.split_at_checked(after_address + at).ok_or(InvalidUrl::Authority)?,
        None => (text, ""),
    };
    let port = match port.strip_prefix(':') {
        None | Some("") => default_port(secure),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().map_err(|_| InvalidUrl::Authority)?
        }
        Some(_) => return Err(InvalidUrl::Authority),
    };
    let is_address = host.starts_with('[') && host.ends_with(']') && host.len() > 2;
    let is_name = !host.is_empty() && !host.contains([':', '[', ']']);
    match is_address || is_name {
        true => Ok((host.to_ascii_lowercase(), port)),
        false => Err(InvalidUrl::Authority),
    }
}

/// RFC 3986, section 5.2.4.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            segment => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}
