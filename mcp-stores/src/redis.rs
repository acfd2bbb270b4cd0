//! Redis, for workers anywhere.

use core::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::StreamExt;
use mcp_proto::effect::EffectError;
use mcp_proto::service::hub::{News, WaitingHub, Wake};
use mcp_proto::service::storage::{RedisExecutor, RedisKeys};
use mcp_proto::service::{Hub, SessionStore, Simple, Sleep, Storage};
use mcp_proto::store::Bell;
use mcp_proto::store::redis::{Layout, Script, Value};
use redis::aio::{MultiplexedConnection, PubSubStream};
use redis::{AsyncConnectionConfig, Client, RedisError};

use crate::background::{Background, Kept};
use crate::builder::Builder;
use crate::runtime::Runtime;
use crate::{CONNECT, LOOK_AGAIN};

/// Sessions and events on a Redis server, 6.2 or later. Cloning shares its connections: one for
/// commands, one for news.
///
/// Redis removes by itself what has expired. Give it a `maxmemory` that the sessions fit in, and
/// the policy `noeviction`: what it evicts is lost.
#[derive(Clone)]
pub struct RedisStorage {
    keys: RedisKeys<Connection>,
    hub: WaitingHub<RedisKeys<Connection>>,
    background: Arc<Background>,
}

/// How to open a [`RedisStorage`].
pub type RedisBuilder = Builder<RedisServer>;

/// A Redis server, and how to use it.
#[derive(Debug)]
pub struct RedisServer {
    client: Result<Client, RedisError>,
    prefix: String,
    keep: u32,
}

impl RedisServer {
    fn builder(client: Result<Client, RedisError>) -> RedisBuilder {
        let prefix = Layout::PREFIX.to_owned();
        Builder::new(Self { client, prefix, keep: RedisStorage::KEEP })
    }
}

impl RedisStorage {
    /// How many events of a topic are kept unless told otherwise.
    pub const KEEP: u32 = 1_000;

    /// Connects to the server at `url` (`redis://:password@host:6379/0`), with everything by
    /// default.
    ///
    /// # Errors
    /// Where the server is not there.
    pub async fn connect(url: &str) -> Result<Self, EffectError> {
        Self::builder(url).open().await
    }

    /// Connects to the server at `url` otherwise.
    pub fn builder(url: &str) -> RedisBuilder {
        RedisServer::builder(Client::open(url))
    }

    /// Uses a client of the application's own.
    pub fn from_client(client: Client) -> RedisBuilder {
        RedisServer::builder(Ok(client))
    }
}

impl Storage for RedisStorage {
    fn session_store(&self) -> Arc<dyn SessionStore> {
        let inner = Simple::new(self.keys.clone());
        Arc::new(Kept { inner, background: Arc::clone(&self.background) })
    }

    fn hub(&self) -> Arc<dyn Hub> {
        Arc::new(Kept { inner: self.hub.clone(), background: Arc::clone(&self.background) })
    }
}

impl fmt::Debug for RedisStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RedisStorage").field(self.keys.layout()).finish()
    }
}

impl RedisBuilder {
    /// What all keys begin with. `mcp:` by default; on Redis Cluster with a hash tag: `{mcp}:`.
    pub fn prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.kind.prefix);
        self
    }

    /// How many events of a topic are kept at most. 1,000 by default.
    pub fn keep(mut self, most: u32) -> Self {
        self.kind.keep = most;
        self
    }

    /// Connects.
    ///
    /// # Errors
    /// Where the server is not there.
    pub async fn open(self) -> Result<RedisStorage, EffectError> {
        let runtime = Runtime::here()?;
        let RedisServer { client, prefix, keep } = self.kind;
        let connection = Connection::new(client.map_err(|error| failed(&error))?);
        connection.get().await.map_err(|error| failed(&error))?;
        let layout = Layout::new(prefix);
        let subscribe = Subscribe {
            connection: connection.clone(),
            channel: layout.channel(),
            runtime: runtime.clone(),
            heard: None,
        };

        let sleep: Arc<dyn Sleep> = Arc::new(runtime.clone());
        let keys = RedisKeys::new(connection, layout, Arc::clone(&sleep), keep, self.event_ttl);
        let hub = WaitingHub::new(keys.clone(), sleep);
        let mut background = Background::default();
        let report = self.report;
        background.run(&runtime, hub.heed(subscribe, LOOK_AGAIN, move |error| report(error)));
        Ok(RedisStorage { keys, hub, background: Arc::new(background) })
    }
}

