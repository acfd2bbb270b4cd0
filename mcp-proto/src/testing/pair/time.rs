//! The passing of time.

use core::time::Duration;

use super::{Pair, Way};
use crate::client::{Connection, Event};
use crate::service::Threading;
use crate::testing::Arrival;
use crate::time::{Instant, earlier};

/// What is going to happen.
#[derive(Debug)]
pub(super) enum Due {
    ToServer(u64, Arrival),
    ToClient(u64, Arrival),
}

/// More steps than any run takes that ends.
const MOST_STEPS: usize = 1_000_000;

impl<M: Threading> Pair<M> {
    /// Lets time pass until every call has ended, or a question waits for an answer, and nothing is
    /// under way any more.
    ///
    /// # Panics
    /// Where a machine breaks its contract: it waits for the past, or never comes to rest.
    pub fn run(&mut self) {
        self.run_until(Instant::ZERO + Duration::MAX, Self::is_at_rest);
    }

    /// Lets `duration` pass, and everything happen that is due meanwhile.
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn run_for(&mut self, duration: Duration) {
        self.run_until(self.now() + duration, |_| false);
    }

    /// Lets time pass until such an event has come, `most` at the longest, and says whether it
    /// came.
    ///
    /// # Panics
    /// As [`run`](Self::run).
    pub fn run_until_event(&mut self, most: Duration, is_enough: impl Fn(&Event) -> bool) -> bool {
        let has_come = |pair: &Self| pair.seen.events.iter().any(&is_enough);
        self.run_until(self.now() + most, has_come);
        has_come(self)
    }

    fn is_at_rest(&self) -> bool {
        let have_ended = self.seen.calls.values().all(Option::is_some);
        self.agenda.is_empty() && (have_ended || !self.seen.questions.is_empty())
    }

    fn run_until(&mut self, until: Instant, is_enough: impl Fn(&Self) -> bool) {
        self.drain();
        for _ in 0..MOST_STEPS {
            if is_enough(self) {
                return;
            }
            let due = self.agenda.first_key_value().map(|((at, _), _)| *at);
            let Some(next) = earlier(due, self.poll_timeout()).filter(|at| *at <= until) else {
                return self.time.advance(until);
            };
            self.time.advance(next);
            match due.is_some_and(|at| at <= self.now()) {
                true => self.happen(),
                false => self.time_out(),
            }
            self.drain();
        }
        panic!("the pair never comes to rest");
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let soonest = earlier(self.near.poll_timeout(), self.time.next());
        self.wires.values().fold(soonest, |soonest, wire| {
            let near = wire.near.as_ref().and_then(Connection::poll_timeout);
            let served = wire.served.as_ref().and_then(|served| served.poll_timeout());
            earlier(earlier(soonest, near), served)
        })
    }

    fn time_out(&mut self) {
        let now = self.now();
        let is_past = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if is_past(self.near.poll_timeout()) {
            self.client().handle_timeout(now);
            let next = self.near.poll_timeout();
            assert!(!is_past(next), "at {now} the client waits for the past");
        }
        for wire in self.wires.values_mut() {
            if let Some(near) = &mut wire.near {
                near.handle_timeout(now);
            }
            if let Some(served) = wire.served.as_mut().map(|served| &mut served.machine)
                && is_past(served.poll_timeout())
            {
                served.handle_timeout(now);
                let next = served.poll_timeout();
                assert!(!is_past(next), "at {now} the server waits for the past");
            }
        }
    }

    fn happen(&mut self) {
        match self.agenda.pop_first() {
            Some((_, Due::ToServer(wire, arrival))) => self.arrive_at_server(wire, arrival),
            Some((_, Due::ToClient(wire, arrival))) => self.arrive_at_client(wire, &arrival),
            None => {}
        }
    }

    /// Lets everybody have their turn until nothing moves any more. Whose turn comes first is left
    /// to chance.
    fn drain(&mut self) {
        for _ in 0..MOST_STEPS {
            let mut moved = self.woken.take();
            let client_first = self.random.one_in(2);
            if client_first {
                moved |= self.drain_client();
            }
            for id in self.wires.keys().copied().collect::<Vec<_>>() {
                moved |= self.send_client(id);
                moved |= self.serve(id);
            }
            if !client_first {
                moved |= self.drain_client();
            }
            if self.way == Way::Stdio && self.next_wire == 0 {
                self.connect();
                moved = true;
            }
            if !moved {
                return;
            }
        }
        panic!("the pair never comes to rest");
    }

    pub(super) fn arrange(&mut self, at: Instant, due: Due) {
        self.arranged += 1;
        self.agenda.insert((at, self.arranged), due);
    }
}
