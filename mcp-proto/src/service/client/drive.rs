//! The loop that drives a client's machine.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use super::asking::{Asker, Spelled};
pub(super) use super::exchanges::HttpLink;
use super::inner::{Carried, Shared, State, Task};
pub(super) use super::streams::StreamLink;
use crate::client::{AskId, Carry};
use crate::effect::{Effect, Reply};
use crate::service::{Runtime, Shared as Threads, Timer};
use crate::time::Instant;

/// What carries a machine's messages.
pub(super) trait Link: Send + 'static {
    /// Does what the machine wants done.
    fn carry(&mut self, carried: &mut Carried, now: Instant, what: Carry);

    /// Brings what came, and takes what is to go; says whether anything moved.
    fn poll(&mut self, carried: &mut Carried, now: Instant, cx: &mut Context<'_>) -> bool;

    /// Ends what carries, once the machine is closed: ready when all was said and nothing is left
    /// behind.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()>;
}

type Answering = Pin<Box<dyn Future<Output = Spelled> + Send>>;

/// The loop: a future that ends with the client.
pub(super) struct Drive<R: Runtime<Threads>, L> {
    shared: Arc<Shared>,
    runtime: R,
    timer: Pin<Box<R::Timer>>,
    armed: Option<Instant>,
    link: L,
    asker: Option<Asker>,
    answering: Vec<(AskId, Answering)>,
}

/// How often one poll goes around before other tasks get their turn (C64).
const ROUNDS: usize = 32;

impl<R: Runtime<Threads>, L: Link> Drive<R, L> {
    pub(super) fn new(shared: Arc<Shared>, runtime: R, link: L, asker: Option<Asker>) -> Self {
        let timer = Box::pin(runtime.timer());
        Self { shared, runtime, timer, armed: None, link, asker, answering: Vec::new() }
    }

    /// One round; says whether anything moved.
    fn round(&mut self, state: &mut State, now: Instant, cx: &mut Context<'_>) -> bool {
        let mut moved = self.tick(state, now);
        state.settle();
        while let Some(task) = state.tasks.pop_front() {
            self.take(state, now, task);
            state.settle();
            moved = true;
        }
        moved |= self.link.poll(&mut state.carried, now, cx);
        state.settle();
        moved || !state.tasks.is_empty()
    }

    fn tick(&mut self, state: &mut State, now: Instant) -> bool {
        let machine = state.carried.machine();
        let due = machine.poll_timeout().is_some_and(|deadline| deadline <= now);
        if due {
            machine.handle_timeout(now);
        }
        due
    }

    fn take(&mut self, state: &mut State, now: Instant, task: Task) {
        match task {
            Task::Carry(what) => self.link.carry(&mut state.carried, now, what),
            Task::Effect(id, Effect::Random) => {
                let mut bytes = [0; 32];
                let filled = self.runtime.fill_random(&mut bytes);
                let reply = filled.map(|()| Reply::Random(bytes));
                state.carried.machine().handle_reply(now, id, reply);
            }
            // A client has no other effects.
            Task::Effect(..) => {}
            Task::Ask(ask, question) => {
                if let Some(asker) = &self.asker {
                    self.answering.push((ask, asker.answer(question)));
                }
            }
            Task::Withdraw(ask) => self.answering.retain(|(open, _)| *open != ask),
        }
    }

    /// Questions that were answered. Whoever answers may call this very client, so nothing is
    /// locked meanwhile.
    fn answers(&mut self, cx: &mut Context<'_>) -> Vec<(AskId, Spelled)> {
        let mut answers = Vec::new();
        self.answering.retain_mut(|(ask, answering)| match answering.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(answer) => {
                answers.push((*ask, answer));
                false
            }
        });
        answers
    }

    /// Nothing is left to do until something comes, or time has passed.
    fn rest(&mut self, state: &mut State, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = state.carried.machine().poll_timeout();
        if let Some(deadline) = deadline
            && self.armed.is_none_or(|armed| deadline < armed)
        {
            self.timer.as_mut().reset(deadline);
            self.armed = Some(deadline);
        }
        if self.armed.is_some() && self.timer.as_mut().poll_elapsed(cx).is_ready() {
            self.armed = None;
            return Poll::Ready(());
        }
        state.driver = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// Nothing in it is pinned but the timer, which is in a box.
impl<R: Runtime<Threads>, L> Unpin for Drive<R, L> {}

impl<R: Runtime<Threads>, L: Link> Future for Drive<R, L> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let shared = this.shared.clone();
        for _ in 0..ROUNDS {
            let answers = this.answers(cx);
            let mut state = shared.lock();
            let now = this.runtime.now();
            let mut moved = !answers.is_empty();
            for (ask, answer) in answers {
                state.carried.machine().answer(now, ask, answer);
            }
            moved |= this.round(&mut state, now, cx);
            if !moved && state.carried.machine().is_closed() {
                return this.link.poll_end(cx);
            }
            if !moved && this.rest(&mut state, cx).is_pending() {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<R: Runtime<Threads>, L> Drop for Drive<R, L> {
    /// Also where the runtime drops its tasks: nobody waits for ever.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        let machine = state.carried.machine();
        if !machine.is_closed() {
            machine.close(self.runtime.now());
        }
        state.settle();
        state.over();
    }
}
