//! A server with one of everything, on async-std:
//!
//! ```text
//! cargo run --example everything-async-std                            # http://127.0.0.1:8080/mcp
//! cargo run --example everything-async-std -- --listen 127.0.0.1:9000
//! cargo run --example everything-async-std -- --stdio
//! ```

#[path = "../../../mcp-driver-tokio/examples/everything/fixtures/mod.rs"]
mod fixtures;
#[path = "../../../mcp-driver-tokio/examples/everything/options.rs"]
mod options;

use mcp_driver_async_std::{AsyncStd, Diagnostics, Error, http, shutdown_signal, stdio};

use options::Options;

#[async_std::main]
async fn main() -> Result<(), Error> {
    let told_to_end = shutdown_signal();
    let service = fixtures::service(AsyncStd::new())?;
    let log = Diagnostics::stderr();
    let address = match Options::read() {
        Options::Stdio => {
            let server = stdio(service).on_notice(move |notice| log.line(notice));
            return server.serve_with_shutdown(told_to_end).await;
        }
        Options::Listen(address) => address,
    };
    let server = http(service)
        .allow_delete(true)
        .http_sse("/sse", "/messages")
        .on_notice(move |notice| log.line(notice))
        .bind(address)
        .await?;
    eprintln!("{server}\n\n{}", options::banner(&server.url()));
    server.serve_with_shutdown(told_to_end).await
}
