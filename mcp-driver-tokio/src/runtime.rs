//! Time, randomness, and tasks.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use mcp_proto::effect::EffectError;
use mcp_proto::service::{Driver, Local, Runtime, Shared, Sleep, Threading, Timer};
use mcp_proto::time::Instant;
use tokio::runtime::Handle;
use tokio::task::LocalSet;
use tokio::time::{Instant as Clock, sleep, sleep_until};

use crate::net::TcpConnections;
use crate::stdio::StandardStreams;

/// Tokio, as what machines and handlers run on. Its clock is tokio's, and stops where that is
/// paused.
#[derive(Clone, Copy, Debug)]
pub struct Tokio {
    epoch: Clock,
}

impl Tokio {
    /// A driver whose clock starts now.
    pub fn new() -> Self {
        Self { epoch: Clock::now() }
    }

    fn clock(&self, at: Instant) -> Clock {
        // What is too far off to count is as good as a year away: the loop asks again then.
        let far = Duration::from_secs(365 * 24 * 3600);
        let after = Duration::from_micros(at.as_micros());
        self.epoch.checked_add(after).unwrap_or_else(|| Clock::now() + far)
    }
}

impl Default for Tokio {
    fn default() -> Self {
        Self::new()
    }
}

/// A timer of tokio's.
#[derive(Debug)]
pub struct TokioTimer {
    driver: Tokio,
    sleep: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Timer for TokioTimer {
    fn reset(mut self: Pin<&mut Self>, at: Instant) {
        let at = self.driver.clock(at);
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().reset(at),
            sleep => *sleep = Some(Box::pin(sleep_until(at))),
        }
    }

    fn poll_elapsed(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.sleep.as_mut().map_or(Poll::Pending, |sleep| sleep.as_mut().poll(cx))
    }
}

impl<M: Spawn> Runtime<M> for Tokio {
    type Timer = TokioTimer;

    fn now(&self) -> Instant {
        Instant::from_micros(self.epoch.elapsed().as_micros().try_into().unwrap_or(u64::MAX))
    }

    fn timer(&self) -> TokioTimer {
        TokioTimer { driver: *self, sleep: None }
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

impl Sleep for Tokio {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(sleep(duration))
    }
}

impl<M: Spawn> Driver<M> for Tokio {
    type Listener = TcpConnections;
    type Stdio = StandardStreams;

    async fn bind(&self, address: String) -> io::Result<TcpConnections> {
        TcpConnections::bind(&address).await
    }

    fn stdio(&self, private: bool) -> io::Result<StandardStreams> {
        crate::stdio::open(private)
    }

    async fn within<F: Future>(&self, work: F) -> F::Output {
        M::within(work).await
    }
}

/// How tasks of a [`Threading`] are spawned.
pub trait Spawn: Threading {
    #[doc(hidden)]
    fn spawn<T: 'static>(work: Self::Boxed<'static, T>);

    #[doc(hidden)]
    fn within<F: Future>(work: F) -> impl Future<Output = F::Output>;
}

impl Spawn for Shared {
    fn spawn<T: 'static>(work: Self::Boxed<'static, T>) {
        // Where there is no runtime any more, nothing can run on.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async {
                work.await;
            });
        }
    }

    fn within<F: Future>(work: F) -> impl Future<Output = F::Output> {
        work
    }
}

impl Spawn for Local {
    fn spawn<T: 'static>(work: Self::Boxed<'static, T>) {
        tokio::task::spawn_local(async {
            work.await;
        });
    }

    async fn within<F: Future>(work: F) -> F::Output {
        LocalSet::new().run_until(work).await
    }
}
