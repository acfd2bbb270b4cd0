//! What a machine asks of the world.
//!
//! A machine never waits: it emits an [`Effect`], goes on, and takes the [`Reply`] as an input.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use crate::auth::{Principal, Refusal};

use crate::store::{Cursor, HubOp, Polled, Record, SessionOp};

/// Names one effect of one machine. Ids are never reused within a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EffectId(pub(crate) u64);

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::server::show(f, 'e', self.0)
    }
}

/// Something that only the world can do.
///
/// The driver answers each with `handle_reply`, in any order, and may take its time up to the
/// machine's own deadline for it. An effect that was abandoned needs no answer; a late one does
/// no harm.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Effect {
    /// 32 bytes from a cryptographically secure source. Answered by [`Reply::Random`], in the
    /// same drain.
    Random,
    /// The wall clock. Answered by [`Reply::Wall`], in the same drain.
    Wall,
    /// Who a bearer token belongs to. Answered by [`Reply::Principal`].
    Verify(Token),
    /// An operation of the session store. Answered by the [`Reply`] that the operation names.
    Session(SessionOp),
    /// An operation of the hub. Answered by the [`Reply`] that the operation names.
    Hub(HubOp),
}

/// A bearer token on its way to a verifier. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    pub(crate) fn new(token: impl Into<String>) -> Self {
        Self(token.into())
    }

    /// The token itself. It is a secret.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// The world's answer to an [`Effect`].
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Reply {
    /// Random bytes.
    Random([u8; 32]),
    /// Milliseconds since the Unix epoch.
    Wall(u64),
    /// Whom the token belongs to, or why it is refused.
    Principal(Result<Arc<Principal>, Refusal>),
    /// Of [`SessionOp::Create`]: false where a live record has that id.
    Created(bool),
    /// Of [`SessionOp::Get`]: the live record, if there is one.
    Record(Option<Record>),
    /// Of [`SessionOp::Save`]: false where the version moved, or the record is gone.
    Saved(bool),
    /// Of [`SessionOp::Delete`] and [`HubOp::Delete`].
    Deleted,
    /// Of [`HubOp::Publish`]: the place behind the message.
    Published(Cursor),
    /// Of [`HubOp::Position`].
    Position(Cursor),
    /// Of [`HubOp::Poll`]: the topics that have news; none after the wait.
    Polled(Vec<Polled>),
}

impl fmt::Debug for Reply {
    /// Random bytes become ids, so they are not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random(_) => f.write_str("Random(..)"),
            Self::Wall(ms) => f.debug_tuple("Wall").field(ms).finish(),
            Self::Principal(principal) => f.debug_tuple("Principal").field(principal).finish(),
            Self::Created(created) => f.debug_tuple("Created").field(created).finish(),
            Self::Record(record) => f.debug_tuple("Record").field(record).finish(),
            Self::Saved(saved) => f.debug_tuple("Saved").field(saved).finish(),
            Self::Deleted => f.write_str("Deleted"),
            Self::Published(cursor) => f.debug_tuple("Published").field(cursor).finish(),
            Self::Position(cursor) => f.debug_tuple("Position").field(cursor).finish(),
            Self::Polled(polled) => f.debug_tuple("Polled").field(polled).finish(),
        }
    }
}

/// The environment failed: an effect has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EffectError {
    /// It took longer than the machine waits.
    TimedOut,
    /// The store, or what else was asked, is not there; the text says which and what to do. It
    /// is for the server's own log and never reaches a client.
    Unavailable(String),
}

impl fmt::Display for EffectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("no answer in time; is the store reachable?"),
            Self::Unavailable(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for EffectError {}

/// How long a machine waits for the answer to an effect that stands in a request's way.
pub const EFFECT_DEADLINE: Duration = Duration::from_secs(10);
