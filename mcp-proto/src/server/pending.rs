//! Effects that a machine waits for.

use smallvec::SmallVec;

use super::{AskId, CallId};
use crate::effect::EffectId;
use crate::time::{Instant, earlier};

/// Which part of a machine an effect is for. Each part waits for one effect at a time, and
/// knows which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Who is calling.
    Principal,
    /// What the exchange itself is about.
    Stage,
    /// A call whose state is kept.
    Task(CallId),
    /// The state that a call has to itself.
    Claim(CallId),
    /// A call that another worker may cancel.
    Watch(CallId),
    /// A question that was put to the client.
    Ask(AskId),
    /// The log of a stream that is written.
    Producer,
    /// The log of a stream that is read.
    Follow,
    /// Changes that a client listens to.
    Listen(u64),
    /// The promise of a last word on a stream.
    Lease,
    /// Somebody else's promise.
    Vigil,
    /// The life of a session in use.
    Hold,
    /// Nothing: it is done, and its end is of no interest. A machine is not idle before it.
    Nothing,
}

/// The effects under way of one machine: what each is for, and until when it is waited for.
#[derive(Debug, Default)]
pub(crate) struct Pending(SmallVec<[Awaited; 2]>);

#[derive(Debug)]
struct Awaited {
    /// `None` where only that time is waited for.
    id: Option<EffectId>,
    waiting: Waiting,
    until: Instant,
    late: Late,
}

/// What it means that an effect is not answered in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Late {
    /// It failed.
    Failed,
    /// There was no news to answer with.
    Quiet,
}

impl Pending {
    pub(crate) fn add(
        &mut self,
        id: Option<EffectId>,
        waiting: Waiting,
        until: Instant,
        late: Late,
    ) {
        self.0.push(Awaited { id, waiting, until, late });
    }

    /// What the reply to `id` is for; `None` where nothing waits for it (any more).
    pub(crate) fn settle(&mut self, id: EffectId) -> Option<Waiting> {
        let index = self.0.iter().position(|it| it.id == Some(id))?;
        Some(self.0.remove(index).waiting)
    }

    /// One of those whose time is over by `now`.
    pub(crate) fn expire(&mut self, now: Instant) -> Option<(Option<EffectId>, Waiting, Late)> {
        let index = self.0.iter().position(|it| it.until <= now)?;
        let Awaited { id, waiting, late, .. } = self.0.remove(index);
        Some((id, waiting, late))
    }

    /// One that `waiting` waits for; it no longer does.
    pub(crate) fn remove(&mut self, waiting: Waiting) -> Option<Option<EffectId>> {
        let index = self.0.iter().position(|it| it.waiting == waiting)?;
        Some(self.0.remove(index).id)
    }

    pub(crate) fn has(&self, waiting: Waiting) -> bool {
        self.0.iter().any(|it| it.waiting == waiting)
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = EffectId> + '_ {
        self.0.drain(..).filter_map(|it| it.id)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.0.iter().fold(None, |soonest, it| earlier(soonest, Some(it.until)))
    }
}
