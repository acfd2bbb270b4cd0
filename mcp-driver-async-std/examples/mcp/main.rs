//! A client for the command line, on async-std:
//!
//! ```text
//! mcp-async-std http://127.0.0.1:8080/mcp tools
//! ```

#[path = "../../../mcp-driver-tokio/examples/mcp/ask.rs"]
mod ask;
#[path = "../../../mcp-driver-tokio/examples/mcp/cli.rs"]
mod cli;
#[path = "../../../mcp-driver-tokio/examples/mcp/options.rs"]
mod options;
#[path = "../../../mcp-driver-tokio/examples/mcp/show.rs"]
mod show;
#[path = "../../../mcp-driver-tokio/examples/mcp/terminal.rs"]
mod terminal;
#[path = "../../../mcp-driver-tokio/examples/mcp/trace.rs"]
mod trace;

use mcp_driver_async_std::{AsyncStd, shutdown_signal};

#[async_std::main]
async fn main() {
    let code = cli::run::<AsyncStd>(shutdown_signal());
    // A question may still be read from the terminal, which nothing can interrupt.
    std::process::exit(code.await)
}
