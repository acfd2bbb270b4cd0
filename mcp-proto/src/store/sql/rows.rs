//! What the rows of the plan's statements mean.

use core::fmt;

use bytes::Bytes;

use super::{Row, Value};
use crate::store::{Extent, Found, Place, Record};

/// A row that the plan's own statements do not give: the tables are not the plan's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRow;

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tables have another shape; is another table prefix needed?")
    }
}

impl core::error::Error for BadRow {}

/// The record in a row of [`Get`](super::Statement::Get), and whether it is due.
///
/// # Errors
/// Where the row is not such a one.
pub fn record(row: Row) -> Result<(Record, bool), BadRow> {
    let mut columns = row.into_iter();
    let data = bytes(columns.next())?;
    let version = count(columns.next())?;
    let due = count(columns.next())? != 0;
    Ok((Record { data, version }, due))
}

/// The number in the first column of the first row; `None` where there is no row.
///
/// # Errors
/// Where it is none.
pub fn number(rows: Vec<Row>) -> Result<Option<Place>, BadRow> {
    let first = rows.into_iter().next().map(|row| count(row.into_iter().next()));
    first.transpose()
}

/// Topics and places as the parameter of [`ReadAfter`](super::Statement::ReadAfter): JSON text.
pub fn listed<'a>(topics: impl Iterator<Item = (&'a str, Place)>) -> String {
    // Strings and numbers cannot fail to be JSON.
    serde_json::to_string(&topics.collect::<Vec<_>>()).unwrap_or_default()
}

/// What [`ReadAfter`](super::Statement::ReadAfter) found, for each of `topics` topics in the
/// order in which they were [listed].
///
/// # Errors
/// Where the rows are not such ones.
pub fn found(topics: usize, rows: Vec<Row>) -> Result<Vec<Found>, BadRow> {
    let nothing = Found { extent: Extent::Absent { ceiling: 0 }, messages: Vec::new() };
    let mut all = vec![nothing; topics];
    for row in rows {
        let mut columns = row.into_iter();
        let number = usize::try_from(count(columns.next())?).map_err(|_| BadRow)?;
        let found = all.get_mut(number).ok_or(BadRow)?;
        let (first, last) = (columns.next(), columns.next());
        let ceiling = count(columns.next())?;
        found.extent = match (first, last) {
            (Some(Value::Null), Some(Value::Null)) => Extent::Absent { ceiling },
            (first, last) => Extent::Known { first: count(first)?, last: count(last)? },
        };
        match columns.next() {
            Some(Value::Null) => {}
            place => found.messages.push((count(place)?, bytes(columns.next())?)),
        }
    }
    Ok(all)
}

fn count(value: Option<Value>) -> Result<u64, BadRow> {
    match value {
        Some(Value::Integer(number)) => u64::try_from(number).map_err(|_| BadRow),
        _ => Err(BadRow),
    }
}

fn bytes(value: Option<Value>) -> Result<Bytes, BadRow> {
    match value {
        Some(Value::Bytes(bytes)) => Ok(bytes),
        _ => Err(BadRow),
    }
}
