//! What answers the effects of a machine under test.

use core::time::Duration;
use std::collections::BTreeMap;

use super::{Failing, Outage, Random};
use crate::effect::{Effect, EffectError, Reply};
use crate::store::{Record, SessionOp};
use crate::time::Instant;

/// How unreliable a [`Store`] is. The default is not at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Answers take up to this long, so that they overtake each other.
    pub delay: Duration,
    /// One operation in so many fails, without having been done; none where this is 0.
    pub failing: u64,
    /// One operation in so many is done but never answered; none where this is 0.
    pub silent: u64,
    /// One answer in so many comes twice; none where this is 0.
    pub repeating: u64,
}

/// A session store and a source of random bytes, in memory and in virtual time.
#[derive(Debug)]
pub struct Store {
    random: Random,
    faults: Faults,
    outage: Option<Outage>,
    sessions: BTreeMap<String, Live>,
}

#[derive(Debug)]
struct Live {
    record: Record,
    until: Instant,
}

impl Store {
    /// An empty store whose random bytes and whims follow from `seed`.
    pub fn new(seed: u64, faults: Faults) -> Self {
        Self { random: Random::new(seed), faults, outage: None, sessions: BTreeMap::new() }
    }

    /// From now on with other faults.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Fails as told, and so does the hub of a [`Cluster`](super::Cluster) that it belongs to.
    pub fn set_outage(&mut self, outage: Outage) {
        self.outage = Some(outage);
    }

    /// How `effect` fails at `now`, if it does.
    pub(super) fn failing(&self, now: Instant, effect: &Effect) -> Option<Failing> {
        self.outage.as_ref()?.hits(now, effect)
    }

    /// How many sessions live at `now`.
    pub fn sessions(&self, now: Instant) -> usize {
        self.sessions.values().filter(|live| now < live.until).count()
    }

    /// How many bytes the largest record has, with its id.
    pub fn largest(&self) -> usize {
        let size = |(id, live): (&String, &Live)| id.len() + live.record.data.len();
        self.sessions.iter().map(size).max().unwrap_or(0)
    }

    /// Does what `effect` asks for, faultlessly.
    ///
    /// # Errors
    /// For effects of which this store knows nothing.
    pub fn perform(&mut self, now: Instant, effect: &Effect) -> Result<Reply, EffectError> {
        match effect {
            Effect::Random => Ok(Reply::Random(self.random.bytes())),
            Effect::Wall => Ok(Reply::Wall(now.as_micros() / 1_000)),
            Effect::Verify(_) => Err(EffectError::Unavailable("there is no verifier here".into())),
            Effect::Session(op) => Ok(self.session(now, op)),
            Effect::Hub(_) => Err(EffectError::Unavailable("there is no hub here".into())),
        }
    }

    /// Every answer that `effect` gets, and when: none, one or two.
    pub fn answers(
        &mut self,
        now: Instant,
        effect: &Effect,
    ) -> Vec<(Instant, Result<Reply, EffectError>)> {
        match self.failing(now, effect) {
            Some(Failing::Refused) => return vec![(now, Err(refused()))],
            Some(Failing::Silent) => return Vec::new(),
            Some(Failing::Unanswered) => {
                let _done = self.perform(now, effect);
                return Vec::new();
            }
            Some(Failing::Slow(delay)) => return vec![(now + delay, self.perform(now, effect))],
            None => {}
        }
        let Faults { delay, failing, silent, repeating } = self.faults;
        let answer = match self.random.one_in(failing) {
            true => Err(refused()),
            false => self.perform(now, effect),
        };
        let copies = match (self.random.one_in(silent), self.random.one_in(repeating)) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        };
        let delay = delay.as_micros().try_into().unwrap_or(u64::MAX);
        (0..copies)
            .map(|_| (now + Duration::from_micros(self.random.up_to(delay)), answer.clone()))
            .collect()
    }

    fn session(&mut self, now: Instant, op: &SessionOp) -> Reply {
        self.sessions.retain(|_, live| now < live.until);
        match op {
            SessionOp::Create { id, data, ttl, .. } => {
                let free = !self.sessions.contains_key(id);
                if free {
                    let record = Record { data: data.clone(), version: 1 };
                    self.sessions.insert(id.clone(), Live { record, until: now + *ttl });
                }
                Reply::Created(free)
            }
            SessionOp::Get { id, renew } => Reply::Record(self.sessions.get_mut(id).map(|live| {
                if let Some(ttl) = renew {
                    live.until = now + *ttl;
                }
                live.record.clone()
            })),
            SessionOp::Save { id, data, expected_version, ttl } => {
                let live = self.sessions.get_mut(id);
                let current = live.filter(|live| live.record.version == *expected_version);
                Reply::Saved(current.is_some_and(|live| {
                    let record = Record { data: data.clone(), version: expected_version + 1 };
                    *live = Live { record, until: now + *ttl };
                    true
                }))
            }
            SessionOp::Delete { id } => {
                self.sessions.remove(id);
                Reply::Deleted
            }
        }
    }
}

pub(super) fn refused() -> EffectError {
    EffectError::Unavailable("this store fails as told".into())
}
