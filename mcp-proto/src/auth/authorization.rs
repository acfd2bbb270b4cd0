//! What a protected resource says about itself.

use core::fmt;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use super::{Principal, Refusal, challenge, is_scope, resource};
use crate::frame::json::write_string;
use crate::frame::writer::Object;
use crate::model::Json;

/// The settings of an MCP server as an OAuth protected resource (RFC 9728; R2506-AUTH-13).
///
/// The verifier of tokens is not part of them: see [`auth`](super).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    resource: String,
    metadata_url: String,
    metadata: Json,
    required_scopes: BTreeSet<String>,
    implied: BTreeMap<String, Vec<String>>,
    leeway: Duration,
    bind_sessions: bool,
    namespace_from_token: bool,
}

/// Where the metadata are of a resource that has no path.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The longest [`AuthorizationBuilder::leeway`].
const MAX_LEEWAY: Duration = Duration::from_secs(300);

impl Authorization {
    /// Starts the settings of the server that clients reach at `resource`: its `http` or `https`
    /// URL as they see it, without a fragment. Plain `http` is for development only.
    pub fn builder(resource: impl Into<String>) -> AuthorizationBuilder {
        AuthorizationBuilder {
            resource: resource.into(),
            authorization_servers: Vec::new(),
            scopes_supported: None,
            required_scopes: BTreeSet::new(),
            implied: BTreeMap::new(),
            resource_name: None,
            documentation: None,
            leeway: Duration::from_secs(30),
            bind_sessions: true,
            namespace_from_token: true,
        }
    }

    /// The resource's identifier as it is published: as it was configured, but for one slash at
    /// the end, which clients trip over (C101, R2506-AFLOW-04).
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// Whether a token with this audience is meant for this server. Authorization servers name
    /// it with and without a slash at the end; nothing else is forgiven (C101, R2506-ATOK-04).
    pub fn is_audience(&self, audience: &str) -> bool {
        audience.strip_suffix('/').unwrap_or(audience) == self.resource
    }

    /// Where the metadata document is: the well-known path, before the resource's own path
    /// (RFC 9728, section 3.1).
    pub fn metadata_path(&self) -> &str {
        resource::split(&self.metadata_url).map_or(WELL_KNOWN, |url| url.path)
    }

    /// The document's URL, as challenges name it.
    pub fn metadata_url(&self) -> &str {
        &self.metadata_url
    }

    /// The metadata document (RFC 9728, section 2), for anybody to read, as `application/json`.
    pub fn metadata(&self) -> &Json {
        &self.metadata
    }

    /// The `WWW-Authenticate` field for a refusal; `None` where a token would not help
    /// (RFC 6750, section 3; R2506-AUTH-14, R2511-AFLOW-08, R2511-AFLOW-11).
    pub fn challenge(&self, refusal: &Refusal) -> Option<String> {
        let mut params = Vec::with_capacity(4);
        if let Some(error) = refusal.error() {
            params.extend([("error", error), ("error_description", refusal.text())]);
        }
        let scope = match refusal {
            Refusal::Unavailable => return None,
            Refusal::InsufficientScope(needed) => joined(needed),
            _ => joined(&self.required_scopes),
        };
        if !scope.is_empty() {
            params.push(("scope", &scope));
        }
        params.push(("resource_metadata", &self.metadata_url));
        Some(challenge::bearer(&params))
    }

    /// Decides on whom a verifier found: the token must be valid at `now`, the time since the Unix
    /// epoch, and have the required scopes. Gives the principal back with the scopes that its own
    /// ones imply (R26-AFLOW-14).
    ///
    /// # Errors
    /// [`Refusal::Invalid`], [`Refusal::InsufficientScope`].
    pub fn admit(&self, mut principal: Principal, now: Duration) -> Result<Principal, Refusal> {
        if !principal.is_valid_at(now, self.leeway) {
            return Err(Refusal::Invalid);
        }
        principal.widen(|scope| self.implied.get(scope).map(Vec::as_slice).unwrap_or_default());
        if self.required_scopes.is_subset(principal.scopes()) {
            Ok(principal)
        } else {
            Err(Refusal::InsufficientScope(self.required_scopes.clone()))
        }
    }

    /// Whether a session belongs to the principal that opened it, so that to anybody else it is
    /// unknown (C49).
    pub fn bind_sessions(&self) -> bool {
        self.bind_sessions
    }

    /// Whether everything stored is kept apart by the principal's
    /// [identity](Principal::identity).
    pub fn namespace_from_token(&self) -> bool {
        self.namespace_from_token
    }
}

/// Settings of an [`Authorization`].
#[derive(Clone, Debug)]
#[must_use]
pub struct AuthorizationBuilder {
    resource: String,
    authorization_servers: Vec<String>,
    scopes_supported: Option<BTreeSet<String>>,
    required_scopes: BTreeSet<String>,
    implied: BTreeMap<String, Vec<String>>,
    resource_name: Option<String>,
    documentation: Option<String>,
    leeway: Duration,
    bind_sessions: bool,
    namespace_from_token: bool,
}

