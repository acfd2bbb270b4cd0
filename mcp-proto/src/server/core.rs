//! What every server machine holds: settings, the time, and what it has to say.

use std::collections::VecDeque;
use std::sync::Arc;

use super::pending::{Late, Pending, Waiting};
use super::{AskId, CallId, Endpoint, Event, Output};
use crate::auth::Principal;
use crate::effect::{EFFECT_DEADLINE, Effect, EffectId, Reply};
use crate::model::{Call, Keeping};
use crate::revision::{Published, Refused};
use crate::store::{self, Cursor, HubOp};
use crate::time::Instant;

/// Settings, time, identity and outputs of one machine.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) endpoint: Endpoint,
    pub(crate) published: Arc<Published>,
    pub(crate) now: Instant,
    pub(crate) scope: Scope,
    /// Who calls, where that is asked.
    pub(crate) principal: Option<Arc<Principal>>,
    charged_to: Option<Arc<str>>,
    pending: Pending,
    outputs: VecDeque<Output>,
    first: u64,
    next: u64,
}

/// Whose keys are used, and who owns what is stored under them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) namespace: String,
    /// The principal's identity, where sessions and states are bound to it.
    pub(crate) owner: Option<String>,
}

impl Scope {
    /// The key or topic of a thing of that kind.
    pub(crate) fn key(&self, kind: &str, name: &str) -> String {
        store::topic(&self.namespace, kind, Some(name))
    }
}

impl Core {
    /// A machine whose ids begin at `first`.
    pub(crate) fn new(endpoint: Endpoint, now: Instant, first: u64) -> Self {
        let published = endpoint.published().clone();
        let scope = Scope { namespace: endpoint.shared().namespace.clone(), owner: None };
        let (pending, outputs) = (Pending::default(), VecDeque::new());
        Self {
            endpoint,
            published,
            now,
            scope,
            principal: None,
            charged_to: None,
            pending,
            outputs,
            first,
            next: first,
        }
    }

    /// The same, for a peer at that address.
    pub(crate) fn of_peer(mut self, peer: Option<Arc<str>>) -> Self {
        self.charged_to = peer;
        self
    }

    /// Where this machine's ids begin.
    pub(crate) fn first_id(&self) -> u64 {
        self.first
    }

    /// Takes note of who calls. Where that is asked, what is stored is bound to it, and kept apart
    /// by it, unless that was switched off.
    pub(crate) fn admit(&mut self, principal: Option<Arc<Principal>>) {
        if let (Some(principal), Some(settings)) = (&principal, self.endpoint.authorization()) {
            let identity = principal.identity();
            if settings.namespace_from_token() {
                self.scope.namespace.clone_from(&identity);
            }
            self.charged_to = Some(identity.as_str().into());
            self.scope.owner = settings.bind_sessions().then_some(identity);
        }
        self.principal = principal;
    }

