//! Sessions in this process's memory.

mod accounts;

use core::fmt;
use core::time::Duration;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use self::accounts::{Accounts, Number, Turn};
use super::{Execution, SessionStore};
use crate::effect::{EffectError, Reply};
use crate::store::{Record, SessionOp};
use crate::time::Instant;

/// A session store in memory: for one process, for development, for tests. Cloning shares it.
///
/// Time comes from the caller. It holds [`MOST`](Self::MOST) records of [`BYTES`](Self::BYTES)
/// together unless told otherwise. For one more, one goes: a record of whoever is charged for the
/// most bytes ([`SessionOp::Create`]); of theirs, one that nobody came back for since it was made;
/// or else the one that was idle for longest. So who opens sessions without end loses their own. No
/// operation costs more than the logarithm of how many there are, but for the expired ones that it
/// clears away.
#[derive(Clone)]
pub struct MemorySessionStore(Arc<Mutex<Sessions>>);

impl MemorySessionStore {
    /// How many records are kept unless told otherwise.
    pub const MOST: usize = 100_000;

    /// How many bytes they have together, about, unless told otherwise: 64 MiB.
    pub const BYTES: usize = 64 << 20;

    /// An empty store.
    pub fn new() -> Self {
        Self::bounded(Self::MOST, Self::BYTES)
    }

    /// An empty store that keeps `most` records, and at least one.
    pub fn with_capacity(most: usize) -> Self {
        Self::bounded(most, Self::BYTES)
    }

    /// An empty store that keeps `most` records, and at least one, of `bytes` together. A record
    /// that is larger than that alone is an error of the store.
    pub fn bounded(most: usize, bytes: usize) -> Self {
        let most = most.max(1);
        Self(Arc::new(Mutex::new(Sessions { most, most_bytes: bytes, ..Sessions::default() })))
    }

    /// How many records there are, expired ones that nothing cleared away yet included.
    pub fn len(&self) -> usize {
        self.sessions().by_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes they take, about.
    pub fn bytes(&self) -> usize {
        self.sessions().bytes
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemorySessionStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemorySessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemorySessionStore({} records, {} bytes)", self.len(), self.bytes())
    }
}

impl SessionStore for MemorySessionStore {
    fn execute(&self, now: Instant, op: SessionOp) -> Execution {
        let mut sessions = self.sessions();
        sessions.expire(now);
        Execution::Done(match op {
            SessionOp::Create { id, data, ttl, charged_to } => {
                sessions.create(id.into(), data, ttl, charged_to.as_ref()).map(Reply::Created)
            }
            SessionOp::Get { id, renew } => Ok(Reply::Record(sessions.get(&id, renew))),
            SessionOp::Save { id, data, expected_version, ttl } => {
                sessions.save(&id, data, expected_version, ttl).map(Reply::Saved)
            }
            SessionOp::Delete { id } => {
                sessions.remove(&id);
                Ok(Reply::Deleted)
            }
        })
    }
}

/// What a record takes besides its id and its data, about.
const OVERHEAD: usize = 400;

/// The records, by id; by when they expire, and by when their turn to go comes. These two orders
/// are brought up to date only where a record comes first in them: using one costs no more than
/// finding it.
#[derive(Default)]
struct Sessions {
    most: usize,
    most_bytes: usize,
    now: Instant,
    /// Counts uses; no two records have the same last use.
    uses: u64,
    bytes: usize,
    by_id: HashMap<Arc<str>, Session>,
    by_expiry: BTreeSet<(Instant, Arc<str>)>,
    accounts: Accounts,
}

struct Session {
    record: Record,
    expires: Instant,
    turn: Turn,
    charged_to: Option<Arc<str>>,
    account: Number,
    /// What the orders have.
    noted: (Instant, Turn),
}

fn size(id: &str, data: &Bytes) -> usize {
    id.len() + data.len() + OVERHEAD
}

impl Sessions {
    /// Time passes; it never goes back.
    fn expire(&mut self, now: Instant) {
        self.now = self.now.max(now);
        while let Some((noted, id)) = self.by_expiry.first() {
            if *noted > self.now {
                break;
            }
            let id = Arc::clone(id);
            match self.by_id.get_mut(&id) {
                Some(session) if session.expires > self.now => {
                    let entry = (session.expires, id);
                    self.by_expiry.pop_first();
                    session.noted.0 = session.expires;
                    self.by_expiry.insert(entry);
                }
                _ => self.remove(&id),
            }
        }
    }

