//! Everything that went into a machine, to be put in again.

use std::sync::Arc;

use crate::effect::{EffectError, EffectId, Reply};
use crate::frame::http1::Closing;
use crate::model::{InputRequest, LogMessage, Outcome, Progress};
use crate::revision::Published;
use crate::server::{AskId, CallId, Machine, Output};
use crate::time::Instant;

/// One input or command of a [`Machine`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input {
    /// [`Machine::handle_input`]
    Bytes(Instant, Vec<u8>),
    /// [`Machine::handle_eof`]
    Eof(Instant),
    /// [`Machine::handle_closed`]
    Closed(Instant),
    /// [`Machine::handle_timeout`]
    Timeout(Instant),
    /// [`Machine::handle_reply`]
    Reply(Instant, EffectId, Result<Reply, EffectError>),
    /// [`Machine::handle_published`]
    Published(Instant, Arc<Published>),
    /// [`Machine::respond`]
    Respond(CallId, Outcome),
    /// [`Machine::progress`]
    Progress(CallId, Progress),
    /// [`Machine::log`]
    Log(CallId, LogMessage),
    /// [`Machine::ask`]
    Ask(CallId, InputRequest),
    /// [`Machine::withdraw`]
    Withdraw(AskId),
    /// [`Machine::suspend`]
    Suspend(CallId),
    /// [`Machine::close_stream`]
    CloseStream(CallId),
    /// [`Machine::close`]
    Close,
}

impl Input {
    /// Puts it in, and says how many of its bytes were taken (of [`Input::Bytes`] only).
    pub fn apply<M: Machine>(self, machine: &mut M) -> usize {
        match self {
            Self::Bytes(now, bytes) => return machine.handle_input(now, &bytes),
            Self::Eof(now) => machine.handle_eof(now),
            Self::Closed(now) => machine.handle_closed(now),
            Self::Timeout(now) => machine.handle_timeout(now),
            Self::Reply(now, id, reply) => machine.handle_reply(now, id, reply),
            Self::Published(now, published) => machine.handle_published(now, published),
            Self::Respond(call, outcome) => machine.respond(call, outcome),
            Self::Progress(call, progress) => machine.progress(call, progress),
            Self::Log(call, message) => machine.log(call, message),
            Self::Ask(call, request) => drop(machine.ask(call, request)),
            Self::Withdraw(ask) => machine.withdraw(ask),
            Self::Suspend(call) => machine.suspend(call),
            Self::CloseStream(call) => machine.close_stream(call),
            Self::Close => machine.close(),
        }
        0
    }
}

/// What came out of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// Events and effects, in words.
    pub outputs: Vec<String>,
    /// The bytes that it sent.
    pub sent: Vec<u8>,
}

impl Transcript {
    /// Fetches everything that `machine` has to say.
    pub fn fetch<M: Machine>(&mut self, machine: &mut M) {
        while let Some(output) = machine.poll_output() {
            self.outputs.push(format!("{output:?}"));
        }
        machine.transmit(&mut self.sent);
    }
}

/// A machine that remembers what went into the one that it wraps, and what came out.
#[derive(Debug)]
pub struct Recorder<M> {
    machine: M,
    inputs: Vec<Input>,
    transcript: Transcript,
}

impl<M: Machine> Recorder<M> {
    /// Records `machine`, which must be new.
    pub fn new(machine: M) -> Self {
        Self { machine, inputs: Vec::new(), transcript: Transcript::default() }
    }

    /// What went in so far.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// What was fetched so far.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    fn record(&mut self, input: Input) -> usize {
        self.inputs.push(input.clone());
        input.apply(&mut self.machine)
    }
}

/// Puts what was recorded into `machine`, which must be new and made like the one that was
/// recorded, and says what comes out of it in the end.
pub fn replay<M: Machine>(inputs: &[Input], mut machine: M) -> Transcript {
    let mut transcript = Transcript::default();
    transcript.fetch(&mut machine);
    for input in inputs {
        input.clone().apply(&mut machine);
        transcript.fetch(&mut machine);
    }
    transcript
}

impl<M: Machine> Machine for Recorder<M> {
    fn handle_input(&mut self, now: Instant, input: &[u8]) -> usize {
        self.record(Input::Bytes(now, input.to_vec()))
    }

    fn handle_eof(&mut self, now: Instant) {
        self.record(Input::Eof(now));
    }

    fn handle_closed(&mut self, now: Instant) {
        self.record(Input::Closed(now));
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.record(Input::Timeout(now));
    }

    fn handle_reply(&mut self, now: Instant, id: EffectId, reply: Result<Reply, EffectError>) {
        self.record(Input::Reply(now, id, reply));
    }

    fn handle_published(&mut self, now: Instant, published: Arc<Published>) {
        self.record(Input::Published(now, published));
    }

    fn respond(&mut self, call: CallId, outcome: Outcome) {
        self.record(Input::Respond(call, outcome));
    }

    fn progress(&mut self, call: CallId, progress: Progress) {
        self.record(Input::Progress(call, progress));
    }

    fn log(&mut self, call: CallId, message: LogMessage) {
        self.record(Input::Log(call, message));
    }

    fn ask(&mut self, call: CallId, request: InputRequest) -> AskId {
        self.inputs.push(Input::Ask(call, request.clone()));
        self.machine.ask(call, request)
    }

    fn withdraw(&mut self, ask: AskId) {
        self.record(Input::Withdraw(ask));
    }

    fn suspend(&mut self, call: CallId) {
        self.record(Input::Suspend(call));
    }

    fn close_stream(&mut self, call: CallId) {
        self.record(Input::CloseStream(call));
    }

    fn close(&mut self) {
        self.record(Input::Close);
    }

    fn is_idle(&self) -> bool {
        self.machine.is_idle()
    }

    fn poll_output(&mut self) -> Option<Output> {
        let output = self.machine.poll_output()?;
        self.transcript.outputs.push(format!("{output:?}"));
        Some(output)
    }

    fn transmit(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        self.machine.transmit(out);
        self.transcript.sent.extend_from_slice(out.get(start..).unwrap_or_default());
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
