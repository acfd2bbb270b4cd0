//! Several workers in virtual time, which share nothing but a store and a hub.

mod carry;

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Application, Arrival, Faults, Hub, Link, Received, Script, Store};
use crate::auth::Principal;
use crate::effect::{EffectError, EffectId, Reply};
use crate::model::{Call, InputRequest};
use crate::server::{AskId, CallId, Connection, Endpoint, Machine, Stdio};
use crate::store::HubOp;
use crate::time::{Instant, earlier};

/// Workers of one service in virtual time: each has an endpoint of its own, and every byte that
/// one learns from another went through the store or the hub.
///
/// A client talks over lines: a connection to one worker each. What is due at one instant happens
/// in the order in which it was arranged, so the same seeds give the same run.
///
/// ```
/// use std::sync::Arc;
/// use mcp_proto::model::{Call, Catalog, Implementation};
/// use mcp_proto::server::Endpoint;
/// use mcp_proto::testing::{Cluster, Script};
///
/// let endpoint = || {
///     let catalog = Catalog::new(Implementation::new("demo", "1.0.0"));
///     Endpoint::builder(Arc::new(catalog)).build()
/// };
/// let mut cluster = Cluster::new([endpoint(), endpoint()], |_: &Call| Script::silent());
/// let line = cluster.connect(1);
/// cluster.send(line, b"GET /nowhere HTTP/1.1\r\nHost: evil.example\r\n\r\n");
/// cluster.run();
/// assert_eq!(cluster.responses(line)[0].status, 403);
/// ```
pub struct Cluster<A> {
    endpoints: Vec<Endpoint>,
    application: A,
    store: Store,
    hub: Hub,
    principals: BTreeMap<String, Arc<Principal>>,
    link: Link,
    wrap: fn(Box<dyn Machine>) -> Box<dyn Machine>,
    lines: Vec<Line>,
    now: Instant,
    agenda: BTreeMap<(Instant, u64), Due>,
    arranged: u64,
    ran: Vec<(usize, Call)>,
    effects: u64,
    timeouts: u64,
}

/// Names a connection to one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineId(usize);

/// One connection.
struct Line {
    worker: usize,
    /// `None` once the worker is done with it, or was killed.
    machine: Option<Box<dyn Machine>>,
    to_server: Link,
    to_client: Link,
    /// Arrived, and not taken yet.
    waiting: Vec<Arrival>,
    received: Vec<u8>,
    is_reading: bool,
    /// The server ended its side, and the client was told.
    is_ended: bool,
    /// The client knows that the line is over.
    is_over: bool,
    calls: BTreeMap<CallId, Running>,
}

struct Running {
    call: Call,
    asked: Vec<(AskId, InputRequest)>,
    is_cancelled: bool,
}

enum Due {
    ToServer(LineId, Arrival),
    ToClient(LineId, Arrival),
    Reply(LineId, EffectId, Result<Reply, EffectError>),
    Script(LineId, CallId, Script),
}

/// More steps than any run takes that ends.
const MOST_STEPS: usize = 2_000_000;

impl<A: Application> Cluster<A> {
    /// Workers with these endpoints, a perfect store and perfect links.
    pub fn new(endpoints: impl IntoIterator<Item = Endpoint>, application: A) -> Self {
        Self {
            endpoints: endpoints.into_iter().collect(),
            application,
            store: Store::new(0, Faults::default()),
            hub: Hub::default(),
            principals: BTreeMap::new(),
            link: Link::direct(),
            wrap: |machine| machine,
            lines: Vec::new(),
            now: Instant::ZERO,
            agenda: BTreeMap::new(),
            arranged: 0,
            ran: Vec::new(),
            effects: 0,
            timeouts: 0,
        }
    }

    /// The same cluster with another store.
    #[must_use]
    pub fn with_store(mut self, store: Store) -> Self {
        self.store = store;
        self
    }

    /// The same cluster with such links from now on.
    #[must_use]
    pub fn with_link(mut self, link: Link) -> Self {
        self.link = link;
        self
    }

    /// The same cluster, whose verifier knows this token.
    #[must_use]
    pub fn with_token(mut self, token: impl Into<String>, principal: Principal) -> Self {
        self.principals.insert(token.into(), Arc::new(principal));
        self
    }

    /// The same cluster, whose machines are wrapped from now on: in one with a fault that a test
    /// has to find.
    #[must_use]
    pub fn with_machines(mut self, wrap: fn(Box<dyn Machine>) -> Box<dyn Machine>) -> Self {
        self.wrap = wrap;
        self
    }

