//! Sessions and events in SQL.

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;

use super::super::hub::Log;
use super::super::{SimpleSessionStore, Sleep};
use super::bounded;
use crate::effect::EffectError;
use crate::store::sql::{
    BadRow, Dialect, Param, Plan, Row, Statement, Value, found, listed, millis, number, record,
};
use crate::store::{Bell, DELETED_FOR, Found, Place, Record};

/// Who sends statements to a database. Each runs by itself, outside of transactions.
pub trait SqlExecutor: Send + Sync + 'static {
    /// Runs a statement, whose text is `sql`, and returns its rows.
    fn fetch(
        &self,
        statement: Statement,
        sql: &str,
        params: &[Param<'_>],
    ) -> impl Future<Output = Result<Vec<Row>, EffectError>> + Send;
}

/// The tables of a [`Plan`]: a session store, the log of a hub, and their upkeep. Cloning shares
/// the executor.
pub struct SqlTables<E>(Arc<Inner<E>>);

struct Inner<E> {
    executor: E,
    plan: Plan,
    sleep: Arc<dyn Sleep>,
    event_ttl: Duration,
}

/// Under which key it is remembered when the tables were last swept.
const SWEPT: &str = "swept";

impl<E: SqlExecutor> SqlTables<E> {
    /// The tables of `plan` behind `executor`. Events are kept for `event_ttl` where who publishes
    /// does not want them for longer.
    pub fn new(executor: E, plan: Plan, sleep: Arc<dyn Sleep>, event_ttl: Duration) -> Self {
        Self(Arc::new(Inner { executor, plan, sleep, event_ttl }))
    }

    /// The executor.
    pub fn executor(&self) -> &E {
        &self.0.executor
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.0.plan
    }

    /// Removes what has expired; correct at any time, from any worker. What has expired is not
    /// seen, swept or not.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn sweep(&self) -> Result<(), EffectError> {
        for statement in [Statement::SweepSessions, Statement::SweepEvents, Statement::SweepTopics]
        {
            self.fetch(statement, &[]).await?;
        }
        Ok(())
    }

    /// Sweeps unless any worker did within `every`; whether this one did.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn sweep_if_due(&self, every: Duration) -> Result<bool, EffectError> {
        let claim = [Param::Text(SWEPT), Param::Integer(millis(every))];
        let claimed = !self.fetch(Statement::Claim, &claim).await?.is_empty();
        if claimed {
            self.sweep().await?;
        }
        Ok(claimed)
    }

    /// Whether the last sweep of any worker was longer than `every` ago.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn due(&self, every: Duration) -> Result<bool, EffectError> {
        let asked = [Param::Text(SWEPT), Param::Integer(millis(every))];
        Ok(!self.fetch(Statement::Due, &asked).await?.is_empty())
    }

    /// Sweeps again and again, once per interval across all workers; never returns. `report` is
    /// told of a sweep that failed; the next one tries again.
    pub async fn sweeping(&self, every: Duration, report: impl Fn(&EffectError) + Send) {
        loop {
            if let Err(error) = self.sweep_if_due(every).await {
                report(&error);
            }
            self.0.sleep.sleep(every).await;
        }
    }

    /// Stores a value under `key`, stamped with the time.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn remember(&self, key: &str, value: &str) -> Result<(), EffectError> {
        self.fetch(Statement::Remember, &[Param::Text(key), Param::Text(value)]).await?;
        Ok(())
    }

    /// What was stored under `key`.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn recall(&self, key: &str) -> Result<Option<String>, EffectError> {
        let rows = self.fetch(Statement::Recall, &[Param::Text(key)]).await?;
        match rows.into_iter().next().and_then(|row| row.into_iter().next()) {
            None => Ok(None),
            Some(Value::Bytes(text)) => {
                String::from_utf8(text.into()).map(Some).map_err(|_| self.odd(BadRow))
            }
            Some(_) => Err(self.odd(BadRow)),
        }
    }

    /// The bells of what was published after `id`, and the `id` to go on with.
    ///
    /// # Errors
    /// Where the database fails, or says by itself that there is news.
    pub async fn news_after(&self, id: u64) -> Result<(Vec<Bell>, u64), EffectError> {
        let after = i64::try_from(id).unwrap_or(i64::MAX);
        let rows = self.fetch(Statement::NewsAfter, &[Param::Integer(after)]).await?;
        let (mut bells, mut newest) = (Vec::with_capacity(rows.len()), id);
        for row in rows {
            let [Value::Integer(id), Value::Bytes(bell)] = row.as_slice() else {
                return Err(self.odd(BadRow));
            };
            newest = newest.max(u64::try_from(*id).unwrap_or(0));
            bells.extend(core::str::from_utf8(bell).ok().and_then(Bell::parse));
        }
        Ok((bells, newest))
    }

    async fn fetch(
        &self,
        statement: Statement,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, EffectError> {
        let Some(sql) = self.0.plan.text(statement) else { return Ok(Vec::new()) };
        bounded(&*self.0.sleep, self.name(), self.0.executor.fetch(statement, sql, params)).await
    }

    /// Says that there is news. What is there stays there if that fails: listeners find it later.
    async fn tell(&self, bell: &str) {
        let _told = self.fetch(Statement::Tell, &[Param::Text(bell)]).await;
    }

    fn name(&self) -> &'static str {
        match self.0.plan.dialect() {
            Dialect::Sqlite => "sqlite store",
            Dialect::Postgres => "postgres store",
        }
    }

    fn odd(&self, row: BadRow) -> EffectError {
        EffectError::Unavailable(format!("{}: {row}", self.name()))
    }
}

