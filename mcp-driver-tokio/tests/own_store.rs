//! The store of the example `own_store`, held to what every store must do.

#[path = "../examples/own_store/database.rs"]
mod database;
#[path = "../examples/own_store/store.rs"]
mod store;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_driver_tokio::mcp_proto::testing::contract::{self, Subject, Time};
use mcp_driver_tokio::mcp_proto::time::Instant;
use mcp_driver_tokio::{Hub, SessionStore, Simple};
use tokio::time::{Instant as Clock, sleep};

use database::Database;

/// Tokio's clock, which the store goes by too. It is paused, so waiting costs no time.
struct Paused(Clock);

impl Time for Paused {
    fn now(&self) -> Instant {
        Instant::from_micros(self.0.elapsed().as_micros().try_into().unwrap())
    }

    fn pass(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(sleep(duration))
    }
}

#[tokio::test(start_paused = true)]
async fn the_store_keeps_the_contract() {
    let database = Database::default();
    let worker = || -> Arc<dyn SessionStore> { Arc::new(Simple::new(database.clone())) };
    let subject = Subject::new([worker(), worker()], Arc::new(Paused(Clock::now())), "run");
    let report = contract::session_store(&subject).await;
    assert!(report.passed(), "{report}");
}

#[tokio::test(start_paused = true)]
async fn the_hub_keeps_the_contract() {
    let database = Database::default();
    let worker = || -> Arc<dyn Hub> { Arc::new(Simple::new(database.clone())) };
    let subject = Subject::new([worker(), worker()], Arc::new(Paused(Clock::now())), "run");
    let report = contract::hub(&subject).await;
    assert!(report.passed(), "{report}");
}
