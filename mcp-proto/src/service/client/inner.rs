//! What handles and the loop share: the machine, and who waits for it.

use core::task::Waker;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::listening::ListenEvent;
use crate::client::{
    AskId, CallId, Carry, ClientError, Event, ListenId, Machine, Output, Question, Server, Session,
    Stdio,
};
use crate::effect::{Effect, EffectId};
use crate::model::{Change, Progress, Reply, Request};
use crate::time::Instant;

/// The machine and its carrier's view of it.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a client has one of them")]
pub(super) enum Carried {
    Http(Session),
    Stdio(Stdio),
}

impl Carried {
    pub(super) fn machine(&mut self) -> &mut dyn Machine {
        match self {
            Self::Http(session) => session,
            Self::Stdio(stdio) => stdio,
        }
    }
}

/// A hook for what no call waits for: logs, warnings, unknown notifications.
pub(super) type Hook = Box<dyn Fn(&Event) + Send + Sync>;

pub(super) struct Shared {
    state: Mutex<State>,
    now: Box<dyn Fn() -> Instant + Send + Sync>,
}

pub(super) struct State {
    pub(super) carried: Carried,
    pub(super) calls: BTreeMap<CallId, Slot>,
    pub(super) listens: BTreeMap<ListenId, ListenSlot>,
    /// The last word about the server, and who waits for one.
    pub(super) server: Option<Result<Arc<Server>, ClientError>>,
    pub(super) awaiting_server: Vec<Waker>,
    /// For the loop.
    pub(super) tasks: VecDeque<Task>,
    pub(super) driver: Option<Waker>,
    pub(super) is_over: bool,
    pub(super) awaiting_end: Vec<Waker>,
    hook: Option<Hook>,
}

/// Something for the loop.
pub(super) enum Task {
    Carry(Carry),
    Effect(EffectId, Effect),
    Ask(AskId, Question),
    Withdraw(AskId),
}

/// A call that somebody waits for.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) progress: VecDeque<Progress>,
    pub(super) result: Outcome,
    pub(super) wakers: Vec<Waker>,
}

/// What came of a call.
#[derive(Debug, Default)]
pub(super) enum Outcome {
    #[default]
    Awaited,
    There(Result<Reply, ClientError>),
    /// Its future has given it.
    Taken,
}

/// A subscription that somebody waits for.
#[derive(Debug, Default)]
pub(super) struct ListenSlot {
    pub(super) events: VecDeque<ListenEvent>,
    pub(super) end: Option<Result<(), ClientError>>,
    pub(super) waker: Option<Waker>,
}

/// Reports that nobody fetches are not kept without end; the newest count.
const MOST_QUEUED: usize = 1_024;

/// Bytes of the reports of one call, or of one subscription, that wait to be fetched.
const MOST_BYTES: usize = 64 * 1024;

impl Shared {
    pub(super) fn new(
        carried: Carried,
        now: impl Fn() -> Instant + Send + Sync + 'static,
        hook: Option<Hook>,
    ) -> Arc<Self> {
        let mut state = State {
            carried,
            calls: BTreeMap::new(),
            listens: BTreeMap::new(),
            server: None,
            awaiting_server: Vec::new(),
            tasks: VecDeque::new(),
            driver: None,
            is_over: false,
            awaiting_end: Vec::new(),
            hook,
        };
        state.settle();
        Arc::new(Self { state: Mutex::new(state), now: Box::new(now) })
    }

    /// A panic of another task leaves nothing half done that this could see.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Instant {
        (self.now)()
    }

    /// Makes a call. Nothing comes of it before there is a place for it.
    pub(super) fn call(&self, request: Request) -> CallId {
        self.tell(|state, now| {
            let call = state.carried.machine().call(now, request);
            state.calls.entry(call).or_default();
            call
        })
    }

    /// Tells the machine something, and the loop to see to what comes of it.
    pub(super) fn command<T>(&self, command: impl FnOnce(&mut dyn Machine, Instant) -> T) -> T {
        self.tell(|state, now| command(state.carried.machine(), now))
    }

    fn tell<T>(&self, what: impl FnOnce(&mut State, Instant) -> T) -> T {
        let now = self.now();
        let mut state = self.lock();
        let told = what(&mut state, now);
        state.settle();
        if let Some(driver) = state.driver.take() {
            driver.wake();
        }
        told
    }
}