impl<E> Clone for SqlTables<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E> fmt::Debug for SqlTables<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { plan, .. } = &*self.0;
        write!(f, "SqlTables({:?}, prefix {:?})", plan.dialect(), plan.prefix())
    }
}

impl<E: SqlExecutor> SimpleSessionStore for SqlTables<E> {
    type Error = EffectError;

    async fn create(&self, id: String, data: Bytes, ttl: Duration) -> Result<bool, EffectError> {
        let params = [Param::Text(&id), Param::Bytes(&data), Param::Integer(millis(ttl))];
        Ok(!self.fetch(Statement::Create, &params).await?.is_empty())
    }

    async fn get(
        &self,
        id: String,
        renew: Option<Duration>,
    ) -> Result<Option<Record>, EffectError> {
        // Seven eighths of the life: the rest of a session's calls read only.
        let due = millis(renew.unwrap_or_default()) / 8 * 7;
        let rows = self.fetch(Statement::Get, &[Param::Text(&id), Param::Integer(due)]).await?;
        let Some(row) = rows.into_iter().next() else { return Ok(None) };
        let (record, due) = record(row).map_err(|row| self.odd(row))?;
        if let (Some(ttl), true) = (renew, due) {
            let params = [Param::Text(&id), Param::Integer(millis(ttl))];
            self.fetch(Statement::Renew, &params).await?;
        }
        Ok(Some(record))
    }

    async fn save(
        &self,
        id: String,
        data: Bytes,
        expected_version: u64,
        ttl: Duration,
    ) -> Result<bool, EffectError> {
        // A version that SQL cannot count to was never given.
        let Ok(version) = i64::try_from(expected_version) else { return Ok(false) };
        let params = [
            Param::Text(&id),
            Param::Bytes(&data),
            Param::Integer(version),
            Param::Integer(millis(ttl)),
        ];
        Ok(!self.fetch(Statement::Save, &params).await?.is_empty())
    }

    async fn delete(&self, id: String) -> Result<(), EffectError> {
        self.fetch(Statement::Forget, &[Param::Text(&id)]).await?;
        Ok(())
    }
}

impl<E: SqlExecutor> Log for SqlTables<E> {
    async fn append(
        &self,
        topic: &str,
        message: &[u8],
        ttl: Duration,
        keep: u32,
    ) -> Result<Place, EffectError> {
        let (ttl, bell) = (millis(ttl.max(self.0.event_ttl)), Bell::of(topic).to_string());
        let params = [
            Param::Text(topic),
            Param::Bytes(message),
            Param::Integer(keep.into()),
            Param::Integer(ttl),
            Param::Text(&bell),
        ];
        let rows = self.fetch(Statement::Publish, &params).await?;
        self.tell(&bell).await;
        number(rows).and_then(|place| place.ok_or(BadRow)).map_err(|row| self.odd(row))
    }

    async fn read_after(&self, topics: &[(String, Place)]) -> Result<Vec<Found>, EffectError> {
        let wanted = listed(topics.iter().map(|(topic, after)| (topic.as_str(), *after)));
        let rows = self.fetch(Statement::ReadAfter, &[Param::Text(&wanted)]).await?;
        found(topics.len(), rows).map_err(|row| self.odd(row))
    }

    async fn position(&self, topic: &str) -> Result<Place, EffectError> {
        let rows = self.fetch(Statement::Position, &[Param::Text(topic)]).await?;
        number(rows).map(Option::unwrap_or_default).map_err(|row| self.odd(row))
    }

    async fn delete(&self, topic: &str) -> Result<(), EffectError> {
        let bell = Bell::of(topic).to_string();
        let ttl = Param::Integer(millis(DELETED_FOR));
        self.fetch(Statement::Delete, &[Param::Text(topic), ttl, Param::Text(&bell)]).await?;
        self.tell(&bell).await;
        Ok(())
    }
}
