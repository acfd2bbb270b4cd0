//! A driver in virtual time.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Application, Arrival, Faults, Hub, Link, Script, Store};
use crate::effect::{Effect, EffectError, EffectId, Reply};
use crate::frame::http1::Closing;
use crate::revision::Published;
use crate::server::{CallId, Event, Machine, Output};
use crate::time::{Instant, earlier};

/// One machine with everything that surrounds it, in virtual time.
///
/// Time stands still until [`run_for`](Self::run_for) or [`run`](Self::run) moves it; what is due
/// at one instant happens in the order in which it was arranged.
#[derive(Debug)]
pub struct World<M, A> {
    machine: M,
    application: A,
    store: Store,
    hub: Hub,
    link: Link,
    now: Instant,
    agenda: BTreeMap<(Instant, u64), Due>,
    arranged: u64,
    /// Arrived, and not taken yet.
    backlog: Vec<Arrival>,
    cancelled: BTreeSet<CallId>,
    is_reading: bool,
    sent: Vec<u8>,
}

/// What is going to happen.
#[derive(Debug)]
enum Due {
    Arrival(Arrival),
    Reply(EffectId, Result<Reply, EffectError>),
    Script(CallId, Script),
}

/// More steps than any run takes that ends.
const MOST_STEPS: usize = 1_000_000;

impl<M: Machine, A: Application> World<M, A> {
    /// A machine with a perfect link and a perfect store.
    pub fn new(machine: M, application: A) -> Self {
        Self {
            machine,
            application,
            store: Store::new(0, Faults::default()),
            hub: Hub::default(),
            link: Link::direct(),
            now: Instant::ZERO,
            agenda: BTreeMap::new(),
            arranged: 0,
            backlog: Vec::new(),
            cancelled: BTreeSet::new(),
            is_reading: true,
            sent: Vec::new(),
        }
    }

    /// The same world with another store.
    #[must_use]
    pub fn with_store(mut self, store: Store) -> Self {
        self.store = store;
        self
    }

    /// The same world with another link.
    #[must_use]
    pub fn with_link(mut self, link: Link) -> Self {
        self.link = link;
        self
    }

    /// Ends the world but for its store, which another one may go on with.
    pub fn into_store(self) -> Store {
        self.store
    }

    /// The machine.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// The store.
    pub fn store(&mut self) -> &mut Store {
        &mut self.store
    }

    /// The hub.
    pub fn hub(&mut self) -> &mut Hub {
        &mut self.hub
    }

    /// What time it is.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Whether the peer reads; it does until told otherwise.
    pub fn set_reading(&mut self, is_reading: bool) {
        self.is_reading = is_reading;
    }

    /// Bytes that arrived and that the machine did not take yet.
    pub fn waiting(&self) -> usize {
        let bytes = |arrival: &Arrival| match arrival {
            Arrival::Bytes(bytes) => bytes.len(),
            Arrival::Eof | Arrival::Cut => 0,
        };
        self.backlog.iter().map(bytes).sum()
    }

    /// Whether a driver would have closed the stream by now: everything is said.
    pub fn is_closed(&self) -> bool {
        matches!(self.machine.closing(), Closing::AfterFlush | Closing::Closed)
    }

    /// The peer sends `bytes`.
    pub fn send(&mut self, bytes: &[u8]) {
        for (at, arrival) in self.link.carry(self.now, bytes) {
            self.arrange(at, Due::Arrival(arrival));
        }
    }

    /// The peer ends its side of the stream.
    pub fn send_eof(&mut self) {
        if let Some((at, arrival)) = self.link.end(self.now) {
            self.arrange(at, Due::Arrival(arrival));
        }
    }

    /// The stream breaks.
    pub fn cut(&mut self) {
        self.arrange(self.now, Due::Arrival(Arrival::Cut));
    }

    /// What is declared changes.
    pub fn publish(&mut self, published: Arc<Published>) {
        self.machine.handle_published(self.now, published);
    }

    /// The machine is told to end.
    pub fn close(&mut self) {
        self.machine.close();
        self.drain();
    }

