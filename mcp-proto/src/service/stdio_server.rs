//! A service on stdin and stdout.

use core::fmt;
use core::future::{Future, pending, poll_fn};
use core::pin::pin;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, PoisonError};

use futures_io::{AsyncRead, AsyncWrite};
use futures_util::FutureExt;
use http::Extensions;

use super::crowd::{Crowd, Member, Stage};
use super::live::Live;
use super::notices::Notices;
use super::updater::Updater;
use super::{
    Announcer, Driver, Error, Host, Hub, Later, Local, MemoryHub, MemorySessionStore, Outliving,
    Service, SessionStore, Shared, Storage, Threading,
};
use crate::revision::AdapterSet;
use crate::server::{Endpoint, EndpointBuilder, Limits, Stdio};

/// A service on a pair of byte streams with one message per line: stdin and stdout, unless told
/// otherwise. On Unix they belong to the protocol from the start on (see
/// [`private_streams`](StdioServer::private_streams)); elsewhere nothing else of the process may
/// write to stdout (R24-STDIO-03). stderr is free, and may be unread: see
/// [`Diagnostics`](super::Diagnostics).
#[must_use = "nothing is answered before `serve`"]
pub struct StdioServer<D, M: Threading = Shared> {
    driver: D,
    live: Live<M>,
    endpoint: EndpointBuilder,
    sessions: Arc<dyn SessionStore>,
    hub: Arc<dyn Hub>,
    notices: Notices,
    private: bool,
}

impl<D: Driver<M>, M: Threading> StdioServer<D, M> {
    /// `service`, driven by `driver`.
    pub fn new(driver: D, service: Service<M>) -> Self {
        let endpoint = Endpoint::builder(service.catalog().clone());
        let (sessions, hub) = (Arc::new(MemorySessionStore::new()), Arc::new(MemoryHub::new()));
        let (live, notices) = (Live::new(service), Notices::default());
        Self { driver, live, endpoint, sessions, hub, notices, private: true }
    }

    /// Keeps sessions and events in `store`, where other processes find them too.
    pub fn store(mut self, store: impl Storage) -> Self {
        self.sessions = store.session_store();
        self.hub = store.hub();
        self
    }

    /// Announces changes to the client, once all settings are made.
    pub fn announcer(&self) -> Announcer {
        let driver = self.driver.clone();
        Announcer::new(Arc::clone(&self.hub), move || driver.now(), "")
    }

    /// Replaces what is served, while it is; once all settings are made.
    pub fn updater(&self) -> Updater<M> {
        let (live, adapters) = (self.live.clone(), self.endpoint.adapters.clone());
        Updater::new(live, self.announcer(), adapters, unfit)
    }

    /// Speaks only these revisions.
    pub fn adapters(mut self, adapters: AdapterSet) -> Self {
        self.endpoint = self.endpoint.adapters(adapters);
        self
    }

    /// Keeps these bounds.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.endpoint = self.endpoint.limits(limits);
        self
    }

    /// Lets a client begin anew with a second `initialize`, which replaces what the first one
    /// settled; it is refused else (R24-LIFE-01).
    pub fn allow_reinitialize(mut self, allow: bool) -> Self {
        self.endpoint = self.endpoint.allow_reinitialize(allow);
        self
    }

    /// Whether stdin and stdout are taken for the protocol alone when serving begins, on Unix; so by
    /// default. Then what else reads standard input in this process or its children finds nothing,
    /// and what is written to standard output goes to standard error. It stays so once serving is
    /// over. Where this is off, whatever prints stands among the messages, and children read them.
    pub fn private_streams(mut self, private: bool) -> Self {
        self.private = private;
        self
    }

    /// Tells `notice` of input that was skipped, since it was no message and had nobody to answer,
    /// at most once in a second; and of bounds that are reached, one of a kind in ten seconds. One
    /// line each, for the server's log.
    pub fn on_notice(mut self, notice: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.notices = Notices::new(notice);
        self
    }

    /// Serves the stream to its end, in a task that `spawn` starts.
    async fn attend<S>(
        self,
        stream: S,
        until: impl Future<Output = ()>,
        spawn: impl FnOnce(&D, Served<D, S, M>),
    ) -> Result<(), Error> {
        if let Some(why) = unfit(self.live.edition().service()) {
            return Err(Error::internal(why.to_owned()));
        }
        for warning in self.live.edition().service().warnings() {
            self.notices.say(|| warning.clone());
        }
        let crowd = Crowd::default();
        let ended = Arc::new(Mutex::new(None));
        let served = Served {
            host: Host::live(self.live, self.driver.clone(), self.sessions, self.hub, None)
                .telling(self.notices),
            endpoint: self.endpoint.build(),
            stream,
            member: crowd.enter(),
            ended: Arc::clone(&ended),
        };
        spawn(&self.driver, served);
        let crowd = CutOff(crowd);
        let mut until = pin!(until.fuse());
        poll_fn(|cx| {
            if until.as_mut().poll(cx).is_ready() {
                crowd.0.reach(Stage::Draining);
            }
            crowd.0.poll_fewer_than(1, cx)
        })
        .await;
        let ended = ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        match ended {
            Some(Err(error)) if !is_gone(error.kind()) => Err(error.into()),
            Some(_) => Ok(()),
            None => Err(Error::internal("the runtime dropped the task that serves the stream")),
        }
    }
}

