//! A service on hyper, which speaks HTTP/1.1 and HTTP/2 on the same port:
//!
//! ```text
//! cargo run -p mcp-driver-tokio --features tower --example with_hyper
//! curl --http2-prior-knowledge http://127.0.0.1:8080/mcp -H 'Content-Type: application/json' \
//!   -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":40}}}'
//! ```

use std::pin::pin;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use mcp_driver_tokio::{Args, Error, Json, Registry, http, schemars, shutdown_signal, tool};
use tokio::net::TcpListener;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    total: i64,
}

async fn add(Args(Add { a, b }): Args<Add>) -> Json<Sum> {
    Json(Sum { total: a + b })
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let service = Registry::new("with_hyper", env!("CARGO_PKG_VERSION"))
        .tool(tool("add", add).description("Add two integers."))
        .build()?;
    let mcp = http(service).path("/mcp").mount()?;

    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let listener = TcpListener::bind(address).await?;
    let mut told = pin!(shutdown_signal());
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let graceful = GracefulShutdown::new();
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            () = &mut told => break,
        };
        stream.set_nodelay(true)?; // else the events of a stream wait for each other
        let (mcp, watcher) = (TowerToHyperService::new(mcp.clone()), graceful.watcher());
        tokio::spawn(async move {
            let server = Builder::new(TokioExecutor::new());
            let connection = server.serve_connection(TokioIo::new(stream), mcp);
            if let Err(error) = watcher.watch(connection).await {
                eprintln!("a connection ended: {error}");
            }
        });
    }
    // hyper waits for open replies, so they are told to end.
    tokio::join!(mcp.shutdown(), graceful.shutdown());
    Ok(())
}
