//! The JSON scanner: one walk over a message's bytes.
//!
//! [`scan`] checks the whole text against RFC 8259 (structure, UTF-8, escapes, lone surrogates,
//! nesting) and yields where the members of the envelope, of `params`, `result` and `error`, and of
//! the `_meta` in them lie. Duplicate members at those levels are refused, names being compared
//! after unescaping and exactly: `"Method"`, `"method\u0000"` and `"param\u017f"` are merely other
//! names. Everything else is left where it is, for serde to decode inside the ranges.
//!
//! **The law**: what the scanner accepts, `serde_json` accepts. It is stricter in three documented
//! points only: duplicates at the levels above, the nesting limit, and a text beyond 4 GiB.
//! `serde_json` itself opens at most 127 containers, one less than our default, which is never
//! felt because decoding starts below the envelope. A number whose value no `f64` holds (`1e999`,
//! or 5,000 digits) is refused by both.

use std::fmt;

mod canonical;
mod compact;
mod members;
mod number;
#[cfg(test)]
mod tests;
mod text;
mod walk;

pub use canonical::canonical;
pub use compact::compact;
pub use members::{Member, Members};
pub(crate) use number::with_plain_integers;
pub use number::{integer, is_integer};
pub(crate) use text::without_lone_surrogates;
pub use text::{string, write_string};

use walk::{Walked, Walker};

/// A byte range in a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes of the range in `src`; empty where the range does not fit.
    pub fn of(self, src: &[u8]) -> &[u8] {
        src.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// The same range seen from where `outer`, in which it was found, begins.
    pub fn within(self, outer: Span) -> Span {
        let shift = |at: u32| at.saturating_add(outer.start);
        Span { start: shift(self.start), end: shift(self.end) }
    }

    /// How many bytes it covers.
    pub fn len(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Whether it covers none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// What a scan allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanLimits {
    /// How many objects and arrays may be open at once: 128 by default.
    pub depth: usize,
}

impl ScanLimits {
    /// The defaults with another nesting limit.
    pub const fn depth(depth: usize) -> Self {
        ScanLimits { depth }
    }
}

impl Default for ScanLimits {
    fn default() -> Self {
        ScanLimits::depth(128)
    }
}

/// Why a text was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ScanErrorKind {
    /// Not JSON by its grammar, or cut short.
    Syntax,
    /// A string that is not UTF-8.
    Utf8,
    /// A `\u` escape that is half of a surrogate pair.
    LoneSurrogate,
    /// A number that no `f64` holds.
    Number,
    /// Containers nested deeper than the limit.
    Depth,
    /// A member named twice at a level where the protocol reads members.
    Duplicate,
    /// Something after the end of the value.
    Trailing,
    /// Nothing but white space.
    Empty,
    /// More bytes than a [`Span`] can address.
    TooLong,
}

/// The peer's text was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanError {
    /// Why.
    pub kind: ScanErrorKind,
    /// At which byte.
    pub at: usize,
}

impl ScanError {
    /// Whether the text is no JSON at all (-32700), rather than JSON that this library refuses
    /// (-32600): too deep, or with a member named twice.
    pub fn is_parse_error(&self) -> bool {
        !matches!(self.kind, ScanErrorKind::Depth | ScanErrorKind::Duplicate)
    }
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            ScanErrorKind::Syntax => "text that is not JSON",
            ScanErrorKind::Utf8 => "a string that is not UTF-8",
            ScanErrorKind::LoneSurrogate => "a lone surrogate",
            ScanErrorKind::Number => "a number out of range",
            ScanErrorKind::Depth => "JSON nested too deeply",
            ScanErrorKind::Duplicate => "a member named twice",
            ScanErrorKind::Trailing => "text after the JSON value",
            ScanErrorKind::Empty => "an empty text",
            ScanErrorKind::TooLong => "a text too long to address",
        };
        write!(f, "the peer sent {what} (byte {})", self.at)
    }
}

impl std::error::Error for ScanError {}

/// What a JSON value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `{..}`
    Object,
    /// `[..]`
    Array,
    /// `".."`
    String,
    /// A number.
    Number,
    /// `true`
    True,
    /// `false`
    False,
    /// `null`
    #[default]
    Null,
}

/// What a validated value is, by its first byte (leading white space is skipped). Anything that
/// begins no other kind counts as null.
pub fn kind(value: &[u8]) -> Kind {
    match value.trim_ascii_start().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b'-' | b'0'..=b'9') => Kind::Number,
        Some(b't') => Kind::True,
        Some(b'f') => Kind::False,
        _ => Kind::Null,
    }
}

