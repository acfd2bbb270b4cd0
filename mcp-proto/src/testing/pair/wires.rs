//! Connections, and what moves on them.

use core::time::Duration;
use std::collections::VecDeque;

use super::client::Near;
use super::server::Served;
use super::time::Due;
use super::{Pair, Way};
use crate::client::{Connection, Open};
use crate::frame::http1::{Closing, Limits};
use crate::service::Threading;
use crate::testing::{Arrival, Link};

/// One connection.
pub(super) struct Wire<M: Threading> {
    /// The client's end of it, where it carries HTTP.
    pub(super) near: Option<Connection>,
    /// Gone once the server is done with it.
    pub(super) served: Option<Served<M>>,
    to_server: Link,
    to_client: Link,
    /// Arrived at the server, and not taken yet.
    waiting: VecDeque<Arrival>,
    /// The server closed its side, and the client was told.
    is_ended: bool,
    /// The client is gone.
    pub(super) is_dropped: bool,
}

/// How long a connection lasts at most on which a request was repeated.
const REPEATED: Duration = Duration::from_secs(2);

impl<M: Threading> Pair<M> {
    pub(super) fn connect(&mut self) -> u64 {
        let near = (self.way != Way::Stdio).then(|| Connection::new(self.now(), Limits::default()));
        self.add_wire(near)
    }

    fn add_wire(&mut self, near: Option<Connection>) -> u64 {
        let id = self.next_wire;
        self.next_wire += 1;
        let mut link = || self.link.clone().with_seed(self.random.draw());
        let (to_server, to_client) = (link(), link());
        let served = Some(self.server.accept(self.way));
        let waiting = VecDeque::new();
        let (is_ended, is_dropped) = (false, false);
        let wire = Wire { near, served, to_server, to_client, waiting, is_ended, is_dropped };
        self.wires.insert(id, wire);
        id
    }

    /// A connection that an exchange may begin on.
    pub(super) fn idle_wire(&self) -> Option<u64> {
        let is_idle = |wire: &Wire<M>| {
            !wire.is_dropped && wire.near.as_ref().is_some_and(Connection::can_open)
        };
        self.wires.iter().find(|(_, wire)| is_idle(wire)).map(|(id, _)| *id)
    }

    /// The request arrives at the server on a connection of its own, from which nobody reads, and
    /// which breaks.
    pub(super) fn repeat(&mut self, open: &Open) {
        let Near::Http(session) = &self.near else { return };
        let now = self.now();
        let mut near = Connection::new(now, Limits::default());
        let mut bytes = Vec::new();
        if near.open(session.url(), open, &[]).is_err() {
            return;
        }
        near.transmit(&mut bytes);
        let id = self.add_wire(None);
        let Some(wire) = self.wires.get_mut(&id) else { return };
        wire.is_dropped = true;
        let arrivals = wire.to_server.carry(now, &bytes);
        let last = arrivals.last().map_or(now, |(at, _)| *at);
        let after = self.random.up_to(u64::try_from(REPEATED.as_micros()).unwrap_or(u64::MAX));
        for (at, arrival) in arrivals {
            self.arrange(at, Due::ToServer(id, arrival));
        }
        self.arrange(last + Duration::from_micros(after), Due::ToServer(id, Arrival::Cut));
    }

    /// The client has closed a connection: the server hears of it once what was sent has arrived.
    pub(super) fn drop_wire(&mut self, id: u64) {
        let now = self.now();
        let Some(wire) = self.wires.get_mut(&id) else { return };
        if core::mem::replace(&mut wire.is_dropped, true) {
            return;
        }
        if let Some((at, arrival)) = wire.to_server.end(now) {
            self.arrange(at, Due::ToServer(id, arrival));
        }
    }

    pub(super) fn cut_all(&mut self) {
        for wire in self.wires.keys().copied().collect::<Vec<_>>() {
            self.arrange(self.now(), Due::ToServer(wire, Arrival::Cut));
            self.arrange(self.now(), Due::ToClient(wire, Arrival::Cut));
        }
    }

