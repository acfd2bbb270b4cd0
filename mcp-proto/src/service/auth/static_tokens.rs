//! Tokens that were handed out by hand.

use core::fmt;
use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

use super::{TokenVerifier, Verification, VerifyError};
use crate::auth::{Principal, is_token68};

/// A verifier for small deployments: a table of tokens, made once.
///
/// Only SHA-256 digests of the tokens are kept, and digests are what is looked up, so that
/// neither the table nor the time that an answer takes tells a token.
///
/// ```
/// use mcp_proto::auth::Principal;
/// use mcp_proto::service::StaticTokens;
///
/// # let ci_token = "n5Uwz0yS4nVqvJ6GQe6S3A";
/// let verifier = StaticTokens::new().token(ci_token, Principal::client("ci"))?;
/// # Ok::<(), mcp_proto::service::InvalidToken>(())
/// ```
#[derive(Clone, Default)]
pub struct StaticTokens(HashMap<[u8; 32], Principal>);

/// The least length of a token: 16 characters of Base64 are 96 bits.
const MIN_LENGTH: usize = 16;

impl StaticTokens {
    /// A table without tokens, which lets nobody in.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a token, which should come from a random source: 22 characters of Base64 are 128
    /// bits. The same token again replaces its principal.
    ///
    /// # Errors
    /// Where it could not be sent as a bearer token, or could be guessed. The caller erred.
    pub fn token(mut self, token: &str, principal: Principal) -> Result<Self, InvalidToken> {
        if token.len() < MIN_LENGTH {
            return Err(InvalidToken::Short);
        }
        if !is_token68(token.as_bytes()) {
            return Err(InvalidToken::Characters);
        }
        self.0.insert(digest(token), principal);
        Ok(self)
    }
}

impl TokenVerifier for StaticTokens {
    fn verify(&self, token: &str) -> Verification {
        let known = self.0.get(&digest(token));
        Verification::Done(known.cloned().ok_or(VerifyError::Invalid))
    }
}

impl fmt::Debug for StaticTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StaticTokens({})", self.0.len())
    }
}

/// Why a token is not taken into the table. It does not repeat the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidToken {
    /// It has fewer than 16 characters, so somebody could guess it.
    Short,
    /// It is no `token68`: letters, digits, `-._~+/`, and `=` at the end.
    Characters,
}

impl fmt::Display for InvalidToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "a token needs 16 characters at least; take 22 random ones or more",
            Self::Characters => {
                "a token consists of letters, digits and -._~+/, with = only at the end"
            }
        })
    }
}

impl core::error::Error for InvalidToken {}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
