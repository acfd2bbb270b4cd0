//! A service on HTTP: its settings, and the listener that serves it.

use core::fmt::{self, Display};
use core::future::{Future, pending};
use core::net::SocketAddr;
use core::time::Duration;
use std::sync::Arc;

use http::Extensions;

use super::accept::{Acceptor, Terms, network};
use super::crowd::{Member, Stage};
use super::notices::Notices;
use super::site::Site;
use super::updater::{Unfit, Updater};
use super::{
    Announcer, Driver, Error, Guard, Host, Hub, Later, Listener, Local, MemoryHub,
    MemorySessionStore, Outliving, Service, SessionStore, Shared, Storage, Threading,
};
use crate::auth::Authorization;
use crate::revision::AdapterSet;
use crate::server::{Connection, Endpoint, EndpointBuilder, Gate, Limits};

/// Settings of a service on HTTP: loopback hosts, every revision, sessions in this process's
/// memory. [`bind`](Self::bind) opens a listener of its own, at the path `/mcp`; with the feature
/// `tower`, `mount` makes it a service for a web framework.
#[must_use = "nothing listens before `bind`"]
pub struct HttpBuilder<D, M: Threading = Shared> {
    driver: D,
    service: Service<M>,
    endpoint: EndpointBuilder,
    sessions: Arc<dyn SessionStore>,
    hub: Arc<dyn Hub>,
    guard: Option<Guard>,
    terms: Terms,
}

/// A listener, and what it serves. Its `Display` says where it listens, whom it answers, and how
/// to allow others: for the server's log, when it starts.
#[must_use = "nothing is answered before `serve`"]
pub struct HttpServer<D: Driver<M>, M: Threading = Shared> {
    site: Site<D, M>,
    listener: D::Listener,
    local_addr: SocketAddr,
    terms: Terms,
}

impl<D: Driver<M>, M: Threading> HttpBuilder<D, M> {
    /// How many connections are open at once, unless told otherwise.
    pub const CONNECTIONS: usize = 10_000;

    /// How long calls may run on at the end, unless told otherwise.
    pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

    /// `service`, driven by `driver`.
    pub fn new(driver: D, service: Service<M>) -> Self {
        let endpoint = Endpoint::builder(service.catalog().clone());
        Self {
            driver,
            service,
            endpoint,
            sessions: Arc::new(MemorySessionStore::new()),
            hub: Arc::new(MemoryHub::new()),
            guard: None,
            terms: Terms {
                most: Self::CONNECTIONS,
                most_per_peer: None,
                grace: Self::SHUTDOWN_GRACE,
                notices: Notices::default(),
            },
        }
    }

    /// Answers requests for this path, with and without a slash at its end; others get 404. A
    /// listener's path is `/mcp` unless told otherwise; a mounted service answers for any path
    /// that reaches it.
    pub fn path(self, path: impl Into<String>) -> Self {
        self.endpoint(|endpoint| endpoint.path(path))
    }

    /// Answers to the hosts and origins of `gate`.
    pub fn gate(self, gate: Gate) -> Self {
        self.endpoint(|endpoint| endpoint.gate(gate))
    }

    /// Speaks only these revisions.
    pub fn adapters(self, adapters: AdapterSet) -> Self {
        self.endpoint(|endpoint| endpoint.adapters(adapters))
    }

    /// Keeps these bounds.
    pub fn limits(self, limits: Limits) -> Self {
        self.endpoint(|endpoint| endpoint.limits(limits))
    }

    /// Lets clients end their sessions with DELETE (R2503-SESS-08).
    pub fn allow_delete(self, allow: bool) -> Self {
        self.endpoint(|endpoint| endpoint.allow_delete(allow))
    }

    /// Refuses requests of handshake revisions that name no session (R2503-SESS-05).
    pub fn require_session(self, require: bool) -> Self {
        self.endpoint(|endpoint| endpoint.require_session(require))
    }

    /// Serves the HTTP+SSE transport too, for clients of 2024-11-05: a stream at one path, and
    /// another to post to (R2503-COMPAT-01).
    pub fn http_sse(self, stream: impl Into<String>, messages: impl Into<String>) -> Self {
        self.endpoint(|endpoint| endpoint.http_sse(stream, messages))
    }

