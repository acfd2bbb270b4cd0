//! PostgreSQL, for workers anywhere.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use futures_util::future::try_join_all;
use mcp_proto::effect::{EFFECT_DEADLINE, EffectError};
use mcp_proto::service::hub::{News, Wake};
use mcp_proto::service::storage::{SqlExecutor, SqlTables};
use mcp_proto::service::{Hub, SessionStore, Sleep, Storage};
use mcp_proto::store::Bell;
use mcp_proto::store::sql::{Dialect, Param, Plan, Row, Statement};
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions, Postgres};
use sqlx::{ConnectOptions, Connection, Executor, Pool};

use crate::builder::Builder;
use crate::runtime::Runtime;
use crate::sql::{Pace, SqlStorage, fetch, unavailable};
use crate::{CONNECT, QUIET};

/// Sessions and events in a PostgreSQL database. Cloning shares its pool.
///
/// Expiry goes by the database's clock. One connection more than the pool's listens for news.
#[derive(Clone, Debug)]
pub struct PostgresStorage(SqlStorage<Connections>);

/// How to open a [`PostgresStorage`].
pub type PostgresBuilder = Builder<PostgresDatabase>;

/// A PostgreSQL database, and how to use it.
#[derive(Clone, Debug)]
pub struct PostgresDatabase {
    source: Source,
    prefix: String,
    create_tables: bool,
    pace: Pace,
}

#[derive(Clone)]
enum Source {
    Url { url: String, min: u32, max: u32 },
    Pool(Pool<Postgres>),
}

impl fmt::Debug for Source {
    /// Hides the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Url { .. } => "Url(..)",
            Self::Pool(_) => "Pool(..)",
        })
    }
}

impl PostgresDatabase {
    fn builder(source: Source) -> PostgresBuilder {
        let prefix = Plan::PREFIX.to_owned();
        Builder::new(Self { source, prefix, create_tables: true, pace: Pace::default() })
    }
}

impl PostgresStorage {
    /// Connects to the database at `url` (`postgres://user:password@host/database`), with
    /// everything by default.
    ///
    /// # Errors
    /// Where the database is not there, or the tables cannot be created.
    pub async fn connect(url: &str) -> Result<Self, EffectError> {
        Self::builder(url).open().await
    }

    /// Connects to the database at `url` otherwise.
    pub fn builder(url: &str) -> PostgresBuilder {
        PostgresDatabase::builder(Source::Url { url: url.to_owned(), min: 4, max: 10 })
    }

    /// Uses a pool of the application's own, which stays open when the storage goes.
    pub fn from_pool(pool: Pool<Postgres>) -> PostgresBuilder {
        PostgresDatabase::builder(Source::Pool(pool))
    }

    /// The tables for migrations of one's own, as SQL to print; see
    /// [`create_tables`](PostgresBuilder::create_tables).
    ///
    /// # Errors
    /// Where the prefix could not be part of a name in SQL.
    pub fn schema(prefix: &str) -> Result<String, EffectError> {
        Ok(script(&plan(prefix)?))
    }

    /// The table of what this deployment remembers between runs, by key.
    pub fn state_table(&self) -> String {
        self.0.tables.plan().state_table()
    }

    /// Removes what has expired now. [`sweep_if_due`](Self::sweep_if_due) is for many workers.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn sweep(&self) -> Result<(), EffectError> {
        self.0.tables.sweep().await
    }

    /// Sweeps unless any worker did within `every`; whether this one did.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn sweep_if_due(&self, every: Duration) -> Result<bool, EffectError> {
        self.0.tables.sweep_if_due(every).await
    }

    /// Sweeps until dropped, once per interval across all workers. A storage does so by itself. A
    /// failed sweep is reported, and tried again.
    pub async fn sweeping(&self, every: Duration, report: impl Fn(&EffectError) + Send) {
        self.0.tables.sweeping(every, report).await;
    }

    /// Whether the last sweep of any worker was longer than `every` ago.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn due(&self, every: Duration) -> Result<bool, EffectError> {
        self.0.tables.due(every).await
    }

    /// Stores a value under `key`, stamped with the time.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn remember(&self, key: &str, value: &str) -> Result<(), EffectError> {
        self.0.tables.remember(key, value).await
    }

    /// What was stored under `key`.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn recall(&self, key: &str) -> Result<Option<String>, EffectError> {
        self.0.tables.recall(key).await
    }
}

