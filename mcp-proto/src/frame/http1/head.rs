//! Heads: the first line and the header fields, kept as one piece of bytes with spans into it.

use bytes::Bytes;
use core::fmt;
use smallvec::SmallVec;

use super::target::{Target, TargetSpans};

/// Header fields of any origin: a head read here, another library's map, a test's list.
///
/// Names are compared without regard to ASCII case.
pub trait Headers {
    /// Every value of the field `name`, in order of appearance.
    fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]>;

    /// The first value of the field `name`.
    fn get<'a>(&'a self, name: &'a str) -> Option<&'a [u8]> {
        self.get_all(name).next()
    }
}

impl<H: Headers + ?Sized> Headers for &H {
    fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        H::get_all(self, name)
    }
}

impl<N: AsRef<str>, V: AsRef<[u8]>> Headers for [(N, V)] {
    fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.iter()
            .filter(move |(n, _)| n.as_ref().eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_ref())
    }
}

/// A piece of a head, which is at most 65,535 bytes long.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    start: u16,
    end: u16,
}

impl Span {
    /// Where `part` lies in `whole`; empty if it is no part of it or too far out.
    pub(super) fn of(part: &[u8], whole: &[u8]) -> Self {
        let start = (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
        match (u16::try_from(start), u16::try_from(start.wrapping_add(part.len()))) {
            (Ok(start), Ok(end)) => Self { start, end },
            _ => Self::default(),
        }
    }

    pub(super) fn get(self, whole: &[u8]) -> &[u8] {
        whole.get(usize::from(self.start)..usize::from(self.end)).unwrap_or_default()
    }

    /// For spans over bytes that were checked to be ASCII.
    pub(super) fn text(self, whole: &[u8]) -> &str {
        core::str::from_utf8(self.get(whole)).unwrap_or_default()
    }
}

/// The header fields of a received head. Cloning one shares its bytes.
#[derive(Clone)]
pub struct Fields {
    bytes: Bytes,
    spans: SmallVec<[(Span, Span); 16]>,
}

impl Fields {
    pub(super) fn new(bytes: Bytes, parsed: &[httparse::Header<'_>], origin: &[u8]) -> Self {
        let span = |part: &[u8]| Span::of(part, origin);
        let spans = parsed.iter().map(|h| (span(h.name.as_bytes()), span(h.value))).collect();
        Self { bytes, spans }
    }

    /// Name and value of every field, in order, values without surrounding whitespace.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.spans.iter().map(|(name, value)| (name.text(&self.bytes), value.get(&self.bytes)))
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is no field at all.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(super) fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

impl Headers for Fields {
    fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.spans
            .iter()
            .filter(move |(n, _)| n.get(&self.bytes).eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value.get(&self.bytes))
    }
}

/// Names only: values may be secrets.
impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

/// A version of HTTP that the machines speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0: no chunked coding, and connections close unless asked to stay.
    Http10,
    /// HTTP/1.1.
    Http11,
}

/// A request method. Methods are case-sensitive (RFC 9110, section 9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// `GET`
    Get,
    /// `HEAD`: answered like `GET`, without the body.
    Head,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `DELETE`
    Delete,
    /// `OPTIONS`
    Options,
    /// `PATCH`
    Patch,
    /// Any other token; [`RequestHead::method_str`] has it.
    Other,
}

impl Method {
    const NAMED: [(Self, &'static str); 7] = [
        (Self::Post, "POST"),
        (Self::Get, "GET"),
        (Self::Head, "HEAD"),
        (Self::Put, "PUT"),
        (Self::Delete, "DELETE"),
        (Self::Options, "OPTIONS"),
        (Self::Patch, "PATCH"),
    ];

    pub(super) fn of(name: &str) -> Self {
        let named = Self::NAMED.iter().find(|(_, own)| *own == name);
        named.map_or(Self::Other, |(method, _)| *method)
    }

    /// Its name, if it is none of the others.
    fn name(self) -> Option<&'static str> {
        Self::NAMED.iter().find(|(method, _)| *method == self).map(|(_, name)| *name)
    }
}

/// A request's first line and header fields, checked: what is in here is framed one way only.
#[derive(Clone)]
pub struct RequestHead {
    pub(super) method: Method,
    pub(super) method_span: Span,
    pub(super) target_span: Span,
    pub(super) target: TargetSpans,
    pub(super) version: Version,
    pub(super) expects_continue: bool,
    pub(super) fields: Fields,
}

impl RequestHead {
    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The method as it was sent.
    pub fn method_str(&self) -> &str {
        self.method.name().unwrap_or_else(|| self.method_span.text(self.fields.bytes()))
    }

    /// What the request is about.
    pub fn target(&self) -> Target<'_> {
        self.target.get(self.fields.bytes())
    }

    /// The target as it was sent.
    pub fn target_str(&self) -> &str {
        self.target_span.text(self.fields.bytes())
    }

    /// The target's path; `*` for the asterisk form.
    pub fn path(&self) -> &str {
        self.target().path()
    }

    /// The host (and port) addressed: of an absolute target, else of the `Host` field
    /// (RFC 9112, section 3.2.2). `None` only for HTTP/1.0 without `Host`.
    pub fn authority(&self) -> Option<&str> {
        match self.target {
            TargetSpans::Absolute { authority, .. } => Some(authority.text(self.fields.bytes())),
            _ => self.fields.get("host").and_then(|host| core::str::from_utf8(host).ok()),
        }
    }

    /// The version of HTTP that the client speaks.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Whether the client waits for `100 Continue` before it sends the body.
    pub fn expects_continue(&self) -> bool {
        self.expects_continue
    }

    /// The header fields.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }
}

impl Headers for RequestHead {
    fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.fields.get_all(name)
    }
}

impl fmt::Debug for RequestHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHead")
            .field("method", &self.method_str())
            .field("path", &self.path())
            .field("version", &self.version)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

/// A response's first line and header fields, checked like a request's.
#[derive(Clone)]
pub struct ResponseHead {
    pub(super) status: u16,
    pub(super) version: Version,
    pub(super) fields: Fields,
}

impl ResponseHead {
    /// The status code, 200 to 999; interim responses are not shown.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The version of HTTP that the server speaks.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The header fields.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }
}

impl Headers for ResponseHead {
    fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.fields.get_all(name)
    }
}

impl fmt::Debug for ResponseHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseHead")
            .field("status", &self.status)
            .field("version", &self.version)
            .field("fields", &self.fields)
            .finish()
    }
}
