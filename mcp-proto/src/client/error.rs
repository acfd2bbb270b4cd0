//! Why a call has no result.

use core::fmt;
use core::time::Duration;
use std::borrow::Cow;

use super::InvalidUrl;
use crate::Printable;
use crate::model::{FailureKind, InputRequired};
use crate::revision::{BadReply, ServerError};

/// Why a call has no result, and whether it may have run.
///
/// Its `Debug` is the text of its `Display`, since that is what a `main` that returns it prints;
/// `{:#?}` has the fields.
#[derive(Clone, PartialEq)]
pub struct ClientError {
    /// What happened.
    pub kind: ErrorKind,
    /// Whether the server may have begun to run the call.
    pub ran: Ran,
}

/// Whether the server may have begun to run a call that has no result. Only what never ran is safe
/// to repeat without thought (T-38).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// It did not: it was not sent, or it was refused before anything ran.
    Never,
    /// It may have, wholly or in part.
    Maybe,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ErrorKind {
    // The caller.
    /// The caller no longer wanted it.
    Cancelled,
    /// The machine was closed.
    Closed,
    /// More calls than [`Limits::calls`](super::Limits::calls) are under way.
    TooManyCalls,
    /// Nothing can be asked in this way; the text says what instead.
    Misuse(&'static str),
    /// The call's argument for this header cannot be sent in one: it is no string, no boolean, and
    /// no integer within 2^53 - 1 (R26-HDR-10). The server would have to refuse the call.
    Unmirrored {
        /// The header's name.
        header: String,
    },
    /// The server's URL is none.
    InvalidUrl(InvalidUrl),
    /// The revision that the server speaks has no such call.
    NotInRevision,
    /// A question of the server's was not answered.
    Unanswered(String),

    /// The server asks first, and nobody is there to be asked: call again with the answers.
    InputRequired(Box<InputRequired>),

    // The server.
    /// It answered with an error.
    Server {
        /// What it says.
        error: ServerError,
        /// What its code means.
        meaning: FailureKind,
    },
    /// It wants (other) credentials: status 401, or 403 for want of a scope (C70).
    Unauthorized {
        /// The status.
        status: u16,
        /// The values of `WWW-Authenticate`.
        challenges: Vec<String>,
    },
    /// HTTP failed with this status, and the body is no message (C61).
    Http {
        /// The status.
        status: u16,
        /// Seconds after which to try again, where it says so.
        retry_after: Option<u64>,
        /// What the body says of it, if it is text or JSON that does: the first 200 characters.
        said: Option<String>,
    },
    /// It sends the request to where it does not follow.
    Redirected {
        /// The status.
        status: u16,
        /// Where to, without a query; empty where that is no URL.
        to: String,
        /// Why it does not follow.
        why: Unfollowed,
    },
    /// Server and client have no revision in common.
    NoCommonVersion {
        /// What the server offers.
        offered: Vec<String>,
    },
    /// The session was lost, and again after a new handshake.
    SessionLost,
    /// What it sent is no answer to the call.
    BadReply(BadReply),
    /// What it sent is not the protocol; the text says what of it.
    Protocol(Cow<'static, str>),
    /// It sent more than a limit allows; the text says which.
    TooMuch(&'static str),
    /// It asked more often than [`Limits::rounds`](super::Limits::rounds).
    TooManyRounds,

    // The world.
    /// It did not answer in time.
    TimedOut,
    /// The connection broke, or could not be made; the text is the carrier's.
    Connection(String),
}

/// Why a request does not go where its server sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unfollowed {
    /// That is another origin, to which nothing is told: neither credentials, nor what a call says.
    Elsewhere,
    /// It would have to become a `GET`, and lose what it says.
    Method,
    /// It was sent elsewhere [too often](super::Limits::redirects).
    TooOften,
    /// There is no URL.
    Nowhere,
}

impl fmt::Display for Unfollowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Elsewhere => "another origin; connect to that URL, if you trust it",
            Self::Method => "as a request without a body; connect to that URL instead",
            Self::TooOften => "one redirect too many",
            Self::Nowhere => "no URL",
        })
    }
}

/// Who is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erred {
    /// The caller.
    Caller,
    /// The server.
    Server,
    /// Neither: the world between them.
    World,
}

impl ClientError {
    pub(crate) fn never(kind: ErrorKind) -> Self {
        Self { kind, ran: Ran::Never }
    }

    pub(crate) fn maybe(kind: ErrorKind) -> Self {
        Self { kind, ran: Ran::Maybe }
    }

    /// Who is to blame.
    pub fn erred(&self) -> Erred {
        match self.kind {
            ErrorKind::Cancelled
            | ErrorKind::Closed
            | ErrorKind::TooManyCalls
            | ErrorKind::Misuse(_)
            | ErrorKind::Unmirrored { .. }
            | ErrorKind::InvalidUrl(_)
            | ErrorKind::NotInRevision
            | ErrorKind::InputRequired(_)
            | ErrorKind::Unanswered(_) => Erred::Caller,
            ErrorKind::TimedOut | ErrorKind::Connection(_) => Erred::World,
            _ => Erred::Server,
        }
    }

