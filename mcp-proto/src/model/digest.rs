//! Digests of what a state is bound to.

use core::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::Json;
use crate::frame::json::{self, ScanLimits};
use crate::frame::writer::Object;

/// The SHA-256 of a JSON value in its canonical form, so that it does not depend on how the value
/// was written.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a value. What has no canonical form, because it is nested too deeply, is
    /// digested as it is.
    pub fn of(value: &Json) -> Self {
        Self::of_text(value.as_bytes())
    }

    /// The digest of arguments, where none are those of an empty object.
    pub fn of_arguments(arguments: Option<&Json>) -> Self {
        Self::of_text(arguments.map_or(b"{}", Json::as_bytes))
    }

    /// The digest of answers by key, in whatever order they came.
    pub fn of_answers(answers: &[(String, Json)]) -> Self {
        let mut text = Vec::new();
        let mut object = Object::begin(&mut text);
        for (key, answer) in answers {
            object.raw(key, answer.as_bytes());
        }
        object.end();
        Self::of_text(&text)
    }

    /// The digest in text.
    pub(crate) fn to_text(self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Reads what [`to_text`](Self::to_text) gave.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        Some(Self(URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?))
    }

    /// The digest of JSON text.
    pub(crate) fn of_text(text: &[u8]) -> Self {
        let mut canonical = Vec::with_capacity(text.len());
        let text = match json::canonical(text, &ScanLimits::default(), &mut canonical) {
            Ok(()) => &canonical,
            Err(_) => text,
        };
        Self(Sha256::digest(text).into())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}
