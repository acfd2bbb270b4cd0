//! From the bytes of a response's head to the head and the way its body is framed.

use bytes::Bytes;
use core::mem::MaybeUninit;

use super::client::Failure;
use super::framing::{Framing, FramingError, FramingFields};
use super::head::{Fields, ResponseHead, Version};
use super::request::MAX_HEADERS;
use super::{Limits, Refusal};

/// A response's head and what it says about the connection.
pub(super) struct Response {
    pub(super) head: ResponseHead,
    /// `None`: the body ends where the connection does.
    pub(super) framing: Option<Framing>,
    pub(super) keep_alive: bool,
}

/// Reads a complete head; `bytes` ends with its blank line. `to_head` says that the request's
/// method was `HEAD`.
pub(super) fn parse(bytes: Bytes, to_head: bool, limits: &Limits) -> Result<Response, Failure> {
    let mut slots = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let slots = slots.get_mut(..limits.headers.min(MAX_HEADERS)).unwrap_or_default();
    let origin: &[u8] = &bytes;
    let mut parsed = httparse::Response::new(&mut []);
    let config = httparse::ParserConfig::default();
    match config.parse_response_with_uninit_headers(&mut parsed, origin, slots) {
        Ok(httparse::Status::Complete(length)) if length == origin.len() => {}
        Ok(_) => return Err(Failure::Malformed("the head ends early")),
        Err(httparse::Error::TooManyHeaders) => return Err(Failure::HeadTooLarge),
        Err(httparse::Error::HeaderName) => {
            return Err(Failure::Malformed("a header field's name is invalid"));
        }
        Err(httparse::Error::HeaderValue) => {
            return Err(Failure::Malformed("a header field's value is invalid"));
        }
        Err(_) => return Err(Failure::Malformed("the status line is invalid")),
    }
    let version = if parsed.version == Some(0) { Version::Http10 } else { Version::Http11 };
    let status = parsed.code.filter(|code| *code >= 100);
    let status = status.ok_or(Failure::Malformed("the status is invalid"))?;
    let mut fields = FramingFields::default();
    for header in parsed.headers.iter() {
        fields.read(header.name, header.value)?;
    }
    let has_no_body = to_head || matches!(status, 100..200 | 204 | 304);
    let framing = match fields.framing(version)? {
        _ if has_no_body => Some(Framing::Sized(0)),
        framing => framing,
    };
    let keep_alive = framing.is_some() && fields.keeps_alive(version);
    let fields = Fields::new(bytes.clone(), parsed.headers, origin);
    Ok(Response { head: ResponseHead { status, version, fields }, framing, keep_alive })
}

impl From<FramingError> for Failure {
    fn from(error: FramingError) -> Self {
        Self::Malformed(Refusal::from(error).text())
    }
}
