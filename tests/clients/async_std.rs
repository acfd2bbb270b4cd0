//! The client under test on async-std.

use mcp_driver_async_std::AsyncStd;

#[async_std::main]
async fn main() {
    mcp_tests::call::<AsyncStd>().await;
}
