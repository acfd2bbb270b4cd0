//! Finding out who the server is.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Core, Life, Outgoing, Purpose};
use crate::client::machine::{Event, Server};
use crate::client::negotiation::{Action, Evidence, Negotiation, Step};
use crate::client::retry::Attempts;
use crate::client::{CallId, Carriage, ClientError, ErrorKind, Learned, Ran};
use crate::model::{Operation, Request};
use crate::time::Instant;

impl Core {
    pub(in crate::client) fn connect(&mut self, now: Instant) {
        self.advance(now);
        if matches!(self.life, Life::Idle) && !self.is_pausing() {
            let learned = self.config.learned.clone();
            let step = Negotiation::begin(&self.config.adapters, self.carriage, learned.as_ref());
            self.step(step);
        }
    }

    /// The session is gone: one new handshake for everyone who waits (C58).
    pub(in crate::client) fn renew(&mut self) {
        let server = self.server.clone().filter(|_| self.is_open());
        if let Some(server) = server {
            self.withdraw_pushed();
            self.step(Negotiation::renew(&server));
            self.interrupt_listeners();
        }
    }

    /// Something that tells about the server.
    pub(in crate::client) fn evidence(&mut self, evidence: Evidence) {
        match core::mem::replace(&mut self.life, Life::Idle) {
            Life::Negotiating(negotiation) => {
                let step = negotiation.next(&self.config.adapters, evidence);
                self.step(step);
            }
            life => self.life = life,
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Do(action, negotiation) => {
                let adapter = *negotiation.adapter();
                self.life = Life::Negotiating(Box::new(negotiation));
                match action {
                    Action::Discover => self.discover(&adapter),
                    Action::Initialize => self.initialize(&adapter),
                    Action::Respawn => {
                        self.outgoing.push_back(Outgoing::Respawn);
                        self.initialize(&adapter);
                    }
                    Action::Seek => self.outgoing.push_back(Outgoing::Seek),
                }
            }
            Step::Settled(adapter, carriage, description) => {
                self.carriage = carriage;
                let server = Server { adapter, carriage, description: *description };
                // Should the connection break, there is no need to find out again.
                self.config.learned = Some(Learned::of(&server));
                self.server = Some(Arc::new(server));
                self.outgoing.push_back(Outgoing::Begun);
                if adapter.has_handshake {
                    self.life = Life::Confirming;
                    let body = self.notify(|out| adapter.write_initialized(out));
                    self.outgoing.push_back(Outgoing::Initialized(body));
                } else {
                    self.open();
                }
            }
            Step::Failed(error) => {
                if self.tries_again(&error) {
                    return;
                }
                self.life = Life::Idle;
                self.server = None;
                for call in self.calls.keys().copied().collect::<Vec<_>>() {
                    if self.calls.get(&call).is_some_and(|call| call.waits()) {
                        self.end_by(call, error.kind.clone());
                    }
                }
                self.unserved(&error);
                // All that was asked is who the server is.
                self.emit(Event::Unavailable(ClientError { ran: Ran::Never, ..error }));
            }
        }
    }

    fn discover(&mut self, adapter: &crate::revision::Adapter) {
        let request = Request::describe().with_patience(self.config.limits.probe);
        self.send_call(adapter, Purpose::Negotiation, &request, &[]);
    }

    fn initialize(&mut self, adapter: &crate::revision::Adapter) {
        let patience = self.config.limits.handshake;
        let operation = Operation::Describe;
        self.send(Purpose::Negotiation, operation, patience, Vec::new(), |out, id, speaker| {
            adapter.write_initialize(out, id, speaker);
        });
    }

    /// The server knows that the handshake is complete, as far as that can be known.
    pub(in crate::client) fn confirmed(&mut self) {
        if matches!(self.life, Life::Confirming) {
            self.open();
        }
    }

    fn open(&mut self) {
        self.life = Life::Open;
        self.attempts = Attempts::default();
        let Some(server) = self.server.clone() else { return };
        self.emit(Event::Connected(server.clone()));
        let sets_level = server.description.capabilities.logging && server.adapter.has_handshake;
        if let Some(level) = self.config.log_level.filter(|_| sets_level) {
            let request = Request::set_log_level(level);
            self.send_call(&server.adapter, Purpose::Aside, &request, &[]);
        }
        self.start_listeners();
        let waiting: Vec<CallId> =
            self.calls.iter().filter(|(_, call)| call.waits()).map(|(id, _)| *id).collect();
        for call in waiting {
            self.dispatch(call);
        }
    }

    /// Whether messages go by HTTP requests of which each has its answer.
    pub(super) fn is_http(&self) -> bool {
        self.carriage == Carriage::Http
    }

    pub(in crate::client) fn carriage(&self) -> Carriage {
        self.carriage
    }

    /// The requests that find out who the server is.
    pub(super) fn negotiating(&self) -> Vec<i64> {
        let is_one = |(id, sent): (&i64, &super::Sent)| {
            (sent.purpose == Purpose::Negotiation).then_some(*id)
        };
        self.requests.iter().filter_map(is_one).collect()
    }

    /// The exchange with the answer to a request broke.
    pub(in crate::client) fn broken(&mut self, id: i64, how: Broken) {
        if self.purpose(id) != Some(Purpose::Negotiation) {
            return self.request_failed(id, how.into_error());
        }
        self.settle(id);
        self.evidence(how.into_evidence());
    }

    /// The stream on which everything came is gone, and the session with it. Who waits for changes
    /// has it made anew; a call does, too.
    pub(in crate::client) fn disconnected(&mut self, how: Broken) {
        if matches!(self.life, Life::Negotiating(_)) {
            for id in self.negotiating() {
                self.settle(id);
            }
            return self.evidence(how.into_evidence());
        }
        let error = how.into_error();
        for id in self.requests.keys().copied().collect::<Vec<_>>() {
            let error = ClientError { ran: Ran::Maybe, ..error.clone() };
            self.request_failed(id, error);
        }
        self.withdraw_pushed();
        if !self.is_closed() {
            self.life = Life::Idle;
            self.interrupt_listeners();
            self.reconnect(&error);
        }
    }
}

/// How an exchange broke.
#[derive(Debug)]
pub(in crate::client) enum Broken {
    /// It has a status, and no message.
    Status(u16, ClientError),
    /// The connection broke, or never was.
    Gone(ClientError),
    /// What came is not the protocol.
    Nonsense(Cow<'static, str>),
    /// What came is more than a limit allows.
    TooMuch(&'static str),
}

impl Broken {
    pub(in crate::client) fn into_error(self) -> ClientError {
        match self {
            Self::Status(_, error) | Self::Gone(error) => error,
            Self::Nonsense(what) => ClientError::maybe(ErrorKind::Protocol(what)),
            Self::TooMuch(what) => ClientError::maybe(ErrorKind::TooMuch(what)),
        }
    }

    fn into_evidence(self) -> Evidence {
        match self {
            Self::Status(status, error) => Evidence::Status(status, error),
            Self::Gone(error) => Evidence::Gone(error),
            other => Evidence::Nonsense(other.into_error()),
        }
    }
}
