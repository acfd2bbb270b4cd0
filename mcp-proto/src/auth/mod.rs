//! Authorization of an MCP server as an OAuth protected resource: its metadata document, the
//! challenges it answers with, and who is calling (basic/authorization; R2506-AUTH-13,
//! R2511-AUTH-14, R26-AFLOW-11).
//!
//! All of it is pure. Verifying a token may need the network, so it is the application's part;
//! what is here comes before and after:
//!
//! ```
//! use std::time::Duration;
//! use mcp_proto::auth::{Authorization, Principal, Refusal, bearer};
//!
//! let authorization = Authorization::builder("https://mcp.example.com/mcp")
//!     .authorization_server("https://login.example.com")
//!     .required_scopes(["mcp:use"])
//!     .build()?;
//! assert_eq!(authorization.metadata_path(), "/.well-known/oauth-protected-resource/mcp");
//!
//! // Before: the token of the request's Authorization header.
//! assert_eq!(bearer([&b"Bearer mF_9.B5f-4.1JqM"[..]]), Ok("mF_9.B5f-4.1JqM"));
//!
//! // After: what a verifier says about it is admitted, or refused with a challenge.
//! let principal = Principal::subject("ada").issued_by("https://login.example.com");
//! let now = Duration::from_secs(1_785_000_000); // since the Unix epoch
//! let refusal = authorization.admit(principal, now).unwrap_err();
//! assert_eq!(refusal.status(), 403);
//! assert_eq!(
//!     authorization.challenge(&refusal).unwrap(),
//!     "Bearer error=\"insufficient_scope\", \
//!      error_description=\"the token lacks a scope that this needs\", scope=\"mcp:use\", \
//!      resource_metadata=\
//!      \"https://mcp.example.com/.well-known/oauth-protected-resource/mcp\"",
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod authorization;
mod bearer;
pub mod challenge;
mod principal;
mod refusal;
mod resource;

pub(crate) use authorization::WELL_KNOWN;
pub use authorization::{Authorization, AuthorizationBuilder, InvalidAuthorization};
pub use bearer::bearer;
#[cfg(feature = "service")]
pub(crate) use bearer::is_token68;
pub use principal::Principal;
pub use refusal::Refusal;

/// Whether `scope` can be one scope: 1*( %x21 / %x23-5B / %x5D-7E ), RFC 6749, section 3.3.
fn is_scope(scope: &str) -> bool {
    let legal = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !scope.is_empty() && scope.bytes().all(legal)
}
