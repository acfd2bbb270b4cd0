//! The two runtimes, and time that passes for real.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use mcp_proto::testing::contract::Time;
use mcp_proto::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runtime {
    Tokio,
    AsyncStd,
}

impl Runtime {
    pub(crate) const ALL: [Self; 2] = [Self::Tokio, Self::AsyncStd];

    pub(crate) fn block_on<T>(self, future: impl Future<Output = T>) -> T {
        match self {
            Self::Tokio => tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .expect("a runtime")
                .block_on(future),
            Self::AsyncStd => async_std::task::block_on(future),
        }
    }

    /// The clock of a contract's suite.
    pub(crate) fn time(self) -> Real {
        Real { runtime: self, epoch: std::time::Instant::now() }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Real {
    runtime: Runtime,
    epoch: std::time::Instant,
}

impl Time for Real {
    fn now(&self) -> Instant {
        let micros = self.epoch.elapsed().as_micros();
        Instant::from_micros(u64::try_from(micros).expect("not that long"))
    }

    fn pass(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match self.runtime {
            Runtime::Tokio => Box::pin(tokio::time::sleep(duration)),
            Runtime::AsyncStd => Box::pin(async_std::task::sleep(duration)),
        }
    }
}
