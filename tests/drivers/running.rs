//! Clients of either driver in this process, and what they run on.

use std::process::Command;
use std::time::Duration;

use mcp_driver_async_std::AsyncStd;
use mcp_driver_tokio::Tokio;
use tokio::runtime::Runtime;

use crate::client::Runs;

/// A driver whose clients are tested.
pub(crate) trait Tested: Runs {
    /// A program that makes a call, as [`mcp_tests::call`] does.
    const PROGRAM: &str;
}

impl Tested for Tokio {
    const PROGRAM: &str = env!("CARGO_BIN_EXE_client-tokio");
}

impl Tested for AsyncStd {
    const PROGRAM: &str = env!("CARGO_BIN_EXE_client-async-std");
}

/// A runtime of tokio's, for servers beside the client.
pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("it runs")
}

/// Ends a server's tasks, wherever they stand.
pub(crate) fn stop(runtime: &mut Option<Runtime>) {
    if let Some(runtime) = runtime.take() {
        runtime.shutdown_timeout(Duration::from_secs(1));
    }
}

/// What a client says that is a process of its own, with these variables of the environment.
pub(crate) fn said_by<D: Tested>(url: &str, environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(D::PROGRAM);
    command.arg(url).env_clear().envs(environment.iter().copied());
    let output = command.output().expect("the program was built");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
