//! The plan for SQLite.
//!
//! One table holds the events: a topic's newest row says where the topic stands. Expiry never
//! decreases within a topic, so that row is the last to go. A row without a message marks where
//! the topic was deleted. A trigger trims, so that publishing stays one statement.

use super::Statement;

pub(super) const SCHEMA: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS {p}sessions (
    id TEXT PRIMARY KEY,
    data BLOB NOT NULL,
    version INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS {p}sessions_expiry ON {p}sessions (expires_at)",
    "CREATE TABLE IF NOT EXISTS {p}events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL,
    place INTEGER NOT NULL,
    first INTEGER NOT NULL,
    keep INTEGER NOT NULL,
    message BLOB,
    bell TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    UNIQUE (topic, place)
)",
    "CREATE INDEX IF NOT EXISTS {p}events_expiry ON {p}events (expires_at)",
    "CREATE TRIGGER IF NOT EXISTS {p}events_trim AFTER INSERT ON {p}events BEGIN
    DELETE FROM {p}events WHERE topic = NEW.topic AND place <= NEW.place - NEW.keep;
END",
    "CREATE TABLE IF NOT EXISTS {p}state (
    key TEXT PRIMARY KEY,
    value TEXT,
    updated_at INTEGER NOT NULL
) WITHOUT ROWID",
];

pub(super) const STATEMENTS: &[(Statement, &str)] = &[
    (
        Statement::Create,
        "INSERT INTO {p}sessions (id, data, version, expires_at)
VALUES (?1, ?2, random() & 0xfffffffffffff, {sqlite_now} + ?3)
ON CONFLICT (id) DO UPDATE
SET data = excluded.data, version = excluded.version, expires_at = excluded.expires_at
WHERE {p}sessions.expires_at <= {sqlite_now}
RETURNING version",
    ),
    (
        Statement::Get,
        "SELECT data, version, expires_at < {sqlite_now} + ?2
FROM {p}sessions WHERE id = ?1 AND expires_at > {sqlite_now}",
    ),
    (
        Statement::Renew,
        "UPDATE {p}sessions SET expires_at = {sqlite_now} + ?2
WHERE id = ?1 AND expires_at > {sqlite_now}",
    ),
    (
        Statement::Save,
        "UPDATE {p}sessions SET data = ?2, version = version + 1, expires_at = {sqlite_now} + ?4
WHERE id = ?1 AND version = ?3 AND expires_at > {sqlite_now}
RETURNING version",
    ),
    (Statement::Forget, "DELETE FROM {p}sessions WHERE id = ?1"),
    (
        Statement::Publish,
        "INSERT INTO {p}events (topic, place, first, keep, message, bell, expires_at)
SELECT ?1, place, iif(alive, first, place), ?3, ?2, ?5, max({sqlite_now} + ?4, expires_at)
FROM (
    SELECT first, coalesce(newest.expires_at, 0) AS expires_at,
        newest.expires_at > {sqlite_now} AS alive,
        iif(newest.expires_at > {sqlite_now}, newest.place + 1,
            max({sqlite_now} * 1000, coalesce(newest.place + 1, 0))) AS place
    FROM (SELECT 1) LEFT JOIN (
        SELECT place, first, expires_at FROM {p}events
        WHERE topic = ?1 ORDER BY place DESC LIMIT 1
    ) AS newest ON 1
)
RETURNING place",
    ),
    (
        Statement::Position,
        "SELECT place FROM {p}events WHERE topic = ?1 AND expires_at > {sqlite_now}
ORDER BY place DESC LIMIT 1",
    ),
    (
        Statement::ReadAfter,
        "WITH wanted AS (
    SELECT key AS number, value ->> 0 AS topic, value ->> 1 AS after FROM json_each(?1)
), bounds AS (
    SELECT number, topic,
        (SELECT id FROM {p}events AS own
            WHERE own.topic = wanted.topic AND expires_at > {sqlite_now}
            ORDER BY place DESC LIMIT 1) AS newest,
        (SELECT place FROM {p}events AS own
            WHERE own.topic = wanted.topic AND place > after
                AND expires_at > {sqlite_now} AND message IS NOT NULL
            ORDER BY place LIMIT 1) AS oldest
    FROM wanted
), paged AS (
    SELECT number, newest.first AS first, newest.place AS last, event.place AS place, event.message AS message,
        coalesce(sum(length(event.message)) OVER (PARTITION BY number ORDER BY event.place), 0)
            - coalesce(length(event.message), 0) AS before
    FROM bounds
    LEFT JOIN {p}events AS newest ON newest.id = bounds.newest
    LEFT JOIN {p}events AS event ON event.topic = bounds.topic
        AND event.place >= oldest AND event.place < oldest + {page}
        AND event.message IS NOT NULL
)
SELECT number, first, last, {sqlite_now} * 1000, place, message FROM paged
WHERE before < {bytes} ORDER BY number, place",
    ),
    (
        Statement::Delete,
        "INSERT INTO {p}events (topic, place, first, keep, message, bell, expires_at)
SELECT ?1, place + 1, first, 1, NULL, ?3, {sqlite_now} + ?2
FROM (SELECT place, first, message FROM {p}events
    WHERE topic = ?1 AND expires_at > {sqlite_now} ORDER BY place DESC LIMIT 1)
WHERE message IS NOT NULL
RETURNING place",
    ),
    (Statement::SweepSessions, "DELETE FROM {p}sessions WHERE expires_at <= {sqlite_now}"),
    (Statement::SweepEvents, "DELETE FROM {p}events WHERE expires_at <= {sqlite_now}"),
    (
        Statement::Remember,
        "INSERT INTO {p}state (key, value, updated_at) VALUES (?1, ?2, {sqlite_now})
ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
    ),
    (Statement::Recall, "SELECT value FROM {p}state WHERE key = ?1 AND value IS NOT NULL"),
    (
        Statement::Due,
        "SELECT 1 WHERE NOT EXISTS (
    SELECT 1 FROM {p}state WHERE key = ?1 AND updated_at > {sqlite_now} - ?2
)",
    ),
    (
        Statement::Claim,
        "INSERT INTO {p}state (key, updated_at) VALUES (?1, {sqlite_now})
ON CONFLICT (key) DO UPDATE SET updated_at = excluded.updated_at
WHERE {p}state.updated_at <= {sqlite_now} - ?2
RETURNING 1",
    ),
    (
        Statement::NewsAfter,
        "SELECT max(id), bell FROM {p}events WHERE id > ?1 GROUP BY bell ORDER BY 1",
    ),
];