    /// Takes note of the time, which never runs backwards.
    pub(crate) fn at(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// An id of this machine that was not used before.
    pub(crate) fn id(&mut self) -> u64 {
        let id = self.next;
        self.next += 1;
        id
    }

    /// Under whose name calls keep things.
    pub(crate) fn keeping(&self) -> Keeping {
        Keeping {
            namespace: self.scope.namespace.clone().into(),
            owner: self.scope.owner.clone(),
            ttl: self.endpoint.limits().session_ttl,
            charged_to: self.charged_to(),
        }
    }

    /// Whom a store charges for what is kept: who calls, or else where from.
    pub(crate) fn charged_to(&self) -> Option<Arc<str>> {
        self.charged_to.clone()
    }

    // ---- effects ----

    /// Emits an effect that `waiting` waits for, as long as requests can be kept waiting.
    pub(crate) fn emit(&mut self, effect: Effect, waiting: Waiting) {
        self.emit_until(effect, waiting, self.now + EFFECT_DEADLINE, Late::Failed);
    }

    /// Waits for news of these topics, until `before` at the longest. A hub that has none, and does
    /// not say so in time, is asked again.
    pub(crate) fn poll(
        &mut self,
        topics: Vec<(String, Cursor)>,
        waiting: Waiting,
        before: Option<Instant>,
    ) {
        let most = self.endpoint.limits().hub_poll;
        let wait = before.map_or(most, |before| most.min(before.saturating_since(self.now)));
        let late = self.now + wait + EFFECT_DEADLINE;
        let until = before.map_or(late, |before| late.min(before));
        self.emit_until(Effect::Hub(HubOp::Poll { topics, wait }), waiting, until, Late::Quiet);
    }

    fn emit_until(&mut self, effect: Effect, waiting: Waiting, until: Instant, late: Late) {
        let id = EffectId(self.id());
        self.pending.add(Some(id), waiting, until, late);
        self.outputs.push_back(Output::Effect(id, effect));
    }

    /// Has `waiting` told when that time has come, as one whose effect failed.
    pub(crate) fn alarm(&mut self, waiting: Waiting, at: Instant) {
        self.pending.add(None, waiting, at, Late::Failed);
    }

    /// What the reply to `id` is for; `None` where nothing waits for it (any more).
    pub(crate) fn settle(&mut self, id: EffectId) -> Option<Waiting> {
        self.pending.settle(id)
    }

    /// One effect, or alarm, whose time has come, and what that is taken for; `None` is a failure.
    pub(crate) fn expire(&mut self) -> Option<(Waiting, Option<Reply>)> {
        let (id, waiting, late) = self.pending.expire(self.now)?;
        self.outputs.extend(id.map(Output::Abandon));
        let reply = match late {
            Late::Failed => None,
            Late::Quiet => Some(Reply::Polled(Vec::new())),
        };
        Some((waiting, reply))
    }

    /// Stops waiting for what `waiting` waits for.
    pub(crate) fn abandon(&mut self, waiting: Waiting) {
        while let Some(id) = self.pending.remove(waiting) {
            self.outputs.extend(id.map(Output::Abandon));
        }
    }

    /// Whether an effect for `waiting` is under way.
    pub(crate) fn is_waiting(&self, waiting: Waiting) -> bool {
        self.pending.has(waiting)
    }

    /// Stops waiting for everything.
    pub(crate) fn abandon_all(&mut self) {
        self.outputs.extend(self.pending.drain().map(Output::Abandon));
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.pending.poll_timeout()
    }

    // ---- events ----

    /// Hands a call to the application.
    pub(crate) fn run(&mut self, id: CallId, call: Call) {
        self.outputs.push_back(Output::Event(Event::Call(id, call)));
    }

    /// Tells the application that nobody waits for a call any more.
    pub(crate) fn cancel(&mut self, id: CallId) {
        self.outputs.push_back(Output::Event(Event::Cancelled(id)));
    }

    /// Hands the answer to a question to the application.
    pub(crate) fn answered(&mut self, id: AskId, answer: super::Answered) {
        self.outputs.push_back(Output::Event(Event::Answered(id, answer)));
    }

    /// Tells the operator something.
    pub(crate) fn notice(&mut self, notice: super::Notice) {
        self.outputs.push_back(Output::Event(Event::Notice(notice)));
    }

    /// The same, of a message that cannot be read, where that is of interest.
    pub(crate) fn notices(&mut self, refused: &Refused) {
        if let Some(notice) = super::Notice::of_message(refused) {
            self.notice(notice);
        }
    }

    pub(crate) fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// The same, with the queue of a machine that ended.
    pub(crate) fn with_outputs(mut self, outputs: VecDeque<Output>) -> Self {
        self.outputs = outputs;
        self
    }

    pub(crate) fn take_outputs(&mut self) -> VecDeque<Output> {
        core::mem::take(&mut self.outputs)
    }

    /// Moves the outputs to the end of `outputs`.
    pub(crate) fn move_outputs(&mut self, outputs: &mut VecDeque<Output>) {
        outputs.append(&mut self.outputs);
    }
}

/// The answer to a question that no call is there for (any more).
pub(crate) fn unsupported(outputs: &mut VecDeque<Output>, call: CallId) -> AskId {
    // No question of a machine has the id of a call.
    let id = AskId(call.0);
    outputs.push_back(Output::Event(Event::Answered(id, super::Answered::Unsupported)));
    id
}
