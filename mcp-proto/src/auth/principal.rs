//! Who is calling.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeSet;

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::model::Json;

/// Who is calling, as a verified token says. It never holds the token itself.
///
/// ```
/// use mcp_proto::auth::Principal;
///
/// let principal = Principal::subject("ada")
///     .issued_by("https://login.example.com")
///     .through_client("inspector")
///     .with_scopes(["files:read"])
///     .expires_at(1_785_000_000);
/// assert_eq!(principal.identity(), "sub:https%3A%2F%2Flogin.example.com:ada");
/// assert!(principal.missing(["files:read", "files:write"]).contains("files:write"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Principal {
    who: Who,
    issuer: Option<String>,
    scopes: BTreeSet<String>,
    not_before: Option<u64>,
    expires_at: Option<u64>,
    claims: Json,
}

/// A principal is somebody, or a client that acts for itself: never nobody.
#[derive(Clone, PartialEq, Eq)]
enum Who {
    Subject { subject: String, client: Option<String> },
    Client(String),
}

impl Principal {
    /// Somebody: the `sub` of a token.
    pub fn subject(subject: impl Into<String>) -> Self {
        Self::new(Who::Subject { subject: subject.into(), client: None })
    }

    /// A client that acts for itself, where the token has no `sub`.
    pub fn client(client_id: impl Into<String>) -> Self {
        Self::new(Who::Client(client_id.into()))
    }

    fn new(who: Who) -> Self {
        Self {
            who,
            issuer: None,
            scopes: BTreeSet::new(),
            not_before: None,
            expires_at: None,
            claims: Json::scanned(Bytes::from_static(b"{}")),
        }
    }

    /// The same principal, known by this issuer. Issuers are compared as they stand: a slash
    /// more is another one (T-79).
    #[must_use]
    pub fn issued_by(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// The same principal, calling through this client.
    #[must_use]
    pub fn through_client(mut self, client_id: impl Into<String>) -> Self {
        match &mut self.who {
            Who::Subject { client, .. } => *client = Some(client_id.into()),
            Who::Client(client) => *client = client_id.into(),
        }
        self
    }

    /// The same principal with these scopes besides those that it has.
    #[must_use]
    pub fn with_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// The same principal, valid from then on: seconds since the Unix epoch.
    #[must_use]
    pub fn not_before(mut self, seconds: u64) -> Self {
        self.not_before = Some(seconds);
        self
    }

    /// The same principal, valid until then: seconds since the Unix epoch.
    #[must_use]
    pub fn expires_at(mut self, seconds: u64) -> Self {
        self.expires_at = Some(seconds);
        self
    }

    /// The same principal with all that the token claims: a JSON object.
    #[must_use]
    pub fn with_claims(mut self, claims: Json) -> Self {
        self.claims = claims;
        self
    }

    /// Who it is; `None` for a client that acts for itself.
    pub fn subject_id(&self) -> Option<&str> {
        match &self.who {
            Who::Subject { subject, .. } => Some(subject),
            Who::Client(_) => None,
        }
    }

    /// The OAuth client that the token was issued to, where that is known.
    pub fn client_id(&self) -> Option<&str> {
        match &self.who {
            Who::Subject { client, .. } => client.as_deref(),
            Who::Client(client) => Some(client),
        }
    }

    /// Who vouches for it.
    pub fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref()
    }

    /// What it may do.
    pub fn scopes(&self) -> &BTreeSet<String> {
        &self.scopes
    }

    /// When it ends to be valid, in seconds since the Unix epoch; `None` where nothing says so.
    pub fn expiry(&self) -> Option<u64> {
        self.expires_at
    }

    /// All that the token claims: a JSON object, `{}` where the verifier gave none.
    pub fn claims(&self) -> &Json {
        &self.claims
    }

    /// Those of the wanted scopes that it lacks; empty where it may do it.
    pub fn missing<S: Into<String>>(
        &self,
        wanted: impl IntoIterator<Item = S>,
    ) -> BTreeSet<String> {
        wanted.into_iter().map(Into::into).filter(|scope| !self.scopes.contains(scope)).collect()
    }

    /// Whether it is valid at `now`, the time since the Unix epoch, give or take a leeway.
    pub fn is_valid_at(&self, now: Duration, leeway: Duration) -> bool {
        let from = self.not_before.map_or(Duration::ZERO, Duration::from_secs);
        let until = self.expires_at.map_or(Duration::MAX, Duration::from_secs);
        from <= now.saturating_add(leeway) && now < until.saturating_add(leeway)
    }

