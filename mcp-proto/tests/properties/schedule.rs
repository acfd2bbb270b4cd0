//! Schedules: what is done to a machine, in which order.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::effect::{Effect, EffectError, EffectId, Reply};
use mcp_proto::model::{
    Failure, FailureKind, Json, LogLevel, LogMessage, Outcome, Progress, ToolResult,
};
use mcp_proto::revision::{AdapterSet, Published, Revision};
use mcp_proto::server::{CallId, Event, Machine, Output};
use mcp_proto::store::SessionOp;
use mcp_proto::testing::{Faults, Hub, Input, Recorder, Store, Transcript, call_id, effect_id};
use mcp_proto::time::Instant;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::fixture::catalog;
use crate::traffic::SESSION;

/// One thing that happens.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Feed(Text),
    Wait(u64),
    /// Time passes, and the machine is told.
    Elapse(u64),
    Eof,
    Closed,
    Close,
    Publish,
    /// To every effect that waits, and to those that follow, what a store that works says.
    Settle,
    /// To one of the effects, settled or not.
    Reply(Index, Answer),
    /// To one of the calls, answered or not.
    Respond(Index, bool),
    Progress(Index, u8),
    Log(Index, LogLevel),
}

/// Bytes, shown as text where a schedule is printed.
#[derive(Clone)]
pub(crate) struct Text(pub(crate) Vec<u8>);

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    /// What a store that works says.
    Fitting,
    Failing,
    /// What was not asked.
    Wrong,
}

pub(crate) fn ops(bytes: BoxedStrategy<Vec<u8>>) -> impl Strategy<Value = Vec<Op>> {
    let answer = prop_oneof![8 => Just(Answer::Fitting), 1 => Just(Answer::Failing), 1 => Just(Answer::Wrong)];
    let wait = 0..100u64;
    let elapse = prop_oneof![1 => Just(0), 2 => Just(5_000), 3 => Just(15_000), 1 => 0..70_000u64];
    let level = prop_oneof![Just(LogLevel::Debug), Just(LogLevel::Error)];
    let op = prop_oneof![
        10 => bytes.prop_map(|bytes| Op::Feed(Text(bytes))),
        3 => wait.prop_map(Op::Wait),
        6 => elapse.prop_map(Op::Elapse),
        8 => Just(Op::Settle),
        5 => (any::<Index>(), answer).prop_map(|(which, answer)| Op::Reply(which, answer)),
        6 => (any::<Index>(), any::<bool>()).prop_map(|(which, fails)| Op::Respond(which, fails)),
        5 => (any::<Index>(), 0..4u8).prop_map(|(which, step)| Op::Progress(which, step)),
        5 => (any::<Index>(), level).prop_map(|(which, level)| Op::Log(which, level)),
        1 => Just(Op::Eof),
        1 => Just(Op::Closed),
        1 => Just(Op::Close),
        1 => Just(Op::Publish),
    ];
    prop::collection::vec(op, 1..32)
}

/// A schedule as it was carried out on a machine that was drained after each step.
pub(crate) struct Recorded {
    pub(crate) inputs: Vec<Input>,
    /// How many bytes each input was taken of.
    pub(crate) taken: Vec<usize>,
    pub(crate) transcript: Transcript,
}

/// Carries out `ops`. What they leave open is decided by what the machine says.
pub(crate) fn record<M: Machine>(machine: M, revision: Revision, ops: &[Op]) -> Recorded {
    let mut play = Play {
        machine: Recorder::new(machine),
        now: Instant::ZERO,
        store: store(revision),
        hub: Hub::default(),
        session: "first".into(),
        effects: Vec::new(),
        settled: 0,
        calls: Vec::new(),
        backlog: Vec::new(),
        taken: Vec::new(),
    };
    play.drain();
    for op in ops {
        play.step(op);
        play.drain();
        play.feed();
        play.drain();
    }
    let Play { machine, taken, .. } = play;
    let (inputs, transcript) = (machine.inputs().to_vec(), machine.transcript().clone());
    Recorded { inputs, taken, transcript }
}

