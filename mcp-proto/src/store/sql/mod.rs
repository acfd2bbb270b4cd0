//! Sessions and events in SQL: the text of every statement for SQLite and PostgreSQL, its
//! parameters and what its rows mean. Each operation is one statement, so each is atomic.

mod postgres;
mod rows;
mod sqlite;

use core::fmt;
use core::time::Duration;

use bytes::Bytes;

pub use rows::{BadRow, found, listed, number, record};

/// Which SQL is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite 3.42 or later. Expiry goes by the machine's clock.
    Sqlite,
    /// PostgreSQL 12 or later. Expiry goes by the database's clock.
    Postgres,
}

/// One statement of the plan. Parameters are named in the order in which they are bound; times
/// are milliseconds, see [`millis`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Statement {
    /// `id, data, ttl`: one row if it was created.
    Create,
    /// `id, due`: [`record`], and whether it expires before `due`.
    Get,
    /// `id, ttl`: lets a live record live that long.
    Renew,
    /// `id, data, expected version, ttl`: one row if it was saved.
    Save,
    /// `id`.
    Forget,
    /// `topic, message, keep, ttl, bell`: the new [`number`].
    Publish,
    /// `bell`: tells every worker that there is news, where that is not seen otherwise.
    Tell,
    /// `topic`: the last [`number`], or no row.
    Position,
    /// `topics` as [`listed`]: [`found`].
    ReadAfter,
    /// `topic, ttl, bell`: a row if there was something; what is left vanishes after the TTL.
    Delete,
    /// Removes expired records.
    SweepSessions,
    /// Removes expired events.
    SweepEvents,
    /// Removes topics that are forgotten (none where events are all there is).
    SweepTopics,
    /// `key, value`: stores the value, stamped with the time.
    Remember,
    /// `key`: the value, if there is one.
    Recall,
    /// `key, milliseconds`: a row if nothing was remembered there for that long.
    Due,
    /// `key, milliseconds`: as [`Due`](Self::Due), and stamps it with the time at once, so that
    /// one of many workers gets the row.
    Claim,
    /// `id`: the greatest number, and the bell of each event after that number. For databases
    /// that do not say by themselves that there is news.
    NewsAfter,
}

impl Statement {
    /// Whether it changes nothing, so that it need not queue up with what does.
    pub fn only_reads(self) -> bool {
        use Statement::*;
        matches!(self, Get | Position | ReadAfter | Recall | Due | NewsAfter)
    }
}

/// A parameter of a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Param<'a> {
    /// Text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A number.
    Integer(i64),
}

impl fmt::Debug for Param<'_> {
    /// Shows no content: ids are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::Integer(number) => write!(f, "Integer({number})"),
        }
    }
}

/// A column of a row that came back.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A number; truth is 0 or 1.
    Integer(i64),
    /// Bytes, or text as bytes.
    Bytes(Bytes),
}

impl fmt::Debug for Value {
    /// Shows no content: data are the application's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Integer(number) => write!(f, "Integer({number})"),
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
        }
    }
}

/// A row that came back.
pub type Row = Vec<Value>;

/// The whole plan for one dialect and table prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    dialect: Dialect,
    prefix: String,
    statements: Vec<(Statement, String)>,
}

impl Plan {
    /// The prefix of all tables where none is given.
    pub const PREFIX: &str = "mcp_";

    /// The plan for tables that begin with `prefix`.
    ///
    /// # Errors
    /// Where the prefix is more than 32 bytes, or has others than lower-case letters, digits and
    /// underscores, or begins with a digit: it becomes part of names in SQL.
    pub fn new(dialect: Dialect, prefix: &str) -> Result<Self, BadPrefix> {
        let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        let starts = !prefix.starts_with(|first: char| first.is_ascii_digit());
        if prefix.len() > 32 || !starts || !prefix.bytes().all(plain) {
            return Err(BadPrefix);
        }
        let templates = match dialect {
            Dialect::Sqlite => sqlite::STATEMENTS,
            Dialect::Postgres => postgres::STATEMENTS,
        };
        let filled = |(statement, text): &(Statement, &str)| (*statement, fill(text, prefix));
        let statements = templates.iter().map(filled).collect();
        Ok(Self { dialect, prefix: prefix.to_owned(), statements })
    }

    /// The text of a statement; `None` where the dialect has no need of it.
    pub fn text(&self, statement: Statement) -> Option<&str> {
        let text = self.statements.iter().find(|(own, _)| *own == statement);
        text.map(|(_, text)| text.as_str())
    }

    /// Which SQL this is.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// What the tables' names begin with.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The tables, as statements to run in this order, in one transaction. Running them again
    /// changes nothing, and on PostgreSQL they wait for others that do the same.
    pub fn schema(&self) -> Vec<String> {
        let templates = match self.dialect {
            Dialect::Sqlite => sqlite::SCHEMA,
            Dialect::Postgres => postgres::SCHEMA,
        };
        templates.iter().map(|text| fill(text, &self.prefix)).collect()
    }

    /// The table of what is remembered between runs, by key.
    pub fn state_table(&self) -> String {
        fill("{p}state", &self.prefix)
    }

    /// The channel on which PostgreSQL tells of news; its payload is a
    /// [`Bell`](crate::store::Bell).
    pub fn channel(&self) -> String {
        fill("{p}news", &self.prefix)
    }
}

/// A table prefix that could not be part of a name in SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPrefix;

impl fmt::Display for BadPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a table prefix has at most 32 lower-case letters, digits and underscores, and does \
             not begin with a digit; `mcp_` is one",
        )
    }
}

impl core::error::Error for BadPrefix {}

/// A duration as a statement's parameter: milliseconds, at most a hundred years.
pub fn millis(duration: Duration) -> i64 {
    const CENTURY: i64 = 100 * 366 * 24 * 3_600 * 1_000;
    i64::try_from(duration.as_millis()).map_or(CENTURY, |millis| millis.min(CENTURY))
}

fn fill(template: &str, prefix: &str) -> String {
    let clocks = template
        .replace("{sqlite_now}", "CAST(unixepoch('subsec') * 1000 AS INTEGER)")
        .replace("{postgres_micros}", "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
    clocks
        .replace("{page}", &super::PAGE_MESSAGES.to_string())
        .replace("{bytes}", &super::PAGE_BYTES.to_string())
        .replace("{p}", prefix)
}

#[cfg(test)]
mod tests;