    /// The part of clients' paths that a web framework or a proxy takes away before requests get
    /// here; see [`EndpointBuilder::prefix`].
    pub fn prefix(self, prefix: impl Into<String>) -> Self {
        self.endpoint(|endpoint| endpoint.prefix(prefix))
    }

    /// Whether the protected resource's metadata are served here; see
    /// [`EndpointBuilder::metadata`].
    pub fn metadata(self, here: bool) -> Self {
        self.endpoint(|endpoint| endpoint.metadata(here))
    }

    /// Anything else that an [`Endpoint`] can be told.
    pub fn endpoint(mut self, set: impl FnOnce(EndpointBuilder) -> EndpointBuilder) -> Self {
        self.endpoint = set(self.endpoint);
        self
    }

    /// Keeps sessions and events in `store`, where other processes find them too.
    pub fn store(mut self, store: impl Storage) -> Self {
        self.sessions = store.session_store();
        self.hub = store.hub();
        self
    }

    /// Keeps sessions in a store of your own.
    pub fn sessions(mut self, sessions: impl SessionStore + 'static) -> Self {
        self.sessions = Arc::new(sessions);
        self
    }

    /// Keeps events in a hub of your own.
    pub fn hub(mut self, hub: impl Hub + 'static) -> Self {
        self.hub = Arc::new(hub);
        self
    }

    /// Answers only to whom `guard` admits, on every route but the metadata.
    pub fn auth(mut self, guard: Guard) -> Self {
        self.endpoint = self.endpoint.authorization(Authorization::clone(guard.authorization()));
        self.guard = Some(guard);
        self
    }

    /// How many connections are open at once, and at least one; further ones wait to be accepted.
    /// A mounted service counts exchanges, and refuses further ones with 503.
    pub fn connections(mut self, most: usize) -> Self {
        self.terms.most = most.max(1);
        self
    }

    /// How many connections one peer may have open at once, and at least one; further ones are closed
    /// at once. A peer is an IPv4 address, or a network of 64 bits of IPv6. There is no such bound
    /// unless it is set: behind a proxy all connections have the proxy's address.
    pub fn connections_per_peer(mut self, most: usize) -> Self {
        self.terms.most_per_peer = Some(most.max(1));
        self
    }

    /// How long calls may run on after a [shutdown](HttpServer::serve_with_shutdown) began.
    pub fn shutdown_grace(mut self, grace: Duration) -> Self {
        self.terms.grace = grace;
        self
    }

    /// Tells `notice` of what the listener goes through: whom it answers, where other machines can
    /// reach it; hosts and origins that are refused, and bounds that are reached, with the setting
    /// of each; that files ran out; that connections had to be cut off. One line each, for the
    /// server's log; of what peers bring about, one of a kind in ten seconds. It must not wait.
    pub fn on_notice(mut self, notice: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.terms.notices = Notices::new(notice);
        self
    }

    /// Listens at `address`: `host:port`, where port 0 is any free one.
    ///
    /// # Errors
    /// Where the address is none, or is taken.
    pub async fn bind(self, address: impl Display) -> Result<HttpServer<D, M>, Error> {
        let address = address.to_string();
        let listener =
            self.driver.bind(address.clone()).await.map_err(|error| {
                Error::internal(format!("cannot listen at `{address}`: {error}"))
            })?;
        self.listen(listener)
    }

    /// Listens on a socket that is open already.
    ///
    /// # Errors
    /// Where it has no address.
    pub fn listen(self, listener: D::Listener) -> Result<HttpServer<D, M>, Error> {
        let local_addr = listener.local_addr()?;
        let (site, terms) = self.endpoint(|endpoint| endpoint.path_or("/mcp")).site()?;
        Ok(HttpServer { site, listener, local_addr, terms })
    }

    /// What is served, with everything that can be wrong about it checked.
    pub(crate) fn site(self) -> Result<(Site<D, M>, Terms), Error> {
        let unfit: Unfit<M> = if self.guard.is_some() { |_| None } else { Service::guarded_only };
        if let Some(why) = unfit(&self.service) {
            return Err(Error::internal(why.to_owned()));
        }
        for warning in self.service.warnings() {
            self.terms.notices.say(|| warning.clone());
        }
        let driver = self.driver.clone();
        let announcer = Announcer::new(Arc::clone(&self.hub), move || driver.now(), "");
        let (service, driver) = (self.service, self.driver);
        let host = Host::guarded(service, driver, self.sessions, self.hub, self.guard)
            .telling(self.terms.notices.clone());
        Ok((Site::new(host, announcer, unfit, self.endpoint.build()), self.terms))
    }
}

