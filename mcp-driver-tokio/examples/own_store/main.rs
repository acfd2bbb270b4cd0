//! A store of an application's own, where it has a database already: four functions for sessions,
//! four for events. The library's suite of what every store must do is run against it by
//! `cargo test -p mcp-driver-tokio --test own_store`.
//!
//! ```text
//! cargo run -p mcp-driver-tokio --example own_store
//! ```

mod database;
mod store;

use mcp_driver_tokio::{Error, Exchange, Registry, Simple, http, shutdown_signal, tool};

use database::Database;

/// How often this client has called, whichever worker it called at.
async fn visits(ex: Exchange) -> Result<String, Error> {
    let Some(session) = ex.session() else { return Ok("a stranger".into()) };
    session.update_slot("visits", |visits: Option<u32>| Some(visits.unwrap_or(0) + 1)).await?;
    Ok(format!("visit {}", session.get::<u32>("visits")?.unwrap_or(0)))
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let told_to_end = shutdown_signal();
    let service = Registry::new("own_store", env!("CARGO_PKG_VERSION"))
        .tool(tool("visits", visits).description("How often this client has called."))
        .build()?;
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8080".into());
    let database = Database::default();
    let server = http(service)
        .sessions(Simple::new(database.clone()))
        .hub(Simple::new(database))
        .bind(address)
        .await?;
    eprintln!("{server}");
    server.serve_with_shutdown(told_to_end).await
}
