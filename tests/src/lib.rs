//! Tests across crates, processes and real servers: see the targets of this package.
//!
//! Here is what the servers under test, and the clients that try other servers, have in common.

mod exercise;
#[cfg(feature = "stores")]
pub mod servers;
#[cfg(feature = "stores")]
pub mod storage;
pub mod worker;

pub use exercise::exercise;

use std::future::{Future, ready};
use std::io::Read;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mcp_proto::model::Change;
use mcp_proto::server::Limits;
use mcp_proto::service::client::{Client, ClientDriver};
use mcp_proto::service::schemars::{self, JsonSchema};
use mcp_proto::service::{
    Args, Diagnostics, Driver, Error, Exchange, Extension, HttpBuilder, Json, MemoryHub,
    MemorySessionStore, Registry, Service, Sleep, State, StdioServer, tool,
};
use serde::{Deserialize, Serialize};

type Clock = Arc<dyn Sleep>;

/// Tools that are quick, slow, large, and talkative; that change a resource, or the session.
///
/// # Errors
/// Never: the declarations are right.
pub fn service(clock: impl Sleep + 'static) -> Result<Service, Error> {
    let log = Diagnostics::stderr();
    let service = Registry::new("tested", "1.0.0")
        .state::<Clock>(Arc::new(clock))
        .on_error(move |report| log.line(format_args!("{}: {}", report.operation, report.error)))
        .tool(tool("add", add))
        .tool(tool("big", big))
        .tool(tool("count", count))
        .tool(tool("fail", fail))
        .tool(tool("print", print))
        .tool(tool("sleep", sleep))
        .tool(tool("talk", talk).streaming())
        .tool(tool("touch", touch))
        .tool(tool("whoami", whoami))
        .resource(TOUCHED, || async { "touched" })
        .build()?;
    Ok(service)
}

const TOUCHED: &str = "test://touched";

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    total: i64,
}

async fn add(Args(Add { a, b }): Args<Add>) -> Json<Sum> {
    Json(Sum { total: a + b })
}

#[derive(Deserialize, JsonSchema)]
struct Big {
    bytes: usize,
}

async fn big(Args(Big { bytes }): Args<Big>) -> String {
    "x".repeat(bytes)
}

async fn count(ex: Exchange) -> Result<String, Error> {
    let Some(session) = ex.session() else { return Ok("no session".into()) };
    session.update_slot("count", |count: Option<u32>| Some(count.unwrap_or(0) + 1)).await?;
    Ok(format!("{:?}", session.get::<u32>("count")?))
}

async fn fail() -> Result<String, Error> {
    Err(Error::internal("x".repeat(200)))
}

/// Prints in all ways that are not the protocol's, and says what a child of its own could read.
async fn print() -> Result<String, Error> {
    println!("POLLUTED by println");
    let child = "echo POLLUTED by a child; printf 'POLLUTED without an end'; head -c 1 | wc -c >&2";
    let run = |command: &mut Command| command.status().map_err(Error::from);
    run(Command::new("sh").args(["-c", child]))?;
    let read = Command::new("cat").stdin(Stdio::inherit()).stderr(Stdio::inherit()).output()?;
    Ok(format!("a child read {} bytes", read.stdout.len()))
}

#[derive(Deserialize, JsonSchema)]
struct Nap {
    ms: u64,
}

async fn sleep(Args(Nap { ms }): Args<Nap>, State(clock): State<Clock>) -> &'static str {
    clock.sleep(Duration::from_millis(ms)).await;
    "slept"
}

async fn talk(ex: Exchange) -> &'static str {
    ex.progress(1, 2);
    "talked"
}

async fn touch(ex: Exchange) -> &'static str {
    ex.announce(Change::Updated(TOUCHED.into()));
    "touched"
}

async fn whoami(peer: Option<Extension<SocketAddr>>) -> String {
    peer.map_or_else(|| "nobody".into(), |Extension(peer)| peer.to_string())
}

