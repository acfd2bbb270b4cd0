//! Standard input and output, each as the kind of thing that it is: a pipe or a socket is read and
//! written without blocking, anything else (a file, a terminal) by a thread of its own.
//!
//! Pipes and sockets become non-blocking, also for other processes that hold the same end.

use std::io;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::service::Duplex;

use crate::thread::{ThreadReader, ThreadWriter};

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Standard input and output as one stream.
pub type StandardStreams = Duplex<Reader, Writer>;

#[cfg(unix)]
pub(crate) fn open(private: bool) -> io::Result<StandardStreams> {
    use std::fs::File;
    use std::os::fd::OwnedFd;
    use std::os::unix::fs::FileTypeExt;

    use mcp_proto::service::standard_streams;

    use tokio::net::{UnixStream, unix::pipe};

    use crate::tokio_stream::TokioStream;

    enum Kind {
        Pipe,
        Socket(UnixStream),
        Other,
    }

    fn open(stream: OwnedFd) -> io::Result<(File, Kind)> {
        let file = File::from(stream);
        let file_type = file.metadata()?.file_type();
        let kind = if file_type.is_fifo() {
            Kind::Pipe
        } else if file_type.is_socket() {
            let socket = std::os::unix::net::UnixStream::from(OwnedFd::from(file.try_clone()?));
            socket.set_nonblocking(true)?;
            Kind::Socket(UnixStream::from_std(socket)?)
        } else {
            Kind::Other
        };
        Ok((file, kind))
    }

    let (stdin, stdout) = standard_streams(private)?;
    let reader: Reader = match open(stdin)? {
        (file, Kind::Pipe) => Box::new(TokioStream::new(pipe::Receiver::from_file(file)?)),
        (_, Kind::Socket(socket)) => Box::new(TokioStream::new(socket)),
        (file, Kind::Other) => Box::new(ThreadReader::new(file)?),
    };
    let writer: Writer = match open(stdout)? {
        (file, Kind::Pipe) => Box::new(TokioStream::new(pipe::Sender::from_file(file)?)),
        (_, Kind::Socket(socket)) => Box::new(TokioStream::new(socket)),
        (file, Kind::Other) => Box::new(ThreadWriter::new(file)?),
    };
    Ok(Duplex::new(reader, writer))
}

#[cfg(not(unix))]
pub(crate) fn open(_: bool) -> io::Result<StandardStreams> {
    let reader: Reader = Box::new(ThreadReader::new(io::stdin())?);
    let writer: Writer = Box::new(ThreadWriter::new(io::stdout())?);
    Ok(Duplex::new(reader, writer))
}
