//! From the bytes of a request's head to the head and the way its body is framed.

use bytes::Bytes;
use core::mem::MaybeUninit;

use super::body::Framing;
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
    let target = Target::parse(target, method == Method::Options).map_err(Refusal::Malformed)?;
    let seen = Seen::collect(parsed.headers, version)?;
    let framing = seen.framing(version)?;
    if matches!(framing, Framing::Sized(length) if length > limits.body) {
        return Err(Refusal::BodyTooLarge);
    }
    let head = RequestHead {
        method,
        method_span: Span::of(name.as_bytes(), origin),
        target: TargetSpans::of(target, origin),
        version,
        expects_continue: seen.expects_continue && framing != Framing::Sized(0),
        fields: Fields::new(bytes.clone(), parsed.headers, origin),
    };
    Ok(Request { head, framing, keep_alive: seen.connection.keeps_alive(version) })
}

/// The fields that framing depends on.
#[derive(Default)]
struct Seen {
    hosts: usize,
    length: Option<u64>,
    chunked: bool,
    expects_continue: bool,
    connection: ConnectionOptions,
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
            } else if name.eq_ignore_ascii_case("content-length") {
                let length = content_length(value)
                    .ok_or(Refusal::Malformed("the Content-Length field is invalid"))?;
                if seen.length.replace(length).is_some() {
                    return Err(Refusal::Malformed("there are several Content-Length fields"));
                }
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                if seen.chunked {
                    return Err(Refusal::Malformed("there are several transfer codings"));
                }
                transfer_encoding(value)?;
                seen.chunked = true;
            } else if name.eq_ignore_ascii_case("connection") {
                seen.connection.read(value);
            } else if name.eq_ignore_ascii_case("expect") && version == Version::Http11 {
                if !value.eq_ignore_ascii_case(b"100-continue") {
                    return Err(Refusal::ExpectationFailed);
                }
                seen.expects_continue = true;
            }
        }
        Ok(seen)
    }

    fn framing(&self, version: Version) -> Result<Framing, Refusal> {
        match (self.hosts, version) {
            (1, _) | (0, Version::Http10) => {}
            (0, Version::Http11) => return Err(Refusal::Malformed("the Host field is missing")),
            _ => return Err(Refusal::Malformed("there are several Host fields")),
        }
        match (self.chunked, self.length) {
            (false, length) => Ok(Framing::Sized(length.unwrap_or(0))),
            (true, Some(_)) => {
                Err(Refusal::Malformed("both Transfer-Encoding and Content-Length are given"))
            }
            (true, None) if version == Version::Http10 => {
                Err(Refusal::Malformed("HTTP/1.0 has no Transfer-Encoding"))
            }
            (true, None) => Ok(Framing::Chunked),
        }
    }
}

/// What the `Connection` fields of a message ask for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConnectionOptions {
    close: bool,
    keep_alive: bool,
}

impl ConnectionOptions {
    pub(super) fn read(&mut self, value: &[u8]) {
        for option in value.split(|&b| b == b',').map(<[u8]>::trim_ascii) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// RFC 9112, section 9.3.
    pub(super) fn keeps_alive(self, version: Version) -> bool {
        !self.close && (version == Version::Http11 || self.keep_alive)
    }
}

/// Digits and nothing else; a number beyond 64 bits is the largest there is.
pub(super) fn content_length(value: &[u8]) -> Option<u64> {
    let digits = value.iter().map(|b| b.is_ascii_digit().then(|| u64::from(b - b'0')));
    let sum = |sum: u64, digit: Option<u64>| Some(sum.saturating_mul(10).saturating_add(digit?));
    if value.is_empty() { None } else { digits.into_iter().try_fold(0, sum) }
}

/// `chunked` and nothing else is decoded (RFC 9112, section 6.1).
fn transfer_encoding(value: &[u8]) -> Result<(), Refusal> {
    if value.eq_ignore_ascii_case(b"chunked") {
        return Ok(());
    }
    let mut codings = value.rsplit(|&b| b == b',').map(<[u8]>::trim_ascii);
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    match codings.next() {
        Some(last) if is_chunked(last) && !codings.any(|c| c.is_empty() || is_chunked(c)) => {
            Err(Refusal::NotImplemented("only the chunked transfer coding is decoded"))
        }
        _ => Err(Refusal::Malformed("the Transfer-Encoding field is invalid")),
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
