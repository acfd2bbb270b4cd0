//! A server of one tool: `cargo run --example quickstart`, then ask it with a client of your own.

use mcp_driver_tokio::{Args, Error, Json, Registry, http, schemars, shutdown_signal, tool};

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
    let told_to_end = shutdown_signal();
    let service = Registry::new("quickstart", env!("CARGO_PKG_VERSION"))
        .tool(tool("add", add).description("Add two integers."))
        .build()?;
    let server = http(service).bind("127.0.0.1:8080").await?;
    eprintln!("{server}");
    server.serve_with_shutdown(told_to_end).await
}
