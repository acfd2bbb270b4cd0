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

use mcp_driver_tokio::Tokio;

#[tokio::main]
async fn main() {
    let code = cli::run::<Tokio>(async {
        // Where signals cannot be caught, only the default ends the process.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    });
    // A question may still be read from the terminal, which nothing can interrupt.
    std::process::exit(code.await)
}
