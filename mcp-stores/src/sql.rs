//! Statements through sqlx.

use core::fmt;
use std::sync::Arc;

use bytes::Bytes;
use mcp_proto::effect::EffectError;
use mcp_proto::service::storage::{SqlExecutor, SqlTables};
use mcp_proto::service::{SessionStore, Simple, Storage, hub::WaitingHub};
use mcp_proto::store::sql::{Param, Row, Value};
use sqlx::query::Query;
use sqlx::{
    ColumnIndex, Database, Decode, Encode, Executor, IntoArguments, Pool, Row as _, Type, TypeInfo,
    ValueRef,
};

use crate::background::{Background, Kept};

/// A database whose parameters and columns are what the plan's statements use.
pub(crate) async fn fetch<DB>(
    pool: &Pool<DB>,
    sql: &str,
    params: &[Param<'_>],
) -> Result<Vec<Row>, sqlx::Error>
where
    DB: Database,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
    for<'q> DB::Arguments<'q>: IntoArguments<'q, DB>,
    for<'q> &'q str: Encode<'q, DB> + Type<DB>,
    for<'q> &'q [u8]: Encode<'q, DB> + Type<DB>,
    for<'r> i64: Encode<'r, DB> + Decode<'r, DB> + Type<DB>,
    for<'r> Vec<u8>: Decode<'r, DB>,
    usize: ColumnIndex<DB::Row>,
{
    let query = params.iter().fold(sqlx::query(sql), bind);
    let rows = query.fetch_all(pool).await?;
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

/// The tables and the hub on them, with the work in the background.
pub(crate) struct SqlStorage<E> {
    pub(crate) tables: SqlTables<E>,
    hub: WaitingHub<SqlTables<E>>,
    background: Arc<Background>,
}

impl<E: SqlExecutor> SqlStorage<E> {
    pub(crate) fn new(
        tables: SqlTables<E>,
        hub: WaitingHub<SqlTables<E>>,
        background: Background,
    ) -> Self {
        Self { tables, hub, background: Arc::new(background) }
    }
}

impl<E: SqlExecutor> Storage for SqlStorage<E> {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        let inner = Simple::new(self.tables.clone());
        Arc::new(Kept { inner, background: Arc::clone(&self.background) })
    }

    fn hub(&self) -> Arc<dyn mcp_proto::service::Hub> {
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
