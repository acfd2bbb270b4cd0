//! Sessions and events in Redis 6.2 or later: keys, and one Lua script for each operation, so
//! each is atomic. A session is a hash, a topic is a stream; both expire by Redis's clock.
//!
//! A read names the keys of several topics. Redis Cluster wants those in one slot: give a prefix
//! with a hash tag there, such as `{mcp}:`.

use core::fmt;

use bytes::Bytes;

use crate::store::{Extent, Found, Place, Record};

/// One script of the plan. Times are milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Script {
    /// Key: [session](Layout::session). `data, ttl`: 1 if it was created, else 0.
    Create,
    /// Key: [session](Layout::session). `ttl or 0, due`: [`record`]; renewed to the TTL where it
    /// expires before `due`.
    Get,
    /// Key: [session](Layout::session). `data, expected version, ttl`: 1 if it was saved, else 0.
    Save,
    /// Key: [session](Layout::session).
    Forget,
    /// Key: [topic](Layout::topic). `message, keep, ttl, channel, bell`: the new [`number`].
    Publish,
    /// Key: [topic](Layout::topic). The last [`number`], or 0.
    Position,
    /// Keys: [topics](Layout::topic). A place for each: [`found`].
    ReadAfter,
    /// Key: [topic](Layout::topic). `ttl, channel, bell`. What is left vanishes after the TTL.
    Delete,
}

impl Script {
    /// The script's text.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Create => include_str!("create.lua"),
            Self::Get => include_str!("get.lua"),
            Self::Save => include_str!("save.lua"),
            Self::Forget => include_str!("forget.lua"),
            Self::Publish => include_str!("publish.lua"),
            Self::Position => include_str!("position.lua"),
            Self::ReadAfter => include_str!("read_after.lua"),
            Self::Delete => include_str!("delete.lua"),
        }
    }

    /// Whether doing it twice is like doing it once: it can be tried again where it is not known
    /// whether it was done.
    pub const fn may_repeat(self) -> bool {
        matches!(self, Self::Get | Self::Forget | Self::Position | Self::ReadAfter)
    }

    /// All scripts.
    pub const ALL: [Self; 8] = [
        Self::Create,
        Self::Get,
        Self::Save,
        Self::Forget,
        Self::Publish,
        Self::Position,
        Self::ReadAfter,
        Self::Delete,
    ];
}

/// Where things are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    prefix: String,
}

impl Layout {
    /// The prefix of all keys where none is given.
    pub const PREFIX: &str = "mcp:";

    /// Keys that begin with `prefix`.
    pub fn new(prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into() }
    }

    /// The hash of a session.
    pub fn session(&self, id: &str) -> String {
        format!("{}session:{id}", self.prefix)
    }

    /// The stream of a topic.
    pub fn topic(&self, topic: &str) -> String {
        format!("{}topic:{topic}", self.prefix)
    }

    /// The channel on which news are told; a message is a [`Bell`](crate::store::Bell).
    pub fn channel(&self) -> String {
        format!("{}news", self.prefix)
    }
}

/// What came back from a script.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Nil,
    /// A number.
    Integer(i64),
    /// A string.
    Bytes(Bytes),
    /// A list.
    Array(Vec<Value>),
}

impl fmt::Debug for Value {
    /// Shows no content: data are the application's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nil => f.write_str("Nil"),
            Self::Integer(number) => write!(f, "Integer({number})"),
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::Array(values) => f.debug_list().entries(values).finish(),
        }
    }
}

/// A value that the plan's own scripts do not give: the keys are not the plan's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadValue;

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the keys hold something else; is another prefix needed?")
    }
}

impl core::error::Error for BadValue {}

/// The record that [`Script::Get`] gave.
///
/// # Errors
/// Where it is not such a one.
pub fn record(value: Value) -> Result<Option<Record>, BadValue> {
    match value {
        Value::Nil => Ok(None),
        value => {
            let [data, version] = list(value)?;
            let (Value::Bytes(data), version) = (data, number(version)?) else {
                return Err(BadValue);
            };
            Ok(Some(Record { data, version }))
        }
    }
}

/// A number, as such or spelt.
///
/// # Errors
/// Where it is none.
pub fn number(value: Value) -> Result<u64, BadValue> {
    match value {
        Value::Integer(number) => u64::try_from(number).map_err(|_| BadValue),
        Value::Bytes(digits) => {
            let text = core::str::from_utf8(&digits).map_err(|_| BadValue)?;
            text.parse().map_err(|_| BadValue)
        }
        _ => Err(BadValue),
    }
}

/// What [`Script::ReadAfter`] found in each topic.
///
/// # Errors
/// Where it is not such a list.
pub fn found(value: Value) -> Result<Vec<Found>, BadValue> {
    let Value::Array(topics) = value else { return Err(BadValue) };
    topics.into_iter().map(one_found).collect()
}

fn one_found(value: Value) -> Result<Found, BadValue> {
    let [first, last, ceiling, flat] = list(value)?;
    let extent = match number(last)? {
        0 => Extent::Absent { ceiling: number(ceiling)? },
        last => Extent::Known { first: number(first)?, last },
    };
    let Value::Array(flat) = flat else { return Err(BadValue) };
    let mut messages: Vec<(Place, Bytes)> = Vec::with_capacity(flat.len() / 2);
    let mut flat = flat.into_iter();
    while let Some(place) = flat.next() {
        let Some(Value::Bytes(message)) = flat.next() else { return Err(BadValue) };
        messages.push((number(place)?, message));
    }
    Ok(Found { extent, messages })
}

fn list<const N: usize>(value: Value) -> Result<[Value; N], BadValue> {
    let Value::Array(values) = value else { return Err(BadValue) };
    values.try_into().map_err(|_| BadValue)
}

#[cfg(test)]
mod tests;
