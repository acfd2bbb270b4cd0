//! Redis, for workers anywhere.

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::future::{BoxFuture, Shared};
use futures_util::{FutureExt, StreamExt};
use mcp_proto::effect::EffectError;
use mcp_proto::service::hub::{News, WaitingHub, Wake};
use mcp_proto::service::storage::{RedisExecutor, RedisKeys};
use mcp_proto::service::{Hub, SessionStore, Simple, Sleep, Storage};
use mcp_proto::store::Bell;
use mcp_proto::store::redis::{Layout, Script, Value};
use redis::aio::{MultiplexedConnection, PubSubSink, PubSubStream};
use redis::{AsyncConnectionConfig, Client, RedisError};

use crate::background::{Background, Kept};
use crate::builder::Builder;
use crate::runtime::Runtime;
use crate::{CONNECT, LOOK_AGAIN, QUIET};

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
        connection.current().await.map_err(|error| failed(&error))?;
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
        let report = self.report;
        let mut background = Background::new(Arc::clone(&report));
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
    current: Mutex<Option<Connecting>>,
    scripts: Vec<(Script, redis::Script)>,
}

/// One connection, for all who wait for it and use it.
type Connecting = Shared<BoxFuture<'static, Result<MultiplexedConnection, RedisError>>>;

/// A connection on which an answer takes longer is given up: the server may never send it. Calls
/// end by a timer of their own, a little later.
const ANSWER: Duration = Duration::from_secs(4);

impl Connection {
    fn new(client: Client) -> Self {
        let scripts = Script::ALL.map(|script| (script, redis::Script::new(script.text()))).into();
        Self(Arc::new(Inner { client, current: Mutex::default(), scripts }))
    }

    /// The connection as it is now, or is being made.
    fn current(&self) -> Connecting {
        let connect = || {
            let config = AsyncConnectionConfig::new()
                .set_connection_timeout(Some(CONNECT))
                .set_response_timeout(Some(ANSWER));
            let client = self.0.client.clone();
            let connect =
                async move { client.get_multiplexed_async_connection_with_config(&config).await };
            connect.boxed().shared()
        };
        self.slot().get_or_insert_with(connect).clone()
    }

    /// That one is of no use any more: the next call connects anew.
    fn lost(&self, connection: &Connecting) {
        let mut slot = self.slot();
        if slot.as_ref().is_some_and(|current| current.ptr_eq(connection)) {
            *slot = None;
        }
    }

    fn slot(&self) -> MutexGuard<'_, Option<Connecting>> {
        self.0.current.lock().unwrap_or_else(PoisonError::into_inner)
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
        let connection = self.current();
        let mut connected = connection.clone().await.inspect_err(|_| self.lost(&connection))?;
        let outcome = invocation.invoke_async(&mut connected).await;
        if outcome.as_ref().is_err_and(is_fatal) {
            self.lost(&connection);
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
            Err(error) if is_fatal(&error) && script.may_repeat() => {
                self.invoke(script, keys, arguments).await
            }
            value => value,
        };
        value.map(plain).map_err(|error| failed(&error))
    }
}

/// Whether the connection cannot be used any more.
fn is_fatal(error: &RedisError) -> bool {
    error.is_unrecoverable_error() || error.is_io_error()
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
    heard: Option<(PubSubSink, PubSubStream)>,
}

impl Subscribe {
    async fn connect(&mut self) -> Result<News, EffectError> {
        let subscribe = async {
            let mut pubsub = self.connection.0.client.get_async_pubsub().await?;
            pubsub.subscribe(&self.channel).await?;
            Ok(pubsub.split())
        };
        self.heard = Some(self.soon(subscribe).await?);
        Ok(News::Any)
    }

    async fn soon<T>(
        &self,
        answer: impl Future<Output = Result<T, RedisError>>,
    ) -> Result<T, EffectError> {
        let answer = self.runtime.within(CONNECT, answer).await;
        let late = || Err(RedisError::from(io::Error::from(io::ErrorKind::TimedOut)));
        answer.unwrap_or_else(late).map_err(|error| failed(&error))
    }
}

impl Wake for Subscribe {
    async fn next(&mut self) -> Result<News, EffectError> {
        let Some((mut sink, mut stream)) = self.heard.take() else {
            return self.connect().await;
        };
        let heard = loop {
            match self.runtime.within(QUIET, stream.next()).await {
                Some(heard) => break heard,
                None => self.soon(sink.ping::<redis::Value>()).await?,
            };
        };
        let Some(message) = heard else {
            *self.connection.slot() = None; // it was to the same server
            return Err(EffectError::Unavailable(
                "redis store: the connection for news was closed, and is being made anew; is the \
                 server running?"
                    .into(),
            ));
        };
        self.heard = Some((sink, stream));
        let bell = core::str::from_utf8(message.get_payload_bytes()).ok().and_then(Bell::parse);
        Ok(bell.map_or(News::Any, |bell| News::Of(vec![bell])))
    }
}
