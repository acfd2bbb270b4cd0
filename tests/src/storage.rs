//! Any of the stores, by its address.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::effect::EffectError;
use mcp_proto::service::{Hub, MemoryHub, MemorySessionStore, SessionStore, Sleep, Storage};
use mcp_stores::{PostgresStorage, RedisStorage, SqliteStorage};

/// A storage that was opened, whichever it is. Cloning shares it.
#[derive(Clone)]
pub struct Opened {
    sessions: Arc<dyn SessionStore>,
    hub: Arc<dyn Hub>,
}

impl Opened {
    /// Opens the store at `address`: `redis://..`, `postgres://..`, the path of a SQLite file, or
    /// `memory` for one of this process alone.
    ///
    /// # Errors
    /// Where it is not there.
    pub async fn at(address: &str) -> Result<Self, EffectError> {
        let scheme = address.split_once("://").map(|(scheme, _)| scheme);
        Ok(match scheme {
            Some("redis") => Self::of(&RedisStorage::connect(address).await?),
            Some(_) => Self::of(&PostgresStorage::connect(address).await?),
            None if address == "memory" => Self::memory(),
            None => Self::of(&SqliteStorage::open(Path::new(address)).await?),
        })
    }

    /// A store of this process alone.
    pub fn memory() -> Self {
        let hub = MemoryHub::with_timer(Arc::new(Here));
        Self { sessions: Arc::new(MemorySessionStore::new()), hub: Arc::new(hub) }
    }

    fn of(storage: &impl Storage) -> Self {
        Self { sessions: storage.session_store(), hub: storage.hub() }
    }
}

/// The timer of the runtime that asks.
struct Here;

impl Sleep for Here {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match tokio::runtime::Handle::try_current() {
            Ok(_) => Box::pin(tokio::time::sleep(duration)),
            Err(_) => Box::pin(async_std::task::sleep(duration)),
        }
    }
}

impl Storage for Opened {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        Arc::clone(&self.sessions)
    }

    fn hub(&self) -> Arc<dyn Hub> {
        Arc::clone(&self.hub)
    }
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Opened(..)")
    }
}
