//! What the exchanges and streams of one server share.

use core::fmt;
use std::sync::Arc;

use super::{Gate, Limits};
use crate::auth::{Authorization, WELL_KNOWN};
use crate::revision::{Adapter, AdapterSet, Published, Resumption};

/// One server's settings and declarations. Cloning shares them.
///
/// ```
/// use std::sync::Arc;
/// use mcp_proto::model::{Catalog, Implementation};
/// use mcp_proto::server::Endpoint;
///
/// let catalog = Catalog::new(Implementation::new("demo", "1.0.0"));
/// let endpoint = Endpoint::builder(Arc::new(catalog)).path("/mcp").build();
/// assert_eq!(endpoint.adapters().versions().next(), Some("2026-07-28"));
/// ```
#[derive(Clone, Debug)]
pub struct Endpoint(Arc<Shared>);

#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) adapters: AdapterSet,
    pub(crate) published: Arc<Published>,
    pub(crate) gate: Gate,
    pub(crate) limits: Limits,
    pub(crate) path: Option<String>,
    pub(crate) sse: Option<SsePaths>,
    pub(crate) authorization: Option<Authorization>,
    pub(crate) serves: Serves,
    pub(crate) prefix: String,
    pub(crate) namespace: String,
    pub(crate) allow_delete: bool,
    pub(crate) require_session: bool,
    pub(crate) allow_reinitialize: bool,
    pub(crate) ask_in_arguments: bool,
    pub(crate) lists_what_is_allowed: bool,
}

/// What of a protected resource is here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serves {
    /// The resource, and its metadata at their well-known path.
    All,
    /// The metadata are elsewhere.
    Resource,
    /// The metadata, whatever the path.
    Metadata,
}

/// Where the HTTP+SSE transport is: a stream to listen on, and a path to post to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SsePaths {
    pub(crate) stream: String,
    pub(crate) messages: String,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The Streamable HTTP endpoint.
    Mcp,
    /// The stream of HTTP+SSE.
    SseStream,
    /// Where clients of HTTP+SSE post.
    SseMessages,
    /// The protected resource's metadata.
    Metadata,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("path", &self.path)
            .field("gate", &self.gate)
            .field("allow_delete", &self.allow_delete)
            .field("require_session", &self.require_session)
            .finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Starts a server's settings: every revision, the default gate and limits, any path.
    pub fn builder(catalog: Arc<crate::model::Catalog>) -> EndpointBuilder {
        EndpointBuilder {
            catalog,
            adapters: AdapterSet::default(),
            gate: Gate::default(),
            limits: Limits::default(),
            path: None,
            sse: None,
            authorization: None,
            serves: Serves::All,
            prefix: String::new(),
            namespace: String::new(),
            allow_delete: false,
            require_session: false,
            allow_reinitialize: false,
            lists_what_is_allowed: false,
            ask_in_arguments: true,
        }
    }

    /// The same settings with other declarations, for exchanges that begin from now on.
    #[must_use]
    pub fn with_published(&self, published: Arc<Published>) -> Self {
        Self(Arc::new(Shared { published, ..Shared::clone(&self.0) }))
    }

    /// The same server's [metadata](EndpointBuilder::metadata) and nothing else, whatever the path.
    /// Where callers are not asked who they are, there are none: every path is unknown.
    #[must_use]
    pub fn metadata_only(&self) -> Self {
        Self(Arc::new(Shared { serves: Serves::Metadata, ..Shared::clone(&self.0) }))
    }

    /// The revisions that it speaks.
    pub fn adapters(&self) -> &AdapterSet {
        &self.0.adapters
    }

    /// What it declares.
    pub fn published(&self) -> &Arc<Published> {
        &self.0.published
    }

    /// Which hosts and origins it answers to.
    pub fn gate(&self) -> &Gate {
        &self.0.gate
    }

    /// Its bounds.
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// How callers are admitted, where they are asked who they are.
    pub fn authorization(&self) -> Option<&Authorization> {
        self.0.authorization.as_ref()
    }

    /// Whether `adapter` has a stream here that clients open for themselves.
    pub(crate) fn has_stream(&self, adapter: &Adapter) -> bool {
        let features = &self.published().catalog().features;
        let changes = features.list_changed || features.subscribe;
        adapter.resumption != Resumption::None || (changes && adapter.has_handshake)
    }

    /// Whether clients may end what `adapter` begins with its handshake: a session.
    pub(crate) fn has_end(&self, adapter: &Adapter) -> bool {
        self.0.allow_delete && adapter.has_handshake
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    /// What `path` leads to. With and without a slash at the end are one path: a redirect would
    /// lose bodies (C41).
    pub(crate) fn route(&self, path: &str) -> Option<Route> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let is = |own: &str| own.trim_end_matches('/') == path;
        match (&self.0.authorization, self.0.serves) {
            // The one endpoint here is what a client means that asks at the root (R2511-AUTH-16).
            (Some(authorization), Serves::All)
                if is(authorization.metadata_path()) || is(WELL_KNOWN) =>
            {
                return Some(Route::Metadata);
            }
            (authorization, Serves::Metadata) => {
                return authorization.as_ref().map(|_| Route::Metadata);
            }
            _ => {}
        }
        match &self.0.sse {
            Some(sse) if is(&sse.stream) => return Some(Route::SseStream),
            Some(sse) if is(&sse.messages) => return Some(Route::SseMessages),
            _ => {}
        }
        self.0.path.as_deref().is_none_or(is).then_some(Route::Mcp)
    }
}

