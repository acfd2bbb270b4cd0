//! Standard input and output, each as the kind of thing that it is: a pipe or a socket is read and
//! written without blocking, anything else (a file, a terminal) by a thread of its own.
//!
//! Pipes and sockets become non-blocking, also for other processes that hold the same end. The
//! process may end while a thread blocks: nobody waits for it.

use std::io;

use blocking::Unblock;
use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::service::Duplex;

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input and output as one stream.
pub type StandardStreams = Duplex<Reader, Writer>;

/// How much may wait between a stream and its thread.
const CAPACITY: usize = 64 * 1024;

#[cfg(unix)]
pub(crate) fn open(private: bool) -> io::Result<StandardStreams> {
    use std::fs::File;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::FileTypeExt;

    use async_io::Async;
    use mcp_proto::service::standard_streams;

    /// The stream, and whether it can be used without blocking.
    fn open(stream: OwnedFd) -> io::Result<(File, bool)> {
        let file = File::from(stream);
        let file_type = file.metadata()?.file_type();
        Ok((file, file_type.is_fifo() || file_type.is_socket()))
    }

    let (stdin, stdout) = standard_streams(private)?;
    let reader: Reader = match open(stdin)? {
        (file, true) => Box::new(Async::new(file)?),
        (file, false) => Box::new(Unblock::with_capacity(CAPACITY, file)),
    };
    let writer: Writer = match open(stdout)? {
        (file, true) => Box::new(Async::new(file)?),
        (file, false) => Box::new(Unblock::with_capacity(CAPACITY, file)),
    };
    Ok(Duplex::new(reader, writer))
}

#[cfg(not(unix))]
pub(crate) fn open(_: bool) -> io::Result<StandardStreams> {
    let reader: Reader = Box::new(Unblock::with_capacity(CAPACITY, io::stdin()));
    let writer: Writer = Box::new(Unblock::with_capacity(CAPACITY, io::stdout()));
    Ok(Duplex::new(reader, writer))
}
