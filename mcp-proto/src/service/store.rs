//! Who answers the effects of machines: stores, as an application can write them.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;

use crate::effect::{EffectError, Reply};
use crate::store::{Record, SessionOp};
use crate::time::Instant;

/// The answer to an effect: at once, or later.
#[must_use = "an operation that takes time happens only while its future is polled"]
pub enum Execution {
    /// It is done.
    Done(Result<Reply, EffectError>),
    /// It takes waiting.
    Later(Pin<Box<dyn Future<Output = Result<Reply, EffectError>> + Send>>),
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done(reply) => f.debug_tuple("Done").field(reply).finish(),
            Self::Later(_) => f.write_str("Later(..)"),
        }
    }
}

/// Where sessions are kept.
///
/// Every operation is atomic and answered by the [`Reply`] that it names. To write a store of your
/// own, implement [`SimpleSessionStore`], which is four async functions.
pub trait SessionStore: Send + Sync {
    /// Does `op` at `now`; a store of more than one process goes by its own clock instead.
    fn execute(&self, now: Instant, op: SessionOp) -> Execution;
}

impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    fn execute(&self, now: Instant, op: SessionOp) -> Execution {
        (**self).execute(now, op)
    }
}

/// A session store of an application's own: four async functions. [`Simple`] makes a
/// [`SessionStore`] of it.
///
/// Data are JSON text. A record that was not renewed for its `ttl` is gone, as if deleted.
///
/// ```
/// use std::time::Duration;
/// use bytes::Bytes;
/// use mcp_proto::service::{SessionStore, Simple, SimpleSessionStore};
/// use mcp_proto::store::Record;
///
/// struct Table; // a database
///
/// impl SimpleSessionStore for Table {
///     type Error = std::io::Error;
///
///     async fn create(&self, id: String, data: Bytes, ttl: Duration) -> Result<bool, Self::Error> {
///         Ok(true) // INSERT .. ON CONFLICT DO NOTHING
///     }
///     async fn get(
///         &self,
///         id: String,
///         renew: Option<Duration>,
///     ) -> Result<Option<Record>, Self::Error> {
///         Ok(None) // SELECT .. WHERE expires > now()
///     }
///     async fn save(
///         &self,
///         id: String,
///         data: Bytes,
///         expected_version: u64,
///         ttl: Duration,
///     ) -> Result<bool, Self::Error> {
///         Ok(false) // UPDATE .. WHERE version = expected_version
///     }
///     async fn delete(&self, id: String) -> Result<(), Self::Error> {
///         Ok(()) // DELETE
///     }
/// }
///
/// let store: Box<dyn SessionStore> = Box::new(Simple::new(Table));
/// ```
pub trait SimpleSessionStore: Send + Sync + 'static {
    /// What the store fails with; its text is for the server's own log.
    type Error: fmt::Display;

    /// Stores `data` under `id`; false where a live record has that id.
    fn create(
        &self,
        id: String,
        data: Bytes,
        ttl: Duration,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    /// The live record of that id. `renew` gives it that long to live from now, without changing
    /// its version; this may be skipped while 7/8 of it remain.
    fn get(
        &self,
        id: String,
        renew: Option<Duration>,
    ) -> impl Future<Output = Result<Option<Record>, Self::Error>> + Send;

    /// Replaces the data and renews the record's life; false where the version is not the
    /// expected one, or there is no live record.
    fn save(
        &self,
        id: String,
        data: Bytes,
        expected_version: u64,
        ttl: Duration,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send;

    /// Forgets the record, if there is one.
    fn delete(&self, id: String) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// A [`SessionStore`] made of a [`SimpleSessionStore`], or a [`Hub`](super::Hub) made of a
/// [`SimpleHub`](super::SimpleHub). Cloning shares it.
#[derive(Debug)]
pub struct Simple<S>(pub(super) Arc<S>);

impl<S> Simple<S> {
    /// A store whose operations are those of `store`.
    pub fn new(store: S) -> Self {
        Self(Arc::new(store))
    }
}

impl<S> Clone for Simple<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: SimpleSessionStore> SessionStore for Simple<S> {
    fn execute(&self, _: Instant, op: SessionOp) -> Execution {
        let store = Arc::clone(&self.0);
        Execution::Later(Box::pin(async move {
            let done = match op {
                SessionOp::Create { id, data, ttl, .. } => {
                    store.create(id, data, ttl).await.map(Reply::Created)
                }
                SessionOp::Get { id, renew } => store.get(id, renew).await.map(Reply::Record),
                SessionOp::Save { id, data, expected_version, ttl } => {
                    store.save(id, data, expected_version, ttl).await.map(Reply::Saved)
                }
                SessionOp::Delete { id } => store.delete(id).await.map(|()| Reply::Deleted),
            };
            done.map_err(|error| EffectError::Unavailable(error.to_string()))
        }))
    }
}