impl Storage for PostgresStorage {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        self.0.session_store()
    }

    fn hub(&self) -> Arc<dyn Hub> {
        self.0.hub()
    }
}

impl PostgresBuilder {
    /// How many connections a pool of our own has: so many from the start, more as calls need them,
    /// and so many at most. 4 and 10 by default. What was lost is connected anew when a call needs
    /// it.
    pub fn connections(mut self, least: u32, most: u32) -> Self {
        if let Source::Url { min, max, .. } = &mut self.kind.source {
            (*min, *max) = (least, most.max(least).max(1));
        }
        self
    }

    /// What the names of all tables begin with. `mcp_` by default.
    pub fn prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.kind.prefix);
        self
    }

    /// How often expired rows are removed, by one of the workers. Every minute by default.
    pub fn sweep_every(mut self, every: Duration) -> Self {
        self.kind.pace.sweep_every = every;
        self
    }

    /// Whether to create the tables where they are missing; workers may race. True by default;
    /// say false where [`schema`](PostgresStorage::schema) is part of your migrations.
    pub fn create_tables(mut self, create: bool) -> Self {
        self.kind.create_tables = create;
        self
    }

    /// Connects, and creates the tables if need be.
    ///
    /// # Errors
    /// Where the database is not there, or the tables cannot be created.
    pub async fn open(self) -> Result<PostgresStorage, EffectError> {
        let runtime = Runtime::here()?;
        let PostgresDatabase { source, prefix, create_tables, pace } = self.kind;
        let plan = plan(&prefix)?;
        let (connections, least) = Connections::open(source)?;
        let options = connections.pool.connect_options();
        let script = create_tables.then(|| script(&plan));
        let opened = async {
            prepare(&options, script).await?;
            // They are there for the first calls, and stay.
            try_join_all((0..least).map(|_| connections.pool.acquire())).await
        };
        let opened = runtime.within(EFFECT_DEADLINE, opened).await;
        drop(opened.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map_err(|error| failed(&error))?);

        let (options, channel) = (Arc::unwrap_or_clone(options), plan.channel());
        let listen = Listen { options, channel, runtime: runtime.clone(), listener: None };
        let sleep: Arc<dyn Sleep> = Arc::new(runtime.clone());
        let tables = SqlTables::new(connections, plan, sleep, self.event_ttl);
        Ok(PostgresStorage(SqlStorage::start(&runtime, tables, listen, pace, self.report)))
    }
}

fn plan(prefix: &str) -> Result<Plan, EffectError> {
    Plan::new(Dialect::Postgres, prefix)
        .map_err(|prefix| EffectError::Unavailable(format!("postgres store: {prefix}")))
}

/// The tables as one script: PostgreSQL runs one without parameters as one transaction.
fn script(plan: &Plan) -> String {
    plan.schema().iter().map(|statement| format!("{statement};\n")).collect()
}

/// Tries a connection outside of the pool, whose errors only say that it has none in time.
async fn prepare(options: &PgConnectOptions, script: Option<String>) -> Result<(), sqlx::Error> {
    let mut connection = options.connect().await?;
    if let Some(script) = script {
        connection.execute(sqlx::raw_sql(&script)).await?;
    }
    connection.close().await
}

fn failed(error: &sqlx::Error) -> EffectError {
    unavailable("postgres store", "is the database running, and its address right?", error)
}

/// The pool.
#[derive(Debug)]
struct Connections {
    pool: Pool<Postgres>,
}

/// A connection that was not used for so long is asked whether it is still there.
const UNUSED: Duration = Duration::from_secs(1);

