//! The headers that repeat parts of the body, checked against it (R26-HDR-01 to R26-HDR-28).

use std::borrow::Cow;

use super::{Adapter, Preamble, Stated};
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
    pub(super) fn require(&self, adapter: &Adapter, preamble: &Preamble) -> Result<(), Failure> {
        let needs_name = mirrored_name(adapter, preamble).is_some();
        match (self.version, self.method, self.name) {
            (HeaderValue::Absent, ..) => {
                Err(mismatch("the header MCP-Protocol-Version is missing"))
            }
            (_, HeaderValue::Absent, _) => Err(mismatch("the header Mcp-Method is missing")),
            (.., HeaderValue::Absent) if needs_name => {
                Err(mismatch("the header Mcp-Name is missing"))
            }
            _ => Ok(()),
        }
    }

    /// The second part: what is there says what the body says (R26-HDR-04, R26-HDR-21).
    pub(super) fn agree(&self, adapter: &Adapter, preamble: &Preamble) -> Result<(), Failure> {
        if let (Some(header), Stated::Version(body)) =
            (self.stated_version()?, &preamble.metadata.version)
            && body != header
        {
            return Err(mismatch("MCP-Protocol-Version differs from _meta"));
        }
        // It has no Base64 form (R26-HDR-05).
        match self.method {
            HeaderValue::Once(value) if header_value::plain(value).ok() == preamble.method() => {}
            HeaderValue::Absent => {}
            _ => return Err(mismatch("Mcp-Method differs from the method")),
        }
        if let Some(body) = mirrored_name(adapter, preamble) {
            match self.name {
                HeaderValue::Once(value)
                    if header_value::decode(value).is_ok_and(|it| it == body) => {}
                HeaderValue::Absent => {}
                _ => return Err(mismatch("Mcp-Name differs from the body")),
            }
        }
        Ok(())
    }
}

/// What `Mcp-Name` repeats (R26-HDR-06).
fn mirrored_name<'a>(adapter: &Adapter, preamble: &'a Preamble) -> Option<Cow<'a, str>> {
    match adapter.operation_for(preamble.method()?)? {
        Operation::CallTool | Operation::GetPrompt => preamble.text_param("name"),
        Operation::ReadResource => preamble.text_param("uri"),
        _ => None,
    }
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
