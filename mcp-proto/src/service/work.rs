//! The calls and effects of one machine, while they take their time.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};
use http::Extensions;

use super::errands::Errands;
use super::host::Carrier;
use super::line::Errand;
use super::live::{Edition, Live};
use super::load::Share;
use super::{Command, Dispatched, Execution, Host, Outbox, Question, Running, Runtime, Threading};
use crate::effect::{Effect, EffectError, EffectId, Reply};
use crate::model::{Failure, FailureKind, Outcome};
use crate::server::{Answered, AskId, CallId, Event, Notice, Output};
use crate::store::HubOp;
use crate::time::{Instant, earlier};

/// Everything that runs for one machine.
pub(crate) struct Work<R, M: Threading> {
    host: Host<R, M>,
    /// What calls are dispatched to.
    edition: Arc<Edition<M>>,
    /// The version that the machine lists.
    listed: u64,
    extensions: Extensions,
    outbox: Outbox,
    calls: FuturesUnordered<Running<M>>,
    /// Few at a time, so they are polled in turn.
    effects: Vec<UnderWay>,
    /// The questions that clients have.
    asks: Vec<(AskId, Question)>,
    errands: Errands,
    /// What its machine holds, among all others.
    share: Share,
}

/// An effect that takes its time.
struct UnderWay {
    id: EffectId,
    answering: Pin<Box<dyn Future<Output = Result<Reply, EffectError>> + Send>>,
    /// Until when a poll of the hub may wait for news. Hubs keep that too, but one in memory that
    /// has no timer.
    waits: Option<Instant>,
}

/// What handlers, or what they started elsewhere, still want done is not done any more.
impl<R, M: Threading> Drop for Work<R, M> {
    fn drop(&mut self) {
        self.outbox.close();
    }
}

impl<R: Runtime<M>, M: Threading> Work<R, M> {
    /// Nothing yet. Calls see `extensions`.
    pub(crate) fn new(host: Host<R, M>, extensions: Extensions) -> Self {
        let share = host.load().share();
        Self {
            edition: host.current().edition(),
            listed: Live::<M>::FIRST,
            host,
            extensions,
            outbox: Outbox::new(),
            calls: FuturesUnordered::new(),
            effects: Vec::new(),
            asks: Vec::new(),
            errands: Errands::default(),
            share,
        }
    }

    /// The time.
    pub(crate) fn now(&self) -> Instant {
        self.host.runtime().now()
    }

    /// Tells the operator.
    pub(crate) fn tell(&self, notice: &Notice) {
        self.host.notices().tell(self.now(), notice);
    }

    /// Takes note of what the machine holds, with `more` around it; nothing moved since then.
    pub(crate) fn weigh(
        &mut self,
        machine: &(impl Carrier + ?Sized),
        more: usize,
        since: Instant,
        waker: &Waker,
    ) {
        if let Some((held, most)) = machine.held() {
            self.share.hold(held + more, since, most, waker);
        }
    }

    /// Whether the machine is to end, since all together hold too much.
    pub(crate) fn is_given_up(&self) -> bool {
        self.share.is_given_up()
    }

    /// Nothing runs.
    pub(crate) fn is_idle(&self) -> bool {
        self.calls.is_empty() && self.effects.is_empty() && self.errands.is_empty()
    }