fn failed(error: &RedisError) -> EffectError {
    EffectError::Unavailable(format!(
        "redis store: {error}; is the server running, and its address right?"
    ))
}

/// The connection for commands, made anew where it was lost.
#[derive(Clone)]
struct Connection(Arc<Inner>);

struct Inner {
    client: Client,
    current: Mutex<Option<MultiplexedConnection>>,
    scripts: Vec<(Script, redis::Script)>,
}

impl Connection {
    fn new(client: Client) -> Self {
        let scripts = Script::ALL.map(|script| (script, redis::Script::new(script.text()))).into();
        Self(Arc::new(Inner { client, current: Mutex::default(), scripts }))
    }

    async fn get(&self) -> Result<MultiplexedConnection, RedisError> {
        if let Some(current) = self.with_current(|current| current.clone()) {
            return Ok(current);
        }
        // Calls end by a timer of our own, which is the longer one.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT))
            .set_response_timeout(None);
        let new = self.0.client.get_multiplexed_async_connection_with_config(&config).await?;
        self.with_current(|current| *current = Some(new.clone()));
        Ok(new)
    }

    /// The server went: the next call connects anew.
    fn lost(&self) {
        self.with_current(|current| *current = None);
    }

    fn with_current<T>(&self, then: impl FnOnce(&mut Option<MultiplexedConnection>) -> T) -> T {
        then(&mut self.0.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn invoke(
        &self,
        script: Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> Result<redis::Value, RedisError> {
        let known = self.0.scripts.iter().find(|(own, _)| *own == script);
        let Some((_, known)) = known else { return Ok(redis::Value::Nil) };
        let mut invocation = known.prepare_invoke();
        for key in keys {
            invocation.key(key);
        }
        for argument in arguments {
            invocation.arg(*argument);
        }
        let mut connection = self.get().await?;
        let outcome = invocation.invoke_async(&mut connection).await;
        if outcome.as_ref().is_err_and(|error| error.is_unrecoverable_error()) {
            self.lost();
        }
        outcome
    }
}

impl RedisExecutor for Connection {
    async fn eval(
        &self,
        script: Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> Result<Value, EffectError> {
        let value = match self.invoke(script, keys, arguments).await {
            // It may have been done, or not: only what may be done twice is tried again.
            Err(error) if error.is_unrecoverable_error() && script.may_repeat() => {
                self.invoke(script, keys, arguments).await
            }
            value => value,
        };
        value.map(plain).map_err(|error| failed(&error))
    }
}

fn plain(value: redis::Value) -> Value {
    match value {
        redis::Value::Int(number) => Value::Integer(number),
        redis::Value::BulkString(bytes) => Value::Bytes(Bytes::from(bytes)),
        redis::Value::SimpleString(text) => Value::Bytes(Bytes::from(text)),
        redis::Value::Array(values) => Value::Array(values.into_iter().map(plain).collect()),
        _ => Value::Nil,
    }
}

/// Hears what every worker publishes, on a connection of its own.
struct Subscribe {
    connection: Connection,
    channel: String,
    runtime: Runtime,
    heard: Option<PubSubStream>,
}

impl Subscribe {
    async fn connect(&mut self) -> Result<News, EffectError> {
        let subscribe = async {
            let mut pubsub = self.connection.0.client.get_async_pubsub().await?;
            pubsub.subscribe(&self.channel).await?;
            Ok(pubsub.into_on_message())
        };
        let subscribed = self.runtime.within(CONNECT, subscribe).await;
        let subscribed =
            subscribed.unwrap_or(Err(RedisError::from(io::Error::from(io::ErrorKind::TimedOut))));
        self.heard = Some(subscribed.map_err(|error| failed(&error))?);
        Ok(News::Any)
    }
}

impl Wake for Subscribe {
    async fn next(&mut self) -> Result<News, EffectError> {
        let Some(heard) = &mut self.heard else {
            return self.connect().await;
        };
        let Some(message) = heard.next().await else {
            self.heard = None;
            self.connection.lost();
            return Err(EffectError::Unavailable(
                "redis store: the connection for news was closed; connecting anew".into(),
            ));
        };
        let bell = core::str::from_utf8(message.get_payload_bytes()).ok().and_then(Bell::parse);
        Ok(bell.map_or(News::Any, |bell| News::Of(vec![bell])))
    }
}
