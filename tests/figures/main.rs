//! What each store costs, as a table in Markdown. In four minutes:
//!
//! ```text
//! cargo bench -p mcp-tests --features stores --bench figures
//! ```
//!
//! Redis and PostgreSQL are started for it, on this machine, as are the servers and their clients:
//! they share its processors.

mod calls;
mod idle;
mod latency;

use mcp_tests::servers::{Kind, Server};
use tempfile::TempDir;

/// The server that is measured: on tokio.
const SERVER: &str = env!("CARGO_BIN_EXE_server-tokio");

fn main() {
    let directory = TempDir::new().expect("a directory");
    let redis = Server::start(Kind::Redis).expect("redis-server is installed");
    let postgres = Server::start(Kind::Postgres).expect("PostgreSQL is installed");
    let path = directory.path().join("mcp.sqlite");
    let stores = [
        Store { name: "memory", address: "memory".into() },
        Store { name: "SQLite", address: path.to_str().expect("UTF-8").to_owned() },
        Store { name: "Redis", address: redis.url() },
        Store { name: "PostgreSQL", address: postgres.url() },
    ];
    about();
    calls::print(&stores);
    latency::print(&stores);
    idle::print(&stores);
}

fn about() {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("processors", |(_, name)| name);
    let count = std::thread::available_parallelism().map_or(0, usize::from);
    println!(
        "# Figures\n\nWhat `cargo bench -p mcp-tests --features stores --bench figures` prints,"
    );
    println!("on a machine of {count} x {model}, which servers, stores and clients share.\n");
}

/// A store, and where it is.
struct Store {
    name: &'static str,
    address: String,
}

impl Store {
    /// Whether workers can share it.
    fn is_shared(&self) -> bool {
        self.address != "memory"
    }
}
