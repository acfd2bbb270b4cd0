//! A state that this worker claimed: it says so again and again while the handler runs, so that no
//! repeat of the call takes over a handler that only takes its time.

use bytes::Bytes;

use super::CallId;
use super::core::Core;
use super::lease::{millis, renewal};
use super::pending::Waiting;
use super::request_state::{Claimed, Record};
use crate::effect::{Effect, Reply};
use crate::model::{Json, Round};
use crate::store::SessionOp;
use crate::time::Instant;

/// A claimed state, and its key.
#[derive(Debug)]
pub(crate) struct Claim {
    pub(crate) key: String,
    claimed: Claimed,
    call: CallId,
    /// When it was claimed, by the machine's time and in milliseconds of wall time.
    since: (Instant, u64),
    step: Step,
}

#[derive(Debug)]
enum Step {
    /// It is renewed when this comes.
    Due,
    Reading,
    Writing,
    /// Another worker has it.
    Lost,
}

impl Claim {
    /// A state that was claimed at `now_ms`. It is renewed from now on.
    pub(crate) fn hold(
        core: &mut Core,
        call: CallId,
        key: String,
        claimed: Claimed,
        now_ms: u64,
    ) -> Self {
        let since = (core.now, now_ms);
        let mut claim = Self { key, claimed, call, since, step: Step::Due };
        claim.rest(core);
        claim
    }

    /// What the handler runs with.
    pub(crate) fn round(&self) -> &Round {
        self.claimed.round()
    }

    /// The answer to the effect under way, or that it is time.
    pub(crate) fn settle(&mut self, core: &mut Core, reply: Option<Reply>) {
        match (core::mem::replace(&mut self.step, Step::Lost), reply) {
            (Step::Due, None) => {
                let get = SessionOp::Get { id: self.key.clone(), renew: None };
                core.emit(Effect::Session(get), Waiting::Claim(self.call));
                self.step = Step::Reading;
            }
            (Step::Reading, Some(Reply::Record(found))) => {
                let (since, now_ms) = self.since;
                let passed =
                    millis(core.now.saturating_since(since) + core.endpoint.limits().lease);
                let renewed = found.and_then(|found| {
                    let record = Record::decode(&found.data)?;
                    let renewed = self.claimed.renew(&record, now_ms.saturating_add(passed))?;
                    Some((renewed, found.version))
                });
                if let Some((record, expected_version)) = renewed {
                    let (id, data) = (self.key.clone(), record.encode().into());
                    let ttl = core.endpoint.limits().request_state_ttl;
                    let save = SessionOp::Save { id, data, expected_version, ttl };
                    core.emit(Effect::Session(save), Waiting::Claim(self.call));
                    self.step = Step::Writing;
                }
            }
            (Step::Lost, _) => {}
            // Written; or the store failed: it is looked at again.
            _ => self.rest(core),
        }
    }

    fn rest(&mut self, core: &mut Core) {
        self.step = Step::Due;
        let at = core.now + renewal(core);
        core.alarm(Waiting::Claim(self.call), at);
    }

    /// The record with its outcome; `None` where `data` is not this worker's claim.
    pub(crate) fn finish(&self, data: &Bytes, outcome: impl FnOnce() -> Json) -> Option<Record> {
        let record = Record::decode(data)?;
        self.claimed.has(&record).then(|| self.claimed.clone().finish(outcome()))
    }
}
