//! The example `everything` as one of several workers that share a store:
//!
//! ```text
//! everything-worker redis://127.0.0.1:6379 --listen 127.0.0.1:9000
//! ```

#[path = "../../mcp-driver-tokio/examples/everything/fixtures/mod.rs"]
mod fixtures;

use std::error::Error;

use mcp_driver_tokio::{Tokio, http};
use mcp_tests::storage::Opened;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [store, listen, address] = &words[..] else {
        return Err("usage: everything-worker STORE --listen ADDRESS".into());
    };
    if listen != "--listen" {
        return Err(format!("{listen} is not known").into());
    }
    let service = fixtures::service(Tokio::new())?;
    let server = http(service)
        .store(Opened::at(store).await?)
        .http_sse("/sse", "/messages")
        .on_notice(|notice| eprintln!("{notice}"))
        .bind(address)
        .await
        .map_err(|error| format!("{error:?}"))?;
    eprintln!("{}", server.url());
    server.serve().await.map_err(|error| format!("{error:?}"))?;
    Ok(())
}
