//! Request ids and progress tokens: a string or an integer, echoed as it was written.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use bytes::Bytes;

use crate::frame::json::{self, Kind};

/// A string or an integer that keeps its JSON text.
///
/// Equality, order and hash go by type and decoded value: `"1"` is not `1`, but `"\u0031"` is
/// `"1"` and `1.0` is `1`.
#[derive(Clone)]
enum Token {
    /// Ids up to a quoted UUID need no allocation.
    Inline {
        len: u8,
        json: [u8; INLINE],
    },
    Shared(Bytes),
}

const INLINE: usize = 38;

/// What tokens are compared by.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Value<'a> {
    Integer(i64),
    /// An integer beyond what [`json::integer`] reads: digits alone.
    Digits(Cow<'a, str>),
    Text(Cow<'a, str>),
}

impl Token {
    fn from_json(json: &[u8]) -> Option<Self> {
        let json = json.trim_ascii();
        let valid = match json::kind(json) {
            Kind::String => json::string(json).is_some(),
            Kind::Number => json::is_integer(json),
            _ => false,
        };
        valid.then(|| Token::new(json))
    }

    fn from_text(text: &str) -> Self {
        let mut json = Vec::with_capacity(text.len() + 2);
        json::write_string(&mut json, text);
        Token::new(&json)
    }

    fn from_integer(integer: i64) -> Self {
        Token::new(itoa::Buffer::new().format(integer).as_bytes())
    }

    fn new(json: &[u8]) -> Self {
        let mut inline = [0; INLINE];
        match (inline.get_mut(..json.len()), u8::try_from(json.len())) {
            (Some(start), Ok(len)) => {
                start.copy_from_slice(json);
                Token::Inline { len, json: inline }
            }
            _ => Token::Shared(Bytes::copy_from_slice(json)),
        }
    }

    fn json(&self) -> &[u8] {
        match self {
            Token::Inline { len, json } => json.get(..usize::from(*len)).unwrap_or_default(),
            Token::Shared(json) => json,
        }
    }

    fn is(&self, other: &Self) -> bool {
        let (json, others) = (self.json(), other.json());
        json == others
            || !(is_only_spelling(json) && is_only_spelling(others))
                && self.value() == other.value()
    }

    fn value(&self) -> Value<'_> {
        let json = self.json();
        if let Some(text) = json::string(json) {
            return Value::Text(text);
        }
        match json::integer(json) {
            Some(integer) => Value::Integer(integer),
            None => Value::Digits(String::from_utf8_lossy(json)),
        }
    }
}

/// Whether no other text means the same: a string without escapes, or digits alone.
fn is_only_spelling(json: &[u8]) -> bool {
    match json.first() {
        Some(b'"') => memchr::memchr(b'\\', json).is_none(),
        _ => json.iter().all(u8::is_ascii_digit),
    }
}

macro_rules! token {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// It keeps its JSON text, to be echoed as it was written; long ones share it, so a clone
        /// is cheap. Equality, order and hash go by type and decoded value: `"1"` is not `1`, but
        /// `"\u0031"` is `"1"`.
        #[derive(Clone)]
        pub struct $name(Token);

        impl $name {
            /// Reads a validated JSON value; `None` unless it is a string or an integer.
            pub fn from_json(json: &[u8]) -> Option<Self> {
                Token::from_json(json).map($name)
            }

            /// The JSON text.
            pub fn as_json(&self) -> &[u8] {
                self.0.json()
            }

            /// The text of a string; `None` for an integer.
            pub fn as_text(&self) -> Option<Cow<'_, str>> {
                json::string(self.as_json())
            }

            /// The integer, if it is one of at most 2^53 - 1 either way.
            pub fn as_integer(&self) -> Option<i64> {
                json::integer(self.as_json())
            }
        }

        impl From<i64> for $name {
            fn from(integer: i64) -> Self {
                $name(Token::from_integer(integer))
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                $name(Token::from_text(text))
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.0.is(&other.0)
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.0.value().cmp(&other.0.value())
            }
        }

        impl Hash for $name {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.value().hash(state);
            }
        }

        /// Writes the JSON text.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&String::from_utf8_lossy(self.as_json()))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

token! {
    /// The id of a request: a string or an integer, never null (R24-RPC-02, R24-RPC-03).
    RequestId
}

token! {
    /// The token that relates progress to its request: a string or an integer.
    ProgressToken
}

impl RequestId {
    /// The integer id that a gateway may have turned into this string: `"7"` gives `7`, `"07"`
    /// nothing.
    ///
    /// For a client that found no request under the id of a response, never for an id to echo.
    pub fn unquoted(&self) -> Option<RequestId> {
        let text = self.as_text()?;
        let integer = json::integer(text.as_bytes())?;
        (itoa::Buffer::new().format(integer) == text).then(|| RequestId::from(integer))
    }
}
