//! The runtime on which a storage was opened.

use core::future::Future;
use core::pin::Pin;
#[cfg(any(feature = "redis", feature = "postgres"))]
use core::pin::pin;
use core::time::Duration;

#[cfg(any(feature = "redis", feature = "postgres"))]
use futures_util::future::{Either, select};
use mcp_proto::effect::EffectError;
use mcp_proto::service::Sleep;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A runtime: a timer, and a place for work in the background.
#[derive(Clone, Debug)]
pub(crate) enum Runtime {
    #[cfg(feature = "tokio")]
    Tokio(tokio::runtime::Handle),
    #[cfg(feature = "async-std")]
    AsyncStd,
}

impl Runtime {
    /// The one on which this is called.
    pub(crate) fn here() -> Result<Self, EffectError> {
        #[cfg(feature = "tokio")]
        if let Ok(handle) = tokio::runtime::Handle::try_current() {
            return Ok(Self::Tokio(handle));
        }
        #[cfg(feature = "async-std")]
        return Ok(Self::AsyncStd);
        #[cfg(not(feature = "async-std"))]
        Err(EffectError::Unavailable(
            "a storage was opened where no runtime is: open it inside of tokio, or turn on the \
             feature of another runtime"
                .into(),
        ))
    }

    /// What comes of `future`, if that is soon enough.
    #[cfg(any(feature = "redis", feature = "postgres"))]
    pub(crate) async fn within<T>(
        &self,
        limit: Duration,
        future: impl Future<Output = T>,
    ) -> Option<T> {
        match select(pin!(future), self.sleep(limit)).await {
            Either::Left((outcome, _)) => Some(outcome),
            Either::Right(_) => None,
        }
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let work: Work = Box::pin(work);
        match *self {
            #[cfg(feature = "tokio")]
            Self::Tokio(ref handle) => drop(handle.spawn(work)),
            #[cfg(feature = "async-std")]
            Self::AsyncStd => drop(async_std::task::spawn(work)),
        }
    }
}

impl Sleep for Runtime {
    fn sleep(&self, duration: Duration) -> Work {
        match *self {
            #[cfg(feature = "tokio")]
            Self::Tokio(_) => Box::pin(tokio::time::sleep(duration)),
            #[cfg(feature = "async-std")]
            Self::AsyncStd => Box::pin(async_std::task::sleep(duration)),
        }
    }
}
