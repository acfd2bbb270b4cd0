//! The record of a call that is not finished: what it waits for, and what became of the answers.
//!
//! A record lives in the session store under an unguessable id, the client's request state. It goes
//!
//! ```text
//!            claim                      finish
//!   open ───────────► claimed(answers) ────────► done(answers, outcome)
//!                       │       ▲
//!                       └───────┘ claim with equal answers, once it has lapsed
//! ```
//!
//! and each step is written by compare-and-set, so of several retries at once one runs. A repeat
//! with equal answers waits for the outcome or gets it; other answers are refused, as the handler
//! may have acted on the first ones already (R26-MRTR-11).

mod codec;
#[cfg(test)]
mod tests;

use crate::model::{Binding, Digest, Json, Round};

/// The stored record of a call that is not finished.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    round: Round,
    life: Life,
}

#[derive(Clone, Debug, PartialEq)]
enum Life {
    Open,
    Claimed { answers: Digest, until_ms: u64 },
    Done { answers: Digest, outcome: Json },
}

/// A record that is this worker's to finish, once it has been stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Claimed {
    round: Round,
    answers: Digest,
    until_ms: u64,
    /// What the record says where the last renewal did not reach it.
    earlier_ms: u64,
}

/// A retry that does not run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unclaimed {
    /// Other answers were given before.
    Refused,
    /// A retry with equal answers runs somewhere, until then at the latest.
    InProgress {
        /// In milliseconds of wall time.
        until_ms: u64,
    },
    /// A retry with equal answers had this outcome.
    Replay(Json),
}

impl Record {
    /// A record that waits for answers.
    pub(crate) fn open(round: Round) -> Self {
        Self { round, life: Life::Open }
    }

    /// Reads a record; `None` for text that is none.
    pub(crate) fn decode(text: &[u8]) -> Option<Self> {
        codec::decode(text)
    }

    /// The record as JSON text.
    pub(crate) fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// The outcome that repeats get, if there is one.
    pub(crate) fn into_outcome(self) -> Option<Json> {
        match self.life {
            Life::Done { outcome, .. } => Some(outcome),
            Life::Open | Life::Claimed { .. } => None,
        }
    }

    /// Whether the record is that of this request. What belongs to another one is unknown to it.
    pub(crate) fn is_for(&self, binding: &Binding) -> bool {
        self.round.binding == *binding
    }

    /// Claims the record for a retry with these answers, at `now_ms` and until `until_ms`, both
    /// milliseconds of wall time. It is claimed once the result is stored in place of this record.
    ///
    /// # Errors
    /// Where the retry does not run, and what it gets instead.
    pub(crate) fn claim(
        self,
        answers: Digest,
        now_ms: u64,
        until_ms: u64,
    ) -> Result<Claimed, Unclaimed> {
        match self.life {
            Life::Open => {}
            Life::Claimed { answers: first, .. } | Life::Done { answers: first, .. }
                if first != answers =>
            {
                return Err(Unclaimed::Refused);
            }
            Life::Claimed { until_ms, .. } if now_ms < until_ms => {
                return Err(Unclaimed::InProgress { until_ms });
            }
            Life::Claimed { .. } => {}
            Life::Done { outcome, .. } => return Err(Unclaimed::Replay(outcome)),
        }
        Ok(Claimed { round: self.round, answers, until_ms, earlier_ms: until_ms })
    }
}

impl Claimed {
    /// What the handler runs with.
    pub(crate) fn round(&self) -> &Round {
        &self.round
    }

    /// The record to be stored before the handler runs.
    pub(crate) fn record(&self) -> Record {
        let Self { answers, until_ms, .. } = *self;
        Record { round: self.round.clone(), life: Life::Claimed { answers, until_ms } }
    }

    /// Whether the record is this claim. Nobody else's has the same end: another one begins after
    /// this one has lapsed.
    pub(crate) fn has(&self, record: &Record) -> bool {
        matches!(record.life, Life::Claimed { answers, until_ms } if answers == self.answers
            && [self.until_ms, self.earlier_ms].contains(&until_ms))
    }

    /// The record to be stored in place of `record`, so that the claim lasts longer; `None` where
    /// that is another's.
    pub(crate) fn renew(&mut self, record: &Record, until_ms: u64) -> Option<Record> {
        let Life::Claimed { until_ms: earlier_ms, .. } = record.life else { return None };
        if !self.has(record) {
            return None;
        }
        (self.until_ms, self.earlier_ms) = (until_ms, earlier_ms);
        Some(self.record())
    }

    /// The record to be stored once the handler is done: repeats get `outcome`, and nothing else is
    /// needed any more.
    pub(crate) fn finish(self, outcome: Json) -> Record {
        let (questions, settled) = (Vec::new(), Vec::new());
        let round = Round { questions, settled, state: None, ..self.round };
        Record { round, life: Life::Done { answers: self.answers, outcome } }
    }
}