/// How a server under test is started: `--listen` or `--stdio`, then `--grace-ms N`,
/// `--connections N`, `--small` (it holds no more than 8 MiB of anything), `--address ADDRESS`, `--store ADDRESS` (with feature `stores`), or, on stdio,
/// `--ends`: it shuts down as soon as it runs, and `--shared-streams`: others may print.
#[derive(Debug)]
pub struct Options {
    stdio: bool,
    shared: bool,
    ends: bool,
    grace: Duration,
    connections: usize,
    small: bool,
    address: String,
    #[cfg(feature = "stores")]
    store: String,
}

impl Options {
    /// Reads the command line.
    ///
    /// # Panics
    /// Where it is wrong.
    pub fn read() -> Self {
        let arguments: Vec<String> = std::env::args().collect();
        let says = |name: &str| arguments.iter().any(|argument| argument == name);
        let value = |name: &str| {
            let at = arguments.iter().position(|argument| argument == name)?;
            arguments.get(at + 1)
        };
        let number = |name: &str| value(name)?.parse().ok();
        Self {
            stdio: says("--stdio"),
            shared: says("--shared-streams"),
            ends: says("--ends"),
            grace: Duration::from_millis(number("--grace-ms").unwrap_or(5_000)),
            small: says("--small"),
            connections: number("--connections").map_or(1_000, |most| most as usize),
            address: value("--address").map_or_else(|| "127.0.0.1:0".into(), String::clone),
            #[cfg(feature = "stores")]
            store: value("--store").map_or_else(|| "memory".into(), String::clone),
        }
    }
}

/// Serves as the command line says: stdio, or HTTP on any free port until stdin ends. stderr says
/// where, and that it is over.
///
/// # Errors
/// What the server fails with.
pub async fn serve<D: Driver + Sleep>(driver: D) -> Result<(), Error> {
    let options = Options::read();
    let service = service(driver.clone())?;
    if options.stdio {
        let mut limits = Limits::default();
        limits.eof_grace = options.grace;
        let server = StdioServer::new(driver, service).limits(limits);
        let server = server.private_streams(!options.shared);
        return match options.ends {
            true => server.serve_with_shutdown(ready(())).await,
            false => server.serve().await,
        };
    }
    let server = HttpBuilder::new(driver, service);
    #[cfg(feature = "stores")]
    let server = server.store(
        storage::Opened::at(&options.store)
            .await
            .map_err(|error| Error::internal(format!("the store cannot be opened: {error}")))?,
    );
    let server = match options.small {
        true => server
            .sessions(MemorySessionStore::bounded(100_000, SMALL))
            .hub(MemoryHub::new().bounded(SMALL))
            .endpoint(|endpoint| endpoint.limits(small())),
        false => server,
    };
    let server = server
        .http_sse("/sse", "/messages")
        .connections(options.connections)
        .shutdown_grace(options.grace)
        .on_notice(|notice| eprintln!("{notice}"))
        .bind(options.address)
        .await?;
    eprintln!("{}", server.local_addr());
    server.serve_with_shutdown(end_of_stdin()).await?;
    eprintln!("over");
    Ok(())
}

/// What a small server holds at most of each kind, in bytes.
const SMALL: usize = 8 << 20;

fn small() -> Limits {
    let mut limits = Limits::default();
    limits.held = SMALL;
    limits
}

/// Adds two numbers on the server whose URL is the last word of the command line, and says what
/// came of it.
///
/// # Panics
/// Where there is no URL.
pub async fn call<D: ClientDriver>() {
    let url = std::env::args().next_back().expect("a URL");
    let sum = async {
        let client = Client::<D>::http(url).connect().await?;
        client.call_tool("add", &serde_json::json!({ "a": 2, "b": 40 })).await
    };
    match sum.await {
        Ok(sum) => println!("{}", sum.text()),
        Err(error) => println!("{error}"),
    }
}

fn end_of_stdin() -> impl Future<Output = ()> {
    let (ended, end) = futures_channel::oneshot::channel::<()>();
    thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        drop(ended);
    });
    async {
        let _ = end.await;
    }
}