/// A store in which the session `first` lives.
fn store(revision: Revision) -> Store {
    let mut store = Store::new(1, Faults::default());
    let data = format!("{{\"version\":\"{revision}\"}}").into();
    let create =
        SessionOp::Create { id: "first".into(), data, ttl: Duration::MAX, charged_to: None };
    store.perform(Instant::ZERO, &Effect::Session(create)).expect("a session");
    store
}

struct Play<M> {
    machine: Recorder<M>,
    now: Instant,
    store: Store,
    hub: Hub,
    session: String,
    effects: Vec<(EffectId, Effect)>,
    /// How many of the effects were answered in turn.
    settled: usize,
    calls: Vec<CallId>,
    backlog: Vec<u8>,
    taken: Vec<usize>,
}

impl<M: Machine> Play<M> {
    fn step(&mut self, op: &Op) {
        let now = self.now;
        let input = match op {
            Op::Feed(Text(bytes)) => {
                let text = String::from_utf8_lossy(bytes);
                match text.contains(SESSION) {
                    true => self.backlog.extend(text.replace(SESSION, &self.session).bytes()),
                    false => self.backlog.extend_from_slice(bytes),
                }
                return;
            }
            Op::Wait(millis) => {
                self.now = self.now + Duration::from_millis(*millis);
                return;
            }
            Op::Elapse(millis) => {
                self.now = self.now + Duration::from_millis(*millis);
                Input::Timeout(self.now)
            }
            Op::Eof => Input::Eof(now),
            Op::Closed => Input::Closed(now),
            Op::Close => Input::Close,
            Op::Publish => {
                let published = Published::new(Arc::new(catalog(5)), &AdapterSet::default());
                Input::Published(now, Arc::new(published))
            }
            Op::Settle => return self.settle(),
            Op::Reply(which, answer) => {
                let Some((id, effect)) = pick(&self.effects, which).cloned() else { return };
                let reply = match answer {
                    Answer::Fitting => match self.perform(id, &effect) {
                        Some(reply) => reply,
                        None => return,
                    },
                    Answer::Failing => Err(EffectError::TimedOut),
                    Answer::Wrong => Ok(Reply::Deleted),
                };
                Input::Reply(now, id, reply)
            }
            Op::Respond(which, fails) => {
                let Some(call) = pick(&self.calls, which) else { return };
                Input::Respond(*call, outcome(*fails))
            }
            Op::Progress(which, step) => {
                let Some(call) = pick(&self.calls, which) else { return };
                Input::Progress(*call, Progress::new(f64::from(*step)))
            }
            Op::Log(which, level) => {
                let Some(call) = pick(&self.calls, which) else { return };
                Input::Log(*call, LogMessage::new(*level, Json::parse("1").expect("JSON")))
            }
        };
        self.put(input);
    }

    fn settle(&mut self) {
        while let Some((id, effect)) = self.effects.get(self.settled).cloned() {
            self.settled += 1;
            if let Some(reply) = self.perform(id, &effect) {
                self.put(Input::Reply(self.now, id, reply));
                self.drain();
            }
            for (_, id, reply) in self.hub.due(self.now) {
                self.put(Input::Reply(self.now, id, Ok(reply)));
                self.drain();
            }
        }
    }

    /// The world's answer; a poll that waits has none yet.
    fn perform(&mut self, id: EffectId, effect: &Effect) -> Option<Result<Reply, EffectError>> {
        if let Effect::Hub(op) = effect {
            return self.hub.perform(self.now, 0, id, op).map(Ok);
        }
        let reply = self.store.perform(self.now, effect);
        if let (Effect::Session(SessionOp::Create { id, .. }), Ok(Reply::Created(true))) =
            (effect, &reply)
        {
            self.session = id.rsplit('/').next().unwrap_or_default().to_owned();
        }
        Some(reply)
    }

    fn put(&mut self, input: Input) -> usize {
        let times_out = matches!(input, Input::Timeout(_));
        let taken = input.apply(&mut self.machine);
        self.taken.push(taken);
        if times_out && let Some(at) = self.machine.poll_timeout() {
            assert!(at > self.now, "at {} it waits for {at}", self.now);
        }
        taken
    }

