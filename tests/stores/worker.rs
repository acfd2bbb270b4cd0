//! A worker's stores, with their operations as functions.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mcp_proto::effect::{EffectError, Reply};
use mcp_proto::service::{Execution, Hub, SessionStore, Storage};
use mcp_proto::store::{Cursor, HubOp, Polled, Read, SessionOp};
use mcp_proto::testing::contract::Time;
use mcp_proto::time::Instant;

pub(crate) const TTL: Duration = Duration::from_secs(600);

/// A store and a hub, with their operations as functions.
pub(crate) struct Worker {
    sessions: Arc<dyn SessionStore>,
    hub: Arc<dyn Hub>,
}

pub(crate) type Answer<T> = Result<T, EffectError>;

impl Worker {
    pub(crate) fn of(storage: &impl Storage) -> Self {
        Self { sessions: storage.session_store(), hub: storage.hub() }
    }

    pub(crate) async fn create(&self, id: &str, data: &str, ttl: Duration) -> Answer<bool> {
        let (id, data) = (id.to_owned(), Bytes::copy_from_slice(data.as_bytes()));
        let op = SessionOp::Create { id, data, ttl, charged_to: None };
        match done(self.sessions.execute(Instant::ZERO, op)).await? {
            Reply::Created(created) => Ok(created),
            reply => panic!("{reply:?}"),
        }
    }

    pub(crate) async fn get(&self, id: &str) -> Answer<Option<Bytes>> {
        let op = SessionOp::Get { id: id.to_owned(), renew: None };
        match done(self.sessions.execute(Instant::ZERO, op)).await? {
            Reply::Record(record) => Ok(record.map(|record| record.data)),
            reply => panic!("{reply:?}"),
        }
    }

    pub(crate) async fn publish(
        &self,
        topic: &str,
        message: &str,
        ttl: Duration,
    ) -> Answer<Cursor> {
        let message = Bytes::copy_from_slice(message.as_bytes());
        let op = HubOp::Publish { topic: topic.to_owned(), message, ttl, keep: 1_000 };
        match done(self.hub.execute(Instant::ZERO, op)).await? {
            Reply::Published(cursor) => Ok(cursor),
            reply => panic!("{reply:?}"),
        }
    }

    /// The messages after a cursor, which may lose none.
    pub(crate) async fn poll(
        &self,
        topic: &str,
        after: &Cursor,
        wait: Duration,
    ) -> Answer<Vec<Bytes>> {
        let op = HubOp::Poll { topics: vec![(topic.to_owned(), after.clone())], wait };
        match done(self.hub.execute(Instant::ZERO, op)).await? {
            Reply::Polled(polled) => Ok(polled.into_iter().flat_map(messages).collect()),
            reply => panic!("{reply:?}"),
        }
    }
}

fn messages(polled: Polled) -> Vec<Bytes> {
    match polled.read {
        Read::Messages { messages, lost: false, .. } => {
            messages.into_iter().map(|(_, message)| message).collect()
        }
        read => panic!("something was lost: {read:?}"),
    }
}

async fn done(execution: Execution) -> Answer<Reply> {
    match execution {
        Execution::Done(reply) => reply,
        Execution::Later(reply) => reply.await,
    }
}

/// Tries again until it is done, as a client would; how often it failed.
pub(crate) async fn retried<T, F: Future<Output = Answer<T>>>(
    time: &dyn Time,
    mut call: impl FnMut() -> F,
) -> (T, usize) {
    for failed in 0..200 {
        match call().await {
            Ok(value) => return (value, failed),
            Err(_) => time.pass(Duration::from_millis(50)).await,
        }
    }
    panic!("it never came back: {:?}", call().await.err());
}
