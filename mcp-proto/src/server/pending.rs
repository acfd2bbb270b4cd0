//! Effects that a machine waits for.

use smallvec::SmallVec;

use super::Output;
use crate::effect::{EFFECT_DEADLINE, Effect, EffectId};
use crate::time::{Instant, earlier};

/// The effects under way of one machine: what each is for, and until when it is waited for.
#[derive(Debug)]
pub(crate) struct Pending<W> {
    next: u64,
    waiting: SmallVec<[(EffectId, Instant, W); 1]>,
}

impl<W> Pending<W> {
    /// No effects; ids begin at `first`.
    pub(crate) fn new(first: u64) -> Self {
        Self { next: first, waiting: SmallVec::new() }
    }

    /// Emits `effect` and remembers what it is for.
    pub(crate) fn emit(&mut self, now: Instant, effect: Effect, what: W) -> Output {
        let id = EffectId(self.next);
        self.next += 1;
        self.waiting.push((id, now + EFFECT_DEADLINE, what));
        Output::Effect(id, effect)
    }

    /// What the reply to `id` is for; `None` where nothing waits for it (any more).
    pub(crate) fn settle(&mut self, id: EffectId) -> Option<W> {
        let index = self.waiting.iter().position(|(waiting, ..)| *waiting == id)?;
        Some(self.waiting.remove(index).2)
    }

    /// One effect whose time is over by `now`.
    pub(crate) fn expire(&mut self, now: Instant) -> Option<(EffectId, W)> {
        let index = self.waiting.iter().position(|(_, until, _)| *until <= now)?;
        let (id, _, what) = self.waiting.remove(index);
        Some((id, what))
    }

    /// Stops waiting for everything.
    pub(crate) fn abandon(&mut self) -> impl Iterator<Item = Output> + '_ {
        self.waiting.drain(..).map(|(id, ..)| Output::Abandon(id))
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.waiting.iter().fold(None, |soonest, (_, until, _)| earlier(soonest, Some(*until)))
    }
}
