//! Why a request is not admitted.

use core::fmt;
use std::collections::BTreeSet;

/// Why a request is not admitted; [`Authorization::challenge`](super::Authorization::challenge)
/// says so to the client.
///
/// It never holds the token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// 401: no bearer token was given, so the challenge names no error (RFC 6750, section 3.1).
    Missing,
    /// 400 `invalid_request`: the `Authorization` header is there, and no bearer token can be
    /// read from it (R2503-AUTH-08).
    Malformed,
    /// 401 `invalid_token`: unknown, expired, revoked, or not meant for this resource
    /// (R2503-AUTH-07, R2506-ATOK-04).
    Invalid,
    /// 403 `insufficient_scope`: all scopes that the operation needs, held or not, so that one
    /// round of consent is enough (R26-AFLOW-11, R26-AFLOW-12).
    InsufficientScope(BTreeSet<String>),
    /// 503: the verifier cannot answer now. The token may be good, so there is no challenge, and
    /// the client keeps it.
    Unavailable,
}

impl Refusal {
    /// The response's status.
    pub fn status(&self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::Missing | Self::Invalid => 401,
            Self::InsufficientScope(_) => 403,
            Self::Unavailable => 503,
        }
    }

    /// The `error` of the challenge, where it has one (RFC 6750, section 3.1).
    pub fn error(&self) -> Option<&'static str> {
        match self {
            Self::Missing | Self::Unavailable => None,
            Self::Malformed => Some("invalid_request"),
            Self::Invalid => Some("invalid_token"),
            Self::InsufficientScope(_) => Some("insufficient_scope"),
        }
    }

    /// One sentence for the client; it tells nothing about the token.
    pub fn text(&self) -> &'static str {
        match self {
            Self::Missing => "this needs a bearer token",
            Self::Malformed => "Authorization must be one field: Bearer and a token",
            Self::Invalid => "the token is unknown, expired or not for this resource",
            Self::InsufficientScope(_) => "the token lacks a scope that this needs",
            Self::Unavailable => "the server cannot check tokens now; try again",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl core::error::Error for Refusal {}
