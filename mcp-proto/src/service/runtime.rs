//! What the loop needs of a runtime: time, wake-ups, randomness, and a place for work that
//! outlives its connection.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use super::{Shared, Threading};
use crate::effect::EffectError;
use crate::time::Instant;

/// A runtime, as little of it as is needed. A driver implements it once, in a screenful.
pub trait Runtime<M: Threading = Shared>: 'static {
    /// A timer that can be set again and again: a connection has one.
    type Timer: Timer;

    /// Now, on a clock that never goes back.
    fn now(&self) -> Instant;

    /// A timer that is not set.
    fn timer(&self) -> Self::Timer;

    /// The time of day, since the Unix epoch.
    fn wall(&self) -> Duration;

    /// Fills `bytes` from a cryptographically secure source.
    ///
    /// # Errors
    /// Where there is none.
    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), EffectError>;

    /// Runs `work` to its end beside everything else: the connection that it belonged to is gone.
    fn detach<T: 'static>(&self, work: M::Boxed<'static, T>);
}

/// A timer of a [`Runtime`].
pub trait Timer {
    /// Sets it to go off at `at`, whatever it was set to.
    fn reset(self: Pin<&mut Self>, at: Instant);

    /// Whether it went off since it was set. One that is not set never does. Where this is
    /// pending, the task is woken when the time comes.
    fn poll_elapsed(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()>;
}

/// A runtime's timer, for what waits outside a connection's loop: stores and hubs.
pub trait Sleep: Send + Sync {
    /// Waits for `duration`.
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}
