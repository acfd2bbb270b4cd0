//! Who verifies tokens, and the whole way from a request's header to its principal.

#[cfg(feature = "jwt")]
mod jwt;
mod static_tokens;

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::sync::Arc;

use crate::auth::{Authorization, Principal, Refusal};

#[cfg(feature = "jwt")]
pub use jwt::{InvalidKey, JwtAlgorithm, JwtVerifier};
pub use static_tokens::{InvalidToken, StaticTokens};

/// Says whose token that is (R2506-ATOK-03).
///
/// An async function that takes the token is one; so are [`StaticTokens`] and, with feature
/// `jwt`, `JwtVerifier`. A verifier answers only for tokens that were issued for this server
/// (R2506-ATOK-04) and never passes one on (R2506-ATOK-06). It reads no clock: it says in the
/// principal from when to when the token is good, and [`Authorization::admit`] looks at that.
///
/// ```
/// use mcp_proto::auth::Principal;
/// use mcp_proto::service::{TokenVerifier, VerifyError};
///
/// async fn introspect(token: String) -> Result<Principal, VerifyError> {
///     // .. asks the authorization server (RFC 7662) ..
///     Ok(Principal::subject("ada").issued_by("https://login.example.com"))
/// }
///
/// let verifier: Box<dyn TokenVerifier> = Box::new(introspect);
/// ```
pub trait TokenVerifier: Send + Sync {
    /// Verifies a token, which is a `token68` and may be of any length that fits into a head.
    fn verify(&self, token: &str) -> Verification;
}

/// The answer of a [`TokenVerifier`]: at once, or later.
#[must_use = "a verification that takes time happens only while its future is polled"]
pub enum Verification {
    /// It is known.
    Done(Result<Principal, VerifyError>),
    /// It takes waiting.
    Later(Pin<Box<dyn Future<Output = Result<Principal, VerifyError>> + Send>>),
}

impl Verification {
    /// The answer, once it is known.
    ///
    /// # Errors
    /// What the verifier says.
    pub async fn finish(self) -> Result<Principal, VerifyError> {
        match self {
            Self::Done(answer) => answer,
            Self::Later(answer) => answer.await,
        }
    }
}

impl fmt::Debug for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done(answer) => f.debug_tuple("Done").field(answer).finish(),
            Self::Later(_) => f.write_str("Later(..)"),
        }
    }
}

/// Why a verifier gives no principal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// The token is unknown, revoked, forged, or not for this server.
    Invalid,
    /// The verifier cannot say: what it asks is not there. The text is for the server's own log;
    /// it never reaches a client and must not hold the token.
    Unavailable(String),
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid => f.write_str("the token is not valid here"),
            Self::Unavailable(why) => write!(f, "tokens cannot be verified: {why}"),
        }
    }
}

impl core::error::Error for VerifyError {}

impl From<VerifyError> for Refusal {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Invalid => Self::Invalid,
            VerifyError::Unavailable(_) => Self::Unavailable,
        }
    }
}

impl<F, R> TokenVerifier for F
where
    F: Fn(String) -> R + Send + Sync,
    R: Future<Output = Result<Principal, VerifyError>> + Send + 'static,
{
    fn verify(&self, token: &str) -> Verification {
        Verification::Later(Box::pin(self(token.to_owned())))
    }
}

impl<V: TokenVerifier + ?Sized> TokenVerifier for Arc<V> {
    fn verify(&self, token: &str) -> Verification {
        (**self).verify(token)
    }
}

/// What stands before every route but the metadata: settings and a verifier. Cloning shares both.
#[derive(Clone)]
pub struct Guard {
    authorization: Arc<Authorization>,
    verifier: Arc<dyn TokenVerifier>,
}

impl Guard {
    /// A guard that admits whom `verifier` knows, under the terms of `authorization`.
    pub fn new(authorization: Authorization, verifier: impl TokenVerifier + 'static) -> Self {
        Self { authorization: Arc::new(authorization), verifier: Arc::new(verifier) }
    }

    /// The settings.
    pub fn authorization(&self) -> &Arc<Authorization> {
        &self.authorization
    }

    /// Whose token that is, before the settings are looked at.
    pub(crate) fn verify(&self, token: &str) -> Verification {
        self.verifier.verify(token)
    }

    /// Who is calling, by what [`bearer`](crate::auth::bearer) read of the request's header; `now`
    /// is the time since the Unix epoch. The future owns all that it needs.
    ///
    /// # Errors
    /// The refusal, to be answered with its status and [`challenge`](Authorization::challenge).
    pub fn principal(
        &self,
        token: Result<&str, Refusal>,
        now: Duration,
    ) -> impl Future<Output = Result<Principal, Refusal>> + Send + use<> {
        let verification = token.map(|token| self.verifier.verify(token));
        let authorization = Arc::clone(&self.authorization);
        async move { authorization.admit(verification?.finish().await?, now) }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("authorization", &self.authorization).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