impl<D: Driver<M>, M: Threading> HttpServer<D, M> {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Announces changes to the clients that listen, for the namespace of the endpoint.
    pub fn announcer(&self) -> Announcer {
        self.site.announcer()
    }

    /// Replaces what is served, while it is.
    pub fn updater(&self) -> Updater<M> {
        self.site.updater()
    }

    /// The URL that clients of this machine are given.
    pub fn url(&self) -> String {
        let endpoint = self.site.endpoint();
        let path = endpoint.shared().path.as_deref().unwrap_or("/");
        format!("http://{}{path}", self.local_addr)
    }

    /// Accepts, until `until` is done. `spawn` runs what serves a connection.
    async fn accept(
        self,
        until: impl Future<Output = ()>,
        spawn: impl Fn(&D, Served<D, M>),
    ) -> Result<(), Error> {
        if !self.local_addr.ip().is_loopback() {
            self.terms.notices.say(|| self.to_string());
        }
        let Self { site, listener, terms, .. } = self;
        let acceptor = Acceptor { runtime: site.host.runtime(), terms };
        let serve = |stream, peer, member| {
            let (host, endpoint) = (site.host.clone(), site.endpoint());
            spawn(acceptor.runtime, Served { host, endpoint, stream, peer, member });
        };
        acceptor.run(listener, until, serve).await;
        Ok(())
    }
}

/// A connection to be served.
struct Served<D: Driver<M>, M: Threading> {
    host: Host<D, M>,
    endpoint: Endpoint,
    stream: <D::Listener as Listener>::Stream,
    peer: SocketAddr,
    member: Member,
}

impl<D: Driver<M>, M: Threading> Served<D, M>
where
    Outliving<Connection, D, M>: Later<'static, M, ()>,
{
    async fn run(self) {
        let Self { host, endpoint, stream, peer, member } = self;
        let machine =
            Connection::new(endpoint, host.runtime().now()).of_peer(network(peer.ip()).to_string());
        let mut extensions = Extensions::new();
        extensions.insert(peer);
        let until = member.until(Stage::Draining);
        // How a connection ended concerns its peer, who knows.
        let _ = member.stay(host.run(machine, stream, extensions, until)).await;
    }
}

macro_rules! serving {
    ($mode:ident) => {
        impl<D: Driver<$mode>> HttpServer<D, $mode> {
            /// Serves for ever. Each connection is a task of its own; the address of its peer
            /// reaches handlers as [`Extension<SocketAddr>`](super::Extension).
            ///
            /// # Errors
            /// None that end it, so far.
            pub async fn serve(self) -> Result<(), Error> {
                self.serve_with_shutdown(pending()).await
            }

            /// Serves until `until` is done. Then nothing more is accepted, the calls that run
            /// have the time of [`shutdown_grace`](HttpBuilder::shutdown_grace) to end, and this
            /// returns.
            ///
            /// # Errors
            /// None that end it earlier, so far.
            pub async fn serve_with_shutdown(
                self,
                until: impl Future<Output = ()>,
            ) -> Result<(), Error> {
                let driver = self.site.host.runtime().clone();
                let spawn = |driver: &D, served: Served<D, $mode>| {
                    driver.detach::<()>(Box::pin(served.run()));
                };
                driver.within(self.accept(until, spawn)).await
            }
        }
    };
}

serving!(Shared);
serving!(Local);

impl<D: Driver<M>, M: Threading> Display for HttpServer<D, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "listening on {}: {}", self.url(), self.site.endpoint().gate().describe())?;
        let service = self.site.host.service();
        service.warnings().iter().try_for_each(|it| write!(f, "\nwarning: {it}"))
    }
}

impl<D, M: Threading> fmt::Debug for HttpBuilder<D, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HttpBuilder").field(&self.endpoint).finish()
    }
}

impl<D: Driver<M>, M: Threading> fmt::Debug for HttpServer<D, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = self.site.endpoint();
        f.debug_tuple("HttpServer").field(&self.local_addr).field(&endpoint).finish()
    }
}
