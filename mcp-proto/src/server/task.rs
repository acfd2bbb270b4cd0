//! One call from its request to the last word on it, with the state that it leaves and finds.
//!
//! ```text
//!            ┌── state given ──▶ Reading ▶ Timing ▶ Claiming ──┐
//!  request ──┤                     ▲ │ another has it          ├──▶ Running ──▶ last word
//!            │                     └ Waiting                   │       │ asks       ▲
//!            └── none ─────────────────────────────────────────┘       ▼            │
//!                                                     Minting ▶ Keeping ▶ Finishing ┘
//! ```

use std::sync::Arc;

use super::calls::{InFlight, Last};
use super::claim::Claim;
use super::core::Core;
use super::lease::millis;
use super::pending::Waiting;
use super::request_state::{Claimed, Record, Unclaimed};
use super::watch::Watch;
use super::{CallId, session};
use crate::effect::{Effect, Reply};
use crate::model::{
    AskWay, Asking, Binding, Call, Digest, Failure, FailureKind, InputRequest, Json, NeedsInput,
    Operation, Outcome, Round,
};
use crate::revision::{Adapter, AskBy};
use crate::store::{Cursor, HubOp, SessionOp};
use bytes::Bytes;
use core::time::Duration;

/// How long a repeat waits before it looks again whether the first one is done.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// One call of a machine.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) in_flight: InFlight,
    asking: Asking,
    step: Step,
    /// The state that this run has to itself.
    claim: Option<Box<Claim>>,
    /// The answers that this run was given.
    answers: Vec<(String, Json)>,
    watch: Option<Watch>,
}

#[derive(Debug)]
enum Step {
    /// The application has it.
    Running,
    /// Reading the state that the client brought back.
    Reading(Box<Call>),
    /// Asking for the time, to claim it.
    Timing {
        call: Box<Call>,
        record: Box<Record>,
        version: u64,
    },
    Claiming {
        call: Box<Call>,
        claimed: Box<Claimed>,
        now: u64,
    },
    /// An equal request is running elsewhere: where its end is told, then until it is.
    Positioning {
        call: Box<Call>,
    },
    Waiting {
        call: Box<Call>,
    },
    /// The application asked: an id for the state, then the state itself.
    Minting(Box<Asked>),
    Keeping {
        asked: Box<Asked>,
        id: String,
    },
    /// The claimed state gets its outcome: reading it once more, then writing.
    Rereading(Box<Last>),
    Finishing(Box<Last>),
}

#[derive(Debug)]
struct Asked {
    requests: Vec<(String, InputRequest)>,
    round: Round,
}

impl Task {
    /// Begins a call: hands it to the application, or first reads the state that it brings back.
    /// `can_push` says whether its transport can carry questions meanwhile. A notification is no
    /// call, and comes back.
    pub(crate) fn begin(
        core: &mut Core,
        adapter: &Adapter,
        mut call: Call,
        can_push: bool,
    ) -> Option<Self> {
        let id = CallId(core.id());
        let in_flight = InFlight::new(id, *adapter, &call)?;
        let asking = asking(core, &in_flight, can_push);
        call.asking = asking;
        call.keeping = core.keeping();
        let (claim, answers, watch) = (None, Vec::new(), None);
        let mut task = Self { in_flight, asking, step: Step::Running, claim, answers, watch };
        if call.state_id.is_some() {
            task.read(core, Box::new(call));
        } else {
            core.run(id, call);
        }
        Some(task)
    }

    /// Whether the application has this call.
    pub(crate) fn is_running(&self, call: CallId) -> bool {
        self.in_flight.call == call && matches!(self.step, Step::Running)
    }

    /// The application's answer; the last word, unless something is to be kept first.
    pub(crate) fn respond(&mut self, core: &mut Core, outcome: Outcome) -> Option<Last> {
        match outcome {
            Outcome::NeedsInput(needs) => self.asked(core, needs),
            outcome => self.finish(core, Last::Outcome(outcome)),
        }
    }

