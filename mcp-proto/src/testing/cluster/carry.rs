//! What moves between machines, clients, the store and the hub.

use core::time::Duration;

use bytes::Bytes;

use super::{Cluster, Due, LineId, Running};
use crate::auth::Refusal;
use crate::effect::{Effect, EffectId, Reply};
use crate::frame::http1::Closing;
use crate::server::{CallId, Event, Machine, Output};
use crate::store::{HubOp, SessionOp};
use crate::testing::store::refused;
use crate::testing::{Application, Arrival, Failing, Script};
use crate::time::Instant;

impl<A: Application> Cluster<A> {
    pub(super) fn drain_all(&mut self) {
        for line in 0..self.lines.len() {
            self.drain(LineId(line));
        }
    }

    /// Fetches everything, and feeds what waits, until neither makes a difference.
    pub(super) fn drain(&mut self, id: LineId) {
        loop {
            while let Some(output) = self.machine(id).and_then(|machine| machine.poll_output()) {
                self.take(id, output);
            }
            self.transmit(id);
            if !self.feed(id) {
                break;
            }
        }
        let Some(line) = self.lines.get_mut(id.0) else { return };
        let is_done = |it: &dyn Machine| it.closing().is_done() && it.is_idle();
        if line.machine.as_deref().is_some_and(is_done) {
            line.machine = None;
            self.hub.forget(id.0);
        }
    }

    pub(super) fn transmit(&mut self, id: LineId) {
        let now = self.now;
        let Some(line) = self.lines.get_mut(id.0).filter(|line| line.is_reading) else { return };
        let Some(machine) = &mut line.machine else { return };
        let mut bytes = Vec::new();
        machine.transmit(&mut bytes);
        let ends = machine.closing() != Closing::Open;
        let mut arrivals = line.to_client.carry(now, &bytes);
        if ends && !core::mem::replace(&mut line.is_ended, true) {
            arrivals.extend(line.to_client.end(now));
        }
        for (at, arrival) in arrivals {
            let breaks = arrival == Arrival::Cut;
            self.arrange(at, Due::ToClient(id, arrival));
            if breaks {
                self.arrange(at, Due::ToServer(id, Arrival::Cut));
            }
        }
    }

    /// Gives the machine what arrived, as far as it takes it; says whether it took any.
    pub(super) fn feed(&mut self, id: LineId) -> bool {
        let now = self.now;
        let Some(line) = self.lines.get_mut(id.0).filter(|line| !line.waiting.is_empty()) else {
            return false;
        };
        let Some(machine) = &mut line.machine else { return false };
        if machine.closing() != Closing::Open {
            line.waiting.clear();
            return false;
        }
        match line.waiting.remove(0) {
            Arrival::Bytes(bytes) => {
                let taken = machine.handle_input(now, &bytes);
                let rest = bytes.get(taken..).unwrap_or_default();
                if !rest.is_empty() {
                    line.waiting.insert(0, Arrival::Bytes(rest.to_vec()));
                }
                taken > 0
            }
            Arrival::Eof => {
                machine.handle_eof(now);
                true
            }
            Arrival::Cut => false,
        }
    }

    pub(super) fn take(&mut self, id: LineId, output: Output) {
        let Some(line) = self.lines.get_mut(id.0) else { return };
        match output {
            Output::Event(Event::Call(call, about)) => {
                self.ran.push((line.worker, about.clone()));
                let script = self.application.call(&about);
                let running = Running { call: about, asked: Vec::new(), is_cancelled: false };
                line.calls.insert(call, running);
                self.follow(id, call, script);
                // What has to wait for the next turn was not answered at once.
                if let Some(machine) = self.machine(id) {
                    machine.suspend(call);
                }
            }
            Output::Event(Event::Cancelled(call)) => {
                if let Some(running) = line.calls.get_mut(&call) {
                    running.is_cancelled = true;
                }
            }
            Output::Event(Event::Answered(ask, answered)) => {
                let found = line.calls.iter_mut().find_map(|(id, running)| {
                    let index = running.asked.iter().position(|(asked, _)| *asked == ask)?;
                    let (_, question) = running.asked.remove(index);
                    Some((*id, running.call.clone(), question))
                });
                if let Some((call, about, question)) = found {
                    let script = self.application.answered(&about, &question, answered);
                    self.follow(id, call, script);
                }
            }
            Output::Event(Event::Notice(_)) => {}
            Output::Effect(effect, asked @ Effect::Hub(_)) => {
                self.effects += 1;
                let failing = self.store.failing(self.now, &asked);
                let Effect::Hub(op) = asked else { return };
                self.ask_hub(id, effect, op, failing);
            }
            Output::Effect(effect, Effect::Verify(token)) => {
                let principal = self.principals.get(token.reveal()).cloned();
                let reply = Reply::Principal(principal.ok_or(Refusal::Invalid));
                self.arrange(self.now, Due::Reply(id, effect, Ok(reply)));
            }
            Output::Effect(effect, asked) => {
                self.effects += 1;
                let asked = match asked {
                    Effect::Session(op) => Effect::Session(kept_apart(op)),
                    asked => asked,
                };
                for (at, answer) in self.store.answers(self.now, &asked) {
                    self.arrange(at, Due::Reply(id, effect, answer));
                }
            }
            Output::Abandon(effect) => self.hub.abandon(id.0, effect),
        }
    }

    fn ask_hub(&mut self, id: LineId, effect: EffectId, op: HubOp, failing: Option<Failing>) {
        let delay = match failing {
            None => Duration::ZERO,
            Some(Failing::Slow(delay)) => delay,
            Some(Failing::Unanswered) => Duration::MAX,
            Some(Failing::Silent) => return,
            Some(Failing::Refused) => {
                return self.arrange(self.now, Due::Reply(id, effect, Err(refused())));
            }
        };
        let reply = self.hub.perform(self.now, id.0, effect, &apart(op));
        if let Some(reply) = reply.filter(|_| delay < Duration::MAX) {
            self.arrange(self.now + delay, Due::Reply(id, effect, Ok(reply)));
        }
        self.wake();
    }

    /// Answers the polls of the hub that have news, or waited long enough.
    pub(super) fn wake(&mut self) {
        for (line, id, reply) in self.hub.due(self.now) {
            self.arrange(self.now, Due::Reply(LineId(line), id, Ok(reply)));
        }
    }

    pub(super) fn follow(&mut self, line: LineId, call: CallId, script: Script) {
        if let Some((pause, _)) = script.acts.front() {
            self.arrange(self.now + *pause, Due::Script(line, call, script));
        }
    }

    pub(super) fn arrange(&mut self, at: Instant, due: Due) {
        self.arranged += 1;
        self.agenda.insert((at, self.arranged), due);
    }
}

/// The same operation, which shares no memory with the worker that asked for it.
pub(super) fn apart(op: HubOp) -> HubOp {
    match op {
        HubOp::Publish { topic, message, ttl, keep } => {
            HubOp::Publish { topic, message: Bytes::copy_from_slice(&message), ttl, keep }
        }
        op => op,
    }
}

fn kept_apart(op: SessionOp) -> SessionOp {
    match op {
        SessionOp::Create { id, data, ttl, charged_to } => {
            SessionOp::Create { id, data: Bytes::copy_from_slice(&data), ttl, charged_to }
        }
        SessionOp::Save { id, data, expected_version, ttl } => {
            SessionOp::Save { id, data: Bytes::copy_from_slice(&data), expected_version, ttl }
        }
        op => op,
    }
}
