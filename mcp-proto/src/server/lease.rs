//! Who answers for a stream: the worker that runs its calls, as long as it says so again and
//! again. Whoever serves a stream that was taken up says its last word where that worker is lost.
//!
//! ```text
//!  owner    due ─▶ Reading ─▶ Timing ─▶ Writing ─▶ due ...     until it is given back, or lost
//!  reader   due ─▶ Reading ─▶ Timing ─▶ Taking ─▶ the last word
//! ```
//!
//! The record is in the session store under the stream's key, and each step is written by
//! compare-and-set, so that one reader at the most takes it.

use bytes::Bytes;
use core::time::Duration;

use super::core::Core;
use super::pending::Waiting;
use super::stream::EVENT_TTL;
use crate::effect::{Effect, Reply};
use crate::frame::json;
use crate::frame::writer::Object;
use crate::store::SessionOp;
use crate::time::Instant;

/// How long a stream is let open before its calls are worth a record.
const FIRST: Duration = Duration::from_secs(1);

/// One worker's promise of a last word.
#[derive(Debug)]
pub(crate) struct Lease {
    key: String,
    /// What the client is told if this worker is lost.
    last_word: Bytes,
    step: Step,
    is_kept: bool,
}

/// A reader's eye on somebody else's promise.
#[derive(Debug)]
pub(crate) struct Vigil {
    key: String,
    /// What the client is told where there is no promise either; `None` where nothing is to come.
    lost: Option<Bytes>,
    step: Step,
    /// Since when there is no record.
    missed: Option<Instant>,
}

/// Of either: what the effect under way is for.
#[derive(Debug)]
enum Step {
    Due(Instant),
    Reading,
    /// Which version is to be replaced; none before the first.
    Timing(Option<u64>, Option<Record>),
    Writing(Option<Bytes>),
}

/// What is kept.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    /// In milliseconds of wall time.
    until_ms: u64,
    last_word: Bytes,
    /// A reader has taken it.
    is_taken: bool,
}

/// What a reader found out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing new.
    Nothing,
    /// The stream is over, or never was: nothing more will come.
    Over,
    /// The worker is lost, and this is to be the stream's last word.
    Lost(Bytes),
}

impl Lease {
    /// A promise under `key`. It becomes a record only where the calls take their time.
    pub(crate) fn new(core: &Core, key: String, last_word: Bytes) -> Self {
        Self { key, last_word, step: Step::Due(core.now + FIRST), is_kept: false }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.step.due()
    }

    /// The client is sent away now, so the record is needed now.
    pub(crate) fn hurry(&mut self, core: &mut Core) {
        if let Step::Due(at) = &mut self.step
            && !self.is_kept
        {
            *at = core.now;
            self.handle_timeout(core);
        }
    }

    pub(crate) fn handle_timeout(&mut self, core: &mut Core) {
        if self.step.due().is_none_or(|at| at > core.now) {
            return;
        }
        if self.is_kept {
            read(core, &self.key, Waiting::Lease);
            self.step = Step::Reading;
        } else {
            core.emit(Effect::Wall, Waiting::Lease);
            self.step = Step::Timing(None, None);
        }
    }

    /// The answer to the effect under way: whether the promise is lost, because somebody else
    /// has said the last word.
    pub(crate) fn settle(&mut self, core: &mut Core, reply: Option<Reply>) -> bool {
        let step = core::mem::replace(&mut self.step, Step::Due(core.now + renewal(core)));
        match (step, reply) {
            (Step::Reading, Some(Reply::Record(found))) => {
                let found = found.and_then(|it| Some((Record::decode(&it.data)?, it.version)));
                if found.as_ref().is_some_and(|(record, _)| record.is_taken) {
                    return true;
                }
                // Where there is none, it could not be written, or renewed in time.
                core.emit(Effect::Wall, Waiting::Lease);
                self.step = Step::Timing(found.map(|(_, version)| version), None);
            }
            (Step::Timing(version, _), Some(Reply::Wall(now))) => {
                let until_ms = now.saturating_add(millis(core.endpoint.limits().lease));
                let last_word = self.last_word.clone();
                let data = Record { until_ms, last_word, is_taken: false }.encode();
                write(core, &self.key, data, version, Waiting::Lease);
                self.step = Step::Writing(None);
                self.is_kept = true;
            }
            // Written; or somebody was faster, or the store failed: it is looked at again.
            _ => {}
        }
        false
    }

    /// The last word was said: the promise is kept. Nobody waits for the record to go, and it
    /// would go by itself.
    pub(crate) fn keep(self, core: &mut Core) {
        core.abandon(Waiting::Lease);
        if self.is_kept {
            core.emit(Effect::Session(SessionOp::Delete { id: self.key }), Waiting::Nothing);
        }
    }
}

