//! A service with the world that it runs in.

use core::fmt;
use core::future::Future;
use core::pin::pin;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use futures_util::future::poll_fn;
use http::Extensions;

use super::live::Live;
use super::load::Load;
use super::notices::Notices;
use super::run::Loop;
use super::trace;
use super::work::Work;
use super::{
    Execution, Guard, Hub, Later, MemoryHub, MemorySessionStore, Outliving, Parts, Runtime,
    Service, SessionStore, Shared, Threading, Verification, VerifyError,
};
use crate::auth::{Principal, Refusal};
use crate::effect::{Effect, EffectError, Reply};
use crate::revision::AdapterSet;
use crate::server::{CallId, Connection, HttpExchange, Machine, Stdio};

/// A service, the runtime that it runs on, and the stores that it keeps things in. Cloning shares
/// them all.
///
/// A driver makes one, and calls [`run`](Self::run) for each stream that it accepts.
pub struct Host<R, M: Threading = Shared>(Arc<Inner<R, M>>);

struct Inner<R, M: Threading> {
    live: Live<M>,
    runtime: R,
    sessions: Arc<dyn SessionStore>,
    hub: Arc<dyn Hub>,
    guard: Option<Guard>,
    notices: Notices,
    load: Load,
}

/// A machine whose calls may come by HTTP requests.
pub trait Carrier: Machine {
    /// The request whose calls are running, if there is such a thing. `extensions` are what the
    /// driver knows of the stream.
    fn parts(&self, call: CallId, extensions: &Extensions) -> Option<Parts>;

    /// The revisions that it speaks. `None` is for a machine that lists nothing, and is told of no
    /// declarations that change.
    fn adapters(&self) -> Option<&AdapterSet> {
        None
    }

    /// For how long a peer may take nothing of what is written to it. `None` is for ever, as long
    /// as the stream is open.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Bytes of its peer's, and for it, that it holds; and how many all of a process may together.
    /// `None` is for a machine that counts for nothing.
    fn held(&self) -> Option<(usize, usize)> {
        None
    }
}

/// For how long a client over HTTP may read nothing.
const PATIENCE: Duration = Duration::from_secs(60);

impl Carrier for Connection {
    fn parts(&self, call: CallId, extensions: &Extensions) -> Option<Parts> {
        let head = self.request(call)?.clone();
        Some(Parts::of(head).extensions(extensions.clone()).build())
    }

    fn adapters(&self) -> Option<&AdapterSet> {
        Some(self.endpoint().adapters())
    }

    /// Sockets are too dear to be held by peers that have gone to sleep.
    fn patience(&self) -> Option<Duration> {
        Some(PATIENCE)
    }

    fn held(&self) -> Option<(usize, usize)> {
        Some((self.held(), self.endpoint().limits().held))
    }
}

impl Carrier for HttpExchange<Parts> {
    /// The request is the exchange's own, with what its framework attached.
    fn parts(&self, _: CallId, _: &Extensions) -> Option<Parts> {
        Some(self.head().clone())
    }

    fn patience(&self) -> Option<Duration> {
        Some(PATIENCE)
    }

    fn held(&self) -> Option<(usize, usize)> {
        Some((self.held(), self.limits().held))
    }
}

impl Carrier for Stdio {
    fn parts(&self, _: CallId, _: &Extensions) -> Option<Parts> {
        None
    }

    fn adapters(&self) -> Option<&AdapterSet> {
        Some(self.endpoint().adapters())
    }
}

impl<M: Threading, R: Runtime<M>> Host<R, M> {
    /// `service` on `runtime`, with its sessions and events in this process's memory.
    pub fn new(service: Service<M>, runtime: R) -> Self {
        Self::with_sessions(service, runtime, Arc::new(MemorySessionStore::new()))
    }

    /// `service` on `runtime`, with its sessions in that store.
    pub fn with_sessions(service: Service<M>, runtime: R, sessions: Arc<dyn SessionStore>) -> Self {
        Self::with_stores(service, runtime, sessions, Arc::new(MemoryHub::new()))
    }

    /// `service` on `runtime`, with its sessions in that store and its events in that hub.
    pub fn with_stores(
        service: Service<M>,
        runtime: R,
        sessions: Arc<dyn SessionStore>,
        hub: Arc<dyn Hub>,
    ) -> Self {
        Self::guarded(service, runtime, sessions, hub, None)
    }

    /// The same, with a guard that says who calls. The endpoint must have its
    /// [settings](crate::server::EndpointBuilder::authorization).
    pub fn guarded(
        service: Service<M>,
        runtime: R,
        sessions: Arc<dyn SessionStore>,
        hub: Arc<dyn Hub>,
        guard: Option<Guard>,
    ) -> Self {
        Self::live(Live::new(service), runtime, sessions, hub, guard)
    }