/// Settings of an [`Endpoint`].
#[derive(Debug)]
#[must_use]
pub struct EndpointBuilder {
    catalog: Arc<crate::model::Catalog>,
    pub(crate) adapters: AdapterSet,
    gate: Gate,
    limits: Limits,
    path: Option<String>,
    sse: Option<SsePaths>,
    authorization: Option<Authorization>,
    serves: Serves,
    prefix: String,
    namespace: String,
    allow_delete: bool,
    require_session: bool,
    lists_what_is_allowed: bool,
    allow_reinitialize: bool,
    ask_in_arguments: bool,
}

impl EndpointBuilder {
    /// Speaks only these revisions.
    pub fn adapters(mut self, adapters: AdapterSet) -> Self {
        self.adapters = adapters;
        self
    }

    /// Answers to the hosts and origins of `gate`.
    pub fn gate(mut self, gate: Gate) -> Self {
        self.gate = gate;
        self
    }

    /// Keeps these bounds.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Answers requests for this path only; others get 404.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same, unless a path was given already.
    #[cfg(feature = "service")]
    pub(crate) fn path_or(mut self, path: &str) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// The part of clients' paths that is taken away before requests get here: by a web framework
    /// that mounts this server under a prefix, or by a proxy. Where clients are told a path, that
    /// of HTTP+SSE to post to, it begins with this.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        while self.prefix.ends_with('/') {
            self.prefix.pop();
        }
        self
    }

    /// Serves the HTTP+SSE transport too, for clients of 2024-11-05: a stream at one path, and
    /// another to post to (R2503-COMPAT-01).
    pub fn http_sse(mut self, stream: impl Into<String>, messages: impl Into<String>) -> Self {
        self.sse = Some(SsePaths { stream: stream.into(), messages: messages.into() });
        self
    }

    /// Admits only whom a verifier vouches for, on every route but the metadata.
    pub fn authorization(mut self, authorization: Authorization) -> Self {
        self.authorization = Some(authorization);
        self
    }

    /// Whether the protected resource's metadata are served here, at their
    /// [well-known path](Authorization::metadata_path); so by default. A server that is mounted
    /// under a prefix does not get to see that path: its application has them
    /// [served](Endpoint::metadata_only) at its root.
    pub fn metadata(mut self, here: bool) -> Self {
        self.serves = if here { Serves::All } else { Serves::Resource };
        self
    }

    /// Keeps everything stored apart from other endpoints on the same store. Where tokens are
    /// verified, the principal's identity is the namespace, unless that is switched off.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Lets clients end their sessions with DELETE (R2503-SESS-08).
    pub fn allow_delete(mut self, allow: bool) -> Self {
        self.allow_delete = allow;
        self
    }

    /// Refuses requests of handshake revisions that name no session (R2503-SESS-05).
    pub fn require_session(mut self, require: bool) -> Self {
        self.require_session = require;
        self
    }

    /// Whether clients of handshake revisions that declare no `elicitation` are asked in the
    /// arguments of tools: what is asked stands in a tool's result, for the model to pass on, and
    /// the tool is called again with the answer. On at first. Without it such a tool fails.
    pub fn ask_in_arguments(mut self, ask: bool) -> Self {
        self.ask_in_arguments = ask;
        self
    }

    /// Lets clients begin anew with a second `initialize`, which replaces what the first one settled
    /// on a stream. By default a handshake happens once (R24-LIFE-01): a second one is refused, on
    /// stdio and HTTP+SSE, and over Streamable HTTP where it names a session that lives.
    pub fn allow_reinitialize(mut self, allow: bool) -> Self {
        self.allow_reinitialize = allow;
        self
    }

    /// Lists to each caller only what its scopes allow, where callers are asked who they are. By
    /// default everything is listed: who calls what it may not is told which scopes that takes, and
    /// can ask for them. The lists of a caller who lacks some are made for each request.
    pub fn lists_what_is_allowed(mut self, only: bool) -> Self {
        self.lists_what_is_allowed = only;
        self
    }

    /// The endpoint; its listings are rendered here, once for each revision.
    pub fn build(self) -> Endpoint {
        let published = Arc::new(Published::new(self.catalog, &self.adapters));
        Endpoint(Arc::new(Shared {
            adapters: self.adapters,
            published,
            gate: self.gate,
            limits: self.limits,
            path: self.path,
            sse: self.sse,
            authorization: self.authorization,
            serves: self.serves,
            prefix: self.prefix,
            namespace: self.namespace,
            allow_delete: self.allow_delete,
            require_session: self.require_session,
            allow_reinitialize: self.allow_reinitialize,
            lists_what_is_allowed: self.lists_what_is_allowed,
            ask_in_arguments: self.ask_in_arguments,
        }))
    }
}
