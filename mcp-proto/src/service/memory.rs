//! Sessions in this process's memory.

use core::fmt;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::{Execution, SessionStore};
use crate::effect::Reply;
use crate::store::{Record, SessionOp};
use crate::time::Instant;

/// A session store in memory: for one process, for development, for tests. Cloning shares it.
///
/// Time comes from the caller. It holds [`MOST`](Self::MOST) sessions unless told otherwise; one
/// more drops the session that was idle for longest. No operation costs more than the logarithm
/// of how many there are, but for the expired ones that it clears away.
#[derive(Clone)]
pub struct MemorySessionStore(Arc<Mutex<Sessions>>);

impl MemorySessionStore {
    /// How many sessions are kept unless told otherwise.
    pub const MOST: usize = 100_000;

    /// An empty store.
    pub fn new() -> Self {
        Self::with_capacity(Self::MOST)
    }

    /// An empty store that keeps `most` sessions, and at least one.
    pub fn with_capacity(most: usize) -> Self {
        Self(Arc::new(Mutex::new(Sessions { most: most.max(1), ..Sessions::default() })))
    }

    /// How many sessions there are, expired ones that nothing cleared away yet included.
    pub fn len(&self) -> usize {
        self.sessions().by_id.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
        write!(f, "MemorySessionStore({} sessions)", self.len())
    }
}

impl SessionStore for MemorySessionStore {
    fn execute(&self, now: Instant, op: SessionOp) -> Execution {
        let mut sessions = self.sessions();
        sessions.expire(now);
        Execution::Done(Ok(match op {
            SessionOp::Create { id, data, ttl } => Reply::Created(sessions.create(id, data, ttl)),
            SessionOp::Get { id, renew } => Reply::Record(sessions.get(&id, renew)),
            SessionOp::Save { id, data, expected_version, ttl } => {
                Reply::Saved(sessions.save(&id, data, expected_version, ttl))
            }
            SessionOp::Delete { id } => {
                sessions.delete(&id);
                Reply::Deleted
            }
        }))
    }
}

/// The sessions, and two orders of them: by when they were last used, and by when they expire.
#[derive(Default)]
struct Sessions {
    most: usize,
    now: Instant,
    /// Counts uses; no two sessions have the same last use.
    uses: u64,
    by_id: HashMap<Arc<str>, Session>,
    by_use: BTreeMap<u64, Arc<str>>,
    by_expiry: BTreeSet<(Instant, u64)>,
}

struct Session {
    record: Record,
    expires: Instant,
    used: u64,
}

impl Sessions {
    /// Time passes; it never goes back.
    fn expire(&mut self, now: Instant) {
        self.now = self.now.max(now);
        while let Some(&(expires, used)) = self.by_expiry.first() {
            if expires > self.now {
                break;
            }
            self.remove(used);
        }
    }

    fn create(&mut self, id: String, data: Bytes, ttl: Duration) -> bool {
        let id: Arc<str> = id.into();
        if self.by_id.contains_key(&id) {
            return false;
        }
        while self.by_id.len() >= self.most {
            let Some((&idle, _)) = self.by_use.first_key_value() else { break };
            self.remove(idle);
        }
        let (expires, used) = (self.now + ttl, self.next_use());
        // Greater than any version of an earlier record: every save counts as a use.
        let record = Record { data, version: used };
        self.by_use.insert(used, Arc::clone(&id));
        self.by_expiry.insert((expires, used));
        self.by_id.insert(id, Session { record, expires, used });
        true
    }

    fn get(&mut self, id: &str, renew: Option<Duration>) -> Option<Record> {
        if let (Some(ttl), Some(session)) = (renew, self.by_id.get(id)) {
            let left = session.expires.saturating_since(self.now);
            self.touch(id, ttl.max(left));
        }
        self.by_id.get(id).map(|session| session.record.clone())
    }

    fn save(&mut self, id: &str, data: Bytes, expected_version: u64, ttl: Duration) -> bool {
        match self.by_id.get_mut(id) {
            Some(session) if session.record.version == expected_version => {
                session.record = Record { data, version: expected_version.wrapping_add(1) };
                self.touch(id, ttl);
                true
            }
            _ => false,
        }
    }

    fn delete(&mut self, id: &str) {
        if let Some(session) = self.by_id.get(id) {
            self.remove(session.used);
        }
    }

    /// The session was used just now, and lives for `ttl` from now.
    fn touch(&mut self, id: &str, ttl: Duration) {
        let (expires, used) = (self.now + ttl, self.next_use());
        let Some(session) = self.by_id.get_mut(id) else { return };
        self.by_expiry.remove(&(session.expires, session.used));
        self.by_expiry.insert((expires, used));
        if let Some(id) = self.by_use.remove(&session.used) {
            self.by_use.insert(used, id);
        }
        (session.expires, session.used) = (expires, used);
    }

