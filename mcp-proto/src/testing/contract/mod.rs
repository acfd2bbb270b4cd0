//! What every session store and every hub must do, as a suite for an application's own.
//!
//! Give it the workers that share one store (two connections to one database, say), and a clock.
//! It runs each case, and says which one broke and how.
//!
//! ```
//! use std::sync::Arc;
//! use mcp_proto::service::{MemorySessionStore, SessionStore};
//! use mcp_proto::testing::contract::{self, Subject, VirtualTime};
//!
//! # fn block_on<F: Future>(future: F) -> F::Output {
//! #     let mut future = std::pin::pin!(future);
//! #     let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
//! #     loop {
//! #         if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut cx) { return output }
//! #     }
//! # }
//! let store: Arc<dyn SessionStore> = Arc::new(MemorySessionStore::new());
//! let subject = Subject::new([Arc::clone(&store), store], Arc::new(VirtualTime::new()), "run 1");
//! let report = block_on(contract::session_store(&subject));
//! assert!(report.passed(), "{report}");
//! ```

mod hub;
mod session;
mod time;
mod values;

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::sync::Arc;

use crate::effect::{EffectError, Reply};
use crate::service::{Execution, Hub, SessionStore};
use crate::time::Instant;

pub use time::VirtualTime;

/// The clock of a suite. Where time is the store's own, it has to pass for real.
pub trait Time: Send + Sync {
    /// Now, as it is handed to the store.
    fn now(&self) -> Instant;

    /// Returns after `duration`.
    fn pass(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// What a suite is run against.
pub struct Subject<S: ?Sized> {
    workers: Vec<Arc<S>>,
    time: Arc<dyn Time>,
    run: String,
}

impl<S: ?Sized> Subject<S> {
    /// Workers of one store, two or more, and a clock. `run` is part of every id and topic: give
    /// another one for another run on the same store.
    pub fn new(
        workers: impl IntoIterator<Item = Arc<S>>,
        time: Arc<dyn Time>,
        run: impl Into<String>,
    ) -> Self {
        Self { workers: workers.into_iter().collect(), time, run: run.into() }
    }

    fn name(&self, own: &str) -> String {
        format!("{}/{own}", self.run)
    }

    /// One of the workers; with each number another one, in turn.
    fn worker(&self, number: usize) -> Result<&S, Broken> {
        let index = number.checked_rem(self.workers.len()).unwrap_or(0);
        let worker = self.workers.get(index).map(|worker| &**worker);
        worker.ok_or_else(|| Broken("the suite needs a worker".into()))
    }

    async fn pass(&self, duration: Duration) {
        self.time.pass(duration).await;
    }
}

impl<S: ?Sized> fmt::Debug for Subject<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subject({} workers, run {:?})", self.workers.len(), self.run)
    }
}

/// Runs every case of the contract of session stores.
pub async fn session_store(subject: &Subject<dyn SessionStore>) -> Report {
    run(subject, session::CASES).await
}

/// Runs every case of the contract of hubs.
pub async fn hub(subject: &Subject<dyn Hub>) -> Report {
    run(subject, hub::CASES).await
}

/// What came of a suite: a line for each case. It prints as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Each case, and how it broke, if it did.
    pub cases: Vec<(&'static str, Result<(), String>)>,
}

impl Report {
    /// Whether cases ran and all of them held.
    pub fn passed(&self) -> bool {
        !self.cases.is_empty() && self.cases.iter().all(|(_, outcome)| outcome.is_ok())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, outcome) in &self.cases {
            match outcome {
                Ok(()) => writeln!(f, "  ok      {name}")?,
                Err(how) => writeln!(f, "  BROKEN  {name}: {how}")?,
            }
        }
        Ok(())
    }
}

/// How a case broke.
#[derive(Debug)]
struct Broken(String);

impl From<EffectError> for Broken {
    fn from(error: EffectError) -> Self {
        Self(format!("the store failed: {error}"))
    }
}

type Outcome = Result<(), Broken>;

/// A rule, as a sentence, and how to try it.
type Case<S> =
    (&'static str, fn(&Subject<S>) -> Pin<Box<dyn Future<Output = Outcome> + Send + '_>>);

async fn run<S: ?Sized>(subject: &Subject<S>, cases: &[Case<S>]) -> Report {
    let mut report = Report { cases: Vec::with_capacity(cases.len()) };
    for (name, case) in cases {
        report.cases.push((name, case(subject).await.map_err(|Broken(how)| how)));
    }
    report
}

async fn done(execution: Execution) -> Result<Reply, Broken> {
    Ok(match execution {
        Execution::Done(reply) => reply?,
        Execution::Later(reply) => reply.await?,
    })
}

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { Err(Broken(otherwise())) }
}

fn other(reply: &Reply) -> Broken {
    Broken(format!("answered with another operation's reply: {reply:?}"))
}

/// How long a thing lives in cases about its life. Half of it is more than a busy machine stalls.
const LIFE: Duration = Duration::from_secs(2);

/// How long a thing lives that is not meant to expire within a case.
const LONG: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests;
