//! The command line.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use mcp_tests::servers::{Kind, Server};

/// What a run is to be like.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) store: Store,
    pub(crate) seed: u64,
    /// So many at least.
    pub(crate) kills: u64,
    /// So many at least, forth and back.
    pub(crate) messages: u64,
    /// Between two kills at the most.
    pub(crate) pause: Duration,
    /// With compare-and-set switched off.
    pub(crate) blind: bool,
    /// The program of the workers: beside this one, unless said otherwise.
    pub(crate) worker: String,
    /// Commands of further clients, in which `URL` stands for the server's.
    pub(crate) peers: Vec<String>,
}

/// What the workers share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    Sqlite,
    Redis,
    Postgres,
    /// One that somebody else has started.
    At(String),
}

/// A store that is there, until this is dropped.
pub(crate) enum Started {
    File(tempfile::TempDir),
    Server(Server),
    At(String),
}

impl Options {
    /// # Panics
    /// Where the command line is wrong.
    pub(crate) fn read() -> Self {
        let mut options = Self {
            store: Store::Sqlite,
            seed: 1,
            kills: 20,
            messages: 50_000,
            pause: Duration::from_millis(1_500),
            blind: false,
            worker: beside("cluster-worker"),
            peers: Vec::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            if name == "--blind" {
                options.blind = true;
                continue;
            }
            let value = arguments.next().unwrap_or_default();
            let number = || value.parse().unwrap_or_else(|_| panic!("{name} is a number"));
            match name.as_str() {
                "--store" => options.store = Store::named(&value),
                "--seed" => options.seed = number(),
                "--kills" => options.kills = number(),
                "--messages" => options.messages = number(),
                "--pause-ms" => options.pause = Duration::from_millis(number()),
                "--worker" => options.worker = value,
                "--peer" => options.peers.push(value),
                _ => panic!(
                    "usage: cluster [--store sqlite|redis|postgres|URL] [--seed N] [--kills N] \
                     [--messages N] [--pause-ms N] [--blind] [--worker PROGRAM] [--peer COMMAND]..."
                ),
            }
        }
        options
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { store, seed, kills, messages, blind, .. } = self;
        write!(f, "{store}, seed {seed}: at least {kills} kills and {messages} messages")?;
        if *blind { f.write_str(", with compare-and-set switched off") } else { Ok(()) }
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite => "sqlite",
            Self::Redis => "redis",
            Self::Postgres => "postgres",
            Self::At(url) => url,
        })
    }
}

impl Store {
    fn named(name: &str) -> Self {
        match name {
            "sqlite" => Self::Sqlite,
            "redis" => Self::Redis,
            "postgres" => Self::Postgres,
            url if url.contains(':') => Self::At(url.to_owned()),
            _ => panic!("no store is called {name:?}"),
        }
    }

    /// Starts its server, where it has one.
    pub(crate) fn start(&self) -> Result<Started, Box<dyn Error>> {
        let server = |kind| Server::start(kind).map(Started::Server);
        match self {
            Self::Sqlite => Ok(Started::File(tempfile::tempdir()?)),
            Self::Redis => server(Kind::Redis).ok_or_else(|| "Redis is missing".into()),
            Self::Postgres => server(Kind::Postgres).ok_or_else(|| "PostgreSQL is missing".into()),
            Self::At(url) => Ok(Started::At(url.clone())),
        }
    }
}

impl Started {
    pub(crate) fn url(&self) -> String {
        match self {
            Self::File(directory) => {
                format!("sqlite:{}", directory.path().join("mcp.sqlite").display())
            }
            Self::Server(server) => server.url(),
            Self::At(url) => url.clone(),
        }
    }
}

fn beside(name: &str) -> String {
    let own = std::env::current_exe().unwrap_or_default();
    let path: PathBuf = own.with_file_name(name);
    path.to_string_lossy().into_owned()
}
