//! A client and a server in virtual time.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use super::{Application, Arrival, Faults, Hub, Link, Random, Script, Store};
use crate::client::{self, Carry, Config, ExchangeId, Machine as _, Session};
use crate::effect::{Effect, EffectError, EffectId, Reply};
use crate::frame::http1::{Closing, Limits};
use crate::model::Request;
use crate::server::{self, CallId, Endpoint, Machine as _};
use crate::time::{Instant, earlier};

/// Which way a pair talks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Way {
    /// Over a pair of byte streams.
    Stdio,
    /// Over HTTP/1.1 connections.
    Http,
}

/// A client's machine and a server's, joined by links that may cut up, delay, stall or break what
/// they carry. The same seed gives the same run.
///
/// The client is driven through [`client`](Self::client); what it says is in
/// [`events`](Self::events).
#[derive(Debug)]
pub struct Pair<A> {
    way: Way,
    near: Near,
    endpoint: Endpoint,
    application: A,
    store: Store,
    hub: Hub,
    link: Link,
    random: Random,
    now: Instant,
    wires: BTreeMap<u64, Wire>,
    next_wire: u64,
    agenda: BTreeMap<(Instant, u64), Due>,
    arranged: u64,
    events: Vec<client::Event>,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one of them in a pair")]
enum Near {
    Stdio(client::Stdio),
    Http(Session),
}

/// One connection.
#[derive(Debug)]
struct Wire {
    near: Option<client::Connection>,
    far: Far,
    to_far: Link,
    to_near: Link,
    waiting: Vec<Arrival>,
    /// The server closed its side, and the client was told.
    is_ended: bool,
    /// The client is gone.
    is_dropped: bool,
    cancelled: BTreeSet<CallId>,
}

#[derive(Debug)]
enum Far {
    Stdio(server::Stdio),
    Http(server::Connection),
}

#[derive(Debug)]
enum Due {
    ToFar(u64, Arrival),
    ToNear(u64, Arrival),
    Reply(u64, EffectId, Result<Reply, EffectError>),
    Script(u64, CallId, Script),
}

const MOST_STEPS: usize = 1_000_000;

impl<A: Application> Pair<A> {
    /// A client with this configuration, and a server at this endpoint.
    ///
    /// # Panics
    /// Never: the URL of the pair is a valid one.
    pub fn new(way: Way, config: Config, endpoint: Endpoint, application: A) -> Self {
        let near = match way {
            Way::Stdio => Near::Stdio(client::Stdio::new(config, Instant::ZERO)),
            Way::Http => Near::Http(
                Session::new(config, "http://localhost/mcp", Instant::ZERO).expect("a valid URL"),
            ),
        };
        Self {
            way,
            near,
            endpoint,
            application,
            store: Store::new(0, Faults::default()),
            hub: Hub::default(),
            link: Link::direct(),
            random: Random::new(0),
            now: Instant::ZERO,
            wires: BTreeMap::new(),
            next_wire: 0,
            agenda: BTreeMap::new(),
            arranged: 0,
            events: Vec::new(),
        }
    }

    /// The same pair over links like this one, each with whims of its own that follow from `seed`.
    #[must_use]
    pub fn with_link(mut self, link: Link, seed: u64) -> Self {
        self.link = link;
        self.random = Random::new(seed);
        self
    }

    /// The same pair with another store.
    #[must_use]
    pub fn with_store(mut self, store: Store) -> Self {
        self.store = store;
        self
    }

    /// The client's machine, for its commands; what they cause happens in the next run.
    pub fn client(&mut self) -> &mut dyn client::Machine {
        match &mut self.near {
            Near::Stdio(client) => client,
            Near::Http(session) => session,
        }
    }

    /// Makes a call now.
    pub fn call(&mut self, request: Request) -> client::CallId {
        let now = self.now;
        self.client().call(now, request)
    }

    /// What time it is.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// What the client said so far.
    pub fn events(&self) -> &[client::Event] {
        &self.events
    }

    /// What the client said since the last time.
    pub fn take_events(&mut self) -> Vec<client::Event> {
        core::mem::take(&mut self.events)
    }

    /// How many connections the client holds.
    pub fn connections(&self) -> usize {
        self.wires.values().filter(|wire| !wire.is_dropped).count()
    }

    /// The connections break, all at once.
    pub fn cut(&mut self) {
        for wire in self.wires.keys().copied().collect::<Vec<_>>() {
            self.arrange(self.now, Due::ToFar(wire, Arrival::Cut));
            self.arrange(self.now, Due::ToNear(wire, Arrival::Cut));
        }
    }

