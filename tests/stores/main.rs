//! The contract of stores and hubs, on every store and runtime, and what a server's restart does.
//!
//! `cargo test -p mcp-tests --features stores --test stores -- --nocapture` prints the tables.

mod contract;
mod lifecycle;
mod outage;
mod runtime;
mod settings;
mod silence;
mod unlinked;
mod worker;
mod workers;
