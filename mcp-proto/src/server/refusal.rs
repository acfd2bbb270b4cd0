//! HTTP's own refusals: what is answered before, or instead of, a JSON-RPC dispatch.

use std::borrow::Cow;

#[cfg(feature = "tower")]
use smallvec::SmallVec;

#[cfg(feature = "tower")]
use super::ResponseHead;
use crate::auth;
use crate::frame::envelope::RequestId;
use crate::frame::http1;
#[cfg(feature = "tower")]
use crate::frame::http1::BodyLength;
use crate::frame::writer::Object;

/// Why HTTP refuses a request. Rendered in one place, with the request's id where it could be
/// read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpRefusal {
    /// 400: a malformed request; the text says how.
    BadRequest(&'static str),
    /// 400: this field, or parameter of the query, is there more than once and is no list.
    Repeated(&'static str),
    /// 403: the `Host` is not one that this server answers to.
    Host,
    /// 403: the `Origin` is not allowed (R2511-HTTP-02).
    Origin,
    /// 401, 403 and others: the caller is not admitted; see
    /// [`Authorization`](crate::auth::Authorization).
    Auth(auth::Refusal),
    /// 404: no endpoint at this path.
    Path,
    /// 404: no such session, or no longer (R2503-SESS-06).
    Session,
    /// 405: not this method; the text is the `Allow` header.
    Method(&'static str),
    /// 405: `GET` reads the stream of a session, and none is named; the text is the `Allow` header.
    Stream(&'static str),
    /// 406: the client takes neither JSON nor a stream.
    NotAcceptable,
    /// 415: the body is not declared as JSON.
    MediaType,
    /// 415: the body is compressed, or otherwise coded.
    ContentCoding,
    /// 503: the session store did not answer.
    StoreUnavailable,
    /// 503: as much goes on as may, or the server is about to stop.
    Busy,
    /// What framing refused: 400, 408, 413, 414, 417, 431, 501 or 505.
    Framing(http1::Refusal),
}

impl HttpRefusal {
    /// The response's status.
    pub fn status(&self) -> u16 {
        match self {
            Self::BadRequest(_) | Self::Repeated(_) => 400,
            Self::Host | Self::Origin => 403,
            Self::Auth(refusal) => refusal.status(),
            Self::Path | Self::Session => 404,
            Self::Method(_) | Self::Stream(_) => 405,
            Self::NotAcceptable => 406,
            Self::MediaType | Self::ContentCoding => 415,
            Self::StoreUnavailable | Self::Busy => 503,
            Self::Framing(refusal) => refusal.status(),
        }
    }

    /// What is wrong, in the words that clients look for where they do.
    pub fn text(&self) -> Cow<'static, str> {
        if let Self::Repeated(name) = self {
            return format!("{name} is sent more than once").into();
        }
        Cow::Borrowed(match self {
            Self::BadRequest(text) => text,
            Self::Repeated(name) => name,
            Self::Host => "this server does not answer to that Host",
            Self::Origin => "that Origin is not allowed here",
            Self::Auth(refusal) => refusal.text(),
            Self::Path => "there is no MCP endpoint at this path",
            Self::Session => "Session terminated",
            Self::Stream(_) => "GET reads the stream of a session, and Mcp-Session-Id names none",
            Self::Method(_) => "this method is not supported here; see Allow",
            Self::NotAcceptable => "Accept must allow application/json or text/event-stream",
            Self::MediaType => "Content-Type must be application/json",
            Self::ContentCoding => "the body must be sent without a Content-Encoding",
            Self::StoreUnavailable => "the server cannot reach its sessions now; try again",
            Self::Busy => "the server has too much to do; try again",
            Self::Framing(refusal) => refusal.text(),
        })
    }

    /// What a client's developer needs to know beside it.
    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Session => Some("the session is unknown or has ended; send `initialize` anew"),
            _ => None,
        }
    }

    /// A header that says what would be accepted.
    pub(crate) fn header(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Method(allow) | Self::Stream(allow) => Some(("Allow", allow)),
            Self::MediaType => Some(("Accept", "application/json")),
            Self::ContentCoding => Some(("Accept-Encoding", "identity")),
            Self::StoreUnavailable | Self::Busy => Some(("Retry-After", "1")),
            _ => None,
        }
    }

    /// Appends the body: a JSON-RPC error, so that a client can match it (C43). It has no id
    /// where none could be read.
    pub(crate) fn write_body(&self, id: Option<&RequestId>, out: &mut Vec<u8>) {
        let mut body = Object::begin(out);
        body.string("jsonrpc", "2.0").raw_if("id", id.map(RequestId::as_json));
        body.object("error", |error| {
            error.number("code", self.code()).string("message", &self.text());
            error.string_if("data", self.advice());
        });
        body.end();
    }

    /// The whole response, where there is no exchange to give it.
    #[cfg(feature = "tower")]
    pub(crate) fn response(&self) -> (ResponseHead, Vec<u8>) {
        let mut body = Vec::new();
        self.write_body(None, &mut body);
        let mut headers = SmallVec::new();
        headers.push(("Content-Type", "application/json".into()));
        headers.extend(self.header().map(|(name, value)| (name, value.into())));
        let length = BodyLength::Sized(body.len() as u64);
        (ResponseHead { status: self.status(), headers, length }, body)
    }

    fn code(&self) -> i32 {
        match self {
            Self::StoreUnavailable | Self::Busy => -32603,
            _ => -32600,
        }
    }
}
