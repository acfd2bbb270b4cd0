//! SQLite, for workers on one machine.

use core::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_proto::effect::EffectError;
use mcp_proto::service::hub::{News, Wake};
use mcp_proto::service::storage::{SqlExecutor, SqlTables};
use mcp_proto::service::{Hub, SessionStore, Sleep, Storage};
use mcp_proto::store::sql::{Dialect, Param, Plan, Row, Statement};
use sqlx::sqlite::{
    Sqlite, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions,
    SqliteSynchronous,
};
use sqlx::{ConnectOptions, Executor, Pool};

use crate::builder::Builder;
use crate::runtime::Runtime;
use crate::sql::{Pace, SqlStorage, fetch, unavailable};

/// Sessions and events in one SQLite file. Cloning shares its connections.
///
/// Writes of a process queue up for one connection; other processes wait for each other by
/// SQLite's busy timeout. What another process publishes is seen within
/// [`look_again`](SqliteBuilder::look_again); an idle process costs one `PRAGMA` in that time,
/// however many listen.
///
/// A file that is unlinked, moved or replaced while it is served would be one that nobody else sees:
/// workers that start later open another. On Unix, where that can happen, every operation is an error
/// from then on that says so; the workers are to be started again.
#[derive(Clone, Debug)]
pub struct SqliteStorage(SqlStorage<Connections>);

/// How to open a [`SqliteStorage`].
pub type SqliteBuilder = Builder<SqliteFile>;

/// A SQLite file, and how to use it.
#[derive(Clone, Debug)]
pub struct SqliteFile {
    path: PathBuf,
    busy_timeout: Duration,
    pace: Pace,
}

impl SqliteStorage {
    /// Opens the file with everything by default; creates it, and the tables in it, if need be.
    ///
    /// # Errors
    /// Where the file cannot be opened.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, EffectError> {
        Self::builder(path).open().await
    }

    /// Opens the file otherwise.
    pub fn builder(path: impl AsRef<Path>) -> SqliteBuilder {
        let path = path.as_ref().to_owned();
        let busy_timeout = Duration::from_millis(5_000);
        Builder::new(SqliteFile { path, busy_timeout, pace: Pace::default() })
    }

    /// Removes what has expired. It is done from time to time anyway; correct at any time, from any
    /// worker.
    ///
    /// # Errors
    /// Where the database fails.
    pub async fn sweep(&self) -> Result<(), EffectError> {
        self.0.tables.sweep().await
    }

    /// Sweeps until dropped, every so often. A storage does so by itself. A failed sweep is
    /// reported, and tried again.
    pub async fn sweeping(&self, every: Duration, report: impl Fn(&EffectError) + Send) {
        self.0.tables.sweeping(every, report).await;
    }
}

impl Storage for SqliteStorage {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        self.0.session_store()
    }

    fn hub(&self) -> Arc<dyn Hub> {
        self.0.hub()
    }
}

impl SqliteBuilder {
    /// How long a write waits for another process's. 5 s by default; calls end after 5 s anyway.
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.kind.busy_timeout = timeout;
        self
    }

    /// How often expired rows are removed, by one of the workers. Every minute by default.
    pub fn sweep_every(mut self, every: Duration) -> Self {
        self.kind.pace.sweep_every = every;
        self
    }

    /// How soon is seen what another process publishes. A quarter of a second by default.
    pub fn look_again(mut self, every: Duration) -> Self {
        self.kind.pace.look_again = every;
        self
    }

    /// Opens the file, and creates the tables if need be.
    ///
    /// # Errors
    /// Where the file cannot be opened.
    pub async fn open(self) -> Result<SqliteStorage, EffectError> {
        let runtime = Runtime::here()?;
        // The default prefix is a good one.
        let plan = Plan::new(Dialect::Sqlite, Plan::PREFIX)
            .map_err(|prefix| EffectError::Unavailable(prefix.to_string()))?;
        let SqliteFile { path, busy_timeout, pace } = self.kind;
        let connections = Connections::open(&path, busy_timeout, &plan).await?;
        let sleep: Arc<dyn Sleep> = Arc::new(runtime.clone());
        let tables = SqlTables::new(connections, plan, Arc::clone(&sleep), self.event_ttl);
        let watch = Watch { tables: tables.clone(), sleep, every: pace.look_again, seen: None };
        Ok(SqliteStorage(SqlStorage::start(&runtime, tables, watch, pace, self.report)))
    }
}

