//! Sessions and events in Redis.

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;

use super::super::hub::Log;
use super::super::{SimpleSessionStore, Sleep};
use super::bounded;
use crate::effect::EffectError;
use crate::store::redis::{BadValue, Layout, Script, Value, found, number, record};
use crate::store::sql::millis;
use crate::store::{Bell, DELETED_FOR, Found, PAGE_BYTES, PAGE_MESSAGES, Place, Record};

/// Who sends scripts to Redis.
pub trait RedisExecutor: Send + Sync + 'static {
    /// Runs a script and returns its value.
    fn eval(
        &self,
        script: Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> impl Future<Output = Result<Value, EffectError>> + Send;
}

/// The keys of a [`Layout`]: a session store, and the log of a hub. Cloning shares the executor.
pub struct RedisKeys<E>(Arc<Inner<E>>);

struct Inner<E> {
    executor: E,
    layout: Layout,
    sleep: Arc<dyn Sleep>,
    keep: u32,
    event_ttl: Duration,
}

impl<E: RedisExecutor> RedisKeys<E> {
    /// The keys of `layout` behind `executor`. At most `keep` events of a topic are kept, for
    /// `event_ttl` where who publishes does not want them for longer.
    pub fn new(
        executor: E,
        layout: Layout,
        sleep: Arc<dyn Sleep>,
        keep: u32,
        event_ttl: Duration,
    ) -> Self {
        Self(Arc::new(Inner { executor, layout, sleep, keep, event_ttl }))
    }

    /// The executor.
    pub fn executor(&self) -> &E {
        &self.0.executor
    }

    /// The layout.
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }

    async fn eval(
        &self,
        script: Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> Result<Value, EffectError> {
        let call = self.0.executor.eval(script, keys, arguments);
        bounded(&*self.0.sleep, "redis store", call).await
    }

    async fn count(
        &self,
        script: Script,
        key: String,
        arguments: &[&[u8]],
    ) -> Result<u64, EffectError> {
        number(self.eval(script, &[key], arguments).await?).map_err(odd)
    }
}

fn odd(value: BadValue) -> EffectError {
    EffectError::Unavailable(format!("redis store: {value}"))
}

/// A number as an argument. A TTL of nothing would be refused: it is a millisecond.
fn spelt(duration: Duration) -> String {
    millis(duration).max(1).to_string()
}

impl<E> Clone for RedisKeys<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E> fmt::Debug for RedisKeys<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RedisKeys").field(&self.0.layout).finish()
    }
}

impl<E: RedisExecutor> SimpleSessionStore for RedisKeys<E> {
    type Error = EffectError;

    async fn create(&self, id: String, data: Bytes, ttl: Duration) -> Result<bool, EffectError> {
        let (key, ttl) = (self.0.layout.session(&id), spelt(ttl));
        Ok(self.count(Script::Create, key, &[&data, ttl.as_bytes()]).await? == 1)
    }

    async fn get(
        &self,
        id: String,
        renew: Option<Duration>,
    ) -> Result<Option<Record>, EffectError> {
        let key = self.0.layout.session(&id);
        let ttl = renew.map_or_else(|| "0".to_owned(), spelt);
        let due = (millis(renew.unwrap_or_default()) / 8 * 7).to_string();
        let value = self.eval(Script::Get, &[key], &[ttl.as_bytes(), due.as_bytes()]).await?;
        record(value).map_err(odd)
    }

    async fn save(
        &self,
        id: String,
        data: Bytes,
        expected_version: u64,
        ttl: Duration,
    ) -> Result<bool, EffectError> {
        let (key, ttl) = (self.0.layout.session(&id), spelt(ttl));
        let version = expected_version.to_string();
        let arguments: [&[u8]; 3] = [&data, version.as_bytes(), ttl.as_bytes()];
        Ok(self.count(Script::Save, key, &arguments).await? == 1)
    }

    async fn delete(&self, id: String) -> Result<(), EffectError> {
        self.eval(Script::Forget, &[self.0.layout.session(&id)], &[]).await?;
        Ok(())
    }
}

impl<E: RedisExecutor> Log for RedisKeys<E> {
    async fn append(
        &self,
        topic: &str,
        message: &[u8],
        ttl: Duration,
        keep: u32,
    ) -> Result<Place, EffectError> {
        let Inner { layout, keep: most, event_ttl, .. } = &*self.0;
        let (keep, ttl) = (keep.min(*most).max(1).to_string(), spelt(ttl.max(*event_ttl)));
        let (channel, bell) = (layout.channel(), Bell::of(topic).to_string());
        let arguments: [&[u8]; 5] =
            [message, keep.as_bytes(), ttl.as_bytes(), channel.as_bytes(), bell.as_bytes()];
        self.count(Script::Publish, layout.topic(topic), &arguments).await
    }

    async fn read_after(&self, topics: &[(String, Place)]) -> Result<Vec<Found>, EffectError> {
        let layout = &self.0.layout;
        let keys: Vec<_> = topics.iter().map(|(topic, _)| layout.topic(topic)).collect();
        let limits = [PAGE_MESSAGES as u64, PAGE_BYTES as u64];
        let places = topics.iter().map(|(_, after)| *after).chain(limits);
        let spelt: Vec<_> = places.map(|place| place.to_string()).collect();
        let arguments: Vec<_> = spelt.iter().map(|place| place.as_bytes()).collect();
        found(self.eval(Script::ReadAfter, &keys, &arguments).await?).map_err(odd)
    }

    async fn position(&self, topic: &str) -> Result<Place, EffectError> {
        self.count(Script::Position, self.0.layout.topic(topic), &[]).await
    }

    async fn delete(&self, topic: &str) -> Result<(), EffectError> {
        let layout = &self.0.layout;
        let (ttl, channel) = (spelt(DELETED_FOR), layout.channel());
        let bell = Bell::of(topic).to_string();
        let arguments = [ttl.as_bytes(), channel.as_bytes(), bell.as_bytes()];
        self.eval(Script::Delete, &[layout.topic(topic)], &arguments).await?;
        Ok(())
    }
}
