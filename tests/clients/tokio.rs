//! The client under test on tokio.

use mcp_driver_tokio::Tokio;

#[tokio::main]
async fn main() {
    mcp_tests::call::<Tokio>().await;
}