    /// Lines from now on are like this one.
    pub fn set_link(&mut self, link: Link) {
        self.link = link;
    }

    // ---- lines ----

    /// A new connection to a worker, for HTTP/1.1.
    pub fn connect(&mut self, worker: usize) -> LineId {
        let machine =
            self.endpoint(worker).map(|it| Box::new(Connection::new(it, self.now)) as Box<_>);
        self.add(worker, machine)
    }

    /// A new pair of byte streams to a worker, with a message per line.
    pub fn connect_stdio(&mut self, worker: usize) -> LineId {
        let machine = self.endpoint(worker).map(|it| Box::new(Stdio::new(it, self.now)) as Box<_>);
        self.add(worker, machine)
    }

    /// The client sends `bytes`.
    pub fn send(&mut self, line: LineId, bytes: &[u8]) {
        let now = self.now;
        let Some(found) = self.lines.get_mut(line.0).filter(|it| !it.is_over) else { return };
        for (at, arrival) in found.to_server.carry(now, bytes) {
            let breaks = arrival == Arrival::Cut;
            self.arrange(at, Due::ToServer(line, arrival));
            if breaks {
                self.arrange(at, Due::ToClient(line, Arrival::Cut));
            }
        }
    }

    /// The client ends its side.
    pub fn send_eof(&mut self, line: LineId) {
        let now = self.now;
        let end = self.lines.get_mut(line.0).and_then(|it| it.to_server.end(now));
        if let Some((at, arrival)) = end {
            self.arrange(at, Due::ToServer(line, arrival));
        }
    }

    /// The line breaks.
    pub fn cut(&mut self, line: LineId) {
        self.arrange(self.now, Due::ToServer(line, Arrival::Cut));
        self.arrange(self.now, Due::ToClient(line, Arrival::Cut));
    }

    /// A worker dies with everything that it holds. Its clients lose their lines.
    pub fn kill(&mut self, worker: usize) {
        for line in 0..self.lines.len() {
            let Some(found) = self.lines.get_mut(line).filter(|it| it.worker == worker) else {
                continue;
            };
            found.machine = None;
            found.is_over = true;
            self.hub.forget(line);
        }
    }

    /// Whether the client reads; it does until told otherwise.
    pub fn set_reading(&mut self, line: LineId, is_reading: bool) {
        if let Some(line) = self.lines.get_mut(line.0) {
            line.is_reading = is_reading;
        }
    }

    // ---- what is seen ----

    /// What the client received so far.
    pub fn received(&self, line: LineId) -> &[u8] {
        self.lines.get(line.0).map_or(&[], |line| &line.received)
    }

    /// The HTTP responses in it.
    pub fn responses(&self, line: LineId) -> Vec<Received> {
        Received::read(self.received(line))
    }

    /// The line is over, for the client.
    pub fn is_over(&self, line: LineId) -> bool {
        self.lines.get(line.0).is_none_or(|line| line.is_over)
    }

    /// Whether the server holds nothing for this line any more.
    pub fn is_released(&self, line: LineId) -> bool {
        self.lines.get(line.0).is_none_or(|line| line.machine.is_none())
    }

    /// The calls that ran, in order, each with the worker that ran it.
    pub fn ran(&self) -> &[(usize, Call)] {
        &self.ran
    }

    /// How many calls of this line were cancelled.
    pub fn cancelled(&self, line: LineId) -> usize {
        let calls = self.lines.get(line.0).into_iter().flat_map(|line| line.calls.values());
        calls.filter(|running| running.is_cancelled).count()
    }

    /// How many calls were cancelled.
    pub fn cancelled_calls(&self) -> usize {
        (0..self.lines.len()).map(|line| self.cancelled(LineId(line))).sum()
    }

    /// The effects and the deadlines that were acted on so far.
    pub fn activity(&self) -> (u64, u64) {
        (self.effects, self.timeouts)
    }

    /// What time it is.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The application.
    pub fn application(&mut self) -> &mut A {
        &mut self.application
    }

    /// The store.
    pub fn store(&mut self) -> &mut Store {
        &mut self.store
    }

    /// The hub.
    pub fn hub(&mut self) -> &mut Hub {
        &mut self.hub
    }

    /// Something is published from outside, as the application's announcements are.
    pub fn publish(&mut self, op: HubOp) {
        // Whoever publishes is no line; nothing waits for the answer.
        let _ = self.hub.perform(self.now, usize::MAX, EffectId(0), &carry::apart(op));
        self.wake();
    }

