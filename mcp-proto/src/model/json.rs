//! One JSON value, kept as its text.

use core::fmt;
use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::frame::json;

/// One JSON value, kept as its text: what the protocol passes through is not rebuilt.
///
/// Cloning shares the bytes. Two values are equal when their texts are.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Bytes);

impl Json {
    /// Text that is known to be one JSON value, because the scanner walked over it.
    pub(crate) fn scanned(text: Bytes) -> Self {
        Self(text)
    }

    /// Checks that `text` is one JSON value, written without a line break.
    ///
    /// # Errors
    /// The scanner's verdict, with the position.
    pub fn parse(text: impl Into<Bytes>) -> Result<Self, json::ScanError> {
        let text = text.into();
        json::scan(&text, &json::ScanLimits::default())?;
        if memchr::memchr2(b'\n', b'\r', &text).is_none() {
            return Ok(Self(text));
        }
        let mut compact = Vec::with_capacity(text.len());
        json::compact(&text, &mut compact);
        Ok(Self(compact.into()))
    }

    /// The JSON text of `value`.
    ///
    /// # Errors
    /// Where `value` cannot be JSON: a map with keys that are not strings, or an error of its own
    /// `Serialize` implementation.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        // A vector with room to spare costs one allocation more as `Bytes`; most values are small.
        let mut small = [0; 512];
        let mut room = &mut small[..];
        match serde_json::to_writer(&mut room, value) {
            Ok(()) => {
                let left = room.len();
                Ok(Self(Bytes::copy_from_slice(&small[..small.len() - left])))
            }
            Err(error) if error.is_io() => Ok(Self(serde_json::to_vec(value)?.into())),
            Err(error) => Err(error),
        }
    }

    /// Decodes the value. A number without a fraction is an integer however it is written, as `2.0`
    /// or `1e2` (JSON Schema 2020-12, Validation, section 6.1.1).
    ///
    /// # Errors
    /// Where the value does not have the shape of `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        decode(&self.0)
    }

    /// The text's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or("null")
    }

    /// The JSON type of the value.
    pub fn kind(&self) -> json::Kind {
        json::kind(&self.0)
    }

    /// Appends the value as one line: what peers and applications wrote may have line breaks
    /// between its tokens, and lines frame messages (R24-STDIO-02).
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self.is_one_line() {
            true => out.extend_from_slice(&self.0),
            false => json::compact(&self.0, out),
        }
    }

    /// The text as one line.
    pub(crate) fn one_line(&self) -> Cow<'_, str> {
        if self.is_one_line() {
            return Cow::Borrowed(self.as_str());
        }
        let mut compact = Vec::with_capacity(self.0.len());
        json::compact(&self.0, &mut compact);
        Cow::Owned(String::from_utf8(compact).unwrap_or_default())
    }

    fn is_one_line(&self) -> bool {
        memchr::memchr2(b'\n', b'\r', &self.0).is_none()
    }

    /// The text's bytes, shared.
    pub fn into_bytes(self) -> Bytes {
        self.0
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

/// A validated text as a `T`; see [`Json::decode`].
pub(crate) fn decode<T: DeserializeOwned>(text: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(text).or_else(|error| match json::with_plain_integers(text) {
        Some(plain) => serde_json::from_slice(&plain),
        None => Err(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_any_size_is_written_whole() {
        for length in [0, 1, 509, 510, 511, 100_000] {
            let text = "a".repeat(length);
            let written = Json::of(&text).unwrap();
            assert_eq!(written.as_str(), format!("\"{text}\""));
        }
        let keyed = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert!(Json::of(&keyed).is_err());
    }
}