    /// Lets `duration` pass, and everything happen that is due meanwhile.
    ///
    /// # Panics
    /// Where a machine breaks its contract: it waits for the past, or never comes to rest.
    pub fn run_for(&mut self, duration: Duration) {
        self.run_until(self.now + duration, |_| false);
    }

    /// Lets time pass until `is_enough`, `most` at the longest, and says whether it came to that.
    ///
    /// # Panics
    /// As [`run_for`](Self::run_for).
    pub fn run_until_event(
        &mut self,
        most: Duration,
        is_enough: impl Fn(&client::Event) -> bool,
    ) -> bool {
        let has_come = |pair: &Self| pair.events.iter().any(&is_enough);
        self.run_until(self.now + most, has_come);
        has_come(self)
    }

    fn run_until(&mut self, until: Instant, is_enough: impl Fn(&Self) -> bool) {
        self.drain();
        for _ in 0..MOST_STEPS {
            if is_enough(self) {
                return;
            }
            let due = self.agenda.first_key_value().map(|((at, _), _)| *at);
            let Some(next) = earlier(due, self.poll_timeout()).filter(|at| *at <= until) else {
                self.now = self.now.max(until);
                return;
            };
            self.now = self.now.max(next);
            match due.is_some_and(|at| at <= self.now) {
                true => self.happen(),
                false => self.time_out(),
            }
            self.drain();
        }
        panic!("the pair never comes to rest");
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let near = match &self.near {
            Near::Stdio(client) => client.poll_timeout(),
            Near::Http(session) => session.poll_timeout(),
        };
        let near = earlier(near, self.hub.poll_timeout());
        self.wires.values().fold(near, |soonest, wire| {
            let own = wire.near.as_ref().and_then(client::Connection::poll_timeout);
            earlier(earlier(soonest, own), wire.far.poll_timeout())
        })
    }

    fn time_out(&mut self) {
        let now = self.now;
        let is_past = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        self.wake();
        if is_past(self.client().poll_timeout()) {
            self.client().handle_timeout(now);
            assert!(
                !is_past(self.client().poll_timeout()),
                "at {now} the client waits for the past"
            );
        }
        for wire in self.wires.values_mut() {
            if let Some(near) = &mut wire.near {
                near.handle_timeout(now);
            }
            if is_past(wire.far.poll_timeout()) {
                wire.far.machine().handle_timeout(now);
                let next = wire.far.poll_timeout();
                assert!(!is_past(next), "at {now} the server waits for the past");
            }
        }
    }

    fn happen(&mut self) {
        let Some((_, due)) = self.agenda.pop_first() else { return };
        let now = self.now;
        let wire = match due {
            Due::ToFar(wire, _) | Due::ToNear(wire, _) => wire,
            Due::Reply(wire, ..) | Due::Script(wire, ..) => wire,
        };
        let Some(wire_found) = self.wires.get_mut(&wire) else { return };
        match due {
            Due::ToFar(_, Arrival::Cut) => {
                wire_found.waiting.clear();
                wire_found.far.machine().handle_closed(now);
            }
            Due::ToFar(_, arrival) => wire_found.waiting.push(arrival),
            Due::ToNear(_, arrival) => self.arrive_near(wire, &arrival),
            Due::Reply(_, id, reply) => wire_found.far.machine().handle_reply(now, id, reply),
            Due::Script(_, call, mut script) => {
                if wire_found.cancelled.contains(&call) && !script.stubborn {
                    return;
                }
                let machine = wire_found.far.machine();
                let Some((_, act)) = script.acts.pop_front() else { return };
                // What comes of questions is for a cluster's applications.
                act.perform(machine, call, &mut Vec::new());
                self.follow(wire, call, script);
            }
        }
    }

    fn arrive_near(&mut self, id: u64, arrival: &Arrival) {
        let now = self.now;
        let Some(wire) = self.wires.get_mut(&id) else { return };
        if wire.is_dropped {
            return;
        }
        match (&mut self.near, arrival) {
            (Near::Stdio(client), Arrival::Bytes(bytes)) => {
                client.handle_input(now, bytes);
            }
            (Near::Stdio(client), Arrival::Eof) => client.handle_eof(now),
            (Near::Stdio(client), Arrival::Cut) => client.handle_closed(now),
            (Near::Http(session), arrival) => {
                let Some(near) = &mut wire.near else { return };
                match arrival {
                    Arrival::Bytes(bytes) => {
                        near.handle_input(now, bytes, session);
                    }
                    Arrival::Eof => near.handle_eof(now, session),
                    Arrival::Cut => near.handle_closed(now, session),
                }
            }
        }
        if *arrival == Arrival::Cut {
            self.drop_wire(id);
        }
    }

