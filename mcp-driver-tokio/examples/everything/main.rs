//! A server with one of everything:
//!
//! ```text
//! cargo run --example everything                            # HTTP, http://127.0.0.1:8080/mcp
//! cargo run --example everything -- --listen 127.0.0.1:9000
//! cargo run --example everything -- --stdio
//! ```

mod fixtures;
mod options;

use mcp_driver_tokio::{Diagnostics, Error, Tokio, http, shutdown_signal, stdio};

use options::Options;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let told_to_end = shutdown_signal();
    let service = fixtures::service(Tokio::new())?;
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