    /// The answer to the effect under way; the last word, if that is known now.
    pub(crate) fn settle(&mut self, core: &mut Core, reply: Option<Reply>) -> Option<Last> {
        let step = core::mem::replace(&mut self.step, Step::Running);
        match (step, reply) {
            (Step::Reading(call), Some(Reply::Record(record))) => {
                let found = record.and_then(|it| Some((Record::decode(&it.data)?, it.version)));
                match found {
                    Some((record, version)) if record.is_for(&self.binding(core)) => {
                        self.step = Step::Timing { call, record: Box::new(record), version };
                        core.emit(Effect::Wall, self.waiting());
                        None
                    }
                    // What is missing, foreign, expired or tampered with is all the same
                    // (R26-MRTR-09).
                    _ => {
                        Some(self.refuse_state(
                            "unknown or expired request state; call again without it",
                        ))
                    }
                }
            }
            (Step::Timing { call, record, version }, Some(Reply::Wall(now))) => {
                self.claim(core, call, *record, version, now)
            }
            (Step::Claiming { call, claimed, now }, Some(Reply::Saved(true))) => {
                self.resume(core, *call, *claimed, now);
                None
            }
            // Another worker was faster; what it does decides.
            (Step::Claiming { call, .. }, Some(Reply::Saved(false))) => {
                self.read(core, call);
                None
            }
            (Step::Positioning { call }, Some(Reply::Position(cursor))) => {
                self.wait(core, call, cursor);
                None
            }
            (Step::Waiting { call }, Some(Reply::Polled(_))) => {
                self.read(core, call);
                None
            }
            (Step::Minting(asked), Some(Reply::Random(random))) => {
                self.keep(core, asked, session::mint(&random))
            }
            (Step::Keeping { asked, id }, Some(Reply::Created(true))) => {
                let Asked { requests, .. } = *asked;
                self.finish(core, Last::Asked { requests, state: Some(id) })
            }
            (Step::Rereading(last), Some(Reply::Record(Some(record)))) => {
                self.write_outcome(core, last, &record.data, record.version)
            }
            // The state outlived its time, so no repeat can find it: there is nothing to mark.
            (Step::Rereading(last), Some(Reply::Record(None))) => Some(*last),
            (Step::Finishing(last), Some(Reply::Saved(true))) => Some(*last),
            (Step::Finishing(last), Some(Reply::Saved(false))) => self.finish(core, *last),
            (Step::Running, _) => None,
            // The store failed. A state that could not be marked as spent must not be answered.
            _ => Some(internal("the server could not keep the state of this call")),
        }
    }

    /// Watches for cancellations that reach other workers, from now on.
    pub(crate) fn watch(&mut self, core: &mut Core, session: &str) {
        if self.watch.is_none() {
            self.watch = Some(Watch::begin(core, session, &self.in_flight));
        }
    }

    /// The answer to the effect under way of the watch: whether the call was cancelled.
    pub(crate) fn settle_watch(&mut self, core: &mut Core, reply: Option<Reply>) -> bool {
        let call = self.in_flight.call;
        self.watch.as_mut().is_some_and(|watch| watch.settle(core, call, reply))
    }

    /// The answer to the effect under way of the claim, or that it is to be renewed.
    pub(crate) fn settle_claim(&mut self, core: &mut Core, reply: Option<Reply>) {
        if let Some(claim) = &mut self.claim {
            claim.settle(core, reply);
        }
    }

    /// Gives the call up: nothing more is sent for it.
    pub(crate) fn abandon(self, core: &mut Core) {
        let call = self.in_flight.call;
        core.abandon(self.waiting());
        core.abandon(Waiting::Claim(call));
        core.abandon(Waiting::Watch(call));
        if matches!(self.step, Step::Running) {
            core.cancel(call);
        }
    }

    /// The call is over; nothing is watched any more.
    pub(crate) fn end(&self, core: &mut Core) {
        core.abandon(Waiting::Watch(self.in_flight.call));
    }

