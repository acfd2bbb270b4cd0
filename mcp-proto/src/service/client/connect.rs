//! From a URL, or a command, to a connected client: what is the same on every driver.

use core::future::Future;
use core::marker::PhantomData;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};

use super::child::{Child, ChildProcess};
use super::process::Process;
use super::{
    Ask, Bearer, Client, ClientBuilder, ClientError, Dial, ErrorKind, Learned, Limits, Pool,
    Respawn, Tap, Tapped, TokenSource, Wire,
};
use crate::client::Event;
use crate::model::LogLevel;
use crate::revision::{AdapterSet, Revision};
use crate::service::{Runtime, Shared as Threads, Sleep};

/// A driver for clients: a runtime that makes connections.
pub trait ClientDriver:
    Runtime<Threads, Timer: Send> + Dial + Clone + Default + Send + Sync
{
}

impl<D: Runtime<Threads, Timer: Send> + Dial + Clone + Default + Send + Sync> ClientDriver for D {}

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
        Connect::new(Http { url: url.into(), headers: Vec::new(), tokens: () })
    }

    /// A client of a server that `command`, a program and its arguments, starts; no shell is
    /// involved. To be connected.
    pub fn stdio<W: Into<OsString>>(command: impl IntoIterator<Item = W>) -> Connect<Process, D>
    where
        D: StartProcess,
    {
        Connect::new(Process::new(command))
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

    fn on_way(self, change: impl FnOnce(&mut W)) -> Self {
        let mut this = self;
        change(&mut this.way);
        this
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
#[derive(Clone, Debug)]
pub struct Http<T = ()> {
    url: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    tokens: T,
}

impl<T: TokenSource, D: ClientDriver> Connect<Http<T>, D> {
    /// Adds a header to every request. What the protocol itself sends is not to be repeated.
    pub fn header(self, name: HeaderName, value: HeaderValue) -> Self {
        self.on_way(|http| http.headers.push((name, value)))
    }

    /// Adds a bearer token to every request (R26-ATOK-01): a `String`, or a source of them.
    pub fn bearer<S: TokenSource>(self, tokens: S) -> Connect<Http<S>, D> {
        let Http { url, headers, tokens: _ } = self.way;
        let way = Http { url, headers, tokens };
        Connect { builder: self.builder, tap: self.tap, way, driver: PhantomData }
    }

    /// Connects, and waits until the server is known.
    ///
    /// # Errors
    /// Where the URL is none, and why the server is not known.
    pub async fn connect(self) -> Result<Client<D>, ClientError> {
        let driver = D::default();
        let pool = Pool::with_headers(driver.clone(), self.way.headers);
        let (url, tokens) = (self.way.url, self.way.tokens);
        let client = match self.tap {
            Some(tap) => {
                let carrier = Bearer::new(Tapped::new(pool, tap), tokens);
                self.builder.http(driver, carrier, &url)
            }
            None => self.builder.http(driver, Bearer::new(pool, tokens), &url),
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

struct Starter<D> {
    driver: D,
    process: Process,
}

impl<D: StartProcess> Respawn for Starter<D> {
    type Stream = ChildProcess<D::Child>;

    fn start(&mut self) -> impl Future<Output = io::Result<Self::Stream>> + Send + 'static {
        let (driver, process) = (self.driver.clone(), self.process.clone());
        async move {
            let child = driver.spawn(&process)?;
            let (streams, beside) = ChildProcess::new(child, &process, driver.clone())?;
            driver.detach::<()>(Box::pin(beside));
            Ok(streams)
        }
    }
}
