//! Time, randomness, and tasks.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant as Clock, SystemTime};

use async_io::Timer as IoTimer;
use async_std::task;
use mcp_proto::effect::EffectError;
use mcp_proto::service::{Driver, Local, Runtime, Shared, Sleep, Threading, Timer};
use mcp_proto::time::Instant;

use crate::net::TcpConnections;
use crate::stdio::StandardStreams;

/// async-std, as what machines and handlers run on.
#[derive(Clone, Copy, Debug)]
pub struct AsyncStd {
    epoch: Clock,
}

impl AsyncStd {
    /// A driver whose clock starts now.
    pub fn new() -> Self {
        Self { epoch: Clock::now() }
    }
}

impl Default for AsyncStd {
    fn default() -> Self {
        Self::new()
    }
}

/// A timer of async-io's.
#[derive(Debug)]
pub struct AsyncStdTimer {
    epoch: Clock,
    timer: IoTimer,
}

impl Timer for AsyncStdTimer {
    fn reset(mut self: Pin<&mut Self>, at: Instant) {
        match self.epoch.checked_add(Duration::from_micros(at.as_micros())) {
            Some(at) => self.timer.set_at(at),
            None => self.timer = IoTimer::never(),
        }
    }

    fn poll_elapsed(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.timer).poll(cx).map(|_| ())
    }
}

impl<M: Spawn> Runtime<M> for AsyncStd {
    type Timer = AsyncStdTimer;

    fn now(&self) -> Instant {
        Instant::from_micros(self.epoch.elapsed().as_micros().try_into().unwrap_or(u64::MAX))
    }

    fn timer(&self) -> AsyncStdTimer {
        AsyncStdTimer { epoch: self.epoch, timer: IoTimer::never() }
    }

    fn wall(&self) -> Duration {
        SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), EffectError> {
        getrandom::fill(bytes).map_err(|error| EffectError::Unavailable(error.to_string()))
    }

    fn detach<T: 'static>(&self, work: M::Boxed<'static, T>) {
        M::spawn(work);
    }
}

impl Sleep for AsyncStd {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(task::sleep(duration))
    }
}

impl<M: Spawn> Driver<M> for AsyncStd {
    type Listener = TcpConnections;
    type Stdio = StandardStreams;

    async fn bind(&self, address: String) -> io::Result<TcpConnections> {
        TcpConnections::bind(&address).await
    }

    fn stdio(&self, private: bool) -> io::Result<StandardStreams> {
        crate::stdio::open(private)
    }
}

/// How tasks of a [`Threading`] are spawned.
pub trait Spawn: Threading {
    #[doc(hidden)]
    fn spawn<T: 'static>(work: Self::Boxed<'static, T>);
}

impl Spawn for Shared {
    fn spawn<T: 'static>(work: Self::Boxed<'static, T>) {
        task::spawn(async {
            work.await;
        });
    }
}

impl Spawn for Local {
    fn spawn<T: 'static>(work: Self::Boxed<'static, T>) {
        // What async-std's own `spawn_local` calls, without its feature `unstable`.
        let task = async_global_executor::spawn_local(async {
            work.await;
        });
        task.detach();
    }
}
