//! The server under test on async-std.

use mcp_driver_async_std::{AsyncStd, Error};

#[async_std::main]
async fn main() -> Result<(), Error> {
    mcp_tests::serve(AsyncStd::new()).await
}
