//! A store that fails for a while.

use core::time::Duration;

use crate::effect::Effect;
use crate::store::{HubOp, SessionOp};
use crate::time::Instant;

/// A kind of operation of a session store or hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// [`SessionOp::Create`].
    Create,
    /// [`SessionOp::Get`] without renewal.
    Get,
    /// [`SessionOp::Get`] that renews, which a store may have to write for.
    Renew,
    /// [`SessionOp::Save`].
    Save,
    /// [`SessionOp::Delete`].
    Delete,
    /// [`HubOp::Publish`].
    Publish,
    /// [`HubOp::Position`].
    Position,
    /// [`HubOp::Poll`].
    Poll,
    /// [`HubOp::Delete`].
    Forget,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Create,
        Self::Get,
        Self::Renew,
        Self::Save,
        Self::Delete,
        Self::Publish,
        Self::Position,
        Self::Poll,
        Self::Forget,
    ];

    /// Those that a store which is locked, full or read-only refuses.
    pub const WRITES: [Self; 6] =
        [Self::Create, Self::Renew, Self::Save, Self::Delete, Self::Publish, Self::Forget];

    /// What `effect` asks of a store; `None` where it asks something else.
    pub fn of(effect: &Effect) -> Option<Self> {
        Some(match effect {
            Effect::Session(SessionOp::Create { .. }) => Self::Create,
            Effect::Session(SessionOp::Get { renew: None, .. }) => Self::Get,
            Effect::Session(SessionOp::Get { .. }) => Self::Renew,
            Effect::Session(SessionOp::Save { .. }) => Self::Save,
            Effect::Session(SessionOp::Delete { .. }) => Self::Delete,
            Effect::Hub(HubOp::Publish { .. }) => Self::Publish,
            Effect::Hub(HubOp::Position { .. }) => Self::Position,
            Effect::Hub(HubOp::Poll { .. }) => Self::Poll,
            Effect::Hub(HubOp::Delete { .. }) => Self::Forget,
            _ => return None,
        })
    }
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failing {
    /// It is not done, and that is said at once.
    Refused,
    /// It is not done, and that is never said.
    Silent,
    /// It is done, and that is never said.
    Unanswered,
    /// It is done, and that is said so much later.
    Slow(Duration),
}

/// Some operations fail in one way, from one instant until another.
#[derive(Clone, Debug)]
pub struct Outage {
    operations: Vec<Operation>,
    failing: Failing,
    from: Instant,
    until: Instant,
}

impl Outage {
    /// These operations fail like that from `from` on, for so long.
    pub fn new(
        operations: impl IntoIterator<Item = Operation>,
        failing: Failing,
        from: Instant,
        length: Duration,
    ) -> Self {
        let operations = operations.into_iter().collect();
        Self { operations, failing, from, until: from + length }
    }

    /// How `effect` fails at `now`, if it does.
    pub fn hits(&self, now: Instant, effect: &Effect) -> Option<Failing> {
        let is_now = self.from <= now && now < self.until;
        let hit = Operation::of(effect).is_some_and(|it| self.operations.contains(&it));
        (is_now && hit).then_some(self.failing)
    }
}
