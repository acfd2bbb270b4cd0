//! Values of the headers that mirror a request's body: `Mcp-Name` and `Mcp-Param-*`
//! (R26-HDR-05 to R26-HDR-29, T-44 to T-46).
//!
//! A value that is not safe as plain text travels as `=?base64?` + Base64 of its UTF-8 + `?=`.

use std::borrow::Cow;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::json::{self, Kind};

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// The header value for a text: itself where it is safe, else in Base64 form
/// (R26-HDR-07, R26-HDR-15, R26-HDR-16). An empty text is an empty value.
pub fn encode(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
        && sentinel(text).is_none();
    if plain {
        return Cow::Borrowed(text);
    }
    let mut value = String::from(PREFIX);
    STANDARD.encode_string(text, &mut value);
    value.push_str(SUFFIX);
    Cow::Owned(value)
}

/// The text of a header value as received: without the white space around it, and out of its
/// Base64 form if it has one (R26-HDR-17, R26-HDR-20).
pub fn decode(value: &[u8]) -> Result<Cow<'_, str>, InvalidHeaderValue> {
    let text = plain(value)?;
    let Some(encoded) = sentinel(text) else { return Ok(Cow::Borrowed(text)) };
    let bytes = STANDARD.decode(encoded).map_err(|_| InvalidHeaderValue::Base64)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Owned(text)),
        Err(_) => Err(InvalidHeaderValue::Utf8),
    }
}

/// A header value taken literally, without the white space around it: for `Mcp-Method` and
/// `MCP-Protocol-Version`, which have no Base64 form (R26-HDR-05).
pub fn plain(value: &[u8]) -> Result<&str, InvalidHeaderValue> {
    let value = without_white_space(value);
    let legal = |byte: &u8| *byte == b'\t' || (b' '..=b'~').contains(byte);
    let text = std::str::from_utf8(value).ok().filter(|_| value.iter().all(legal));
    text.ok_or(InvalidHeaderValue::Character)
}

/// Whether this can be the name in an `x-mcp-header` annotation: an HTTP token, `1*tchar`
/// (R26-HDR-09).
pub fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(is_tchar)
}

/// Whether the byte can be in an HTTP token (RFC 9110, section 5.6.2).
pub(crate) fn is_tchar(byte: u8) -> bool {
    TCHARS[usize::from(byte)]
}

const TCHARS: [bool; 256] = {
    let mut table = [false; 256];
    let marks = b"!#$%&'*+-.^_`|~";
    let mut mark = 0;
    while mark < marks.len() {
        table[marks[mark] as usize] = true;
        mark += 1;
    }
    let mut byte = 0;
    while byte < 128 {
        table[byte] |= (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    table
};

/// The value without the spaces and tabs around it.
fn without_white_space(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// What is between the markers, which are case-sensitive and may not overlap.
fn sentinel(text: &str) -> Option<&str> {
    text.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)
}

/// Why a header value cannot be read (R26-HDR-20).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidHeaderValue {
    /// A control character or an octet outside ASCII.
    Character,
    /// What is between the Base64 markers is not Base64, with its padding.
    Base64,
    /// The Base64 form does not hold UTF-8.
    Utf8,
}

impl fmt::Display for InvalidHeaderValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Character => "a character that a header value may not have",
            Self::Base64 => "invalid Base64",
            Self::Utf8 => "Base64 of something that is not UTF-8",
        })
    }
}

impl std::error::Error for InvalidHeaderValue {}

/// An argument that a header can mirror.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scalar<'a> {
    /// A JSON string, its escapes resolved.
    Text(Cow<'a, str>),
    /// A JSON number that is an integer of at most 2^53 - 1 either way, however it is spelled
    /// (R26-HDR-10).
    Integer(i64),
    /// `true` or `false`.
    Boolean(bool),
}

impl<'a> Scalar<'a> {
    /// Reads one validated JSON value; `None` for what no header mirrors: null, a fraction, an
    /// integer out of range, an array, an object (R26-HDR-23, T-45).
    pub fn from_json(value: &'a [u8]) -> Option<Self> {
        match json::kind(value) {
            Kind::String => json::string(value).map(Self::Text),
            Kind::Number => json::integer(value).map(Self::Integer),
            Kind::True => Some(Self::Boolean(true)),
            Kind::False => Some(Self::Boolean(false)),
            Kind::Object | Kind::Array | Kind::Null => None,
        }
    }

    /// The header value that mirrors this argument (R26-HDR-14).
    pub fn to_header(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => encode(text),
            Self::Integer(integer) => Cow::Owned(integer.to_string()),
            Self::Boolean(boolean) => Cow::Borrowed(spelled(*boolean)),
        }
    }

    /// Whether a decoded header says the same: text exactly, integers by number
    /// (R26-HDR-25, R26-HDR-26).
    pub fn agrees_with(&self, decoded: &str) -> bool {
        match self {
            Self::Text(text) => text == decoded,
            Self::Integer(integer) => json::integer(decoded.as_bytes()) == Some(*integer),
            Self::Boolean(boolean) => decoded == spelled(*boolean),
        }
    }
}

fn spelled(boolean: bool) -> &'static str {
    if boolean { "true" } else { "false" }
}

#[cfg(test)]
mod tests;
