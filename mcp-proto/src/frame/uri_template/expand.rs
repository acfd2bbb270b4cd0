//! Parts and values to a URI (RFC 6570, 3).

use std::borrow::Cow;
use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::parse::percent_encoded;
use super::{Modifier, Operator, Part, Variable};

/// The value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value<'a> {
    /// A text, possibly empty.
    Text(Cow<'a, str>),
    /// A list; an empty one counts as no value.
    List(Vec<Cow<'a, str>>),
    /// Names with values, in this order; none at all counts as no value.
    Pairs(Vec<(Cow<'a, str>, Cow<'a, str>)>),
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

/// A prefix modifier met a list or pairs, which have no prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpandError {
    /// The name of the variable.
    pub variable: String,
}

impl fmt::Display for ExpandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the variable {} is no text: a prefix of it cannot be taken", self.variable)
    }
}

impl std::error::Error for ExpandError {}

pub(super) fn expand<'v>(
    parts: &[Part],
    lookup: impl Fn(&str) -> Option<Value<'v>>,
) -> Result<String, ExpandError> {
    let mut uri = String::new();
    for part in parts {
        match part {
            Part::Literal(text) => uri.push_str(text),
            Part::Expression { operator, variables } => {
                let mut out = Expansion { operator, uri: &mut uri, started: false };
                for variable in variables {
                    if let Some(value) = lookup(&variable.name) {
                        out.variable(variable, &value)?;
                    }
                }
            }
        }
    }
    Ok(uri)
}

/// One expression on its way into the URI.
struct Expansion<'a> {
    operator: &'static Operator,
    uri: &'a mut String,
    started: bool,
}

impl Expansion<'_> {
    fn variable(&mut self, variable: &Variable, value: &Value<'_>) -> Result<(), ExpandError> {
        let name = Some(variable.name.as_str()).filter(|_| self.operator.named);
        match (value, variable.modifier) {
            (Value::Text(text), Modifier::Prefix(length)) => {
                let end = text.char_indices().nth(length).map_or(text.len(), |(end, _)| end);
                self.item(name, text.get(..end).unwrap_or(text));
            }
            (Value::Text(text), Modifier::None | Modifier::Explode) => self.item(name, text),
            (Value::List(_) | Value::Pairs(_), Modifier::Prefix(_)) => {
                return Err(ExpandError { variable: variable.name.clone() });
            }
            (Value::List(items), Modifier::Explode) => {
                items.iter().for_each(|item| self.item(name, item));
            }
            (Value::Pairs(pairs), Modifier::Explode) => {
                for (key, value) in pairs {
                    self.separate();
                    self.encoded(key);
                    self.equals(value);
                    self.encoded(value);
                }
            }
            (Value::List(items), Modifier::None) => {
                self.joined(name, items.iter());
            }
            (Value::Pairs(pairs), Modifier::None) => {
                self.joined(name, pairs.iter().flat_map(|(key, value)| [key, value]));
            }
        }
        Ok(())
    }

    /// One value, with its name where the operator has names.
    fn item(&mut self, name: Option<&str>, value: &str) {
        self.separate();
        if let Some(name) = name {
            self.uri.push_str(name);
            self.equals(value);
        }
        self.encoded(value);
    }

    /// Values as one, with commas.
    fn joined<'i>(&mut self, name: Option<&str>, items: impl Iterator<Item = &'i Cow<'i, str>>) {
        for (index, item) in items.enumerate() {
            match (index, name) {
                (0, None) => self.separate(),
                (0, Some(name)) => {
                    self.separate();
                    self.uri.push_str(name);
                    self.uri.push('=');
                }
                _ => self.uri.push(','),
            }
            self.encoded(item);
        }
    }

    fn separate(&mut self) {
        let started = std::mem::replace(&mut self.started, true);
        self.uri.push_str(if started { self.operator.separator } else { self.operator.first });
    }

    /// What stands between a name and this value.
    fn equals(&mut self, value: &str) {
        let short = self.operator.named && value.is_empty();
        self.uri.push_str(if short { self.operator.if_empty } else { "=" });
    }

    fn encoded(&mut self, value: &str) {
        if !self.operator.reserved {
            self.uri.extend(utf8_percent_encode(value, ENCODED));
            return;
        }
        let mut rest = value;
        while let Some(percent) = rest.find('%') {
            let (before, from) = rest.split_at(percent);
            self.uri.extend(utf8_percent_encode(before, ENCODED_IN_RESERVED));
            let kept = if percent_encoded(from.as_bytes()).is_some() { "%" } else { "%25" };
            self.uri.push_str(kept);
            rest = from.get(1..).unwrap_or_default();
        }
        self.uri.extend(utf8_percent_encode(rest, ENCODED_IN_RESERVED));
    }
}

/// All but the unreserved characters of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// All but the unreserved and the reserved ones.
const ENCODED_IN_RESERVED: &AsciiSet = &ENCODED
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'#')
    .remove(b'[')
    .remove(b']')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=');
