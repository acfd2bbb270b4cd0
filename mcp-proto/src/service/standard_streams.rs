//! This process's standard input and output, for the protocol alone.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// The lowest number that a duplicate gets: those of the standard streams are kept for them.
const FIRST: i32 = 3;

/// Standard input and output as files of their own, which no child process inherits. A driver
/// makes streams of them.
///
/// Where they are `private`, nobody else of the process has them any more (R24-STDIO-03): from now
/// on file descriptor 0 is the null device, and 1 is standard error. So `println!`, a library that
/// prints, and a child that writes to its output or reads its input do the protocol no harm.
/// Elsewhere they stay what they are, and whatever is written to them stands among the messages.
///
/// # Errors
/// Where the system has no descriptors left, or no null device.
pub fn standard_streams(private: bool) -> io::Result<(OwnedFd, OwnedFd)> {
    let duplicate = |stream: &dyn AsFd| rustix::io::fcntl_dupfd_cloexec(stream.as_fd(), FIRST);
    let streams = (duplicate(&io::stdin())?, duplicate(&io::stdout())?);
    if private {
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        rustix::stdio::dup2_stdout(io::stderr())?;
    }
    Ok(streams)
}
