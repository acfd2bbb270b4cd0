//! A server as a child process, which is ended and reaped whatever happens.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_proto::service::client::{Drain, Process, StartProcess};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::runtime::Tokio;
use crate::tokio_stream::TokioStream;

/// The stdin and stdout of a child process. Closing it waits until the process has ended; dropping
/// it lets the process end beside everything else.
#[derive(Debug)]
pub struct ChildProcess {
    stdout: TokioStream<ChildStdout>,
    /// `None` once this is closed.
    open: Option<Open>,
    /// Reaps the process.
    keeper: JoinHandle<()>,
}

#[derive(Debug)]
struct Open {
    stdin: TokioStream<ChildStdin>,
    /// Dropping it says that the process is to end.
    _wanted: oneshot::Sender<()>,
}

impl StartProcess for Tokio {
    type Process = ChildProcess;

    fn start(
        &self,
        process: &Process,
    ) -> impl Future<Output = io::Result<ChildProcess>> + Send + 'static {
        let (command, grace, drain) = (process.command(), process.grace_time(), process.drain());
        async move {
            let mut command = Command::from(command);
            let mut child = command.kill_on_drop(true).spawn()?;
            let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(io::Error::other("the process has no pipes"));
            };
            if let (Some(stderr), Some(to)) = (child.stderr.take(), drain) {
                tokio::spawn(drained(stderr, to));
            }
            let (wanted, unwanted) = oneshot::channel();
            let group = Group::of(&child);
            let keeper = tokio::spawn(keep(child, group, unwanted, grace));
            let open = Open { stdin: TokioStream::new(stdin), _wanted: wanted };
            Ok(ChildProcess { stdout: TokioStream::new(stdout), open: Some(open), keeper })
        }
    }
}

async fn drained(mut stderr: ChildStderr, to: Drain) {
    let mut chunk = vec![0; 8 * 1024];
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        to(chunk.get(..read).unwrap_or_default());
    }
}

/// Reaps the process once it ends, and sees to it that it does once it is unwanted (R26-STDIO-15).
async fn keep(mut child: Child, group: Group, unwanted: oneshot::Receiver<()>, grace: Duration) {
    let ended_by_itself = tokio::select! {
        _ = child.wait() => true,
        _ = unwanted => false,
    };
    if ended_by_itself || timeout(grace, child.wait()).await.is_ok() {
        return;
    }
    group.terminate();
    if timeout(grace, child.wait()).await.is_err() {
        drop(group);
        let _ = child.wait().await;
    }
}

/// A process and what it started. What is left of them is killed when this is dropped: also where
/// the runtime drops its tasks.
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| id.try_into().ok());
        Self { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(leader) = self.leader {
            // Where the group is gone already, that is what was wanted.
            let _ = rustix::process::kill_process_group(leader, signal);
        }
    }

    fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.signal(rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
impl Group {
    fn of(_: &Child) -> Self {
        Self {}
    }

    fn terminate(&self) {}
}

impl AsyncRead for ChildProcess {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stdout).poll_read(cx, into)
    }
}

impl AsyncWrite for ChildProcess {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.open {
            Some(open) => Pin::new(&mut open.stdin).poll_write(cx, from),
            None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.open {
            Some(open) => Pin::new(&mut open.stdin).poll_flush(cx),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.open = None;
        // What it still says is not waited for, but a full pipe would hold it up.
        let mut chunk = [0; 1024];
        while let Poll::Ready(Ok(1..)) = Pin::new(&mut self.stdout).poll_read(cx, &mut chunk) {}
        let _ = ready!(Pin::new(&mut self.keeper).poll(cx));
        Poll::Ready(Ok(()))
    }
}
