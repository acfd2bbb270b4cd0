//! Servers of our own: each on a free port, with its data in a temporary directory, stopped by its
//! handle.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A server that is running, or was stopped.
#[derive(Debug)]
pub struct Server {
    kind: Kind,
    port: u16,
    directory: TempDir,
    child: Option<Child>,
}

/// Which server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// `redis-server`.
    Redis,
    /// PostgreSQL.
    Postgres,
}

impl Server {
    /// Starts one; says so and returns `None` where it is not installed.
    ///
    /// # Panics
    /// Where it does not start, or is not installed though `MCP_ENGINES` is `all`.
    pub fn start(kind: Kind) -> Option<Self> {
        let program = kind.program();
        let Some(program) = program else {
            let needed = std::env::var_os("MCP_ENGINES").is_some_and(|it| it == "all");
            assert!(!needed, "{kind:?} is not installed, and MCP_ENGINES wants all");
            println!("{kind:?} is not installed: its stores were not tested");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr());
        let port = port.expect("a free port").port();
        let directory = TempDir::new().expect("a temporary directory");
        let mut server = Self { kind, port, directory, child: None };
        if kind == Kind::Postgres {
            server.initialize(&program);
        }
        server.run();
        Some(server)
    }

    /// Where its first database is.
    pub fn url(&self) -> String {
        match self.kind {
            Kind::Redis => format!("redis://127.0.0.1:{}/0", self.port),
            Kind::Postgres => format!("postgres://postgres@127.0.0.1:{}/postgres", self.port),
        }
    }

    /// Stops the server, as an operator would. What it promised to keep is kept.
    pub fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let id = child.id().to_string();
        // Both end in an orderly way at SIGTERM or SIGINT, whoever is connected.
        let signal = if self.kind == Kind::Redis { "-TERM" } else { "-INT" };
        let told = Command::new("kill").args([signal, &id]).status().is_ok_and(|it| it.success());
        if !told {
            let _ = child.kill();
        }
        let _ = child.wait();
    }

    /// Starts the server again, on the same port and data.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn run(&mut self) {
        let mut command = self.command();
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.child = Some(child.expect("the server starts"));
        let until = Instant::now() + Duration::from_secs(60);
        while !self.ready() {
            let child = self.child.as_mut().expect("just started");
            let ended = child.try_wait().expect("its state");
            assert!(ended.is_none(), "{:?} ended: {ended:?}", self.kind);
            assert!(Instant::now() < until, "{:?} does not listen", self.kind);
            std::thread::yield_now();
        }
    }

    fn ready(&self) -> bool {
        if TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            return false;
        }
        // PostgreSQL listens while it recovers, and refuses who comes; its file says when it is up.
        let status = std::fs::read_to_string(self.data().join("postmaster.pid"));
        self.kind == Kind::Redis
            || status.is_ok_and(|it| it.lines().any(|line| line.trim() == "ready"))
    }

    fn command(&self) -> Command {
        let (port, data) = (self.port.to_string(), self.data());
        match self.kind {
            Kind::Redis => {
                let mut command = Command::new("redis-server");
                let data = data.to_str().expect("a path in UTF-8");
                command.args(["--port", &port, "--bind", "127.0.0.1", "--dir", data]);
                command.args(["--appendonly", "yes", "--save", ""]);
                command
            }
            Kind::Postgres => {
                let program = self.kind.program().expect("it was there");
                let mut command = as_nobody(&program);
                command.arg("-D").arg(&data).args(["-p", &port, "-h", "127.0.0.1"]);
                command.args(["-k", "", "-c", "fsync=off", "-c", "max_connections=200"]);
                command
            }
        }
    }

    fn initialize(&self, postgres: &Path) {
        let data = self.data();
        std::fs::create_dir(&data).expect("a directory");
        if is_root() {
            for path in [self.directory.path(), &data] {
                let owned = Command::new("chown").arg("postgres").arg(path).status();
                assert!(owned.is_ok_and(|it| it.success()), "the account `postgres` is there");
            }
        }
        let mut command = as_nobody(&postgres.with_file_name("initdb"));
        command.arg("-D").arg(&data).args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"]);
        let output = command.output().expect("initdb");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn data(&self) -> PathBuf {
        match self.kind {
            Kind::Redis => self.directory.path().to_owned(),
            Kind::Postgres => self.directory.path().join("data"),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis-server",
            Self::Postgres => "postgres",
        }
    }

    /// Where the server's program is.
    fn program(self) -> Option<PathBuf> {
        let name = self.name();
        let path = std::env::var_os("PATH")?;
        let found = std::env::split_paths(&path).map(|it| it.join(name)).find(|it| it.is_file());
        // Debian keeps PostgreSQL's out of the path, and links are not beside the rest.
        let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let mut debian = debian.map(|version| version.path().join("bin").join(name));
        found.and_then(|it| it.canonicalize().ok()).or_else(|| debian.find(|it| it.is_file()))
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// PostgreSQL refuses to be root.
fn as_nobody(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    // setpriv becomes the program, so that its handle is the server's.
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
    command.current_dir("/");
    command
}