/// Nothing says here who calls, and there are no HTTP requests.
fn unfit<M: Threading>(service: &Service<M>) -> Option<&str> {
    service.http_only().or(service.guarded_only())
}

/// A stream to be served.
struct Served<D, S, M: Threading> {
    host: Host<D, M>,
    endpoint: Endpoint,
    stream: S,
    member: Member,
    /// How it ended.
    ended: Arc<Mutex<Option<io::Result<()>>>>,
}

impl<D: Driver<M>, S: AsyncRead + AsyncWrite + Unpin, M: Threading> Served<D, S, M>
where
    Outliving<Stdio, D, M>: Later<'static, M, ()>,
{
    async fn run(self) {
        let Self { host, endpoint, stream, member, ended } = self;
        let machine = Stdio::new(endpoint, host.runtime().now());
        let until = member.until(Stage::Draining);
        let served = member.stay(host.run(machine, stream, Extensions::new(), until)).await;
        *ended.lock().unwrap_or_else(PoisonError::into_inner) = served;
    }
}

/// Ends the task when nobody waits for it any more.
struct CutOff(Crowd);

impl Drop for CutOff {
    fn drop(&mut self) {
        self.0.reach(Stage::Over);
    }
}

macro_rules! serving {
    ($mode:ident $(, $send:ident)?) => {
        impl<D: Driver<$mode>> StdioServer<D, $mode> {
            /// Serves until stdin ends: the calls that run get the grace of the
            /// [limits](Limits::eof_grace), then they are cancelled and this returns. The process
            /// should end then (R26-STDIO-16); no thread that still reads stdin keeps it from
            /// that.
            ///
            /// # Errors
            /// Where a handler needs an HTTP request, or stdin or stdout failed. That the client
            /// is gone is no error.
            pub async fn serve(self) -> Result<(), Error> {
                self.serve_with_shutdown(pending()).await
            }

            /// Serves until stdin ends or `until` is done, whichever comes first.
            ///
            /// # Errors
            /// As [`serve`](Self::serve).
            pub async fn serve_with_shutdown(
                self,
                until: impl Future<Output = ()>,
            ) -> Result<(), Error> {
                let stream = self.driver.stdio(self.private)?;
                self.serve_on(stream, until).await
            }

            /// Serves another stream in the same way, such as a socket.
            ///
            /// # Errors
            /// As [`serve`](Self::serve).
            pub async fn serve_on(
                self,
                stream: impl AsyncRead + AsyncWrite + Unpin $(+ $send)? + 'static,
                until: impl Future<Output = ()>,
            ) -> Result<(), Error> {
                // A task of its own wakes without a detour over the thread that waits for it.
                let driver = self.driver.clone();
                let served = self.attend(stream, until, |driver, served| {
                    driver.detach::<()>(Box::pin(served.run()));
                });
                driver.within(served).await
            }
        }
    };
}

serving!(Shared, Send);
serving!(Local);

/// The client closed its end while it was written to (C80).
fn is_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

impl<D, M: Threading> fmt::Debug for StdioServer<D, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StdioServer").field(&self.endpoint).finish()
    }
}