    fn create(
        &mut self,
        id: Arc<str>,
        data: Bytes,
        ttl: Duration,
        charged_to: Option<&Arc<str>>,
    ) -> Result<bool, EffectError> {
        if self.by_id.contains_key(&id) {
            return Ok(false);
        }
        let turn = Turn { came_back: false, used: self.next_use() };
        // Greater than any version of an earlier record: every save counts as a use.
        let record = Record { data, version: turn.used };
        self.insert(id, record, self.now + ttl, turn, charged_to.cloned()).map(|()| true)
    }

    fn get(&mut self, id: &str, renew: Option<Duration>) -> Option<Record> {
        let now = self.now;
        let used = renew.map(|_| self.next_use());
        let session = self.by_id.get_mut(id)?;
        if let (Some(ttl), Some(used)) = (renew, used) {
            session.expires = session.expires.max(now + ttl);
            session.turn = Turn { came_back: true, used };
        }
        Some(session.record.clone())
    }

    fn save(
        &mut self,
        id: &str,
        data: Bytes,
        expected_version: u64,
        ttl: Duration,
    ) -> Result<bool, EffectError> {
        let is_it = |session: &Session| session.record.version == expected_version;
        if !self.by_id.get(id).is_some_and(is_it) {
            return Ok(false);
        }
        self.fits(id, &data)?;
        let Some((id, session)) = self.take(id) else { return Ok(false) };
        let record = Record { data, version: expected_version.wrapping_add(1) };
        let turn = Turn { came_back: true, used: self.next_use() };
        let expires = self.now + ttl;
        self.insert(id, record, expires, turn, session.charged_to).map(|()| true)
    }

    fn remove(&mut self, id: &str) {
        self.take(id);
    }

    fn fits(&self, id: &str, data: &Bytes) -> Result<(), EffectError> {
        let (size, most) = (size(id, data), self.most_bytes);
        let why = || format!("a record of {size} bytes in a memory store of {most}; give it more");
        (size <= most).then_some(()).ok_or_else(|| EffectError::Unavailable(why()))
    }

    /// Puts a record in, whose id is free, once others have made room for it.
    fn insert(
        &mut self,
        id: Arc<str>,
        record: Record,
        expires: Instant,
        turn: Turn,
        charged_to: Option<Arc<str>>,
    ) -> Result<(), EffectError> {
        self.fits(&id, &record.data)?;
        let size = size(&id, &record.data);
        while self.by_id.len() >= self.most || self.bytes + size > self.most_bytes {
            if !self.give_up_one() {
                break;
            }
        }
        self.bytes += size;
        let account = self.accounts.charge(charged_to.as_ref(), size, turn.clone(), id.clone());
        self.by_expiry.insert((expires, Arc::clone(&id)));
        let noted = (expires, turn.clone());
        let session = Session { record, expires, turn, charged_to, account, noted };
        self.by_id.insert(id, session);
        Ok(())
    }

    /// Lets go of the record whose turn it is; false where there is none.
    fn give_up_one(&mut self) -> bool {
        while let Some((account, noted, id)) = self.accounts.first() {
            match self.by_id.get_mut(&id) {
                Some(session) if session.turn != noted => {
                    session.noted.1 = session.turn.clone();
                    self.accounts.put_off(account, noted, session.turn.clone(), &id);
                }
                _ => {
                    self.remove(&id);
                    return true;
                }
            }
        }
        false
    }

    fn take(&mut self, id: &str) -> Option<(Arc<str>, Session)> {
        let (id, session) = self.by_id.remove_entry(id)?;
        let size = size(&id, &session.record.data);
        self.bytes -= size;
        let (expiry, turn) = session.noted.clone();
        self.by_expiry.remove(&(expiry, Arc::clone(&id)));
        self.accounts.discharge(session.account, size, turn, &id);
        Some((id, session))
    }

    fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