/// What [`scan`] found: the members that the protocol reads. Ranges are in the scanned text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// What the text is. Anything but an object has no members.
    pub root: Kind,
    /// The root object's members.
    pub envelope: Members,
    /// The members of `params`, where it is an object.
    pub params: Option<Members>,
    /// The members of `params._meta`, where it is an object.
    pub meta: Option<Members>,
    /// The members of `result`, where it is an object.
    pub result: Option<Members>,
    /// The members of `result._meta`, where it is an object.
    pub result_meta: Option<Members>,
    /// The members of `error`, where it is an object.
    pub error: Option<Members>,
}

/// Checks one JSON text and finds the members that the protocol reads (see the [module](self)).
///
/// Linear in the text; allocates only for objects with more members than usual.
///
/// # Errors
/// [`ScanError`] for anything that is not one JSON value, and for the stricter points.
pub fn scan(src: &[u8], limits: &ScanLimits) -> Result<Message, ScanError> {
    let mut message = Message::default();
    let mut walker = Walker::new(src, limits.depth);
    match walk(&mut walker, &mut message) {
        Ok(()) => Ok(message),
        Err(kind) => Err(walker.fault(kind)),
    }
}

/// The top-level elements of a validated array, as ranges in it. A text that is no array has none.
pub fn elements(array: &[u8]) -> Elements<'_> {
    let mut walker = Walker::new(array, usize::MAX);
    let is_array = walker.begin().is_ok() && walker.at() == Some(b'[');
    Elements { walker: is_array.then_some(walker) }
}

/// Iterator of [`elements`].
#[derive(Debug)]
pub struct Elements<'a> {
    walker: Option<Walker<'a>>,
}

impl Iterator for Elements<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let element = self.walker.as_mut()?.element();
        if element.is_none() {
            self.walker = None;
        }
        element
    }
}

/// The members of a validated object, as ranges in it, repeated names included. A text that is no
/// object has none.
pub fn members(object: &[u8]) -> Members {
    let mut found = Members::default();
    // What was found before a fault counts.
    let _ = collect(&mut Walker::new(object, usize::MAX), &mut found);
    found
}

/// As [`members`], refusing a name that occurs twice.
///
/// # Errors
/// [`ScanErrorKind::Duplicate`] at the second occurrence.
pub fn unique_members(object: &[u8]) -> Result<Members, ScanError> {
    let mut found = Members::default();
    let mut walker = Walker::new(object, usize::MAX);
    match collect(&mut walker, &mut found).and_then(|()| walker.finish()) {
        Err(ScanErrorKind::Duplicate) => Err(walker.fault(ScanErrorKind::Duplicate)),
        _ => Ok(found),
    }
}

fn collect(walker: &mut Walker<'_>, found: &mut Members) -> Walked {
    walker.begin()?;
    leaf(walker, found)
}

/// Walks the root value. A duplicate is kept until the end: only then is it known that the text is
/// JSON, and what its `id` is.
fn walk(walker: &mut Walker<'_>, message: &mut Message) -> Walked {
    walker.begin()?;
    let rest = walker.rest();
    if rest.is_empty() {
        return Err(ScanErrorKind::Empty);
    }
    message.root = kind(rest);
    match message.root {
        Kind::Object => envelope(walker, message)?,
        _ => walker.value()?,
    }
    walker.finish()
}

fn envelope(walker: &mut Walker<'_>, message: &mut Message) -> Walked {
    let Message { envelope, params, meta, result, result_meta, error, .. } = message;
    walker.object(envelope, |walker, name| {
        if walker.at() != Some(b'{') {
            walker.value()
        } else if walker.named(name, "params") {
            body(walker, params.insert(Members::default()), meta)
        } else if walker.named(name, "result") {
            body(walker, result.insert(Members::default()), result_meta)
        } else if walker.named(name, "error") {
            leaf(walker, error.insert(Members::default()))
        } else {
            walker.value()
        }
    })
}

fn body(walker: &mut Walker<'_>, members: &mut Members, meta: &mut Option<Members>) -> Walked {
    walker.object(members, |walker, name| {
        if walker.at() == Some(b'{') && walker.named(name, "_meta") {
            leaf(walker, meta.insert(Members::default()))
        } else {
            walker.value()
        }
    })
}

fn leaf(walker: &mut Walker<'_>, members: &mut Members) -> Walked {
    walker.object(members, |walker, _| walker.value())
}