    /// The calls that were cancelled, by their numbers.
    pub fn cancelled(&self) -> impl Iterator<Item = CallId> + '_ {
        self.cancelled.iter().copied()
    }

    /// The bytes that the peer read since the last time.
    pub fn take_sent(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.sent)
    }

    /// Lets `duration` pass, and everything happen that is due meanwhile.
    ///
    /// # Panics
    /// Where the machine breaks its contract: it waits for the past, leaves input that it wants,
    /// or never comes to rest.
    pub fn run_for(&mut self, duration: Duration) {
        self.run_until(self.now + duration, |_| false);
    }

    /// Lets time pass until nothing is under way any more: no byte, no reply, no script. The
    /// machine's own deadlines are acted on as they come, but not waited for.
    ///
    /// # Panics
    /// As [`run_for`](Self::run_for).
    pub fn run(&mut self) {
        self.run_until(Instant::ZERO + Duration::MAX, |world| world.agenda.is_empty());
    }

    /// Lets time pass until the machine sends something or ends, `most` at the longest, and says
    /// whether it did.
    ///
    /// # Panics
    /// As [`run_for`](Self::run_for).
    pub fn run_until_sent(&mut self, most: Duration) -> bool {
        let has_come = |world: &Self| !world.sent.is_empty() || world.is_closed();
        self.run_until(self.now + most, has_come);
        has_come(self)
    }

    /// Lets time pass until the machine sends something, and takes it; `None` once nothing is
    /// under way that could make it send more. Like [`run`](Self::run), it waits for no deadline.
    ///
    /// # Panics
    /// As [`run_for`](Self::run_for).
    pub fn next_sent(&mut self) -> Option<Vec<u8>> {
        let has_come = |world: &Self| !world.sent.is_empty() || world.agenda.is_empty();
        self.run_until(Instant::ZERO + Duration::MAX, has_come);
        Some(self.take_sent()).filter(|sent| !sent.is_empty())
    }

    fn run_until(&mut self, until: Instant, is_enough: impl Fn(&Self) -> bool) {
        self.drain();
        for _ in 0..MOST_STEPS {
            if is_enough(self) {
                return;
            }
            let due = self.agenda.first_key_value().map(|((at, _), _)| *at);
            let waits = earlier(self.machine.poll_timeout(), self.hub.poll_timeout());
            let Some(next) = earlier(due, waits).filter(|at| *at <= until) else {
                self.now = self.now.max(until);
                return;
            };
            self.now = self.now.max(next);
            if due.is_some_and(|at| at <= self.now) {
                self.happen();
            } else if self.hub.poll_timeout().is_some_and(|at| at <= self.now) {
                self.wake();
            } else {
                self.time_out();
            }
            self.drain();
        }
        panic!("the machine never comes to rest");
    }

    fn time_out(&mut self) {
        self.machine.handle_timeout(self.now);
        if let Some(at) = self.machine.poll_timeout() {
            assert!(at > self.now, "at {} the machine waits for {at}", self.now);
        }
    }

    fn happen(&mut self) {
        let Some((_, due)) = self.agenda.pop_first() else { return };
        match due {
            Due::Arrival(Arrival::Cut) => {
                self.backlog.clear();
                self.machine.handle_closed(self.now);
            }
            Due::Arrival(arrival) => self.backlog.push(arrival),
            Due::Reply(id, reply) => self.machine.handle_reply(self.now, id, reply),
            Due::Script(call, mut script) => {
                if self.cancelled.contains(&call) && !script.stubborn {
                    return;
                }
                let Some((_, act)) = script.acts.pop_front() else { return };
                // What comes of questions is for a cluster's applications.
                act.perform(&mut self.machine, call, &mut Vec::new());
                self.follow(call, script);
            }
        }
    }

    /// Fetches everything, and feeds what waits, until neither makes a difference.
    fn drain(&mut self) {
        loop {
            while let Some(output) = self.machine.poll_output() {
                self.take(output);
            }
            if self.is_reading {
                self.machine.transmit(&mut self.sent);
            }
            if !self.feed() {
                return;
            }
        }
    }

    fn take(&mut self, output: Output) {
        match output {
            Output::Event(Event::Call(id, call)) => {
                let script = self.application.call(&call);
                self.follow(id, script);
            }
            Output::Event(Event::Cancelled(id)) => {
                self.cancelled.insert(id);
            }
            // Scripts do not ask.
            Output::Event(Event::Answered(..) | Event::Notice(_)) => {}
            Output::Effect(id, Effect::Hub(op)) => {
                if let Some(reply) = self.hub.perform(self.now, 0, id, &op) {
                    self.arrange(self.now, Due::Reply(id, Ok(reply)));
                }
                self.wake();
            }
            Output::Effect(id, effect) => {
                for (at, answer) in self.store.answers(self.now, &effect) {
                    self.arrange(at, Due::Reply(id, answer));
                }
            }
            // An answer that is on its way comes late, which does no harm.
            Output::Abandon(id) => self.hub.abandon(0, id),
        }
    }

    /// Answers the polls of the hub that have news, or waited long enough.
    fn wake(&mut self) {
        for (_, id, reply) in self.hub.due(self.now) {
            self.arrange(self.now, Due::Reply(id, Ok(reply)));
        }
    }

    /// Gives the machine what arrived, as far as it takes it; says whether it took any.
    fn feed(&mut self) -> bool {
        if self.backlog.is_empty() || self.is_closed() {
            return false;
        }
        match self.backlog.remove(0) {
            Arrival::Bytes(bytes) => {
                let taken = self.machine.handle_input(self.now, &bytes);
                let rest = bytes.get(taken..).unwrap_or_default();
                if !rest.is_empty() {
                    assert!(!self.machine.wants_input(), "the machine left input that it wants");
                    self.backlog.insert(0, Arrival::Bytes(rest.to_vec()));
                }
                taken > 0
            }
            Arrival::Eof => {
                self.machine.handle_eof(self.now);
                true
            }
            Arrival::Cut => false,
        }
    }

    fn follow(&mut self, call: CallId, script: Script) {
        if let Some((pause, _)) = script.acts.front() {
            self.arrange(self.now + *pause, Due::Script(call, script));
        }
    }

    fn arrange(&mut self, at: Instant, due: Due) {
        self.arranged += 1;
        self.agenda.insert((at, self.arranged), due);
    }
}