impl AuthorizationBuilder {
    /// Names an authorization server that issues tokens for this resource: its issuer, which is
    /// published as it stands (T-79). The protocol asks for one at least (R2506-AUTH-13); with
    /// none, clients must have got their tokens by other means.
    pub fn authorization_server(mut self, issuer: impl Into<String>) -> Self {
        self.authorization_servers.push(issuer.into());
        self
    }

    /// The scopes to publish; by default the required ones.
    pub fn scopes_supported<S: Into<String>>(
        mut self,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        self.scopes_supported = Some(scopes.into_iter().map(Into::into).collect());
        self
    }

    /// The scopes without which nothing is answered.
    pub fn required_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.required_scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Says that whoever has the scope `broad` has the `narrow` ones too (R26-AFLOW-14).
    pub fn scope_implies<S: Into<String>>(
        mut self,
        broad: impl Into<String>,
        narrow: impl IntoIterator<Item = S>,
    ) -> Self {
        let implied = self.implied.entry(broad.into()).or_default();
        implied.extend(narrow.into_iter().map(Into::into));
        self
    }

    /// A name for people, published.
    pub fn resource_name(mut self, name: impl Into<String>) -> Self {
        self.resource_name = Some(name.into());
        self
    }

    /// The URL of a page for developers, published.
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.documentation = Some(url.into());
        self
    }

    /// How far the clocks of issuers may be off: 30 s by default, 300 s at most.
    pub fn leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway.min(MAX_LEEWAY);
        self
    }

    /// Whether a session belongs to the principal that opened it; so by default.
    pub fn bind_sessions(mut self, bind: bool) -> Self {
        self.bind_sessions = bind;
        self
    }

    /// Whether everything stored is kept apart by principal; so by default.
    pub fn namespace_from_token(mut self, separate: bool) -> Self {
        self.namespace_from_token = separate;
        self
    }

    /// The settings, checked; the metadata are rendered here, once.
    ///
    /// # Errors
    /// Where a URL is none, or a scope cannot be one. The caller erred.
    pub fn build(self) -> Result<Authorization, InvalidAuthorization> {
        self.check()?;
        let url = resource::split(&self.resource)
            .ok_or_else(|| InvalidAuthorization::Url(self.resource.clone()))?;
        let path = match url.query {
            "" => url.path.strip_suffix('/').unwrap_or(url.path),
            _ => url.path,
        };
        let resource = format!("{}{path}{}", url.origin, url.query);
        let inserted = if path == "/" { "" } else { path };
        let metadata_url = format!("{}{WELL_KNOWN}{inserted}{}", url.origin, url.query);
        Ok(Authorization {
            metadata: self.metadata(&resource),
            resource,
            metadata_url,
            required_scopes: self.required_scopes,
            implied: self.implied,
            leeway: self.leeway,
            bind_sessions: self.bind_sessions,
            namespace_from_token: self.namespace_from_token,
        })
    }

    fn check(&self) -> Result<(), InvalidAuthorization> {
        let urls = self.authorization_servers.iter().chain(&self.documentation);
        if let Some(url) = urls.into_iter().find(|url| resource::split(url).is_none()) {
            return Err(InvalidAuthorization::Url(url.clone()));
        }
        let implied = self.implied.iter().flat_map(|(broad, narrow)| narrow.iter().chain([broad]));
        let published = self.scopes_supported.iter().flatten();
        let mut scopes = self.required_scopes.iter().chain(published).chain(implied);
        match scopes.find(|scope| !is_scope(scope)) {
            Some(scope) => Err(InvalidAuthorization::Scope(scope.clone())),
            None => Ok(()),
        }
    }

    fn metadata(&self, resource: &str) -> Json {
        fn strings<'a>(
            document: &mut Object<'_>,
            name: &str,
            items: impl ExactSizeIterator<Item = &'a String>,
        ) {
            if items.len() > 0 {
                document.array(name, items, |item, out| write_string(out, item));
            }
        }
        let scopes = self.scopes_supported.as_ref().unwrap_or(&self.required_scopes);
        let mut out = Vec::new();
        let mut document = Object::begin(&mut out);
        document.string("resource", resource);
        strings(&mut document, "authorization_servers", self.authorization_servers.iter());
        strings(&mut document, "scopes_supported", scopes.iter());
        document
            .array("bearer_methods_supported", ["header"], |item, out| write_string(out, item))
            .string_if("resource_name", self.resource_name.as_deref())
            .string_if("resource_documentation", self.documentation.as_deref());
        document.end();
        Json::scanned(out.into())
    }
}

/// Why settings are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidAuthorization {
    /// It must be an absolute `http` or `https` URL without a fragment.
    Url(String),
    /// It cannot be one scope.
    Scope(String),
}

impl fmt::Display for InvalidAuthorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(text) => {
                write!(f, "`{text}` must be an http or https URL without a fragment")
            }
            Self::Scope(text) => {
                write!(f, "`{text}` is no scope: visible ASCII without quotes and backslashes")
            }
        }
    }
}

impl core::error::Error for InvalidAuthorization {}

/// Scopes as a challenge lists them; what can be none is left out.
fn joined(scopes: &BTreeSet<String>) -> String {
    let scopes: Vec<_> = scopes.iter().map(String::as_str).filter(|it| is_scope(it)).collect();
    scopes.join(" ")
}

#[cfg(test)]
mod tests;
