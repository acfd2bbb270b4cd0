//! The server's side: a service behind its machines, one for each connection.

use core::task::{Context, Waker};
use core::time::Duration;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

use futures_util::FutureExt;

use super::{Pair, Random, VirtualTime, Way};
use crate::effect::EffectError;
use crate::model::Change;
use crate::revision::AdapterSet;
use crate::server::{Connection, Endpoint, Stdio};
use crate::service::virtual_time::VirtualTimer;
use crate::service::work::Work;
use crate::service::{
    Announcer, Carrier, Extensions, Host, MemoryHub, MemorySessionStore, Runtime, Service,
    Threading,
};
use crate::time::{Instant, earlier};

/// What every connection of the server shares.
pub(super) struct Server<M: Threading> {
    service: Service<M>,
    pub(super) endpoint: Endpoint,
    backstage: Backstage,
    hub: MemoryHub,
    host: Host<Backstage, M>,
}

impl<M: Threading> Server<M> {
    pub(super) fn new(service: Service<M>, time: VirtualTime) -> Self {
        let backstage = Backstage { time, random: Arc::new(Mutex::new(Random::new(0))) };
        let hub = MemoryHub::new();
        let endpoint = endpoint(&service, AdapterSet::default());
        let host = host(&service, &backstage, &hub);
        Self { service, endpoint, backstage, hub, host }
    }

    pub(super) fn speak(&mut self, adapters: AdapterSet) {
        self.endpoint = endpoint(&self.service, adapters);
    }

    pub(super) fn seed(&mut self, seed: u64) {
        self.backstage.random = Arc::new(Mutex::new(Random::new(!seed)));
        self.host = host(&self.service, &self.backstage, &self.hub);
    }

    pub(super) fn keep_time(&mut self, time: VirtualTime) {
        self.backstage.time = time;
        self.host = host(&self.service, &self.backstage, &self.hub);
    }

    /// From here on with nothing in its memory.
    pub(super) fn restart(&mut self) {
        self.hub = MemoryHub::new();
        self.host = host(&self.service, &self.backstage, &self.hub);
    }

    pub(super) fn announce(&self, change: &Change) {
        let time = self.backstage.time.clone();
        let announcer = Announcer::new(Arc::new(self.hub.clone()), move || time.now(), "");
        // A hub in memory neither waits nor fails.
        let _ = announcer.announce(change).now_or_never();
    }

    /// A new connection's server.
    pub(super) fn accept(&self, way: Way) -> Served<M> {
        let (endpoint, now) = (self.endpoint.clone(), self.backstage.time.now());
        let machine: Box<dyn Carrier> = match way {
            Way::Stdio => Box::new(Stdio::new(endpoint, now)),
            Way::Http | Way::HttpSse => Box::new(Connection::new(endpoint, now)),
        };
        Served { machine, work: Work::new(self.host.clone(), Extensions::new()) }
    }
}

fn endpoint<M: Threading>(service: &Service<M>, adapters: AdapterSet) -> Endpoint {
    let [stream, messages] = Pair::<M>::SSE_PATHS;
    Endpoint::builder(service.catalog().clone())
        .adapters(adapters)
        .path(Pair::<M>::PATH)
        .http_sse(stream, messages)
        .allow_delete(true)
        .build()
}

fn host<M: Threading>(
    service: &Service<M>,
    backstage: &Backstage,
    hub: &MemoryHub,
) -> Host<Backstage, M> {
    let sessions = Arc::new(MemorySessionStore::new());
    Host::with_stores(service.clone(), backstage.clone(), sessions, Arc::new(hub.clone()))
}

/// One connection's server.
pub(super) struct Served<M: Threading> {
    pub(super) machine: Box<dyn Carrier>,
    work: Work<Backstage, M>,
}

impl<M: Threading> Served<M> {
    /// Runs what there is to run; false where that is nothing.
    pub(super) fn advance(&mut self, now: Instant, woken: &Arc<Woken>) -> bool {
        let waker = Waker::from(Arc::clone(woken));
        self.work.register(&waker);
        self.work.advance(&mut *self.machine, now, &mut Context::from_waker(&waker))
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        earlier(self.machine.poll_timeout(), self.work.poll_timeout())
    }

    /// Nothing runs any more, and nothing of it can be fetched elsewhere.
    pub(super) fn is_idle(&self) -> bool {
        self.machine.is_idle() && self.work.is_idle()
    }
}

/// Whether somebody was woken.
#[derive(Debug, Default)]
pub(super) struct Woken(AtomicBool);

impl Woken {
    pub(super) fn take(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// What the service runs on.
#[derive(Clone)]
pub(super) struct Backstage {
    time: VirtualTime,
    random: Arc<Mutex<Random>>,
}

impl<M: Threading> Runtime<M> for Backstage {
    type Timer = VirtualTimer;

    fn now(&self) -> Instant {
        self.time.now()
    }

    fn timer(&self) -> VirtualTimer {
        self.time.timer()
    }

    fn wall(&self) -> Duration {
        Duration::from_micros(self.time.now().as_micros())
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), EffectError> {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        for part in bytes.chunks_mut(32) {
            part.copy_from_slice(random.bytes().get(..part.len()).unwrap_or_default());
        }
        Ok(())
    }

    /// Never needed: a pair holds on to connections for as long as their calls run.
    fn detach<T: 'static>(&self, work: M::Boxed<'static, T>) {
        drop(work);
    }
}
