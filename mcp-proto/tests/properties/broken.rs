//! Machines with a fault that a property must find.

use std::sync::Arc;

use mcp_proto::effect::{EffectError, EffectId, Reply};
use mcp_proto::model::{InputRequest, LogMessage, Outcome, Progress};
use mcp_proto::revision::Published;
use mcp_proto::server::{AskId, CallId, Closing, Event, Machine, Output};
use mcp_proto::time::Instant;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A piece of input that begins with a line feed loses it.
    Splitting,
    /// Fetching bytes where there are none leaves a mark in those that come next.
    Draining,
    /// A reply that nobody waits for is passed on as one that the first effect waits for.
    Replies,
    /// No input is taken while two calls are under way.
    Parking,
    /// Progress is told twice.
    Repeating,
}

const PROGRESS: &[u8] = b"notifications/progress";

/// A machine that works but for one fault.
pub(crate) struct Broken<M> {
    pub(crate) machine: M,
    pub(crate) fault: Fault,
    pub(crate) mark: bool,
    /// Calls under way.
    pub(crate) calls: usize,
}

impl<M: Machine> Machine for Broken<M> {
    fn handle_input(&mut self, now: Instant, input: &[u8]) -> usize {
        match (self.fault, input) {
            (Fault::Parking, _) if self.calls > 1 => 0,
            (Fault::Splitting, [b'\n', rest @ ..]) => 1 + self.machine.handle_input(now, rest),
            _ => self.machine.handle_input(now, input),
        }
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
        let id = if self.fault == Fault::Replies { mcp_proto::testing::effect_id(0) } else { id };
        self.machine.handle_reply(now, id, reply);
    }

    fn handle_published(&mut self, now: Instant, published: Arc<Published>) {
        self.machine.handle_published(now, published);
    }

    fn respond(&mut self, call: CallId, outcome: Outcome) {
        self.calls = self.calls.saturating_sub(1);
        self.machine.respond(call, outcome);
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
        let output = self.machine.poll_output();
        self.calls += usize::from(matches!(output, Some(Output::Event(Event::Call(..)))));
        output
    }

    fn transmit(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        self.machine.transmit(out);
        let is_empty = out.len() == start;
        if self.fault == Fault::Draining
            && core::mem::replace(&mut self.mark, is_empty)
            && !is_empty
        {
            out.push(b' ');
        }
        let said = out.get(start..).unwrap_or_default();
        let reports = said.windows(PROGRESS.len()).any(|window| window == PROGRESS);
        if self.fault == Fault::Repeating && reports && !said.starts_with(b"HTTP/") {
            let said = said.to_vec();
            out.extend(said);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.machine.poll_timeout()
    }

    fn wants_input(&self) -> bool {
        self.machine.wants_input()
    }

    fn closing(&self) -> Closing {
        self.machine.closing()
    }
}