    /// When something is to be done at the latest.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let waits = self.effects.iter().map(|effect| effect.waits);
        waits.fold(self.errands.poll_timeout(), earlier)
    }

    /// Wakes `waker` when a handler says something.
    pub(crate) fn register(&self, waker: &Waker) {
        self.outbox.register(waker);
    }

    /// Lets what comes from now on find the service as it is now.
    pub(crate) fn refresh(&mut self, machine: &mut (impl Carrier + ?Sized), now: Instant) {
        if self.host.current().version() == self.listed {
            return;
        }
        self.edition = self.host.current().edition();
        self.listed = self.edition.version();
        if let Some(published) = machine.adapters().map(|set| self.edition.published(set)) {
            machine.handle_published(now, published);
        }
    }

    /// Goes on with everything, until nothing is left to do but wait. False where nothing was.
    pub(crate) fn advance(
        &mut self,
        machine: &mut (impl Carrier + ?Sized),
        now: Instant,
        cx: &mut Context<'_>,
    ) -> bool {
        let mut moved = false;
        loop {
            let mut again = self.drain(machine, now, cx);
            while let Poll::Ready(Some((id, outcome))) = self.calls.poll_next_unpin(cx) {
                again = true;
                self.settle(machine, id, outcome);
            }
            again |= self.obey(machine);
            again |= self.errands.poll(&self.host, now, cx);
            again |= self.poll_effects(machine, now, cx);
            if !again {
                return moved;
            }
            moved = true;
        }
    }

    /// Does what the machine says.
    fn drain(
        &mut self,
        machine: &mut (impl Carrier + ?Sized),
        now: Instant,
        cx: &mut Context<'_>,
    ) -> bool {
        let mut moved = false;
        while let Some(output) = machine.poll_output() {
            moved = true;
            match output {
                Output::Event(Event::Call(id, call)) => {
                    let parts = || machine.parts(id, &self.extensions);
                    match self.edition.service().dispatch(id, call, parts, &self.outbox) {
                        Dispatched::Done(outcome) => machine.respond(id, outcome),
                        Dispatched::Running(running) => self.begin(machine, running, cx),
                    }
                }
                Output::Event(Event::Cancelled(id)) => {
                    if let Some(running) = self.find(id) {
                        running.cancel();
                    }
                }
                Output::Event(Event::Answered(id, answered)) => self.answered(id, answered),
                Output::Event(Event::Notice(notice)) => self.tell(&notice),
                Output::Effect(id, effect) => {
                    let waits = match &effect {
                        Effect::Hub(HubOp::Poll { wait, .. }) => Some(now + *wait),
                        _ => None,
                    };
                    match self.host.answer(effect) {
                        Execution::Done(reply) => machine.handle_reply(now, id, reply),
                        Execution::Later(answering) => {
                            self.effects.push(UnderWay { id, answering, waits });
                        }
                    }
                }
                Output::Abandon(id) => self.effects.retain(|effect| effect.id != id),
            }
        }
        moved
    }

    /// Most handlers are done the first time they are polled, and cost no bookkeeping.
    fn begin(
        &mut self,
        machine: &mut (impl Carrier + ?Sized),
        mut running: Running<M>,
        cx: &mut Context<'_>,
    ) {
        match Pin::new(&mut running).poll(cx) {
            Poll::Ready((id, outcome)) => self.settle(machine, id, outcome),
            Poll::Pending => {
                let id = running.id();
                self.calls.push(running);
                // It may have asked, and be over with that.
                self.obey(machine);
                if self.find(id).is_some_and(|running| running.is_running()) {
                    machine.suspend(id);
                }
            }
        }
    }

    /// What a handler said before its result goes out before it.
    fn settle(
        &mut self,
        machine: &mut (impl Carrier + ?Sized),
        id: CallId,
        outcome: Option<Outcome>,
    ) {
        self.obey(machine);
        if let Some(outcome) = outcome {
            machine.respond(id, outcome);
        }
    }

    /// Does what handlers say.
    fn obey(&mut self, machine: &mut (impl Carrier + ?Sized)) -> bool {
        let mut moved = false;
        // What is said meanwhile has its turn when this is polled again.
        for (id, command) in self.outbox.take() {
            moved = true;
            match command {
                Command::Progress(progress) => machine.progress(id, progress),
                Command::Log(message) => machine.log(id, message),
                Command::Cancel => {
                    let why = "the server cancelled the call";
                    let failure = Failure::new(FailureKind::Internal, why).into();
                    self.end(machine, id, failure);
                }
                Command::Ask(question) => {
                    let ask = machine.ask(id, question.request().clone());
                    self.asks.push((ask, question));
                }
                Command::Announce { namespace, change } => self.errands.announce(namespace, change),
                Command::CloseStream => machine.close_stream(id),
                Command::Do(Errand(job)) => self.errands.begin(&self.host, self.now(), job),
                Command::Withdraw => self.withdraw(machine),
                Command::Round(round) => {
                    if let Some(needs) = round.take() {
                        self.end(machine, id, needs.into());
                    }
                }
            }
        }
        moved
    }

    /// Drops a call's handler, if it still has one, and gives it that outcome.
    fn end(&mut self, machine: &mut (impl Carrier + ?Sized), id: CallId, outcome: Outcome) {
        if let Some(running) = self.find(id).filter(|running| running.is_running()) {
            running.stop(Some(&outcome));
            machine.respond(id, outcome);
        }
    }

    fn find(&mut self, id: CallId) -> Option<&mut Running<M>> {
        self.calls.iter_mut().find(|running| running.id() == id)
    }

    /// Hands the handler what came of its question.
    fn answered(&mut self, id: AskId, answered: Answered) {
        if let Some(index) = self.asks.iter().position(|(own, _)| *own == id) {
            self.asks.swap_remove(index).1.settle(answered);
        }
    }

    /// Takes back what no handler waits for any more.
    fn withdraw(&mut self, machine: &mut (impl Carrier + ?Sized)) {
        self.asks.retain(|(id, question)| {
            if !question.is_wanted() {
                machine.withdraw(*id);
            }
            question.is_wanted()
        });
    }

    fn poll_effects(
        &mut self,
        machine: &mut (impl Carrier + ?Sized),
        now: Instant,
        cx: &mut Context<'_>,
    ) -> bool {
        let before = self.effects.len();
        self.effects.retain_mut(|UnderWay { id, answering, waits }| {
            let reply = match answering.as_mut().poll(cx) {
                Poll::Ready(reply) => reply,
                Poll::Pending if waits.is_some_and(|until| until <= now) => {
                    Ok(Reply::Polled(Vec::new()))
                }
                Poll::Pending => return true,
            };
            machine.handle_reply(now, *id, reply);
            false
        });
        self.effects.len() < before
    }
}
