//! A server as a child process, which is ended and reaped whatever happens.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::io;

use futures_io::{AsyncRead, AsyncWrite};
use futures_util::FutureExt;
use futures_util::future::{Either, join, select};

use super::last_words::LastWords;
use super::process::{Drain, ExitStatus, Process};
use crate::service::Sleep;
use crate::service::promise::{Promise, Promised, promise};

/// A process that a driver has spawned.
pub trait Child: Send + 'static {
    /// What it reads.
    type Stdin: AsyncWrite + Send + Unpin + 'static;
    /// What it writes.
    type Stdout: AsyncRead + Send + Unpin + 'static;
    /// What it says to people.
    type Stderr: AsyncRead + Send + Unpin + 'static;

    /// The process's ends of its pipes, once.
    ///
    /// # Errors
    /// Where stdin or stdout is no pipe.
    fn pipes(&mut self) -> io::Result<Pipes<Self::Stdin, Self::Stdout, Self::Stderr>>;

    /// The process's id, which is that of its group too; none once it was reaped.
    fn id(&self) -> Option<u32>;

    /// Waits until it has ended, and reaps it; gives its status.
    ///
    /// # Errors
    /// Where the status is not to be had.
    fn ended(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + Send;

    /// Kills it, and not what it started.
    fn kill(&mut self);
}

/// The other ends of a process's streams.
#[derive(Debug)]
pub struct Pipes<I, O, E> {
    /// Where it reads from.
    pub stdin: I,
    /// Where it writes to.
    pub stdout: O,
    /// Where it speaks to people, if that is a pipe.
    pub stderr: Option<E>,
}

/// The stdin and stdout of a child process. Closing it waits until the process has ended; dropping
/// it lets the process end beside everything else.
///
/// Where the process has ended, reading fails once with [`io::ErrorKind::UnexpectedEof`], whose
/// text names the program, its exit code or signal, and the last lines of its stderr.
pub struct ChildProcess<C: Child> {
    stdout: C::Stdout,
    /// `None` once this is closed.
    open: Option<Open<C::Stdin>>,
    reaped: Promised<()>,
    /// How it ended; none once that was told.
    epitaph: Option<Epitaph>,
}

type Epitaph = Pin<Box<dyn Future<Output = String> + Send>>;

/// How long the end of a process is waited for once it says nothing more.
const LINGER: Duration = Duration::from_millis(500);

struct Open<I> {
    stdin: I,
    /// Dropping it says that the process is to end.
    _wanted: Promise<()>,
}

impl<C: Child> ChildProcess<C> {
    /// The streams of `child`, and what has to run beside everything else: it drains stderr, and
    /// ends and reaps the process.
    pub(super) fn new(
        mut child: C,
        process: &Process,
        clock: impl Sleep + Clone + 'static,
    ) -> io::Result<(Self, impl Future<Output = ()> + Send + 'static)> {
        let Pipes { stdin, stdout, stderr } = child.pipes()?;
        let (wanted, unwanted) = promise();
        let (reaping, reaped) = promise();
        let (dying, dead) = promise::<()>();
        let (speaking, silent) = promise::<()>();
        let (grace, drain) = (process.grace_time(), process.drain());
        let last = LastWords::default();
        let (seen, heard) = (last.clone(), last.clone());
        let timer = clock.clone();
        let kept = async move {
            if let Ok(status) = keep(child, unwanted, grace, &clock).await {
                seen.ended(status);
            }
            drop((reaping, dying));
        };
        let drained = async move {
            if let (Some(stderr), Some(to)) = (stderr, drain) {
                drained(stderr, &to, &heard).await;
            }
            drop(speaking);
        };
        let program = process.program().into_owned();
        let epitaph = async move {
            select(pin!(join(dead, silent)), timer.sleep(LINGER)).await;
            last.tell(&program)
        };
        let open = Some(Open { stdin, _wanted: wanted });
        let epitaph: Epitaph = Box::pin(epitaph);
        let streams = Self { stdout, open, reaped, epitaph: Some(epitaph) };
        Ok((streams, join(kept, drained).map(|_| ())))
    }

    /// The end of stdout: how the process ended, once.
    fn poll_epitaph(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(epitaph) = &mut self.epitaph else { return Poll::Ready(Ok(0)) };
        let how = ready!(epitaph.as_mut().poll(cx));
        self.epitaph = None;
        Poll::Ready(Err(io::Error::new(io::ErrorKind::UnexpectedEof, how)))
    }
}

async fn drained(mut stderr: impl AsyncRead + Unpin, to: &Drain, last: &LastWords) {
    let mut chunk = vec![0; 8 * 1024];
    while let Ok(read @ 1..) = poll_fn(|cx| Pin::new(&mut stderr).poll_read(cx, &mut chunk)).await {
        let bytes = chunk.get(..read).unwrap_or_default();
        last.said(bytes);
        to(bytes);
    }
}

/// Reaps the process once it ends, and sees to it that it does once it is unwanted (R26-STDIO-15).
async fn keep(
    mut child: impl Child,
    unwanted: Promised<()>,
    grace: Duration,
    clock: &impl Sleep,
) -> io::Result<ExitStatus> {
    let group = Group::of(&child);
    if let Some(ended) = ends_before(unwanted, &mut child).await {
        return ended;
    }
    if let Some(ended) = ends_before(clock.sleep(grace), &mut child).await {
        return ended;
    }
    group.terminate();
    if let Some(ended) = ends_before(clock.sleep(grace), &mut child).await {
        return ended;
    }
    drop(group);
    child.kill();
    child.ended().await
}

async fn ends_before(
    event: impl Future + Unpin,
    child: &mut impl Child,
) -> Option<io::Result<ExitStatus>> {
    match select(pin!(child.ended()), event).await {
        Either::Left((ended, _)) => Some(ended),
        Either::Right(_) => None,
    }
}

/// A process and what it started. What is left of them is killed when this is dropped: also where
/// a runtime drops its tasks.
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl Group {
    fn of(child: &impl Child) -> Self {
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
    fn of(_: &impl Child) -> Self {
        Self {}
    }

    fn terminate(&self) {}
}

/// Nothing in it is pinned.
impl<C: Child> Unpin for ChildProcess<C> {}

impl<C: Child> AsyncRead for ChildProcess<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match ready!(Pin::new(&mut self.stdout).poll_read(cx, into)) {
            Ok(0) if !into.is_empty() => self.poll_epitaph(cx),
            read => Poll::Ready(read),
        }
    }
}

impl<C: Child> AsyncWrite for ChildProcess<C> {
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
        let _ = ready!(Pin::new(&mut self.reaped).poll(cx));
        Poll::Ready(Ok(()))
    }
}
