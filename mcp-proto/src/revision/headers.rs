//! The headers that repeat parts of the body, checked against it (R26-HDR-01 to R26-HDR-28).

use std::borrow::Cow;

use super::{Adapter, Preamble};
use crate::frame::header_value;
use crate::frame::http1::Headers;
use crate::model::{Failure, FailureKind, Json, Operation, Tool, mirror};

/// One header, as far as it matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderValue<'a> {
    /// It was not sent.
    #[default]
    Absent,
    /// It was sent once.
    Once(&'a [u8]),
    /// It was sent several times, so it says nothing.
    Repeated,
}

impl<'a> HeaderValue<'a> {
    /// The only value of many.
    pub fn of(values: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut values = values.into_iter();
        match (values.next(), values.next()) {
            (None, _) => Self::Absent,
            (Some(value), None) => Self::Once(value),
            (Some(_), Some(_)) => Self::Repeated,
        }
    }

    fn is_absent_or(self, agrees: impl FnOnce(&[u8]) -> bool) -> bool {
        match self {
            Self::Absent => true,
            Self::Once(value) => agrees(value),
            Self::Repeated => false,
        }
    }
}

/// The headers that take part in choosing a revision. The default, all absent, is that of
/// transports without headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mirrors<'a> {
    /// `MCP-Protocol-Version`.
    pub version: HeaderValue<'a>,
    /// `Mcp-Method`.
    pub method: HeaderValue<'a>,
    /// `Mcp-Name`.
    pub name: HeaderValue<'a>,
}

impl<'a> Mirrors<'a> {
    /// Takes them out of a request's headers.
    pub fn of<H: Headers + ?Sized>(headers: &'a H) -> Self {
        Self {
            version: HeaderValue::of(headers.get_all("mcp-protocol-version")),
            method: HeaderValue::of(headers.get_all("mcp-method")),
            name: HeaderValue::of(headers.get_all("mcp-name")),
        }
    }

    /// The version in the header: none, one, or something unreadable.
    pub(super) fn stated_version(&self) -> Result<Option<&'a str>, Failure> {
        match self.version {
            HeaderValue::Absent => Ok(None),
            HeaderValue::Once(value) => match header_value::plain(value) {
                Ok(version) => Ok(Some(version)),
                Err(_) => Err(mismatch("MCP-Protocol-Version has invalid characters")),
            },
            HeaderValue::Repeated => Err(mismatch("MCP-Protocol-Version is sent twice")),
        }
    }

    /// The first part of the checks: what has to be there (R26-HDR-22).
    pub(super) fn require(&self, body: &Mirrored<'_>) -> Result<(), Failure> {
        let missing = match (self.version, self.method, self.name) {
            (HeaderValue::Absent, ..) => "the header MCP-Protocol-Version is missing",
            (_, HeaderValue::Absent, _) => "the header Mcp-Method is missing",
            (.., HeaderValue::Absent) if body.name.is_some() => "the header Mcp-Name is missing",
            _ => return Ok(()),
        };
        Err(mismatch(missing))
    }

    /// The second part: what is there says what the body says (R26-HDR-04, R26-HDR-21).
    pub(super) fn agree(&self, body: &Mirrored<'_>) -> Result<(), Failure> {
        if let (Some(header), Some(version)) = (self.stated_version()?, body.version)
            && header != version
        {
            return Err(mismatch("MCP-Protocol-Version differs from _meta"));
        }
        // It has no Base64 form (R26-HDR-05).
        if !self.method.is_absent_or(|value| header_value::plain(value).ok() == body.method) {
            return Err(mismatch("Mcp-Method differs from the method"));
        }
        match &body.name {
            Some(name) if !self.name.is_absent_or(|value| says(value, name)) => {
                Err(mismatch("Mcp-Name differs from the body"))
            }
            _ => Ok(()),
        }
    }
}

/// What the headers repeat of a body.
#[derive(Debug)]
pub(super) struct Mirrored<'a> {
    version: Option<&'a str>,
    method: Option<&'a str>,
    name: Option<Cow<'a, str>>,
}

impl<'a> Mirrored<'a> {
    pub(super) fn of(adapter: &Adapter, preamble: &'a Preamble) -> Self {
        let method = preamble.method();
        // R26-HDR-06
        let operation = method.and_then(|method| adapter.operation_for(method));
        let name = operation.and_then(mirrored_member).and_then(|name| preamble.text_param(name));
        Self { version: preamble.metadata.version.known(), method, name }
    }
}

/// The parameter of an operation that `Mcp-Name` repeats (R26-HDR-06).
pub(super) fn mirrored_member(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::CallTool | Operation::GetPrompt => Some("name"),
        Operation::ReadResource => Some("uri"),
        _ => None,
    }
}

fn says(value: &[u8], text: &str) -> bool {
    header_value::decode(value).is_ok_and(|decoded| decoded == text)
}

fn mismatch(why: impl Into<Cow<'static, str>>) -> Failure {
    Failure::new(FailureKind::HeaderMismatch, why)
}

/// Checks the parameters of a tool that clients repeat in `Mcp-Param-*` headers: what the body
/// has, a header says too, and nothing else (R26-HDR-17 to R26-HDR-26).
///
/// Header-derived facts may be used only after this.
///
/// # Errors
/// [`FailureKind::HeaderMismatch`], naming the header.
pub fn check_parameters<H: Headers + ?Sized>(
    tool: &Tool,
    arguments: Option<&Json>,
    headers: &H,
) -> Result<(), Failure> {
    mirror::check_mirrored(&tool.mirrored, arguments.map(Json::as_bytes), headers)
        .map_err(|fault| mismatch(fault.to_string()))
}