    /// The same, with a service that somebody may replace.
    pub(crate) fn live(
        live: Live<M>,
        runtime: R,
        sessions: Arc<dyn SessionStore>,
        hub: Arc<dyn Hub>,
        guard: Option<Guard>,
    ) -> Self {
        let (notices, load) = (Notices::default(), Load::default());
        Self(Arc::new(Inner { live, runtime, sessions, hub, guard, notices, load }))
    }

    /// The same, before it is shared, with someone to tell.
    pub(crate) fn telling(mut self, notices: Notices) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.notices = notices;
        }
        self
    }

    /// Whom to tell what happens.
    pub(crate) fn notices(&self) -> &Notices {
        &self.0.notices
    }

    /// What all its connections hold.
    pub(crate) fn load(&self) -> &Load {
        &self.0.load
    }

    /// The service, as it is now.
    pub fn service(&self) -> Service<M> {
        self.0.live.edition().service().clone()
    }

    /// The service, as it changes.
    pub(crate) fn current(&self) -> &Live<M> {
        &self.0.live
    }

    /// The runtime.
    pub fn runtime(&self) -> &R {
        &self.0.runtime
    }

    /// Serves one stream to its end: reads into `machine`, runs its calls, writes what it says.
    ///
    /// `extensions` are handed to the stream's calls beside their HTTP request. Once `until` is
    /// done, no further request is taken and the stream ends when the running calls have ended.
    /// Dropping the future cancels what runs. Where the stream ends before calls do whose results
    /// can be fetched elsewhere, they run on, [detached](Runtime::detach).
    ///
    /// Handlers are polled in here, at once when their call comes; a handler that waits holds up
    /// nothing else, one that blocks the thread holds up its stream. Cancelling is dropping.
    ///
    /// # Errors
    /// What ended the stream, where that was neither the peer nor this side closing it.
    pub fn run<C, S, U>(
        &self,
        machine: C,
        stream: S,
        extensions: Extensions,
        until: U,
    ) -> impl Future<Output = io::Result<()>> + use<C, S, U, R, M>
    where
        C: Carrier,
        S: AsyncRead + AsyncWrite + Unpin,
        U: Future<Output = ()>,
        Outliving<C, R, M>: Later<'static, M, ()>,
    {
        // Made out here: what an async block moves into its own locals it would hold twice.
        let mut running = Loop::new(stream, machine, Work::new(self.clone(), extensions));
        let (timer, host) = (self.0.runtime.timer(), self.clone());
        async move {
            let (mut timer, mut until) = (pin!(timer), pin!(until));
            let ended = poll_fn(|cx| running.poll(timer.as_mut(), until.as_mut(), cx)).await;
            if let Some(rest) = running.outliving(host.runtime().timer()) {
                host.runtime().detach(rest.boxed());
            }
            ended
        }
    }

    /// Has the world do what a machine asks.
    pub(crate) fn answer(&self, effect: Effect) -> Execution {
        trace::watch(trace::doer(&effect), self.execute(effect))
    }

    fn execute(&self, effect: Effect) -> Execution {
        match effect {
            Effect::Random => {
                let mut bytes = [0; 32];
                let filled = self.0.runtime.fill_random(&mut bytes);
                Execution::Done(filled.map(|()| Reply::Random(bytes)))
            }
            Effect::Wall => {
                let wall = self.0.runtime.wall().as_millis();
                Execution::Done(Ok(Reply::Wall(u64::try_from(wall).unwrap_or(u64::MAX))))
            }
            Effect::Verify(token) => match &self.0.guard {
                Some(guard) => verified(guard.verify(token.reveal())),
                None => {
                    let why = "nothing verifies tokens here; give the host a guard".to_owned();
                    Execution::Done(Err(EffectError::Unavailable(why)))
                }
            },
            Effect::Session(op) => self.0.sessions.execute(self.0.runtime.now(), op),
            Effect::Hub(op) => self.0.hub.execute(self.0.runtime.now(), op),
        }
    }
}

fn verified(verification: Verification) -> Execution {
    let reply = |answer: Result<Principal, VerifyError>| {
        Ok(Reply::Principal(answer.map(Arc::new).map_err(Refusal::from)))
    };
    match verification {
        Verification::Done(answer) => Execution::Done(reply(answer)),
        Verification::Later(answer) => {
            Execution::Later(Box::pin(async move { reply(answer.await) }))
        }
    }
}

impl<R, M: Threading> Clone for Host<R, M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R, M: Threading> fmt::Debug for Host<R, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Host").field(&self.0.live).finish()
    }
}