    fn remove(&mut self, used: u64) {
        let session = self.by_use.remove(&used).and_then(|id| self.by_id.remove(&id));
        if let Some(session) = session {
            self.by_expiry.remove(&(session.expires, session.used));
        }
    }

    fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(60);

    fn at(seconds: u64) -> Instant {
        Instant::from_millis(1_000 * seconds)
    }

    fn run(store: &MemorySessionStore, now: Instant, op: SessionOp) -> Reply {
        match store.execute(now, op) {
            Execution::Done(Ok(reply)) => reply,
            other => panic!("memory answers at once: {other:?}"),
        }
    }

    fn create(store: &MemorySessionStore, now: Instant, id: &str) -> bool {
        let op = SessionOp::Create { id: id.into(), data: "{}".into(), ttl: TTL };
        run(store, now, op) == Reply::Created(true)
    }

    fn get(store: &MemorySessionStore, now: Instant, id: &str, renew: bool) -> Option<Record> {
        let op = SessionOp::Get { id: id.into(), renew: renew.then_some(TTL) };
        match run(store, now, op) {
            Reply::Record(record) => record,
            other => panic!("no record: {other:?}"),
        }
    }

    fn save(store: &MemorySessionStore, now: Instant, id: &str, version: u64) -> bool {
        let (id, data) = (id.to_owned(), Bytes::from_static(b"[]"));
        let op = SessionOp::Save { id, data, expected_version: version, ttl: TTL };
        run(store, now, op) == Reply::Saved(true)
    }

    #[test]
    fn a_live_id_is_created_once_and_saved_by_version() {
        let store = MemorySessionStore::new();
        assert!(create(&store, at(0), "a"));
        assert!(!create(&store, at(0), "a"));
        assert_eq!(get(&store, at(0), "a", false).map(|record| record.version), Some(1));
        assert!(save(&store, at(0), "a", 1));
        assert!(!save(&store, at(0), "a", 1), "the version moved");
        let record = get(&store, at(0), "a", true).expect("a live record");
        assert_eq!((&record.data[..], record.version), (&b"[]"[..], 2), "renewing is no change");
        assert!(!save(&store, at(0), "b", 1));
        assert_eq!(run(&store, at(0), SessionOp::Delete { id: "a".into() }), Reply::Deleted);
        assert_eq!(get(&store, at(0), "a", false), None);
        assert!(create(&store, at(0), "a"));
    }

    #[test]
    fn what_is_not_renewed_expires_and_frees_its_id() {
        let store = MemorySessionStore::new();
        assert!(create(&store, at(0), "idle") && create(&store, at(0), "read"));
        assert!(create(&store, at(0), "saved"));
        assert!(get(&store, at(30), "read", true).is_some());
        assert!(get(&store, at(30), "idle", false).is_some(), "reading alone renews nothing");
        assert!(save(&store, at(59), "saved", 3), "the third record's first version");
        assert!(get(&store, at(60), "idle", true).is_none());
        assert!(create(&store, at(60), "idle"));
        assert!(get(&store, at(89), "read", false).is_some());
        assert!(get(&store, at(90), "read", false).is_none());
        assert!(get(&store, at(0), "read", false).is_none(), "time never goes back");
        assert!(get(&store, at(118), "saved", false).is_some());
        assert!(get(&store, at(119), "saved", false).is_none());
        assert!(get(&store, at(200), "idle", false).is_none());
        assert!(store.is_empty(), "what expired is gone");
    }

    #[test]
    fn one_session_too_many_drops_the_one_idle_for_longest() {
        let store = MemorySessionStore::with_capacity(3);
        for id in ["a", "b", "c"] {
            assert!(create(&store, at(0), id));
        }
        assert!(get(&store, at(1), "a", true).is_some());
        assert!(create(&store, at(2), "d"));
        assert_eq!(store.len(), 3);
        assert!(get(&store, at(2), "b", false).is_none(), "idle for longest");
        for id in ["a", "c", "d"] {
            assert!(get(&store, at(2), id, false).is_some(), "{id}");
        }
    }

    #[test]
    fn a_hundred_thousand_sessions_are_kept_and_a_flood_costs_no_more() {
        let store = MemorySessionStore::new();
        for id in 0..MemorySessionStore::MOST + 50_000 {
            assert!(create(&store, at(0), &id.to_string()));
        }
        assert_eq!(store.len(), MemorySessionStore::MOST);
        let sessions = store.sessions();
        assert_eq!(sessions.by_use.len(), MemorySessionStore::MOST);
        assert_eq!(sessions.by_expiry.len(), MemorySessionStore::MOST);
    }
}
