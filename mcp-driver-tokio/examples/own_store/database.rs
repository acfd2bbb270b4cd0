//! What stands for the application's database: a table of rows, logs by topic, and a channel that
//! tells of changes. Everything else in this example would be the same over a real one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use mcp_driver_tokio::mcp_proto::store::Read;
use tokio::sync::watch;
use tokio::time::Instant;

/// The database. Cloning shares it.
#[derive(Clone, Default)]
pub(crate) struct Database {
    tables: Arc<Mutex<Tables>>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct Tables {
    /// Versions of rows and places in logs are drawn from here, so that none comes twice.
    sequence: u64,
    rows: HashMap<String, Row>,
    logs: HashMap<String, Log>,
}

struct Row {
    data: Bytes,
    version: u64,
    until: Instant,
}

#[derive(Default)]
struct Log {
    entries: VecDeque<Entry>,
    /// The place of the last entry that is not there any more.
    gone: u64,
    /// When nobody can want to read it any more.
    until: Option<Instant>,
}

struct Entry {
    place: u64,
    message: Bytes,
    until: Instant,
}

/// How long it is remembered that a log was deleted, for those who still read it.
const REMEMBERED: Duration = Duration::from_secs(600);

impl Database {
    /// `INSERT .. ON CONFLICT DO NOTHING`; false where there is such a row.
    pub(crate) fn insert_row(&self, id: String, data: Bytes, ttl: Duration) -> bool {
        let mut tables = self.tables();
        if tables.live(&id).is_some() {
            return false;
        }
        let version = tables.next();
        tables.rows.insert(id, Row { data, version, until: Instant::now() + ttl });
        true
    }

    /// `SELECT`, or `UPDATE .. RETURNING` where its life is prolonged.
    pub(crate) fn row(&self, id: &str, renew: Option<Duration>) -> Option<(Bytes, u64)> {
        let mut tables = self.tables();
        let row = tables.live(id)?;
        if let Some(ttl) = renew {
            row.until = row.until.max(Instant::now() + ttl);
        }
        Some((row.data.clone(), row.version))
    }

    /// `UPDATE .. WHERE version = expected`; false where that changes nothing.
    pub(crate) fn update_row(&self, id: &str, data: Bytes, expected: u64, ttl: Duration) -> bool {
        let mut tables = self.tables();
        let version = tables.next();
        match tables.live(id) {
            Some(row) if row.version == expected => {
                *row = Row { data, version, until: Instant::now() + ttl };
                true
            }
            _ => false,
        }
    }

    /// `DELETE`.
    pub(crate) fn delete_row(&self, id: &str) {
        self.tables().rows.remove(id);
    }

    /// Adds to a log, of which the newest `keep` entries are kept; the place of the new one.
    pub(crate) fn append(&self, topic: String, message: Bytes, ttl: Duration, keep: usize) -> u64 {
        let mut tables = self.tables();
        let (place, until) = (tables.next(), Instant::now() + ttl);
        let log = tables.logs.entry(topic).or_default();
        log.entries.push_back(Entry { place, message, until });
        log.until = log.until.max(Some(until));
        while log.entries.len() > keep {
            log.forget_oldest();
        }
        drop(tables);
        self.changed.send_replace(());
        place
    }

    /// The place of a log's last entry. All that come later are behind it.
    pub(crate) fn end_of(&self, topic: &str) -> u64 {
        let tables = self.tables();
        match tables.logs.get(topic) {
            Some(log) => log.entries.back().map_or(log.gone, |entry| entry.place),
            None => tables.sequence,
        }
    }

    /// What a log has behind a place; `None` where there is nothing new. A place that never was is
    /// told so.
    pub(crate) fn read_after(&self, topic: &str, after: Option<u64>) -> Option<Read> {
        let mut tables = self.tables();
        let Some(after) = after.filter(|after| *after <= tables.sequence) else {
            return Some(Read::UnknownCursor);
        };
        let log = tables.logs.get_mut(topic)?;
        let now = Instant::now();
        while log.entries.front().is_some_and(|entry| entry.until <= now) {
            log.forget_oldest();
        }
        let news = log.entries.iter().filter(|entry| entry.place > after);
        let messages: Vec<_> =
            news.map(|entry| (entry.place.into(), entry.message.clone())).collect();
        let lost = log.gone > after;
        let next = log.entries.back().map_or(log.gone, |entry| entry.place).max(after).into();
        (lost || !messages.is_empty()).then_some(Read::Messages { messages, next, lost })
    }

    /// Deletes a log; whoever reads it learns of that.
    pub(crate) fn delete_log(&self, topic: &str) {
        let mut tables = self.tables();
        let place = tables.next();
        if let Some(log) = tables.logs.get_mut(topic).filter(|log| !log.entries.is_empty()) {
            let until = Some(Instant::now() + REMEMBERED);
            *log = Log { entries: VecDeque::new(), gone: place, until };
        }
        drop(tables);
        self.changed.send_replace(());
    }

    /// Hears of every change from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    fn next(&mut self) -> u64 {
        self.sequence += 1;
        if self.sequence.is_multiple_of(1_000) {
            self.sweep();
        }
        self.sequence
    }

    fn live(&mut self, id: &str) -> Option<&mut Row> {
        self.rows.get_mut(id).filter(|row| row.until > Instant::now())
    }

    /// Removes what has expired.
    fn sweep(&mut self) {
        let now = Instant::now();
        self.rows.retain(|_, row| row.until > now);
        self.logs.retain(|_, log| log.until.is_some_and(|until| until > now));
    }
}

impl Log {
    fn forget_oldest(&mut self) {
        if let Some(entry) = self.entries.pop_front() {
            self.gone = entry.place;
        }
    }
}
