//! An object's members, read by name.

use std::borrow::Cow;

use super::Json;
use crate::frame::json::{self, Kind, Members};

/// The members of one validated object.
#[derive(Debug)]
pub(crate) struct View<'a> {
    text: &'a [u8],
    members: Members,
}

impl<'a> View<'a> {
    /// `None` where `text` is no object, or names a member twice: whoever reads the other one
    /// would understand something else.
    pub(crate) fn of(text: &'a [u8]) -> Option<Self> {
        if json::kind(text) != Kind::Object {
            return None;
        }
        Some(Self { text, members: json::unique_members(text).ok()? })
    }

    /// The object's own text.
    pub(crate) fn text(&self) -> &'a [u8] {
        self.text
    }

    /// A member's value.
    pub(crate) fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.members.get(self.text, name).map(|span| span.of(self.text))
    }

    /// A member that is a string.
    pub(crate) fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(json::string)
    }

    /// A member that is an object.
    pub(crate) fn object(&self, name: &str) -> Option<Self> {
        self.get(name).and_then(Self::of)
    }

    /// A member, copied.
    pub(crate) fn json(&self, name: &str) -> Option<Json> {
        self.get(name).map(copied)
    }

    /// All members, in the order of the text.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Cow<'a, str>, &'a [u8])> {
        let text = self.text;
        self.members.iter().map(move |member| (member.decoded_name(text), member.value.of(text)))
    }
}

/// A validated value, copied out of the text around it.
pub(crate) fn copied(value: &[u8]) -> Json {
    Json::scanned(value.to_vec().into())
}

/// The values of a validated array; none where it is no array.
pub(crate) fn elements(array: &[u8]) -> impl Iterator<Item = &[u8]> {
    json::elements(array).map(|span| span.of(array))
}

/// The number that a validated value is. Read by `str::parse`, so that what was written as the
/// shortest text of a number is read as that very number.
pub(crate) fn number(value: &[u8]) -> Option<f64> {
    if json::kind(value) != Kind::Number {
        return None;
    }
    core::str::from_utf8(value).ok()?.trim().parse().ok()
}

/// What a validated string, number or boolean is as text; `None` for anything else.
pub(crate) fn scalar_text(value: &[u8]) -> Option<Cow<'_, str>> {
    match json::kind(value) {
        Kind::String => json::string(value),
        Kind::Number | Kind::True | Kind::False => {
            core::str::from_utf8(value.trim_ascii()).ok().map(Cow::Borrowed)
        }
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}

/// The boolean that a validated value is.
pub(crate) fn boolean(value: &[u8]) -> Option<bool> {
    match json::kind(value) {
        Kind::True => Some(true),
        Kind::False => Some(false),
        _ => None,
    }
}
