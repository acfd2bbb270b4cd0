//! Machines with a fault that a property must find.

use std::sync::Arc;

use mcp_proto::effect::{EffectError, EffectId, Reply};
use mcp_proto::model::{InputRequest, LogMessage, Outcome, Progress};
use mcp_proto::revision::Published;
use mcp_proto::server::{AskId, CallId, Closing, Machine, Output};
use mcp_proto::time::Instant;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// What a call came to is forgotten once an effect has failed.
    Mute,
    /// Time passes unseen once an effect has failed.
    Timeless,
}

/// What breaks machines like that.
pub(crate) fn broken(fault: Fault) -> fn(Box<dyn Machine>) -> Box<dyn Machine> {
    match fault {
        Fault::Mute => |machine| Box::new(Broken { machine, fault: Fault::Mute, failed: false }),
        Fault::Timeless => {
            |machine| Box::new(Broken { machine, fault: Fault::Timeless, failed: false })
        }
    }
}

struct Broken {
    machine: Box<dyn Machine>,
    fault: Fault,
    failed: bool,
}

impl Broken {
    fn has(&self, fault: Fault) -> bool {
        self.failed && self.fault == fault
    }
}

impl Machine for Broken {
    fn handle_input(&mut self, now: Instant, input: &[u8]) -> usize {
        self.machine.handle_input(now, input)
    }

    fn handle_eof(&mut self, now: Instant) {
        self.machine.handle_eof(now);
    }

    fn handle_closed(&mut self, now: Instant) {
        self.machine.handle_closed(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.machine.handle_timeout(now);
    }

    fn handle_reply(&mut self, now: Instant, id: EffectId, reply: Result<Reply, EffectError>) {
        self.failed |= reply.is_err();
        self.machine.handle_reply(now, id, reply);
    }

    fn handle_published(&mut self, now: Instant, published: Arc<Published>) {
        self.machine.handle_published(now, published);
    }

    fn respond(&mut self, call: CallId, outcome: Outcome) {
        if !self.has(Fault::Mute) {
            self.machine.respond(call, outcome);
        }
    }

    fn progress(&mut self, call: CallId, progress: Progress) {
        self.machine.progress(call, progress);
    }

    fn log(&mut self, call: CallId, message: LogMessage) {
        self.machine.log(call, message);
    }

    fn ask(&mut self, call: CallId, request: InputRequest) -> AskId {
        self.machine.ask(call, request)
    }

    fn withdraw(&mut self, ask: AskId) {
        self.machine.withdraw(ask);
    }

    fn suspend(&mut self, call: CallId) {
        self.machine.suspend(call);
    }

    fn close_stream(&mut self, call: CallId) {
        self.machine.close_stream(call);
    }

    fn close(&mut self) {
        self.machine.close();
    }

    fn is_idle(&self) -> bool {
        self.machine.is_idle()
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.machine.poll_output()
    }

    fn transmit(&mut self, out: &mut Vec<u8>) {
        self.machine.transmit(out);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.machine.poll_timeout().filter(|_| !self.has(Fault::Timeless))
    }

    fn wants_input(&self) -> bool {
        self.machine.wants_input()
    }

    fn closing(&self) -> Closing {
        self.machine.closing()
    }
}