/// One connection that writes, so that a process never waits for itself, and some that read.
#[derive(Debug)]
struct Connections {
    writer: Pool<Sqlite>,
    readers: Pool<Sqlite>,
    options: SqliteConnectOptions,
    path: PathBuf,
    /// Which file that was when it was opened.
    file: Option<FileId>,
}

impl Connections {
    async fn open(path: &Path, busy: Duration, plan: &Plan) -> Result<Self, EffectError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(busy)
            .disable_statement_logging();
        let pool = |most| SqlitePoolOptions::new().max_connections(most);
        let mut connections = Self {
            writer: pool(1).connect_lazy_with(options.clone()),
            readers: pool(4).connect_lazy_with(options.clone()),
            options,
            // Whatever becomes of the working directory.
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            file: None,
        };
        let schema = format!("BEGIN IMMEDIATE;\n{};\nCOMMIT;", plan.schema().join(";\n"));
        let made = connections.writer.execute(sqlx::raw_sql(&schema)).await;
        made.map_err(|error| connections.failed(&error))?;
        connections.file = FileId::of(&connections.path);
        Ok(connections)
    }

    /// Whether the path still leads to the file that is open.
    fn is_there(&self) -> Result<(), EffectError> {
        if self.file.is_none() || FileId::of(&self.path) == self.file {
            return Ok(());
        }
        let path = self.path.display();
        Err(EffectError::Unavailable(format!(
            "sqlite store ({path}): the file was unlinked, moved or replaced while it is served, so \
             what is written here would be seen by nobody else; start all workers again"
        )))
    }

    fn failed(&self, error: &sqlx::Error) -> EffectError {
        const BUSY: i32 = 5; // the low byte; the rest says what for
        let code = error.as_database_error().and_then(|error| error.code()?.parse().ok());
        let advice = match code.map(|code: i32| code & 0xff) {
            Some(BUSY) => "is a transaction left open on it by another process?",
            _ => "can this process write there, and to its folder?",
        };
        unavailable(&format!("sqlite store ({})", self.path.display()), advice, error)
    }
}

impl SqlExecutor for Connections {
    async fn fetch(
        &self,
        statement: Statement,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, EffectError> {
        self.is_there()?;
        let pool = if statement.only_reads() { &self.readers } else { &self.writer };
        fetch(pool, sql, params).await.map_err(|error| self.failed(&error))
    }
}

/// What tells one file from another, whatever their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self { device: metadata.dev(), inode: metadata.ino() })
    }

    /// Elsewhere a file that is open cannot be unlinked.
    #[cfg(not(unix))]
    fn of(_: &Path) -> Option<Self> {
        None
    }
}

/// Sees what was published by whomever: SQLite says on each connection whether others wrote.
struct Watch {
    tables: SqlTables<Connections>,
    sleep: Arc<dyn Sleep>,
    every: Duration,
    seen: Option<Seen>,
}

struct Seen {
    connection: SqliteConnection,
    version: i64,
    newest: u64,
}

impl Watch {
    async fn version(&self, connection: &mut SqliteConnection) -> Result<i64, EffectError> {
        self.tables.executor().is_there()?;
        let version = sqlx::query_scalar("PRAGMA data_version").fetch_one(connection).await;
        version.map_err(|error| self.tables.executor().failed(&error))
    }

    async fn connect(&mut self) -> Result<News, EffectError> {
        let Connections { options, .. } = self.tables.executor();
        let connected = options.connect().await;
        let mut connection = connected.map_err(|error| self.tables.executor().failed(&error))?;
        let version = self.version(&mut connection).await?;
        let (_, newest) = self.tables.news_after(0).await?;
        self.seen = Some(Seen { connection, version, newest });
        Ok(News::Any)
    }

    async fn look(&mut self, seen: &mut Seen) -> Result<News, EffectError> {
        loop {
            self.sleep.sleep(self.every).await;
            let version = self.version(&mut seen.connection).await?;
            if version == seen.version {
                continue;
            }
            let (bells, newest) = self.tables.news_after(seen.newest).await?;
            (seen.version, seen.newest) = (version, newest);
            if !bells.is_empty() {
                return Ok(News::Of(bells));
            }
        }
    }
}

impl Wake for Watch {
    async fn next(&mut self) -> Result<News, EffectError> {
        let Some(mut seen) = self.seen.take() else { return self.connect().await };
        let news = self.look(&mut seen).await?;
        self.seen = Some(seen);
        Ok(news)
    }
}
