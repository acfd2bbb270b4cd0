//! From a URL, or a command, to a connected client: what is the same on every driver.

use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};

use super::child::{Child, ChildProcess};
use super::in_process::{Beside, InProcess};
use super::process::Process;
use super::{
    Ask, Bearer, Client, ClientBuilder, ClientError, Cookies, Dial, ErrorKind, HttpCarrier,
    Learned, Limits, PoolBuilder, Proxy, Respawn, Tap, Tapped, TokenSource, Wire, WithHeaders,
};
use crate::client::{Event, Retry, Url};
use crate::model::LogLevel;
use crate::revision::{AdapterSet, Revision};
use crate::service::{Service, Sleep};

/// A driver for clients: a runtime that makes connections, and is there without more ado.
pub trait ClientDriver: Dial + Default {}

impl<D: Dial + Default> ClientDriver for D {}

/// A driver that starts processes.
pub trait StartProcess: ClientDriver + Sleep {
    /// A process.
    type Child: Child;

    /// Spawns a [`command`](Process::command). It is called on the runtime. How the process ends
    /// is seen to.
    ///
    /// # Errors
    /// Where the program is not to be had.
    fn spawn(&self, process: &Process) -> io::Result<Self::Child>;
}

impl<D: ClientDriver> Client<D> {
    /// A client of the server at `url`, to be connected.
    pub fn http(url: impl Into<String>) -> Connect<Http, D> {
        let (pool, headers) = (PoolBuilder::new(), HeaderMap::new());
        Connect::new(Http { url: url.into(), pool, headers, tokens: (), cookies: false })
    }

    /// A client of a server that `command`, a program and its arguments, starts; no shell is
    /// involved. To be connected.
    pub fn stdio<W: Into<OsString>>(command: impl IntoIterator<Item = W>) -> Connect<Process, D>
    where
        D: StartProcess,
    {
        Connect::new(Process::new(command))
    }

    /// A client of `service` in this very process, on the driver's runtime: no socket, no child, and
    /// handlers may do whatever they may do elsewhere. For tests that need real time and real
    /// connections of their handlers', and for applications that are their own server. To be
    /// connected.
    pub fn in_process(service: Service) -> Connect<InProcess, D> {
        Connect::new(InProcess(service))
    }
}

/// A client that is not connected yet, and the way to its server: [`Http`] or a [`Process`].
#[must_use = "nothing is connected before `connect`"]
pub struct Connect<W, D> {
    builder: ClientBuilder,
    tap: Option<Tap>,
    way: W,
    driver: PhantomData<fn() -> D>,
}

impl<W, D> Connect<W, D> {
    fn new(way: W) -> Self {
        let builder = ClientBuilder::new(super::builder::library());
        Self { builder, tap: None, way, driver: PhantomData }
    }