    /// Fetches and carries everything until nothing moves any more.
    fn drain(&mut self) {
        loop {
            let mut moved = false;
            while let Some(output) = self.client().poll_output() {
                moved = true;
                self.take_near(output);
            }
            for id in self.wires.keys().copied().collect::<Vec<_>>() {
                moved |= self.drain_wire(id);
            }
            if self.way == Way::Stdio && self.wires.is_empty() && self.next_wire == 0 {
                self.connect();
                moved = true;
            }
            if !moved {
                return;
            }
        }
    }

    fn take_near(&mut self, output: client::Output) {
        match output {
            client::Output::Event(event) => self.events.push(event),
            client::Output::Effect(id, _) => {
                let (now, bytes) = (self.now, self.random.bytes());
                self.client().handle_reply(now, id, Ok(Reply::Random(bytes)));
            }
            client::Output::Abandon(_) => {}
            client::Output::Carry(Carry::Respawn) => {
                for wire in self.wires.keys().copied().collect::<Vec<_>>() {
                    self.drop_wire(wire);
                }
                self.connect();
                if let Near::Stdio(client) = &mut self.near {
                    client.handle_respawned(self.now);
                }
            }
            client::Output::Carry(Carry::Open(open)) => {
                let wire = self.idle().unwrap_or_else(|| self.connect());
                let Near::Http(session) = &mut self.near else { return };
                let Some(near) = self.wires.get_mut(&wire).and_then(|wire| wire.near.as_mut())
                else {
                    return;
                };
                if near.open(session.url(), &open, &[]).is_err() {
                    session.handle_failed(self.now, open.exchange, false, "cannot be sent");
                }
            }
            client::Output::Carry(Carry::Close(exchange)) => self.close_exchange(exchange),
        }
    }

    /// A connection that an exchange may begin on.
    fn idle(&self) -> Option<u64> {
        let can_open = |wire: &Wire| {
            !wire.is_dropped && wire.near.as_ref().is_some_and(client::Connection::can_open)
        };
        self.wires.iter().find(|(_, wire)| can_open(wire)).map(|(id, _)| *id)
    }

    fn close_exchange(&mut self, exchange: ExchangeId) {
        let now = self.now;
        let found = self.wires.iter_mut().find_map(|(id, wire)| {
            let near = wire.near.as_mut().filter(|near| near.exchange() == Some(exchange))?;
            near.close(now, exchange);
            Some(*id)
        });
        if let Some(wire) = found {
            self.drop_wire(wire);
        }
    }

    /// The client has closed a connection: the server hears of it once what was sent has arrived.
    fn drop_wire(&mut self, id: u64) {
        let now = self.now;
        let Some(wire) = self.wires.get_mut(&id) else { return };
        if core::mem::replace(&mut wire.is_dropped, true) {
            return;
        }
        if let Some((at, arrival)) = wire.to_far.end(now) {
            self.arrange(at, Due::ToFar(id, arrival));
        }
    }

    fn connect(&mut self) -> u64 {
        let id = self.next_wire;
        self.next_wire += 1;
        let endpoint = self.endpoint.clone();
        let (near, far) = match self.way {
            Way::Stdio => (None, Far::Stdio(server::Stdio::new(endpoint, self.now))),
            Way::Http => (
                Some(client::Connection::new(self.now, Limits::default())),
                Far::Http(server::Connection::new(endpoint, self.now)),
            ),
        };
        let mut link = || self.link.clone().with_seed(self.random.draw());
        let (to_far, to_near) = (link(), link());
        let wire = Wire {
            near,
            far,
            to_far,
            to_near,
            waiting: Vec::new(),
            is_ended: false,
            is_dropped: false,
            cancelled: BTreeSet::new(),
        };
        self.wires.insert(id, wire);
        id
    }

    fn drain_wire(&mut self, id: u64) -> bool {
        let now = self.now;
        let mut moved = false;
        let mut bytes = Vec::new();
        let Some(wire) = self.wires.get_mut(&id) else { return false };
        match (&mut self.near, &mut wire.near) {
            _ if wire.is_dropped => {}
            (Near::Stdio(client), _) => client.transmit(&mut bytes),
            (Near::Http(_), Some(near)) => near.transmit(&mut bytes),
            (Near::Http(_), None) => {}
        }
        let arrivals = wire.to_far.carry(now, &bytes);
        moved |= !bytes.is_empty();
        let is_over = match (&self.near, &wire.near) {
            (Near::Http(_), Some(near)) => near.closing().is_done(),
            (Near::Stdio(client), _) => client.is_closed(),
            (Near::Http(_), None) => true,
        };
        for (at, arrival) in arrivals {
            let is_cut = arrival == Arrival::Cut;
            self.arrange(at, Due::ToFar(id, arrival));
            if is_cut {
                self.arrange(at, Due::ToNear(id, Arrival::Cut));
            }
        }
        if is_over {
            self.drop_wire(id);
        }
        moved | self.feed(id) | self.serve(id)
    }