    pub(super) fn arrive_at_server(&mut self, id: u64, arrival: Arrival) {
        let now = self.now();
        let Some(wire) = self.wires.get_mut(&id) else { return };
        match arrival {
            Arrival::Cut => {
                wire.waiting.clear();
                if let Some(served) = &mut wire.served {
                    served.machine.handle_closed(now);
                }
            }
            arrival => wire.waiting.push_back(arrival),
        }
    }

    pub(super) fn arrive_at_client(&mut self, id: u64, arrival: &Arrival) {
        let now = self.now();
        let Some(wire) = self.wires.get_mut(&id).filter(|wire| !wire.is_dropped) else { return };
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
        if *arrival == Arrival::Cut || (self.way == Way::Stdio && *arrival == Arrival::Eof) {
            self.drop_wire(id);
        }
    }

    /// Carries what the client has written on a connection.
    pub(super) fn send_client(&mut self, id: u64) -> bool {
        let now = self.now();
        let Some(wire) = self.wires.get_mut(&id).filter(|wire| !wire.is_dropped) else {
            return false;
        };
        let mut bytes = Vec::new();
        let is_over = match (&mut self.near, &mut wire.near) {
            (Near::Stdio(client), _) => {
                client.transmit(&mut bytes);
                crate::client::Machine::is_closed(client)
            }
            (Near::Http(_), Some(near)) => {
                near.transmit(&mut bytes);
                near.closing().is_done()
            }
            (Near::Http(_), None) => true,
        };
        for (at, arrival) in wire.to_server.carry(now, &bytes) {
            if arrival == Arrival::Cut {
                self.arrange(at, Due::ToClient(id, Arrival::Cut));
            }
            self.arrange(at, Due::ToServer(id, arrival));
        }
        if is_over {
            self.drop_wire(id);
        }
        !bytes.is_empty() || is_over
    }

    /// Lets the server of a connection take what arrived, run, and say what it has to say.
    pub(super) fn serve(&mut self, id: u64) -> bool {
        let now = self.now();
        let Some(wire) = self.wires.get_mut(&id) else { return false };
        let Some(served) = &mut wire.served else {
            self.forget(id);
            return false;
        };
        let mut moved = take(served, &mut wire.waiting, now);
        moved |= served.advance(now, &self.woken);
        let mut bytes = Vec::new();
        served.machine.transmit(&mut bytes);
        moved |= !bytes.is_empty();
        let closing = served.machine.closing();
        let mut arrivals = wire.to_client.carry(now, &bytes);
        if closing != Closing::Open && !core::mem::replace(&mut wire.is_ended, true) {
            arrivals.extend(wire.to_client.end(now));
            moved = true;
        }
        if (closing.is_done() || wire.is_dropped && closing != Closing::Open) && served.is_idle() {
            wire.served = None;
        }
        for (at, arrival) in arrivals {
            if arrival == Arrival::Cut {
                self.arrange(at, Due::ToServer(id, Arrival::Cut));
            }
            self.arrange(at, Due::ToClient(id, arrival));
        }
        self.forget(id);
        moved
    }

    /// Forgets a connection that is over on both sides.
    fn forget(&mut self, id: u64) {
        if self.wires.get(&id).is_some_and(|wire| wire.is_dropped && wire.served.is_none()) {
            self.wires.remove(&id);
        }
    }
}

/// Hands in the next thing that arrived; false where there was nothing, or it was not wanted.
fn take<M: Threading>(
    served: &mut Served<M>,
    waiting: &mut VecDeque<Arrival>,
    now: crate::time::Instant,
) -> bool {
    match waiting.pop_front() {
        Some(Arrival::Bytes(bytes)) => {
            let taken = served.machine.handle_input(now, &bytes);
            let rest = bytes.get(taken..).unwrap_or_default();
            if !rest.is_empty() && !served.machine.closing().is_done() {
                waiting.push_front(Arrival::Bytes(rest.to_vec()));
            }
            taken > 0
        }
        Some(Arrival::Eof) => {
            served.machine.handle_eof(now);
            true
        }
        Some(Arrival::Cut) | None => false,
    }
}
