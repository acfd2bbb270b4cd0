//! The client that exercises servers, on tokio.

use std::error::Error;

use mcp_driver_tokio::Tokio;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    mcp_tests::exercise::<Tokio>().await
}
