//! A store that saves whatever the version: what the test must notice.

use std::sync::Arc;

use mcp_driver_tokio::mcp_proto::effect::{EffectError, Reply};
use mcp_driver_tokio::mcp_proto::store::SessionOp;
use mcp_driver_tokio::mcp_proto::time::Instant;
use mcp_driver_tokio::{Execution, SessionStore};

/// A session store with compare-and-set switched off.
pub(crate) struct Blind(pub(crate) Arc<dyn SessionStore>);

impl SessionStore for Blind {
    fn execute(&self, now: Instant, op: SessionOp) -> Execution {
        let SessionOp::Save { id, data, ttl, .. } = op else { return self.0.execute(now, op) };
        let store = self.0.clone();
        Execution::Later(Box::pin(async move {
            loop {
                let get = SessionOp::Get { id: id.clone(), renew: None };
                let Reply::Record(Some(found)) = done(store.execute(now, get)).await? else {
                    return Ok(Reply::Saved(false));
                };
                let (id, data, expected_version) = (id.clone(), data.clone(), found.version);
                let save = SessionOp::Save { id, data, expected_version, ttl };
                if let Reply::Saved(true) = done(store.execute(now, save)).await? {
                    return Ok(Reply::Saved(true));
                }
            }
        }))
    }
}

async fn done(execution: Execution) -> Result<Reply, EffectError> {
    match execution {
        Execution::Done(reply) => reply,
        Execution::Later(reply) => reply.await,
    }
}
