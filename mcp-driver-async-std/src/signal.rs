//! The signals that end a server.

use std::future::{Future, pending};

use async_signal::{Signal, Signals};
use async_std::stream::StreamExt;

#[cfg(unix)]
const SIGNALS: [Signal; 2] = [Signal::Int, Signal::Term];
#[cfg(not(unix))]
const SIGNALS: [Signal; 1] = [Signal::Int];

/// Done once the process is told to end: by SIGINT (Ctrl-C) or SIGTERM; on Windows by Ctrl-C.
/// For `serve_with_shutdown`, over HTTP and stdio:
///
/// ```no_run
/// use mcp_driver_async_std::{Error, Registry, http, shutdown_signal};
///
/// #[async_std::main]
/// async fn main() -> Result<(), Error> {
///     let told_to_end = shutdown_signal();
///     let service = Registry::new("demo", "1.0.0").build()?;
///     let server = http(service).bind("127.0.0.1:8080").await?;
///     server.serve_with_shutdown(told_to_end).await
/// }
/// ```
///
/// Both signals are caught from this call on, not from the first poll, and stay so for as long as
/// the process lives. So they also end the first process of a container, which has no defaults for
/// them. Where they cannot be caught, this is never done, and their defaults remain.
pub fn shutdown_signal() -> impl Future<Output = ()> + Send + 'static {
    let caught = Signals::new(SIGNALS);
    async {
        match caught {
            Ok(mut signals) => drop(signals.next().await),
            Err(_) => pending().await,
        }
    }
}