    // ---- time ----

    /// Lets time pass until nothing is under way any more: no byte, no reply, no script. Deadlines
    /// are acted on as they come, but not waited for.
    ///
    /// # Panics
    /// Where a machine breaks its contract: it waits for the past, or never comes to rest.
    pub fn run(&mut self) {
        self.run_until(Instant::ZERO + Duration::MAX, |cluster| cluster.agenda.is_empty());
    }

    /// Lets `duration` pass, and everything happen that is due meanwhile.
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn run_for(&mut self, duration: Duration) {
        self.run_until(self.now + duration, |_| false);
    }

    fn run_until(&mut self, until: Instant, is_enough: impl Fn(&Self) -> bool) {
        self.drain_all();
        for _ in 0..MOST_STEPS {
            if is_enough(self) {
                return;
            }
            let due = self.agenda.first_key_value().map(|((at, _), _)| *at);
            let waits = earlier(self.deadline(), self.hub.poll_timeout());
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
        }
        panic!("the workers never come to rest");
    }

    fn deadline(&self) -> Option<Instant> {
        let machines = self.lines.iter().filter_map(|line| line.machine.as_deref());
        machines.fold(None, |soonest, machine| earlier(soonest, machine.poll_timeout()))
    }

    fn time_out(&mut self) {
        for line in 0..self.lines.len() {
            let now = self.now;
            let Some(machine) = self.machine(LineId(line)) else { continue };
            if machine.poll_timeout().is_some_and(|at| at <= now) {
                machine.handle_timeout(now);
                if let Some(at) = machine.poll_timeout() {
                    assert!(at > now, "at {now} a machine waits for {at}");
                }
                self.timeouts += 1;
                self.drain(LineId(line));
            }
        }
    }

    fn happen(&mut self) {
        let Some((_, due)) = self.agenda.pop_first() else { return };
        let now = self.now;
        let line = match due {
            Due::ToServer(line, Arrival::Cut) => {
                if let Some(line) = self.lines.get_mut(line.0) {
                    line.waiting.clear();
                }
                if let Some(machine) = self.machine(line) {
                    machine.handle_closed(now);
                }
                line
            }
            Due::ToServer(line, arrival) => {
                if let Some(line) = self.lines.get_mut(line.0) {
                    line.waiting.push(arrival);
                }
                line
            }
            Due::ToClient(line, arrival) => {
                if let Some(line) = self.lines.get_mut(line.0).filter(|line| !line.is_over) {
                    match arrival {
                        Arrival::Bytes(bytes) => line.received.extend_from_slice(&bytes),
                        Arrival::Eof | Arrival::Cut => line.is_over = true,
                    }
                }
                line
            }
            Due::Reply(line, id, reply) => {
                if let Some(machine) = self.machine(line) {
                    machine.handle_reply(now, id, reply);
                }
                line
            }
            Due::Script(line, call, script) => {
                self.act(line, call, script);
                line
            }
        };
        self.drain(line);
    }

    fn act(&mut self, id: LineId, call: CallId, mut script: Script) {
        let Some(line) = self.lines.get_mut(id.0) else { return };
        let (Some(machine), Some(running)) = (&mut line.machine, line.calls.get_mut(&call)) else {
            return;
        };
        if running.is_cancelled && !script.stubborn {
            return;
        }
        if let Some((_, act)) = script.acts.pop_front() {
            act.perform(&mut **machine, call, &mut running.asked);
            self.follow(id, call, script);
        }
    }

    fn machine(&mut self, line: LineId) -> Option<&mut Box<dyn Machine>> {
        self.lines.get_mut(line.0)?.machine.as_mut()
    }

    fn endpoint(&self, worker: usize) -> Option<Endpoint> {
        self.endpoints.get(worker).cloned()
    }

    fn add(&mut self, worker: usize, machine: Option<Box<dyn Machine>>) -> LineId {
        let number = self.lines.len() as u64;
        self.lines.push(Line {
            worker,
            is_over: machine.is_none(),
            machine: machine.map(self.wrap),
            to_server: self.link.reseeded(2 * number),
            to_client: self.link.reseeded(2 * number + 1),
            waiting: Vec::new(),
            received: Vec::new(),
            is_reading: true,
            is_ended: false,
            calls: BTreeMap::new(),
        });
        LineId(self.lines.len() - 1)
    }
}

impl<A: fmt::Debug> fmt::Debug for Cluster<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("workers", &self.endpoints.len())
            .field("lines", &self.lines.len())
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}
