//! The plan for PostgreSQL.
//!
//! Publishing takes the topic's row first and holds it until the commit, so the order of places
//! is the order of commits: who reads never sees a place before a smaller one. All times are the
//! database's.
//!
//! Telling of news is a statement of its own: commits that notify wait for each other, and would
//! hold up every topic for the time of a disk's sync. A worker that is killed between the two leaves
//! a message of which nobody is told; listeners find it at the end of their wait.

use super::Statement;

pub(super) const SCHEMA: &[&str] = &[
    // `IF NOT EXISTS` alone fails where two workers start at once.
    "SELECT pg_advisory_xact_lock(hashtextextended('{p}schema', 0))",
    "CREATE TABLE IF NOT EXISTS {p}sessions (
    id TEXT PRIMARY KEY,
    data BYTEA NOT NULL,
    version BIGINT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
)",
    "CREATE INDEX IF NOT EXISTS {p}sessions_expiry ON {p}sessions (expires_at)",
    "CREATE TABLE IF NOT EXISTS {p}topics (
    topic TEXT PRIMARY KEY,
    first BIGINT NOT NULL,
    last BIGINT NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL
)",
    "CREATE INDEX IF NOT EXISTS {p}topics_expiry ON {p}topics (expires_at)",
    "CREATE TABLE IF NOT EXISTS {p}events (
    topic TEXT NOT NULL,
    place BIGINT NOT NULL,
    message BYTEA NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (topic, place)
)",
    "CREATE INDEX IF NOT EXISTS {p}events_expiry ON {p}events (expires_at)",
    "CREATE TABLE IF NOT EXISTS {p}state (
    key TEXT PRIMARY KEY,
    value TEXT,
    updated_at TIMESTAMPTZ NOT NULL
)",
];

pub(super) const STATEMENTS: &[(Statement, &str)] = &[
    (
        Statement::Create,
        "INSERT INTO {p}sessions AS s (id, data, version, expires_at)
VALUES ($1, $2, (random() * 4503599627370496)::bigint,
    clock_timestamp() + $3::bigint * interval '1 millisecond')
ON CONFLICT (id) DO UPDATE
SET data = excluded.data, version = excluded.version, expires_at = excluded.expires_at
WHERE s.expires_at <= clock_timestamp()
RETURNING version",
    ),
    (
        Statement::Get,
        "SELECT data, version,
    (expires_at < clock_timestamp() + $2::bigint * interval '1 millisecond')::int::bigint
FROM {p}sessions WHERE id = $1 AND expires_at > clock_timestamp()",
    ),
    (
        Statement::Renew,
        "UPDATE {p}sessions
SET expires_at = clock_timestamp() + $2::bigint * interval '1 millisecond'
WHERE id = $1 AND expires_at > clock_timestamp()",
    ),
    (
        Statement::Save,
        "UPDATE {p}sessions SET data = $2, version = version + 1,
    expires_at = clock_timestamp() + $4::bigint * interval '1 millisecond'
WHERE id = $1 AND version = $3 AND expires_at > clock_timestamp()
RETURNING version",
    ),
    (Statement::Forget, "DELETE FROM {p}sessions WHERE id = $1"),
    (
        Statement::Publish,
        "WITH taken AS (
    INSERT INTO {p}topics AS t (topic, first, last, expires_at)
    SELECT $1, (extract(epoch FROM now) * 1000000)::bigint,
        (extract(epoch FROM now) * 1000000)::bigint, now + $4::bigint * interval '1 millisecond'
    FROM (SELECT clock_timestamp() AS now) AS clock
    ON CONFLICT (topic) DO UPDATE
    SET (first, last, expires_at) = (
        SELECT CASE WHEN alive THEN t.first ELSE greatest(excluded.first, t.last + 1) END,
            CASE WHEN alive THEN t.last + 1 ELSE greatest(excluded.last, t.last + 1) END,
            greatest(t.expires_at, excluded.expires_at)
        FROM (SELECT t.expires_at > clock_timestamp() AS alive) AS life
    )
    RETURNING t.last, t.expires_at
), stored AS (
    INSERT INTO {p}events (topic, place, message, expires_at)
    SELECT $1, last, $2, expires_at FROM taken
    RETURNING place
), trimmed AS (
    DELETE FROM {p}events AS e USING taken WHERE e.topic = $1 AND e.place <= taken.last - $3
)
SELECT place FROM stored",
    ),
    (Statement::Tell, "SELECT 1::bigint FROM pg_notify('{p}news', $1)"),
    (
        Statement::Position,
        "SELECT last FROM {p}topics WHERE topic = $1 AND expires_at > statement_timestamp()",
    ),
    (
        Statement::ReadAfter,
        "SELECT w.number - 1, t.first, t.last, {postgres_micros}, e.place, e.message
FROM jsonb_array_elements($1::text::jsonb) WITH ORDINALITY AS w (wanted, number)
LEFT JOIN {p}topics AS t
    ON t.topic = w.wanted ->> 0 AND t.expires_at > statement_timestamp()
LEFT JOIN LATERAL (
    SELECT place, message FROM (
        SELECT place, message,
            sum(length(message)) OVER (ORDER BY place) - length(message) AS before
        FROM (
            SELECT place, message FROM {p}events
            WHERE topic = w.wanted ->> 0 AND place > (w.wanted ->> 1)::bigint
                AND expires_at > statement_timestamp()
            ORDER BY place LIMIT {page}
        ) AS page
    ) AS weighed WHERE before < {bytes}
) AS e ON t.topic IS NOT NULL
ORDER BY w.number, e.place",
    ),
    (
        Statement::Delete,
        "WITH gone AS (
    UPDATE {p}topics
    SET last = last + 1, expires_at = clock_timestamp() + $2::bigint * interval '1 millisecond'
    WHERE topic = $1 AND expires_at > clock_timestamp()
        AND EXISTS (SELECT FROM {p}events WHERE topic = $1)
    RETURNING last
), trimmed AS (
    DELETE FROM {p}events AS e USING gone WHERE e.topic = $1 AND e.place < gone.last
)
SELECT last FROM gone",
    ),
    (Statement::SweepSessions, "DELETE FROM {p}sessions WHERE expires_at <= clock_timestamp()"),
    (Statement::SweepEvents, "DELETE FROM {p}events WHERE expires_at <= clock_timestamp()"),
    (Statement::SweepTopics, "DELETE FROM {p}topics WHERE expires_at <= clock_timestamp()"),
    (
        Statement::Remember,
        "INSERT INTO {p}state (key, value, updated_at) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at",
    ),
    (Statement::Recall, "SELECT value FROM {p}state WHERE key = $1 AND value IS NOT NULL"),
    (
        Statement::Due,
        "SELECT 1::bigint WHERE NOT EXISTS (
    SELECT FROM {p}state WHERE key = $1
        AND updated_at > clock_timestamp() - $2::bigint * interval '1 millisecond'
)",
    ),
    (
        Statement::Claim,
        "INSERT INTO {p}state AS s (key, updated_at) VALUES ($1, clock_timestamp())
ON CONFLICT (key) DO UPDATE SET updated_at = excluded.updated_at
WHERE s.updated_at <= clock_timestamp() - $2::bigint * interval '1 millisecond'
RETURNING 1::bigint",
    ),
];
