//! Requests that the framing layer refuses by itself.

use core::fmt;

/// Why a request was refused before anything above HTTP framing saw it whole.
///
/// The connection closes after the response, whatever its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// 400: the bytes are no unambiguous request; the text says what is wrong.
    Malformed(&'static str),
    /// 408: the head or the body took too long.
    Timeout,
    /// 413: the body is longer than [`Limits::body`](super::Limits::body).
    BodyTooLarge,
    /// 414: the target is longer than [`Limits::target`](super::Limits::target).
    TargetTooLong,
    /// 417: an expectation other than `100-continue`.
    ExpectationFailed,
    /// 431: too many header fields, or a head that is too long.
    HeadTooLarge,
    /// 501: a transfer coding that we do not decode, or `CONNECT`.
    NotImplemented(&'static str),
    /// 505: a version of HTTP other than 1.0 and 1.1.
    VersionNotSupported,
}

impl Refusal {
    /// The response's status code.
    pub fn status(&self) -> u16 {
        match self {
            Self::Malformed(_) => 400,
            Self::Timeout => 408,
            Self::BodyTooLarge => 413,
            Self::TargetTooLong => 414,
            Self::ExpectationFailed => 417,
            Self::HeadTooLarge => 431,
            Self::NotImplemented(_) => 501,
            Self::VersionNotSupported => 505,
        }
    }

    /// One line of English for the response's body or a log; holds nothing the peer sent.
    pub fn text(&self) -> &'static str {
        match self {
            Self::Malformed(why) | Self::NotImplemented(why) => why,
            Self::Timeout => "the request took too long to arrive",
            Self::BodyTooLarge => "the request body is too large",
            Self::TargetTooLong => "the request target is too long",
            Self::ExpectationFailed => "no expectation but 100-continue can be met",
            Self::HeadTooLarge => "the request head is too large",
            Self::VersionNotSupported => "only HTTP/1.0 and HTTP/1.1 are spoken here",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text(), self.status())
    }
}

impl std::error::Error for Refusal {}
