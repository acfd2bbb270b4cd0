//! Request targets (RFC 9112, section 3.2) and the host they name.

use super::head::Span;

/// What a request is about. `CONNECT`'s authority form is refused: this is no proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Target<'a> {
    /// `/path?query`
    Origin {
        /// Starts with `/`; not decoded.
        path: &'a str,
        /// What follows the first `?`; not decoded.
        query: Option<&'a str>,
    },
    /// `http://authority/path?query`; its authority counts, not the `Host` field's.
    Absolute {
        /// Host and port.
        authority: &'a str,
        /// Starts with `/`, or is empty.
        path: &'a str,
        /// What follows the first `?`; not decoded.
        query: Option<&'a str>,
    },
    /// `*`, of `OPTIONS` only.
    Asterisk,
}

impl<'a> Target<'a> {
    /// The path; `/` where an absolute target has none, `*` for the asterisk form.
    pub fn path(&self) -> &'a str {
        match *self {
            Self::Absolute { path: "", .. } => "/",
            Self::Origin { path, .. } | Self::Absolute { path, .. } => path,
            Self::Asterisk => "*",
        }
    }

    /// The query, without its `?`.
    pub fn query(&self) -> Option<&'a str> {
        match *self {
            Self::Origin { query, .. } | Self::Absolute { query, .. } => query,
            Self::Asterisk => None,
        }
    }

    /// Reads a target, or says what is wrong with it. Octets outside RFC 3986 are refused.
    pub(crate) fn parse(text: &'a str, is_options: bool) -> Result<Self, &'static str> {
        if text == "*" {
            return if is_options { Ok(Self::Asterisk) } else { Err("only OPTIONS may have *") };
        }
        if text.starts_with('/') {
            let (path, query) = path_and_query(text)?;
            return Ok(Self::Origin { path, query });
        }
        let (scheme, rest) = text.split_once("://").ok_or("the target has no known form")?;
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return Err("the target's scheme is not http");
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        if authority.is_empty() || !is_host(authority.as_bytes()) {
            return Err("the target's authority is invalid");
        }
        let (path, query) = path_and_query(rest)?;
        Ok(Self::Absolute { authority, path, query })
    }
}

/// A [`Target`] as spans of the head that it stands in.
#[derive(Clone, Copy, Debug)]
pub(super) enum TargetSpans {
    Origin { path: Span, query: Option<Span> },
    Absolute { authority: Span, path: Span, query: Option<Span> },
    Asterisk,
}

impl TargetSpans {
    pub(super) fn of(target: Target<'_>, head: &[u8]) -> Self {
        let span = |text: &str| Span::of(text.as_bytes(), head);
        match target {
            Target::Origin { path, query } => {
                Self::Origin { path: span(path), query: query.map(span) }
            }
            Target::Absolute { authority, path, query } => Self::Absolute {
                authority: span(authority),
                path: span(path),
                query: query.map(span),
            },
            Target::Asterisk => Self::Asterisk,
        }
    }

    pub(super) fn get(self, head: &[u8]) -> Target<'_> {
        match self {
            Self::Origin { path, query } => {
                Target::Origin { path: path.text(head), query: query.map(|q| q.text(head)) }
            }
            Self::Absolute { authority, path, query } => Target::Absolute {
                authority: authority.text(head),
                path: path.text(head),
                query: query.map(|q| q.text(head)),
            },
            Self::Asterisk => Target::Asterisk,
        }
    }
}

/// Whether `host` is `uri-host [ ":" port ]` (RFC 9110, section 7.2), not empty.
pub(super) fn is_host(host: &[u8]) -> bool {
    let (name, rest) = match host {
        [b'[', literal @ ..] => match literal.iter().position(|&b| b == b']') {
            Some(end) => (literal.get(..end), literal.get(end + 1..)),
            None => return false,
        },
        _ => {
            let end = host.iter().position(|&b| b == b':').unwrap_or(host.len());
            (host.get(..end), host.get(end..))
        }
    };
    let (Some(name), Some(rest)) = (name, rest) else { return false };
    let is_literal = host.first() == Some(&b'[');
    let name_fits = match is_literal {
        true => name.iter().all(|&b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.')),
        false => is_escaped(name, |b| is_unreserved(b) || is_sub_delim(b)),
    };
    let port_fits = match rest {
        [] => true,
        [b':', port @ ..] => port.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    !name.is_empty() && name_fits && port_fits
}

fn path_and_query(text: &str) -> Result<(&str, Option<&str>), &'static str> {
    let fits = |b| is_unreserved(b) || is_sub_delim(b) || matches!(b, b':' | b'@' | b'/' | b'?');
    if !is_escaped(text.as_bytes(), fits) {
        return Err("the target has an octet that must be escaped");
    }
    Ok(match text.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (text, None),
    })
}

/// Whether every octet `fits` or belongs to a whole percent escape.
fn is_escaped(mut text: &[u8], fits: impl Fn(u8) -> bool) -> bool {
    loop {
        text = match text {
            [] => return true,
            [b'%', a, b, rest @ ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => rest,
            [octet, rest @ ..] if fits(*octet) => rest,
            _ => return false,
        }
    }
}

fn is_unreserved(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~')
}

fn is_sub_delim(b: u8) -> bool {
    matches!(b, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=')
}