    fn waiting(&self) -> Waiting {
        Waiting::Task(self.in_flight.call)
    }

    fn binding(&self, core: &Core) -> Binding {
        Binding {
            operation: self.in_flight.operation,
            target: self.in_flight.target.as_deref().map(str::to_owned),
            arguments: Digest::of_arguments(self.in_flight.arguments.as_ref()),
            principal: core.scope.owner.clone(),
        }
    }

    // ---- the state that was brought back ----

    fn read(&mut self, core: &mut Core, call: Box<Call>) {
        // What could be none of ours is not looked for under its own name, which may be endless.
        let id = call.state_id.as_deref().filter(|id| session::is_well_formed(id.as_bytes()));
        let key = core.scope.key("state", id.unwrap_or_default());
        let get = SessionOp::Get { id: key, renew: None };
        self.step = Step::Reading(call);
        core.emit(Effect::Session(get), self.waiting());
    }

    fn claim(
        &mut self,
        core: &mut Core,
        call: Box<Call>,
        record: Record,
        version: u64,
        now: u64,
    ) -> Option<Last> {
        let until = now.saturating_add(millis(core.endpoint.limits().lease));
        match record.claim(Digest::of_answers(&call.answers), now, until) {
            Ok(claimed) => {
                let id = call.state_id.as_deref().unwrap_or_default();
                let save = SessionOp::Save {
                    id: core.scope.key("state", id),
                    data: claimed.record().encode().into(),
                    expected_version: version,
                    ttl: core.endpoint.limits().request_state_ttl,
                };
                self.step = Step::Claiming { call, claimed: Box::new(claimed), now };
                core.emit(Effect::Session(save), self.waiting());
                None
            }
            Err(Unclaimed::Replay(outcome)) => Some(Last::Replayed(outcome)),
            Err(Unclaimed::InProgress { .. }) => {
                let topic = self.topic(core, &call);
                self.step = Step::Positioning { call };
                core.emit(Effect::Hub(HubOp::Position { topic }), self.waiting());
                None
            }
            Err(Unclaimed::Refused) => {
                Some(self.refuse_state("this request state was answered before, in another way"))
            }
        }
    }

    /// A state that came in a tool's arguments is refused in words for the model that wrote them.
    fn refuse_state(&self, why: &'static str) -> Last {
        let kind = match self.in_flight.adapter.asks_in_arguments() {
            true => FailureKind::InvalidArguments,
            false => FailureKind::InvalidParams,
        };
        Last::Outcome(Failure::new(kind, why).into())
    }

    fn wait(&mut self, core: &mut Core, call: Box<Call>, cursor: Cursor) {
        let topics = vec![(self.topic(core, &call), cursor)];
        self.step = Step::Waiting { call };
        core.emit(Effect::Hub(HubOp::Poll { topics, wait: LOOK_AGAIN }), self.waiting());
    }

    fn topic(&self, core: &Core, call: &Call) -> String {
        core.scope.key("state", call.state_id.as_deref().unwrap_or_default())
    }

    fn resume(&mut self, core: &mut Core, mut call: Call, claimed: Claimed, now: u64) {
        let key = core.scope.key("state", call.state_id.as_deref().unwrap_or_default());
        self.answers.clone_from(&call.answers);
        call.round = Some(Arc::new(claimed.round().clone()));
        let id = self.in_flight.call;
        self.claim = Some(Box::new(Claim::hold(core, id, key, claimed, now)));
        core.run(id, call);
    }

    // ---- the state that is left ----

    fn asked(&mut self, core: &mut Core, needs: NeedsInput) -> Option<Last> {
        if let Some(failure) = self.cannot_ask(&needs) {
            return self.finish(core, Last::Outcome(failure.into()));
        }
        if !needs.is_kept() {
            return self.finish(core, Last::Asked { requests: needs.requests, state: None });
        }
        let settled = match &self.claim {
            Some(claim) => claim.round().settle(&self.answers),
            None => Vec::new(),
        };
        let (binding, questions) = (self.binding(core), needs.requests.clone());
        let round = Round { binding, questions, settled, state: needs.state };
        self.step = Step::Minting(Box::new(Asked { requests: needs.requests, round }));
        core.emit(Effect::Random, self.waiting());
        None
    }

