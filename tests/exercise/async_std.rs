//! The client that exercises servers, on async-std.

use std::error::Error;

use mcp_driver_async_std::AsyncStd;

#[async_std::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    mcp_tests::exercise::<AsyncStd>().await
}
