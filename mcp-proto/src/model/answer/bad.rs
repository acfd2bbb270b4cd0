//! What came back and is no answer.

use core::fmt;

use crate::model::Misfit;

/// What came back is no answer to the question. It is asked anew, or told to the handler; it is
/// never consent. Its text quotes no more of the client's words than a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadAnswer {
    /// An error came back.
    Error {
        /// The error's code: -1 where a person refused sampling (R24-SAMP-07).
        code: i64,
        /// What the client says about it.
        message: String,
    },
    /// Nothing came back in time, and the question was withdrawn. That is no cancel: nobody made a
    /// choice (R26-ELIC-10).
    TimedOut,
    /// It is no object, or names a member twice.
    NotAnObject,
    /// It does not say what was done with the question.
    NoAction,
    /// Nobody can have done this with a question.
    UnknownAction(String),
    /// A field of the form does not fit.
    Field {
        /// The field.
        name: String,
        /// Why.
        why: Misfit,
    },
    /// A member of a model's answer, or of the roots, is missing or malformed.
    Member(&'static str),
    /// A root that is no `file://` URI (R24-ROOT-03).
    RootUri(String),
}

impl fmt::Display for BadAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error { code, message } => {
                write!(f, "the client answered with an error: {message:.200} ({code})")
            }
            Self::TimedOut => f.write_str("nobody answered the question in time"),
            Self::NotAnObject => f.write_str("an answer is an object that names each member once"),
            Self::NoAction => {
                f.write_str("the answer's `action` must be `accept`, `decline` or `cancel`")
            }
            Self::UnknownAction(action) => write!(
                f,
                "the answer's `action` must be `accept`, `decline` or `cancel`, not `{action:.40}`"
            ),
            Self::Field { name, why } => write!(f, "the answer's field `{name:.200}` {why}"),
            Self::Member(name) => write!(f, "the answer's `{name}` is missing or malformed"),
            Self::RootUri(uri) => write!(f, "the root `{uri:.200}` is no file:// URI"),
        }
    }
}

impl core::error::Error for BadAnswer {}
