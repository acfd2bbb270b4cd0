//! The server under test on tokio.

use mcp_driver_tokio::{Error, Tokio};

#[tokio::main]
async fn main() -> Result<(), Error> {
    mcp_tests::serve(Tokio::new()).await
}
