//! Strings that live in a message.

use core::fmt;
use core::ops::Deref;
use std::borrow::Cow;

use bytes::Bytes;

/// A string that shares its message's bytes: cloning it copies nothing.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Text(Bytes);

impl Text {
    /// The text of `bytes`, or `None` where they are not UTF-8.
    pub fn from_utf8(bytes: Bytes) -> Option<Self> {
        core::str::from_utf8(&bytes).ok()?;
        Some(Self(bytes))
    }

    /// A text that was read in `message`: a part of it, unless it had escapes.
    pub(crate) fn within(message: &Bytes, text: Cow<'_, str>) -> Self {
        match text {
            Cow::Borrowed(part) => Self(message.slice_ref(part.as_bytes())),
            Cow::Owned(text) => Self::from(text),
        }
    }

    /// The text as a string slice.
    pub fn as_str(&self) -> &str {
        // Checked at construction; an empty string is the harmless answer if that ever changed.
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Bytes::from(text.into_bytes()))
    }
}

impl From<&'static str> for Text {
    fn from(text: &'static str) -> Self {
        Self(Bytes::from_static(text.as_bytes()))
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
