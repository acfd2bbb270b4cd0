//! Statements through sqlx.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use mcp_proto::effect::EffectError;
use mcp_proto::service::hub::{WaitingHub, Wake};
use mcp_proto::service::storage::{SqlExecutor, SqlTables};
use mcp_proto::service::{Hub, SessionStore, Simple, Storage};
use mcp_proto::store::sql::{Param, Row, Value};
use sqlx::query::Query;
use sqlx::{
    ColumnIndex, Database, Decode, Encode, Executor, IntoArguments, Row as _, Type, TypeInfo,
    ValueRef,
};

use crate::LOOK_AGAIN;
use crate::background::{Background, Kept, Report};
use crate::runtime::Runtime;

/// The rows of a statement. `DB` is a database whose parameters and columns are what the plan's
/// statements use.
pub(crate) async fn fetch<'e, DB>(
    executor: impl Executor<'e, Database = DB>,
    sql: &str,
    params: &[Param<'_>],
) -> Result<Vec<Row>, sqlx::Error>
where
    DB: Database,
    for<'q> DB::Arguments<'q>: IntoArguments<'q, DB>,
    for<'q> &'q str: Encode<'q, DB> + Type<DB>,
    for<'q> &'q [u8]: Encode<'q, DB> + Type<DB>,
    for<'r> i64: Encode<'r, DB> + Decode<'r, DB> + Type<DB>,
    for<'r> Vec<u8>: Decode<'r, DB>,
    usize: ColumnIndex<DB::Row>,
{
    let query = params.iter().fold(sqlx::query(sql), bind);
    let rows = query.fetch_all(executor).await?;
    rows.iter().map(|row| (0..row.len()).map(|column| value::<DB>(row, column)).collect()).collect()
}

fn bind<'q, DB>(
    query: Query<'q, DB, DB::Arguments<'q>>,
    param: &Param<'q>,
) -> Query<'q, DB, DB::Arguments<'q>>
where
    DB: Database,
    &'q str: Encode<'q, DB> + Type<DB>,
    &'q [u8]: Encode<'q, DB> + Type<DB>,
    i64: Encode<'q, DB> + Type<DB>,
{
    match *param {
        Param::Text(text) => query.bind(text),
        Param::Bytes(bytes) => query.bind(bytes),
        Param::Integer(number) => query.bind(number),
    }
}

fn value<DB>(row: &DB::Row, column: usize) -> Result<Value, sqlx::Error>
where
    DB: Database,
    for<'r> i64: Decode<'r, DB>,
    for<'r> Vec<u8>: Decode<'r, DB>,
    usize: ColumnIndex<DB::Row>,
{
    let raw = row.try_get_raw(column)?;
    if raw.is_null() {
        return Ok(Value::Null);
    }
    let integer = matches!(raw.type_info().name(), "INTEGER" | "INT8");
    Ok(match integer {
        true => Value::Integer(row.try_get_unchecked(column)?),
        // Text is bytes, too.
        false => Value::Bytes(Bytes::from(row.try_get_unchecked::<Vec<u8>, _>(column)?)),
    })
}

/// How often things are done in the background.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) look_again: Duration,
    pub(crate) sweep_every: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { look_again: LOOK_AGAIN, sweep_every: Duration::from_secs(60) }
    }
}

/// The tables and the hub on them, with the work in the background.
pub(crate) struct SqlStorage<E> {
    pub(crate) tables: SqlTables<E>,
    hub: WaitingHub<SqlTables<E>>,
    background: Arc<Background>,
}

impl<E: SqlExecutor> SqlStorage<E> {
    /// Begins to wait for news, and to sweep.
    pub(crate) fn start(
        runtime: &Runtime,
        tables: SqlTables<E>,
        wake: impl Wake,
        pace: Pace,
        report: Report,
    ) -> Self {
        let hub = WaitingHub::new(tables.clone(), Arc::new(runtime.clone()));
        let mut background = Background::new(Arc::clone(&report));
        let heard = Arc::clone(&report);
        background.run(runtime, hub.heed(wake, pace.look_again, move |error| heard(error)));
        let swept = tables.clone();
        background.run(runtime, async move {
            swept.sweeping(pace.sweep_every, move |error| report(error)).await;
        });
        Self { tables, hub, background: Arc::new(background) }
    }
}

impl<E: SqlExecutor> Storage for SqlStorage<E> {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        let inner = Simple::new(self.tables.clone());
        Arc::new(Kept { inner, background: Arc::clone(&self.background) })
    }

    fn hub(&self) -> Arc<dyn Hub> {
        Arc::new(Kept { inner: self.hub.clone(), background: Arc::clone(&self.background) })
    }
}

impl<E> Clone for SqlStorage<E> {
    fn clone(&self) -> Self {
        let Self { tables, hub, background } = self;
        Self { tables: tables.clone(), hub: hub.clone(), background: Arc::clone(background) }
    }
}

impl<E> fmt::Debug for SqlStorage<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tables.fmt(f)
    }
}

/// What went wrong, and what to do.
pub(crate) fn unavailable(what: &str, advice: &str, error: &sqlx::Error) -> EffectError {
    EffectError::Unavailable(format!("{what}: {error}; {advice}"))
}
