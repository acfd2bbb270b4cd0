//! Tool parameters that clients mirror into `Mcp-Param-*` headers: which ones a schema annotates,
//! and whether a request's headers say what its arguments say (R26-HDR-08 to R26-HDR-26).

mod schema;

use std::fmt;

use crate::frame::header_value::{self, InvalidHeaderValue, Scalar};
use crate::frame::http1::Headers;
use crate::frame::json::{self, Kind};

pub use schema::{AnnotationFault, InvalidAnnotation, MAX_DEPTH, mirrored_params};

/// The type of a parameter that can be mirrored (R26-HDR-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirroredType {
    /// `string`
    String,
    /// `integer`
    Integer,
    /// `boolean`
    Boolean,
}

/// One parameter with an `x-mcp-header` annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredParam {
    header: String,
    path: Vec<String>,
    kind: MirroredType,
}

impl MirroredParam {
    /// The name of the header: `Mcp-Param-` and the annotation's value.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// The properties that lead from the arguments' root to the parameter (R26-HDR-11).
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// The type that the schema declares.
    pub fn kind(&self) -> MirroredType {
        self.kind
    }

    /// What the header of a call with these arguments has to say; `None` where the call sends no
    /// header: the argument is absent, null, or nothing that a header mirrors (R26-HDR-13,
    /// R26-HDR-23). `arguments` is validated JSON.
    ///
    /// # Errors
    /// [`MirrorFault::Ambiguous`] where a property on the path occurs twice.
    pub fn argument<'a>(&self, arguments: &'a [u8]) -> Result<Option<Scalar<'a>>, HeaderMismatch> {
        Ok(self.value(arguments)?.and_then(Scalar::from_json))
    }

    /// Whether the arguments have something here that a server expects in the header, and no
    /// header can say: a fraction, an integer beyond 2^53 - 1, an array, an object (R26-HDR-10,
    /// R26-HDR-24). `arguments` is validated JSON.
    pub(crate) fn is_unsayable(&self, arguments: &[u8]) -> bool {
        match self.value(arguments) {
            Ok(Some(value)) => {
                json::kind(value) != Kind::Null && Scalar::from_json(value).is_none()
            }
            Ok(None) | Err(_) => false,
        }
    }

    /// The value at the path.
    fn value<'a>(&self, arguments: &'a [u8]) -> Result<Option<&'a [u8]>, HeaderMismatch> {
        let mut value = arguments;
        for property in &self.path {
            let members = json::members(value);
            let mut named = members.iter().filter(|member| member.is_named(value, property));
            value = match (named.next(), named.next()) {
                (Some(member), None) => member.value.of(value),
                (None, _) => return Ok(None),
                (Some(_), Some(_)) => return Err(self.fault(MirrorFault::Ambiguous)),
            };
        }
        Ok(Some(value))
    }

    /// Whether the headers of one call say what its arguments say.
    fn check<H: Headers + ?Sized>(
        &self,
        arguments: &[u8],
        headers: &H,
    ) -> Result<(), HeaderMismatch> {
        let mut values = headers.get_all(&self.header);
        let fault = match (self.argument(arguments)?, values.next(), values.next()) {
            (None, None, _) => return Ok(()),
            (_, Some(_), Some(_)) => MirrorFault::Repeated,
            (Some(_), None, _) => MirrorFault::Missing,
            (None, Some(_), None) => MirrorFault::Unexpected,
            (Some(argument), Some(value), None) => match header_value::decode(value) {
                Ok(text) if argument.agrees_with(&text) => return Ok(()),
                Ok(_) => MirrorFault::Different,
                Err(fault) => MirrorFault::Invalid(fault),
            },
        };
        Err(self.fault(fault))
    }

    fn fault(&self, fault: MirrorFault) -> HeaderMismatch {
        HeaderMismatch { header: self.header.clone(), fault }
    }
}

/// Checks the `Mcp-Param-*` headers of one call against its arguments: every argument that a
/// header mirrors has its header, once, with the same value, and no other argument has one.
/// Headers that mirror none of `params` are ignored (R26-HDR-17, R26-HDR-19 to R26-HDR-26).
///
/// `arguments` is the validated JSON of `params.arguments`, if there is any.
///
/// # Errors
/// The first [`HeaderMismatch`]; what the headers say may not be used then.
pub fn check_mirrored<H: Headers + ?Sized>(
    params: &[MirroredParam],
    arguments: Option<&[u8]>,
    headers: &H,
) -> Result<(), HeaderMismatch> {
    params.iter().try_for_each(|param| param.check(arguments.unwrap_or_default(), headers))
}

/// A header that does not mirror its argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderMismatch {
    /// The name of the header.
    pub header: String,
    /// What is wrong with it.
    pub fault: MirrorFault,
}

/// How a header fails to mirror its argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MirrorFault {
    /// The argument is there, the header is not (R26-HDR-24).
    Missing,
    /// The header is there, an argument that it could mirror is not.
    Unexpected,
    /// The header is there more than once.
    Repeated,
    /// The header cannot be read (R26-HDR-20).
    Invalid(InvalidHeaderValue),
    /// The header says something else (R26-HDR-21).
    Different,
    /// The argument is there more than once, so that nobody can tell which one counts.
    Ambiguous,
}

impl fmt::Display for HeaderMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { header, fault } = self;
        match fault {
            MirrorFault::Missing => write!(f, "the header {header} is missing"),
            MirrorFault::Unexpected => write!(f, "the header {header} mirrors no argument"),
            MirrorFault::Repeated => write!(f, "the header {header} is sent twice"),
            MirrorFault::Invalid(invalid) => write!(f, "the header {header} has {invalid}"),
            MirrorFault::Different => write!(f, "the header {header} differs from the argument"),
            MirrorFault::Ambiguous => write!(f, "the argument of the header {header} occurs twice"),
        }
    }
}

impl std::error::Error for HeaderMismatch {}

#[cfg(test)]
mod tests;
