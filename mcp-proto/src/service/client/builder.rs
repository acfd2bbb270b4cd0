//! From a configuration to a connected client.

use std::sync::Arc;

use super::asking::{Ask, Asker};
use super::drive::{Drive, HttpLink, StreamLink};
use super::inner::{Carried, Hook, Shared};
use super::{Client, HttpCarrier, Respawn};
use crate::client::{Config, Event, InvalidUrl, Learned, Limits, Retry, Session, Stdio};
use crate::model::{Implementation, LogLevel};
use crate::revision::{AdapterSet, AdapterSetError, Revision};
use crate::service::{Runtime, Shared as Threads};

/// What a client is to be, before it has a server.
#[must_use]
pub struct ClientBuilder {
    config: Config,
    asker: Option<Asker>,
    hook: Option<Hook>,
}

impl ClientBuilder {
    pub(super) fn new(info: Implementation) -> Self {
        Self { config: Config::new(info), asker: None, hook: None }
    }

    /// Tells the server this name and version.
    pub fn info(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.config.info = Some(Implementation::new(name, version));
        self
    }

    /// A builder that begins with this configuration. What can be asked is declared by
    /// [`on_ask`](Self::on_ask) alone.
    pub fn with_config(config: Config) -> Self {
        Self { config, asker: None, hook: None }
    }

    /// Answers the server's questions, and declares what it can be asked.
    pub fn on_ask(mut self, ask: impl Ask) -> Self {
        self.asker = Some(Asker::new(ask));
        self
    }

    /// Is told of everything that happens: logs, unknown notifications, warnings, and the rest. It
    /// must not wait, nor call this client.
    pub fn on_event(mut self, hook: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// Speaks these revisions only. One alone pins it.
    ///
    /// # Errors
    /// Where there is none, or one occurs twice.
    pub fn revisions(
        mut self,
        revisions: impl IntoIterator<Item = Revision>,
    ) -> Result<Self, AdapterSetError> {
        self.config.adapters = AdapterSet::of(revisions)?;
        Ok(self)
    }

    /// Speaks these revisions only.
    pub fn adapters(mut self, adapters: AdapterSet) -> Self {
        self.config.adapters = adapters;
        self
    }

    /// Begins with what an earlier client learned of this server.
    pub fn learned(mut self, learned: Learned) -> Self {
        self.config.learned = Some(learned);
        self
    }

    /// Asks for log messages of this severity and above.
    pub fn log_level(mut self, level: LogLevel) -> Self {
        self.config.log_level = Some(level);
        self
    }

    /// Keeps lists and resources for as long as the server says (R26-CACHE-03).
    pub fn cache(mut self, cache: bool) -> Self {
        self.config.cache = cache;
        self
    }

    /// Whether a lone surrogate in a string of the server's is read as U+FFFD, as is the default;
    /// else its message is refused, and the call that it answers fails.
    pub fn replaces_surrogates(mut self, replaces: bool) -> Self {
        self.config.replaces_surrogates = replaces;
        self
    }

    /// Accepts so much from the server, and waits so long.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Tries a server again that is not there yet, and with [`Retry::calls`] calls that never ran.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.config.retry = Some(retry);
        self
    }

    /// Connects to the server at `url`, by HTTP requests that `carrier` makes. Returns at once; see
    /// [`Client::ready`].
    ///
    /// # Errors
    /// Where that is no URL of a server.
    pub fn http<R, C>(self, runtime: R, carrier: C, url: &str) -> Result<Client, InvalidUrl>
    where
        R: Runtime<Threads, Timer: Send> + Clone + Send + Sync,
        C: HttpCarrier,
    {
        let (config, asker, hook) = self.parts();
        let session = Session::new(config, url, runtime.now())?;
        let link = HttpLink::new(carrier, session.url().clone());
        let shared = shared(Carried::Http(session), &runtime, hook);
        Ok(start(shared, runtime, link, asker))
    }

    /// Connects to the server behind a pair of byte streams that `respawn` gives: a child
    /// process's, or a socket. Returns at once; see [`Client::ready`].
    pub fn streams<R, S>(self, runtime: R, respawn: S) -> Client
    where
        R: Runtime<Threads, Timer: Send> + Clone + Send + Sync,
        S: Respawn,
    {
        let (config, asker, hook) = self.parts();
        let stdio = Stdio::new(config, runtime.now());
        let shared = shared(Carried::Stdio(stdio), &runtime, hook);
        start(shared, runtime, StreamLink::new(respawn), asker)
    }

    fn parts(mut self) -> (Config, Option<Asker>, Option<Hook>) {
        self.config.capabilities = self.asker.as_ref().map(Asker::can).unwrap_or_default();
        (self.config, self.asker, self.hook)
    }
}

/// The name of a client that says none.
pub(super) fn library() -> Implementation {
    Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
}

fn shared<R>(carried: Carried, runtime: &R, hook: Option<Hook>) -> Arc<Shared>
where
    R: Runtime<Threads, Timer: Send> + Clone + Send + Sync,
{
    let clock = runtime.clone();
    Shared::new(carried, move || clock.now(), hook)
}

fn start<R, L>(shared: Arc<Shared>, runtime: R, link: L, asker: Option<Asker>) -> Client
where
    R: Runtime<Threads, Timer: Send> + Clone + Send + Sync,
    L: super::drive::Link,
{
    let drive = Drive::new(shared.clone(), runtime.clone(), link, asker);
    runtime.detach::<()>(Box::pin(drive));
    Client::new(shared)
}