    fn feed(&mut self, id: u64) -> bool {
        let now = self.now;
        let Some(wire) = self.wires.get_mut(&id).filter(|wire| !wire.waiting.is_empty()) else {
            return false;
        };
        match wire.waiting.remove(0) {
            Arrival::Bytes(bytes) => {
                let taken = wire.far.machine().handle_input(now, &bytes);
                let rest = bytes.get(taken..).unwrap_or_default();
                if !rest.is_empty() && !wire.far.is_done() {
                    wire.waiting.insert(0, Arrival::Bytes(rest.to_vec()));
                }
                taken > 0
            }
            Arrival::Eof => {
                wire.far.machine().handle_eof(now);
                true
            }
            Arrival::Cut => false,
        }
    }

    fn serve(&mut self, id: u64) -> bool {
        let now = self.now;
        let mut moved = false;
        while let Some(wire) = self.wires.get_mut(&id) {
            let Some(output) = wire.far.machine().poll_output() else { break };
            moved = true;
            match output {
                server::Output::Event(server::Event::Call(call, about)) => {
                    let script = self.application.call(&about);
                    self.follow(id, call, script);
                }
                server::Output::Event(server::Event::Cancelled(call)) => {
                    wire.cancelled.insert(call);
                }
                // Scripts do not ask.
                server::Output::Event(server::Event::Answered(..)) => {}
                server::Output::Effect(effect_id, Effect::Hub(op)) => {
                    let reply = self.hub.perform(now, number(id), effect_id, &op);
                    if let Some(reply) = reply {
                        self.arrange(now, Due::Reply(id, effect_id, Ok(reply)));
                    }
                    self.wake();
                }
                server::Output::Effect(effect_id, effect) => {
                    for (at, answer) in self.store.answers(now, &effect) {
                        self.arrange(at, Due::Reply(id, effect_id, answer));
                    }
                }
                server::Output::Abandon(effect_id) => self.hub.abandon(number(id), effect_id),
            }
        }
        let Some(wire) = self.wires.get_mut(&id) else { return moved };
        let mut bytes = Vec::new();
        wire.far.machine().transmit(&mut bytes);
        moved |= !bytes.is_empty();
        let mut arrivals = wire.to_near.carry(now, &bytes);
        let (is_done, is_ending) = (wire.far.is_done(), wire.far.is_ending());
        if is_ending && !core::mem::replace(&mut wire.is_ended, true) {
            arrivals.extend(wire.to_near.end(now));
            moved = true;
        }
        for (at, arrival) in arrivals {
            let is_cut = arrival == Arrival::Cut;
            self.arrange(at, Due::ToNear(id, arrival));
            if is_cut {
                self.arrange(at, Due::ToFar(id, Arrival::Cut));
            }
        }
        if self.wires.get(&id).is_some_and(|wire| wire.is_dropped && is_done) {
            self.wires.remove(&id);
        }
        moved
    }

    /// Answers the polls of the hub that have news, or waited long enough.
    fn wake(&mut self) {
        for (wire, id, reply) in self.hub.due(self.now) {
            self.arrange(self.now, Due::Reply(wire as u64, id, Ok(reply)));
        }
    }

    fn follow(&mut self, wire: u64, call: CallId, script: Script) {
        if let Some((pause, _)) = script.acts.front() {
            self.arrange(self.now + *pause, Due::Script(wire, call, script));
        }
    }

    fn arrange(&mut self, at: Instant, due: Due) {
        self.arranged += 1;
        self.agenda.insert((at, self.arranged), due);
    }
}

/// A wire's number, as the hub knows it.
fn number(wire: u64) -> usize {
    usize::try_from(wire).unwrap_or(usize::MAX)
}

impl Far {
    fn machine(&mut self) -> &mut dyn server::Machine {
        match self {
            Self::Stdio(machine) => machine,
            Self::Http(machine) => machine,
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Stdio(machine) => machine.poll_timeout(),
            Self::Http(machine) => machine.poll_timeout(),
        }
    }

    fn closing(&self) -> Closing {
        match self {
            Self::Stdio(machine) => machine.closing(),
            Self::Http(machine) => machine.closing(),
        }
    }

    fn is_done(&self) -> bool {
        self.closing().is_done()
    }

    /// Its sending side ends.
    fn is_ending(&self) -> bool {
        self.closing() != Closing::Open
    }
}