impl Vigil {
    /// An eye on the promise under `key`.
    pub(crate) fn new(core: &Core, key: String, lost: Option<Bytes>) -> Self {
        Self { key, lost, step: Step::Due(core.now + FIRST), missed: None }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.step.due()
    }

    pub(crate) fn handle_timeout(&mut self, core: &mut Core) {
        if self.step.due().is_some_and(|at| at <= core.now) {
            read(core, &self.key, Waiting::Vigil);
            self.step = Step::Reading;
        }
    }

    /// The answer to the effect under way.
    pub(crate) fn settle(&mut self, core: &mut Core, reply: Option<Reply>) -> Found {
        let step = core::mem::replace(&mut self.step, Step::Due(core.now + renewal(core)));
        match (step, reply) {
            (Step::Reading, Some(Reply::Record(None))) => {
                // A stream that was just opened has no record yet. One whose worker is lost before
                // that never has, and one whose result is not kept any more has none left.
                let since = *self.missed.get_or_insert(core.now);
                let patience = match &self.lost {
                    Some(_) => core.endpoint.limits().lease.max(2 * FIRST),
                    None => 2 * FIRST,
                };
                match &self.lost {
                    _ if core.now < since + patience => {
                        self.step = Step::Due(since + patience);
                    }
                    Some(last_word) => {
                        let last_word = last_word.clone();
                        let record = Record { until_ms: 0, last_word, is_taken: false };
                        core.emit(Effect::Wall, Waiting::Vigil);
                        self.step = Step::Timing(None, Some(record));
                    }
                    None => return Found::Over,
                }
            }
            (Step::Reading, Some(Reply::Record(Some(found)))) => {
                self.missed = None;
                if let Some(record) = Record::decode(&found.data) {
                    core.emit(Effect::Wall, Waiting::Vigil);
                    self.step = Step::Timing(Some(found.version), Some(record));
                }
            }
            (Step::Timing(version, Some(record)), Some(Reply::Wall(now)))
                if record.until_ms <= now =>
            {
                let last_word = record.last_word.clone();
                let until_ms = now.saturating_add(millis(core.endpoint.limits().lease));
                let data = Record { until_ms, is_taken: true, ..record }.encode();
                write(core, &self.key, data, version, Waiting::Vigil);
                self.step = Step::Writing(Some(last_word));
            }
            (Step::Writing(Some(last_word)), Some(Reply::Saved(true) | Reply::Created(true))) => {
                return Found::Lost(last_word);
            }
            _ => {}
        }
        Found::Nothing
    }
}

impl Step {
    fn due(&self) -> Option<Instant> {
        match self {
            Self::Due(at) => Some(*at),
            _ => None,
        }
    }
}

impl Record {
    fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(self.last_word.len() + 64);
        let mut record = Object::begin(&mut out);
        record.number("untilMs", self.until_ms);
        record.boolean("taken", self.is_taken).raw("lastWord", &self.last_word);
        record.end();
        out.into()
    }

    fn decode(data: &Bytes) -> Option<Self> {
        json::scan(data, &json::ScanLimits::depth(256)).ok()?;
        let members = json::members(data);
        let get = |name| Some(members.get(data, name)?.of(data));
        Some(Self {
            until_ms: core::str::from_utf8(get("untilMs")?).ok()?.parse().ok()?,
            last_word: data.slice_ref(get("lastWord")?),
            is_taken: get("taken")? == b"true",
        })
    }
}

fn read(core: &mut Core, key: &str, waiting: Waiting) {
    core.emit(Effect::Session(SessionOp::Get { id: key.to_owned(), renew: None }), waiting);
}

fn write(core: &mut Core, key: &str, data: Bytes, version: Option<u64>, waiting: Waiting) {
    // It stays for readers that come after the worker was lost.
    let (id, ttl) = (key.to_owned(), core.endpoint.limits().lease + EVENT_TTL);
    let op = match version {
        None => SessionOp::Create { id, data, ttl, charged_to: core.charged_to() },
        Some(expected_version) => SessionOp::Save { id, data, expected_version, ttl },
    };
    core.emit(Effect::Session(op), waiting);
}

/// How often a worker says that it still answers for something, and others look.
pub(super) fn renewal(core: &Core) -> Duration {
    (core.endpoint.limits().lease / 3).max(Duration::from_millis(100))
}

pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_and_a_foreign_one_is_none() {
        for is_taken in [false, true] {
            let last_word = Bytes::from_static(b"{\"id\":1}");
            let record = Record { until_ms: u64::MAX, last_word, is_taken };
            assert_eq!(Record::decode(&record.encode()), Some(record));
        }
        for foreign in ["", "{}", "[]", "{\"untilMs\":-1,\"taken\":true,\"lastWord\":{}}"] {
            assert_eq!(Record::decode(&Bytes::from(foreign)), None, "{foreign}");
        }
    }
}