    /// One name for it, in which nobody else can share: subject or client, and the issuer that
    /// vouches for it (C49). Printable ASCII, for keys and namespaces.
    pub fn identity(&self) -> String {
        let (kind, id) = match &self.who {
            Who::Subject { subject, .. } => ("sub", subject),
            Who::Client(client) => ("client", client),
        };
        let escape = |text| utf8_percent_encode(text, ESCAPED);
        match &self.issuer {
            Some(issuer) => format!("{kind}:{}:{}", escape(issuer), escape(id)),
            None => format!("{kind}:{}", escape(id)),
        }
    }

    /// Adds the scopes that `implied` says follow from those that it has.
    pub(super) fn widen<'a>(&mut self, implied: impl Fn(&str) -> &'a [String]) {
        let mut pending: Vec<String> = self.scopes.iter().cloned().collect();
        while let Some(scope) = pending.pop() {
            for narrower in implied(&scope) {
                if self.scopes.insert(narrower.clone()) {
                    pending.push(narrower.clone());
                }
            }
        }
    }
}

/// All but the unreserved characters of RFC 3986; so neither `:` nor `%` stands for itself.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl fmt::Debug for Principal {
    /// Claims are left out: they are personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal")
            .field("subject", &self.subject_id())
            .field("client", &self.client_id())
            .field("issuer", &self.issuer)
            .field("scopes", &self.scopes)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_never_meet() {
        // C49
        let principals = [
            Principal::subject("a"),
            Principal::client("a"),
            Principal::subject("a").issued_by(""),
            Principal::subject("a").issued_by("https://a"),
            Principal::subject("a").issued_by("https://a/"),
            Principal::subject("a").issued_by("HTTPS://a"),
            Principal::subject("b:a").issued_by("a"),
            Principal::subject("a").issued_by("a:b"),
            Principal::subject("a:b:a"),
            Principal::subject("a%3Ab:a"),
            Principal::subject(""),
            Principal::client("").issued_by("a"),
        ];
        let identities: BTreeSet<_> = principals.iter().map(Principal::identity).collect();
        assert_eq!(identities.len(), principals.len(), "{identities:?}");
        assert!(identities.iter().all(|id| id.bytes().all(|b| (0x21..=0x7e).contains(&b))));
    }

    #[test]
    fn the_same_person_keeps_its_identity_whatever_the_token_allows() {
        let first = Principal::subject("ada").issued_by("https://a").with_scopes(["x"]);
        let second = first.clone().through_client("c").expires_at(1).with_scopes(["y"]);
        assert_eq!(first.identity(), second.identity());
    }

    #[test]
    fn missing_scopes_are_those_wanted_and_not_held() {
        let principal = Principal::client("c").with_scopes(["a", "b"]);
        assert!(principal.missing(["b", "a"]).is_empty());
        assert!(principal.missing(<[&str; 0]>::default()).is_empty());
        assert_eq!(principal.missing(["a", "c", "A"]), ["A", "c"].map(str::to_owned).into());
    }

    #[test]
    fn validity_has_two_ends_and_a_leeway() {
        let principal = Principal::subject("a").not_before(100).expires_at(200);
        for (now, leeway, valid) in [
            (99, 0, false),
            (100, 0, true),
            (199, 0, true),
            (200, 0, false),
            (90, 10, true),
            (89, 10, false),
            (209, 10, true),
            (210, 10, false),
        ] {
            let [now, leeway] = [now, leeway].map(Duration::from_secs);
            assert_eq!(principal.is_valid_at(now, leeway), valid, "{now:?} {leeway:?}");
        }
        let nearly = Duration::from_millis(199_999);
        assert!(principal.is_valid_at(nearly, Duration::ZERO));
        assert!(Principal::subject("a").is_valid_at(nearly, Duration::MAX));
    }

    #[test]
    fn debug_shows_who_and_what_but_no_claims() {
        let claims = Json::parse(&br#"{"email":"ada@example.com"}"#[..]).unwrap();
        let shown = format!("{:?}", Principal::subject("ada").with_claims(claims));
        assert!(shown.contains("ada") && !shown.contains("example.com"), "{shown}");
    }
}