    fn with(self, change: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Self {
        Self { builder: change(self.builder), ..self }
    }

    /// Tells the server this name and version.
    pub fn info(self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.with(|builder| builder.info(name, version))
    }

    /// See [`ClientBuilder::on_ask`].
    pub fn on_ask(self, ask: impl Ask) -> Self {
        self.with(|builder| builder.on_ask(ask))
    }

    /// See [`ClientBuilder::on_event`].
    pub fn on_event(self, hook: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.with(|builder| builder.on_event(hook))
    }

    /// Is told what goes over the wire. It must not wait.
    pub fn on_wire(self, tap: impl Fn(&Wire<'_>) + Send + Sync + 'static) -> Self {
        Self { tap: Some(Arc::new(tap)), ..self }
    }

    /// Speaks this revision only.
    pub fn revision(self, revision: Revision) -> Self {
        self.adapters(AdapterSet::from(revision))
    }

    /// See [`ClientBuilder::adapters`].
    pub fn adapters(self, adapters: AdapterSet) -> Self {
        self.with(|builder| builder.adapters(adapters))
    }

    /// See [`ClientBuilder::learned`].
    pub fn learned(self, learned: Learned) -> Self {
        self.with(|builder| builder.learned(learned))
    }

    /// See [`ClientBuilder::log_level`].
    pub fn log_level(self, level: LogLevel) -> Self {
        self.with(|builder| builder.log_level(level))
    }

    /// See [`ClientBuilder::cache`].
    pub fn cache(self, cache: bool) -> Self {
        self.with(|builder| builder.cache(cache))
    }

    /// See [`ClientBuilder::limits`].
    pub fn limits(self, limits: Limits) -> Self {
        self.with(|builder| builder.limits(limits))
    }
}

/// The way to a server over HTTP.
#[derive(Clone)]
pub struct Http<T = ()> {
    url: String,
    pool: PoolBuilder,
    headers: HeaderMap,
    tokens: T,
    /// The server's cookies are kept.
    cookies: bool,
}

/// Without the URL's query, values of headers, and tokens: they may be secrets.
impl<T> fmt::Debug for Http<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("url", &self.url.split('?').next())
            .field("pool", &self.pool)
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl<T: TokenSource, D: ClientDriver> Connect<Http<T>, D> {
    /// Changes how connections are made and kept: limits, TLS, proxies.
    pub fn pool(self, change: impl FnOnce(PoolBuilder) -> PoolBuilder) -> Self {
        Self { way: Http { pool: change(self.way.pool), ..self.way }, ..self }
    }

    /// Adds a header to every request. What the protocol itself sends is not to be repeated.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.way.headers.append(name, value);
        self
    }

    /// Keeps the server's cookies and sends them back, to its origin alone, for as long as the client
    /// lives: for balancers that tell workers apart by one. Off at first. See [`Cookies`].
    pub fn cookies(mut self, keep: bool) -> Self {
        self.way.cookies = keep;
        self
    }

    /// Tries a server again that is not there yet: `connect` fails once the attempts are over. With
    /// [`Retry::calls`], calls that never ran are made again, too.
    pub fn retry(self, retry: Retry) -> Self {
        self.with(|builder| builder.retry(retry))
    }

    /// See [`PoolBuilder::proxy`].
    pub fn proxy(self, proxy: Proxy) -> Self {
        self.pool(|pool| pool.proxy(proxy))
    }

    /// See [`PoolBuilder::no_proxy`].
    pub fn no_proxy(self) -> Self {
        self.pool(PoolBuilder::no_proxy)
    }

    /// Knows servers at `https://`, and is known to them, in this way; without more ado, the
    /// platform's authorities vouch for them.
    #[cfg(feature = "tls")]
    pub fn tls(self, tls: super::Tls) -> Self {
        self.pool(|pool| pool.tls(tls))
    }

    /// Adds a bearer token to every request (R26-ATOK-01): a `String`, or a source of them.
    pub fn bearer<S: TokenSource>(self, tokens: S) -> Connect<Http<S>, D> {
        let Http { url, pool, headers, tokens: _, cookies } = self.way;
        let way = Http { url, pool, headers, tokens, cookies };
        Connect { builder: self.builder, tap: self.tap, way, driver: PhantomData }
    }

    /// Connects, and waits until the server is known.
    ///
    /// # Errors
    /// Where the URL is none, and why the server is not known.
    pub async fn connect(self) -> Result<Client<D>, ClientError> {
        let driver = D::default();
        let pool = self.way.pool.clone().build(driver.clone());
        self.connected(driver, pool).await
    }

    /// Connects by another's HTTP client, whose own affair TLS, proxies and the like are then, and
    /// waits until the server is known.
    ///
    /// # Errors
    /// Where the URL is none, and why the server is not known.
    pub async fn connect_by(self, carrier: impl HttpCarrier) -> Result<Client<D>, ClientError> {
        self.connected(D::default(), carrier).await
    }

    async fn connected(
        self,
        driver: D,
        carrier: impl HttpCarrier,
    ) -> Result<Client<D>, ClientError> {
        let Http { url, pool: _, headers, tokens, cookies } = self.way;
        let origin = Url::parse(&url);
        let carrier = match origin.ok().filter(|_| cookies) {
            Some(origin) => {
                let clock = driver.clone();
                Cookies::new(carrier, &origin, move || clock.wall())
            }
            None => Cookies::none(carrier),
        };
        let carrier = WithHeaders::with(carrier, headers);
        let client = match self.tap {
            Some(tap) => {
                let carrier = Bearer::new(Tapped::new(carrier, tap), tokens);
                self.builder.http(driver, carrier, &url)
            }
            None => self.builder.http(driver, Bearer::new(carrier, tokens), &url),
        };
        let client = client.map_err(|bad| ClientError::never(ErrorKind::InvalidUrl(bad)))?;
        client.ready().await?;
        Ok(client.on())
    }
}

impl<D: StartProcess> Connect<Process, D> {
    /// Changes how the process is started: its environment, directory, stderr.
    pub fn process(self, change: impl FnOnce(Process) -> Process) -> Self {
        Self { way: change(self.way), ..self }
    }

    /// Sets a variable of the process's environment.
    pub fn env(self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.process(|process| process.env(name, value))
    }

    /// Starts the process, and waits until the server is known.
    ///
    /// # Errors
    /// Why it is not.
    pub async fn connect(self) -> Result<Client<D>, ClientError> {
        let driver = D::default();
        let respawn = Starter { driver: driver.clone(), process: self.way };
        let client = match self.tap {
            Some(tap) => self.builder.streams(driver, Tapped::new(respawn, tap)),
            None => self.builder.streams(driver, respawn),
        };
        client.ready().await?;
        Ok(client.on())
    }
}

impl<D: ClientDriver> Connect<InProcess, D> {
    /// Serves the service, and waits until it is known.
    ///
    /// # Errors
    /// Why it is not.
    pub async fn connect(self) -> Result<Client<D>, ClientError> {
        let driver = D::default();
        let beside = Beside { runtime: driver.clone(), service: self.way.0 };
        let client = match self.tap {
            Some(tap) => self.builder.streams(driver, Tapped::new(beside, tap)),
            None => self.builder.streams(driver, beside),
        };
        client.ready().await?;
        Ok(client.on())
    }
}

struct Starter<D> {
    driver: D,
    process: Process,
}

impl<D: StartProcess> Respawn for Starter<D> {
    type Stream = ChildProcess<D::Child>;

    fn start(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static {
        let (driver, process) = (self.driver.clone(), self.process.clone());
        async move {
            let child = driver.spawn(&process).map_err(|error| process.unstarted(&error))?;
            let (streams, beside) = ChildProcess::new(child, &process, driver.clone())?;
            driver.detach::<()>(Box::pin(beside));
            Ok(streams)
        }
    }
}
