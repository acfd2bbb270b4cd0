//! A client for the command line, on tokio:
//!
//! ```text
//! mcp http://127.0.0.1:8080/mcp tools
//! mcp npx -y @modelcontextprotocol/server-everything --revision 2025-11-25 call echo message=hello
//! ```

mod ask;
mod cli;
mod options;
mod show;
mod terminal;
mod trace;

use mcp_driver_tokio::{Tokio, shutdown_signal};

#[tokio::main]
async fn main() {
    let code = cli::run::<Tokio>(shutdown_signal());
    // A question may still be read from the terminal, which nothing can interrupt.
    std::process::exit(code.await)
}