    /// Whether it may well be over by itself: the network's trouble, or the server's own.
    pub fn is_transient(&self) -> bool {
        match self.kind {
            ErrorKind::TimedOut | ErrorKind::Connection(_) => true,
            ErrorKind::Http { status, .. } => status >= 500 || matches!(status, 408 | 429),
            _ => false,
        }
    }

    /// How long the server wants its client to wait before it tries again, where it says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self.kind {
            ErrorKind::Http { retry_after, .. } => retry_after.map(Duration::from_secs),
            _ => None,
        }
    }

    /// The error that the server answered with, if it answered.
    pub fn server(&self) -> Option<&ServerError> {
        match &self.kind {
            ErrorKind::Server { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        match (&self.kind, self.ran) {
            // The answer says what became of it.
            (ErrorKind::Server { .. }, _) | (_, Ran::Never) => Ok(()),
            (_, Ran::Maybe) => f.write_str(" (the call may have run)"),
        }
    }
}

/// For people, as `main` and `unwrap` print it; the fields by `{:#?}`.
impl fmt::Debug for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match f.alternate() {
            true => f
                .debug_struct("ClientError")
                .field("kind", &self.kind)
                .field("ran", &self.ran)
                .finish(),
            false => fmt::Display::fmt(self, f),
        }
    }
}

impl core::error::Error for ClientError {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("cancelled"),
            Self::Closed => f.write_str("the client is closed"),
            Self::TooManyCalls => f.write_str("too many calls are under way"),
            Self::Misuse(why) => f.write_str(why),
            Self::Unmirrored { header } => write!(
                f,
                "the argument that {header} repeats must be a string, a boolean, or an integer \
                 within 2^53 - 1"
            ),
            Self::InvalidUrl(bad) => bad.fmt(f),
            Self::NotInRevision => {
                f.write_str("the server's revision of the protocol has no such call")
            }
            Self::Unanswered(why) => {
                write!(f, "the server's question was not answered: {}", Printable(why))
            }
            Self::InputRequired(_) => f.write_str("the server asks something first"),
            Self::Server { error, .. } => {
                let message = Printable(&error.message);
                write!(f, "the server answered with error {}: {message}", error.code)
            }
            Self::Unauthorized { status, .. } => {
                write!(f, "the server wants other credentials (status {status})")
            }
            Self::Http { status, said, .. } => {
                write!(f, "the server answered with status {status}")?;
                match said {
                    Some(said) => write!(f, ": {}", Printable(said)),
                    None => Ok(()),
                }
            }
            Self::Redirected { status, to, why } => {
                write!(f, "the server redirects to {to:?} (status {status}): {why}")
            }
            Self::NoCommonVersion { offered } if offered.is_empty() => {
                f.write_str("the server speaks no version of the protocol that the client speaks")
            }
            Self::NoCommonVersion { offered } => {
                write!(f, "the server speaks only {}", Printable(&offered.join(", ")))
            }
            Self::SessionLost => f.write_str("the server lost the session"),
            Self::BadReply(bad) => bad.fmt(f),
            Self::Protocol(what) => {
                write!(f, "the server does not keep to the protocol: {}", Printable(what))
            }
            Self::TooMuch(what) => write!(f, "the server sent too much: {what}"),
            Self::TooManyRounds => f.write_str("the server asks without end"),
            Self::TimedOut => f.write_str("no answer in time"),
            Self::Connection(why) => Printable(why).fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `main` prints of an error that it returns.
    fn printed(error: ClientError) -> String {
        format!("{error:?}")
    }

    #[test]
    fn a_main_that_returns_the_error_prints_what_a_person_reads() {
        let refused = || ErrorKind::Connection("connection refused\u{7}".to_owned());
        assert_eq!(printed(ClientError::never(refused())), r"connection refused\u{7}");
        assert_eq!(
            printed(ClientError::maybe(refused())),
            r"connection refused\u{7} (the call may have run)"
        );
        assert_eq!(printed(ClientError::never(ErrorKind::TimedOut)), "no answer in time");
        let challenges = vec!["Bearer error=\"invalid_token\"".to_owned()];
        let unauthorized = ErrorKind::Unauthorized { status: 401, challenges };
        assert_eq!(
            printed(ClientError::never(unauthorized)),
            "the server wants other credentials (status 401)"
        );
        let boxed: Box<dyn core::error::Error> = Box::new(ClientError::never(ErrorKind::Closed));
        assert_eq!(format!("{boxed:?}"), "the client is closed");
    }

    #[test]
    fn the_fields_are_shown_where_they_are_asked_for() {
        let shown = format!("{:#?}", ClientError::maybe(ErrorKind::TimedOut));
        assert_eq!(shown, "ClientError {\n    kind: TimedOut,\n    ran: Maybe,\n}");
    }
}
