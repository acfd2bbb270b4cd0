//! From the bytes of a request's head to the head and the way its body is framed.

use bytes::Bytes;
use core::mem::MaybeUninit;

use super::framing::{Framing, FramingError, FramingFields};
use super::head::{Fields, Method, RequestHead, Span, Version};
use super::target::{Target, TargetSpans, is_host};
use super::{Limits, Refusal};

/// The most header fields that any limit allows.
pub(super) const MAX_HEADERS: usize = 256;

/// A request's head and what it says about the connection.
pub(super) struct Request {
    pub(super) head: RequestHead,
    pub(super) framing: Framing,
    pub(super) keep_alive: bool,
}

/// Reads a complete head; `bytes` ends with its blank line.
pub(super) fn parse(bytes: Bytes, limits: &Limits) -> Result<Request, Refusal> {
    let mut slots = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let slots = slots.get_mut(..limits.headers.min(MAX_HEADERS)).unwrap_or_default();
    let origin: &[u8] = &bytes;
    let mut parsed = httparse::Request::new(&mut []);
    match parsed.parse_with_uninit_headers(origin, slots) {
        Ok(httparse::Status::Complete(length)) if length == origin.len() => {}
        Ok(_) => return Err(Refusal::Malformed("the head ends early")),
        Err(error) => return Err(refuse(error, origin)),
    }
    let (Some(name), Some(target)) = (parsed.method, parsed.path) else {
        return Err(Refusal::Malformed("the request line is incomplete"));
    };
    let version = if parsed.version == Some(0) { Version::Http10 } else { Version::Http11 };
    if target.len() > limits.target {
        return Err(Refusal::TargetTooLong);
    }
    if name == "CONNECT" {
        return Err(Refusal::NotImplemented("this server is no proxy"));
    }
    let method = Method::of(name);
    let target_span = Span::of(target.as_bytes(), origin);
    let target = Target::parse(target, method == Method::Options).map_err(Refusal::Malformed)?;
    let seen = Seen::collect(parsed.headers, version)?;
    let framing = seen.framing.framing(version)?.unwrap_or(Framing::Sized(0));
    if matches!(framing, Framing::Sized(length) if length > limits.body) {
        return Err(Refusal::BodyTooLarge);
    }
    let head = RequestHead {
        method,
        method_span: Span::of(name.as_bytes(), origin),
        target_span,
        target: TargetSpans::of(target, origin),
        version,
        expects_continue: seen.expects_continue && framing != Framing::Sized(0),
        fields: Fields::new(bytes.clone(), parsed.headers, origin),
    };
    Ok(Request { head, framing, keep_alive: seen.framing.keeps_alive(version) })
}

/// The fields that a server must understand before anything else.
#[derive(Default)]
struct Seen {
    hosts: usize,
    expects_continue: bool,
    framing: FramingFields,
}

impl Seen {
    fn collect(headers: &[httparse::Header<'_>], version: Version) -> Result<Self, Refusal> {
        let mut seen = Self::default();
        for header in headers {
            let (name, value) = (header.name, header.value);
            if name.eq_ignore_ascii_case("host") {
                seen.hosts += 1;
                if !is_host(value) {
                    return Err(Refusal::Malformed("the Host field is invalid"));
                }
            } else if name.eq_ignore_ascii_case("expect") && version == Version::Http11 {
                if !value.eq_ignore_ascii_case(b"100-continue") {
                    return Err(Refusal::ExpectationFailed);
                }
                seen.expects_continue = true;
            } else {
                seen.framing.read(name, value)?;
            }
        }
        match (seen.hosts, version) {
            (1, _) | (0, Version::Http10) => Ok(seen),
            (0, Version::Http11) => Err(Refusal::Malformed("the Host field is missing")),
            _ => Err(Refusal::Malformed("there are several Host fields")),
        }
    }
}

impl From<FramingError> for Refusal {
    fn from(error: FramingError) -> Self {
        match error {
            FramingError::Ambiguous(why) => Self::Malformed(why),
            FramingError::UnknownCoding => {
                Self::NotImplemented("only the chunked transfer coding is decoded")
            }
        }
    }
}

fn refuse(error: httparse::Error, head: &[u8]) -> Refusal {
    match error {
        httparse::Error::TooManyHeaders => Refusal::HeadTooLarge,
        httparse::Error::Version if states_a_version(head) => Refusal::VersionNotSupported,
        httparse::Error::HeaderName => Refusal::Malformed("a header field's name is invalid"),
        httparse::Error::HeaderValue => Refusal::Malformed("a header field's value is invalid"),
        _ => Refusal::Malformed("the request line is invalid"),
    }
}

/// Whether the first line ends in `HTTP/` and a well-formed version.
fn states_a_version(head: &[u8]) -> bool {
    let line = head.split(|&b| b == b'\r').next().unwrap_or_default();
    match line.rsplit(|&b| b == b' ').next() {
        Some([b'H', b'T', b'T', b'P', b'/', major, b'.', minor]) => {
            major.is_ascii_digit() && minor.is_ascii_digit()
        }
        _ => false,
    }
}
