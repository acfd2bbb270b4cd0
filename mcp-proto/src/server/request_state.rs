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
mod digest;
#[cfg(test)]
mod tests;

pub use digest::Digest;

use crate::model::{Answer, BadAnswer, InputRequest, Json, Operation};

/// Which request a state belongs to. For any other one it is unknown (R26-MRTR-10, C100).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// What was asked for.
    pub operation: Operation,
    /// The tool, the prompt or the resource.
    pub target: Option<String>,
    /// The digest of the arguments, without answers.
    pub arguments: Digest,
    /// Who asked for it, where callers are told apart (R26-ELIC-18).
    pub principal: Option<String>,
}

/// What a round waits for, and what earlier rounds brought.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The request that is not finished.
    pub binding: Binding,
    /// The questions that are open, by key.
    pub questions: Vec<(String, InputRequest)>,
    /// The answers of earlier rounds, by key.
    pub settled: Vec<(String, Settled)>,
    /// What the handler keeps for itself.
    pub state: Option<Json>,
}

/// A question of an earlier round, with what came back.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// The question: the answer counts only while the handler asks this very one.
    pub question: InputRequest,
    /// The result that the client gave.
    pub result: Json,
}

impl Settled {
    /// The answer.
    ///
    /// # Errors
    /// Where the result is no answer to the question.
    pub fn answer(&self) -> Result<Answer, BadAnswer> {
        Answer::read(&self.question, &self.result)
    }
}

impl Round {
    /// The answer to a question that was asked under `key`: of an earlier round, or among
    /// `answers`, the results that came with this retry. It counts only where this very question
    /// was asked; `None` means that it is to be asked, for the first time or anew.
    pub fn answer(
        &self,
        key: &str,
        question: &InputRequest,
        answers: &[(String, Json)],
    ) -> Option<Result<Answer, BadAnswer>> {
        fn of<'a, T>(list: &'a [(String, T)], key: &str) -> Option<&'a T> {
            list.iter().find(|(known, _)| known == key).map(|(_, found)| found)
        }
        let asked = of(&self.questions, key).is_some_and(|asked| asked == question);
        match of(answers, key).filter(|_| asked) {
            Some(result) => Some(Answer::read(question, result)),
            None => {
                let settled = of(&self.settled, key)?;
                (settled.question == *question).then(|| settled.answer())
            }
        }
    }

    /// The answers that the next round keeps: those settled before, and those among `answers` that
    /// fit the open questions. What nobody asked for is left out (T-52).
    pub fn settle(&self, answers: &[(String, Json)]) -> Vec<(String, Settled)> {
        let mut settled = self.settled.clone();
        for (key, question) in &self.questions {
            let result = answers.iter().find(|(known, _)| known == key).map(|(_, result)| result);
            let Some(result) = result else { continue };
            if Answer::read(question, result).is_err() {
                continue;
            }
            settled.retain(|(known, _)| known != key);
            let now = Settled { question: question.clone(), result: result.clone() };
            settled.push((key.clone(), now));
        }
        settled
    }
}

/// The stored record of a call that is not finished.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
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
pub struct Claimed {
    round: Round,
    answers: Digest,
    until_ms: u64,
}

/// A retry that does not run.
#[derive(Clone, Debug, PartialEq)]
pub enum Unclaimed {
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
    pub fn open(round: Round) -> Self {
        Self { round, life: Life::Open }
    }

    /// Reads a record; `None` for text that is none.
    pub fn decode(text: &[u8]) -> Option<Self> {
        codec::decode(text)
    }

    /// The record as JSON text.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Whether the record is that of this request. What belongs to another one is unknown to it.
    pub fn is_for(&self, binding: &Binding) -> bool {
        self.round.binding == *binding
    }

    /// What the record waits for.
    pub fn round(&self) -> &Round {
        &self.round
    }

    /// Claims the record for a retry with these answers, at `now_ms` and until `until_ms`, both
    /// milliseconds of wall time. It is claimed once the result is stored in place of this record.
    ///
    /// # Errors
    /// Where the retry does not run, and what it gets instead.
    pub fn claim(self, answers: Digest, now_ms: u64, until_ms: u64) -> Result<Claimed, Unclaimed> {
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
        Ok(Claimed { round: self.round, answers, until_ms })
    }
}

impl Claimed {
    /// What the handler runs with.
    pub fn round(&self) -> &Round {
        &self.round
    }

    /// The record to be stored before the handler runs.
    pub fn record(&self) -> Record {
        let Self { answers, until_ms, .. } = *self;
        Record { round: self.round.clone(), life: Life::Claimed { answers, until_ms } }
    }

    /// The same claim until later, for a handler that goes on running.
    #[must_use]
    pub fn prolong(self, until_ms: u64) -> Self {
        Self { until_ms: self.until_ms.max(until_ms), ..self }
    }

    /// The record to be stored once the handler is done: repeats get `outcome`.
    pub fn finish(self, outcome: Json) -> Record {
        Record { round: self.round, life: Life::Done { answers: self.answers, outcome } }
    }
}