    fn feed(&mut self) {
        if self.backlog.is_empty() {
            return;
        }
        let taken = self.put(Input::Bytes(self.now, self.backlog.clone()));
        self.backlog.drain(..taken);
        assert!(self.backlog.is_empty() || !self.machine.wants_input(), "it wants what it left");
    }

    fn drain(&mut self) {
        while let Some(output) = self.machine.poll_output() {
            match output {
                Output::Event(Event::Call(id, _)) => self.calls.push(id),
                Output::Effect(id, effect) => self.effects.push((id, effect)),
                _ => {}
            }
        }
        self.machine.transmit(&mut Vec::new());
    }
}

/// One of `items`: in three of four cases the latest.
fn pick<'a, T>(items: &'a [T], which: &Index) -> Option<&'a T> {
    match which.index(4) {
        0 if !items.is_empty() => items.get(which.index(items.len())),
        _ => items.last(),
    }
}

fn outcome(fails: bool) -> Outcome {
    match fails {
        true => Failure::new(FailureKind::Internal, "it failed").into(),
        false => ToolResult::text("done").into(),
    }
}

/// How a recorded schedule is carried out again.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    /// Whether to drain after an input, over and over.
    pub(crate) drains: Vec<bool>,
    /// Into how long pieces to split bytes, over and over.
    pub(crate) pieces: Vec<usize>,
    /// Whether to add what changes nothing: replies, answers and timeouts that nobody waits for.
    pub(crate) strangers: bool,
}

impl Manner {
    pub(crate) fn plain() -> Self {
        Self { drains: vec![true], pieces: vec![usize::MAX], strangers: false }
    }
}

pub(crate) fn drains() -> impl Strategy<Value = Vec<bool>> {
    prop_oneof![1 => Just(vec![false]), 4 => prop::collection::vec(any::<bool>(), 1..12)]
}

pub(crate) fn pieces() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![1 => Just(vec![1]), 4 => prop::collection::vec(1..80usize, 1..8)]
}

/// Carries out what was recorded once more, and says what came out and how much was taken.
pub(crate) fn repeat<M: Machine>(
    recorded: &Recorded,
    mut machine: M,
    manner: &Manner,
) -> (Transcript, Vec<usize>) {
    let (mut transcript, mut taken) = (Transcript::default(), Vec::new());
    let (mut drains, mut pieces) = (manner.drains.iter().cycle(), manner.pieces.iter().cycle());
    let mut drain = |machine: &mut M| transcript.fetch(machine);
    for input in &recorded.inputs {
        // What was not fetched before a connection broke is lost with it.
        if matches!(input, Input::Closed(_)) {
            drain(&mut machine);
        }
        taken.push(match input {
            Input::Bytes(now, bytes) => {
                let (mut rest, mut total) = (&bytes[..], 0);
                while !rest.is_empty() {
                    let size = pieces.next().map_or(rest.len(), |size| rest.len().min(*size));
                    let part = machine.handle_input(*now, &rest[..size]);
                    (rest, total) = (&rest[part..], total + part);
                    if part < size {
                        break;
                    }
                    if size < bytes.len() && drains.next() == Some(&true) {
                        drain(&mut machine);
                    }
                }
                total
            }
            other => other.clone().apply(&mut machine),
        });
        if manner.strangers {
            stranger(input, &mut machine);
        }
        if drains.next() == Some(&true) {
            drain(&mut machine);
        }
    }
    drain(&mut machine);
    (transcript, taken)
}

/// What nobody waits for, and the same again.
fn stranger<M: Machine>(input: &Input, machine: &mut M) {
    match input {
        Input::Reply(..) | Input::Respond(..) => {
            input.clone().apply(machine);
        }
        Input::Timeout(now) | Input::Bytes(now, _) => {
            let now = *now;
            if machine.poll_timeout().is_none_or(|at| at > now) {
                machine.handle_timeout(now);
            }
            machine.handle_reply(now, effect_id(1 << 40), Ok(Reply::Created(true)));
        }
        _ => {}
    }
    let nobody = call_id(1 << 40);
    machine.progress(nobody, Progress::new(1.0));
    machine.log(nobody, LogMessage::new(LogLevel::Error, Json::parse("1").expect("JSON")));
    machine.respond(nobody, outcome(false));
}