impl State {
    /// Hands what the machine has to say to whoever waits for it.
    pub(super) fn settle(&mut self) {
        while let Some(output) = self.carried.machine().poll_output() {
            match output {
                Output::Carry(carry) => self.tasks.push_back(Task::Carry(carry)),
                Output::Effect(id, effect) => self.tasks.push_back(Task::Effect(id, effect)),
                Output::Abandon(_) => {}
                Output::Event(event) => self.event(event),
            }
        }
    }

    fn event(&mut self, event: Event) {
        if let Some(hook) = &self.hook {
            hook(&event);
        }
        match event {
            Event::Connected(server) => self.server_is(Ok(server)),
            Event::Unavailable(error) => self.server_is(Err(error)),
            Event::Progress(call, progress) => {
                if let Some(slot) = self.calls.get_mut(&call) {
                    slot.report(progress);
                    slot.wake();
                }
            }
            Event::Ended(call, result) => {
                if let Some(slot) = self.calls.get_mut(&call) {
                    slot.result = Outcome::There(result.map(|reply| *reply));
                    slot.wake();
                }
            }
            Event::Ask(ask, question) => self.tasks.push_back(Task::Ask(ask, question)),
            Event::Withdrawn(ask) => self.tasks.push_back(Task::Withdraw(ask)),
            Event::Listening(listen, filter) => self.heard(listen, ListenEvent::Listening(filter)),
            Event::Changed(listen, change) => self.heard(listen, ListenEvent::Changed(change)),
            Event::Missed(listen) => self.heard(listen, ListenEvent::Missed),
            Event::Unlistened(listen, how) => {
                let slot = self.listens.entry(listen).or_default();
                slot.end = Some(how);
                slot.waker.take().into_iter().for_each(Waker::wake);
            }
            Event::Log(..) | Event::Notification { .. } | Event::Warning(_) | Event::Closed => {}
        }
    }

    fn server_is(&mut self, what: Result<Arc<Server>, ClientError>) {
        self.server = Some(what);
        self.awaiting_server.drain(..).for_each(Waker::wake);
    }

    fn heard(&mut self, listen: ListenId, event: ListenEvent) {
        let slot = self.listens.entry(listen).or_default();
        slot.hear(event);
        slot.waker.take().into_iter().for_each(Waker::wake);
    }

    /// The loop has ended.
    pub(super) fn over(&mut self) {
        self.is_over = true;
        self.awaiting_end.drain(..).for_each(Waker::wake);
        self.awaiting_server.drain(..).for_each(Waker::wake);
    }
}

impl ListenSlot {
    /// What is left out is said.
    fn hear(&mut self, event: ListenEvent) {
        let size = |event: &ListenEvent| match event {
            ListenEvent::Changed(Change::Updated(uri)) => uri.len(),
            _ => 0,
        };
        let held: usize = size(&event) + self.events.iter().map(size).sum::<usize>();
        if self.events.len() >= MOST_QUEUED || held > MOST_BYTES {
            self.events.clear();
            self.events.push_back(ListenEvent::Missed);
        }
        if size(&event) <= MOST_BYTES {
            self.events.push_back(event);
        }
    }
}

impl Slot {
    fn report(&mut self, mut progress: Progress) {
        let size = |progress: &Progress| progress.message.as_ref().map_or(0, String::len);
        // How far it is counts for more than what is said of it.
        progress.message = progress.message.filter(|text| text.len() <= MOST_BYTES);
        let mut held: usize = size(&progress) + self.progress.iter().map(size).sum::<usize>();
        while self.progress.len() >= MOST_QUEUED || held > MOST_BYTES {
            held -= self.progress.pop_front().as_ref().map_or(held, size);
        }
        self.progress.push_back(progress);
    }

    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }

    pub(super) fn register(&mut self, waker: &Waker) {
        if !self.wakers.iter().any(|known| known.will_wake(waker)) {
            self.wakers.push(waker.clone());
        }
    }
}
