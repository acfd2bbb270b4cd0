//! Stores and hubs on SQL and on Redis, generic over who talks to the server: a driver supplies an
//! executor and a [`Wake`](super::hub::Wake), and has a session store and a hub.

mod redis;
mod sql;

use core::fmt;
use core::future::Future;
use core::pin::pin;
use core::time::Duration;
use std::sync::Arc;

use futures_util::future::{Either, select};

use super::{Hub, SessionStore, Sleep};
use crate::effect::EffectError;

pub use redis::{RedisExecutor, RedisKeys};
pub use sql::{SqlExecutor, SqlTables};

/// A session store and a hub in one place.
pub trait Storage {
    /// Where sessions are kept.
    fn session_store(&self) -> Arc<dyn SessionStore>;

    /// Where events are kept.
    fn hub(&self) -> Arc<dyn Hub>;
}

/// How long one call of a server may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// The outcome of a call, or that it took too long.
async fn bounded<T>(
    sleep: &dyn Sleep,
    server: impl fmt::Display,
    call: impl Future<Output = Result<T, EffectError>> + Send,
) -> Result<T, EffectError> {
    match select(pin!(call), sleep.sleep(PATIENCE)).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right(_) => Err(EffectError::Unavailable(format!(
            "{server}: no answer within {} s; is the server overloaded, or the network down?",
            PATIENCE.as_secs()
        ))),
    }
}