impl Connections {
    /// A pool that is not connected yet, and how many connections it is to have at first.
    ///
    /// Its own upkeep is off: while the database is away, that would hold connections which calls
    /// need once it is back.
    fn open(source: Source) -> Result<(Self, u32), EffectError> {
        let (url, min, max) = match source {
            Source::Pool(pool) => return Ok((Self { pool }, 0)),
            Source::Url { url, min, max } => (url, min, max),
        };
        let options: PgConnectOptions = url.parse().map_err(|error| failed(&error))?;
        let pool = PgPoolOptions::new()
            .max_connections(max)
            .idle_timeout(None)
            .max_lifetime(None)
            .acquire_timeout(CONNECT)
            .test_before_acquire(false)
            .before_acquire(|connection, meta| {
                Box::pin(async move {
                    if meta.idle_for > UNUSED {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(options.disable_statement_logging());
        Ok((Self { pool }, min))
    }

    async fn once(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, sqlx::Error> {
        let mut lent = Lent { connection: self.pool.acquire().await?, answered: false };
        let rows = fetch(&mut *lent.connection, sql, params).await;
        lent.answered = true;
        rows
    }
}

/// A connection of the pool. One on which an answer is still to come is closed: the server may
/// never send it.
struct Lent {
    connection: PoolConnection<Postgres>,
    answered: bool,
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.answered {
            self.connection.close_on_drop();
        }
    }
}

impl SqlExecutor for Connections {
    async fn fetch(
        &self,
        statement: Statement,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, EffectError> {
        let mut outcome = self.once(sql, params).await;
        // After a restart of the database every connection of the pool fails once.
        for _ in 0..self.pool.size() {
            match &outcome {
                Err(error) if may_repeat(statement, error) => {}
                _ => break,
            }
            outcome = self.once(sql, params).await;
        }
        outcome.map_err(|error| failed(&error))
    }
}

/// Whether the statement was not executed for sure, or changes nothing anyway.
fn may_repeat(statement: Statement, error: &sqlx::Error) -> bool {
    const ADMIN_SHUTDOWN: &str = "57P01"; // the connection was ended between statements, or rolled back
    match error {
        sqlx::Error::Database(error) => error.code().is_some_and(|code| code == ADMIN_SHUTDOWN),
        sqlx::Error::Io(_) => statement.only_reads(),
        _ => false,
    }
}

/// Hears what every worker publishes, on a connection of its own.
struct Listen {
    options: PgConnectOptions,
    channel: String,
    runtime: Runtime,
    listener: Option<PgListener>,
}

impl Listen {
    async fn connect(&mut self) -> Result<News, sqlx::Error> {
        let one = PgPoolOptions::new().max_connections(1).acquire_timeout(CONNECT);
        let pool = one.connect_lazy_with(self.options.clone());
        let connected = async {
            let mut listener = PgListener::connect_with(&pool).await?;
            listener.eager_reconnect(false);
            listener.listen(&self.channel).await?;
            Ok(listener)
        };
        let connected = self.runtime.within(EFFECT_DEADLINE, connected).await;
        self.listener = Some(connected.unwrap_or(Err(sqlx::Error::PoolTimedOut))?);
        Ok(News::Any)
    }

    async fn hear(&mut self) -> Result<News, sqlx::Error> {
        let Some(mut listener) = self.listener.take() else { return self.connect().await };
        loop {
            match self.runtime.within(QUIET, listener.try_recv()).await {
                Some(heard) => {
                    // Nothing says that the connection was lost.
                    let Some(notice) = heard? else { return self.connect().await };
                    self.listener = Some(listener);
                    let bell = Bell::parse(notice.payload());
                    return Ok(bell.map_or(News::Any, |bell| News::Of(vec![bell])));
                }
                None => {
                    let asked = self.runtime.within(CONNECT, listener.execute("SELECT 1")).await;
                    asked.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
                }
            }
        }
    }
}

impl Wake for Listen {
    async fn next(&mut self) -> Result<News, EffectError> {
        self.hear().await.map_err(|error| failed(&error))
    }
}