    /// Why this client cannot be asked this on this call (R26-MRTR-02, R26-MRTR-07).
    fn cannot_ask(&self, needs: &NeedsInput) -> Option<Failure> {
        let client = &self.in_flight.capabilities;
        let requests = || needs.requests.iter().map(|(_, request)| request);
        if requests().all(|request| self.asking.way(request, client) == AskWay::Retry) {
            return None;
        }
        Some(self.asking.failure(requests(), client))
    }

    fn keep(&mut self, core: &mut Core, asked: Box<Asked>, id: String) -> Option<Last> {
        let data = Record::open(asked.round.clone()).encode();
        if data.len() > core.endpoint.limits().message {
            let why = "what this call would keep until it is answered is larger than a message";
            return self.finish(core, internal(why));
        }
        let create = SessionOp::Create {
            id: core.scope.key("state", &id),
            data: data.into(),
            ttl: core.endpoint.limits().request_state_ttl,
            charged_to: core.charged_to(),
        };
        self.step = Step::Keeping { asked, id };
        core.emit(Effect::Session(create), self.waiting());
        None
    }

    /// The last word, once a claimed state knows it too.
    fn finish(&mut self, core: &mut Core, last: Last) -> Option<Last> {
        let Some(claim) = &self.claim else { return Some(last) };
        let get = SessionOp::Get { id: claim.key.clone(), renew: None };
        core.abandon(Waiting::Claim(self.in_flight.call));
        self.step = Step::Rereading(Box::new(last));
        core.emit(Effect::Session(get), self.waiting());
        None
    }

    fn write_outcome(
        &mut self,
        core: &mut Core,
        last: Box<Last>,
        data: &Bytes,
        version: u64,
    ) -> Option<Last> {
        let claim = self.claim.as_ref()?;
        let payload = |last: &Last| self.in_flight.payload(&core.published, last);
        let most = core.endpoint.limits().message;
        let outcome = || match payload(&last) {
            whole if whole.as_bytes().len() <= most => whole,
            _ => payload(&internal("the result was given once, and is too large to be kept")),
        };
        let Some(record) = claim.finish(data, outcome) else {
            // The claim lapsed and another worker took over: its outcome is the only one.
            let outcome = Record::decode(data).and_then(Record::into_outcome);
            let lost = || internal("this call was taken over by a repeat of it");
            return Some(outcome.map_or_else(lost, Last::Replayed));
        };
        let save = SessionOp::Save {
            id: claim.key.clone(),
            data: record.encode().into(),
            expected_version: version,
            ttl: core.endpoint.limits().request_state_ttl,
        };
        self.step = Step::Finishing(last);
        core.emit(Effect::Session(save), self.waiting());
        None
    }
}

/// How a call can ask its client.
fn asking(core: &Core, call: &InFlight, can_push: bool) -> Asking {
    let repeats = matches!(
        call.operation,
        Operation::CallTool | Operation::GetPrompt | Operation::ReadResource
    );
    let in_arguments = call.tool(&core.published).is_some_and(|tool| tool.asks);
    let way = |by| match by {
        AskBy::Retry if repeats => AskWay::Retry,
        AskBy::Arguments if in_arguments => AskWay::Retry,
        AskBy::Push if can_push => AskWay::Push,
        _ => AskWay::Never,
    };
    Asking {
        elicitation: way(call.adapter.ask_elicitation),
        other: way(call.adapter.ask_sampling),
        undeclared: call.adapter.asks_in_arguments(),
        names_missing: call.adapter.can_ask(),
        fields: call.adapter.input,
    }
}

fn internal(why: &'static str) -> Last {
    Last::Outcome(Failure::new(FailureKind::Internal, why).into())
}
