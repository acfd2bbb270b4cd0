//! The signals that end a server.

use std::future::{Future, pending};

#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
#[cfg(windows)]
use tokio::signal::windows::{ctrl_c, ctrl_shutdown};

/// Done once the process is told to end: by SIGINT (Ctrl-C) or SIGTERM; on Windows by Ctrl-C or its
/// own shutdown.
/// For `serve_with_shutdown`, over HTTP and stdio:
///
/// ```no_run
/// use mcp_driver_tokio::{Error, Registry, http, shutdown_signal};
///
/// #[tokio::main]
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
///
/// # Panics
/// Outside of tokio's runtime, or in one without I/O (`enable_io`).
pub fn shutdown_signal() -> impl Future<Output = ()> + Send + 'static {
    #[cfg(unix)]
    let (interrupt, terminate) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    #[cfg(windows)]
    let (interrupt, terminate) = (ctrl_c(), ctrl_shutdown());
    async {
        let (mut interrupt, mut terminate) = (interrupt, terminate);
        tokio::select! {
            Some(()) = async { interrupt.as_mut().ok()?.recv().await } => {}
            Some(()) = async { terminate.as_mut().ok()?.recv().await } => {}
            else => pending().await,
        }
    }
}
