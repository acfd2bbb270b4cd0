//! Sessions, as handlers see them: values that outlive the call.

use core::fmt;
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::line::Line;
use super::{Error, Exchange};
use crate::effect::{Effect, Reply};
use crate::model::Values;
use crate::server::session::{self as record, Session as Record};
use crate::store::SessionOp;

/// How often a change is tried where others change the same session.
const TRIES: u32 = 12;

/// Values that are kept between calls, on whichever worker they run: those of the client's
/// session, or of one that is [opened by hand](Sessions::open). Cloning shares it.
///
/// Reading shows the values as they were when the call began, with what was written here since.
/// Writing is by compare-and-set: a change that another worker forestalled is made again from
/// fresh values. Values are JSON.
///
/// ```
/// use mcp_proto::service::{Error, Exchange};
///
/// async fn count(ex: Exchange) -> Result<String, Error> {
///     let Some(session) = ex.session() else { return Ok("no session".into()) };
///     let count = session.update(|values| {
///         let count = values.get::<u32>("count")?.unwrap_or_default() + 1;
///         values.set("count", &count)?;
///         Ok(count)
///     });
///     Ok(count.await?.to_string())
/// }
/// ```
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    line: Line,
    key: String,
    handle: Option<String>,
    values: Mutex<Values>,
}

impl Session {
    pub(super) fn new(line: Line, key: String, handle: Option<String>, values: Values) -> Self {
        Self(Arc::new(Inner { line, key, handle, values: Mutex::new(values) }))
    }

    /// What opens this session again, where it was [opened by hand](Sessions::open). Whoever has
    /// it and is the same principal may use the session.
    pub fn handle(&self) -> Option<&str> {
        self.0.handle.as_deref()
    }

    /// The value under `key`.
    ///
    /// # Errors
    /// Where it has not the shape of a `T`.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Error> {
        Ok(self.snapshot().get(key)?)
    }

    /// All values.
    pub fn values(&self) -> Values {
        self.snapshot().clone()
    }

    /// Puts a value under `key`, in place of what is there.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub async fn set<T: Serialize + ?Sized>(
        &self,
        key: impl Into<String>,
        value: &T,
    ) -> Result<(), Error> {
        let (key, value) = (key.into(), crate::model::Json::of(value)?);
        self.update(move |values| {
            values.put(key.clone(), value.clone());
            Ok(())
        })
        .await
    }

    /// Puts these values, an object, in place of all that there are.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub async fn replace<T: Serialize + ?Sized>(&self, values: &T) -> Result<(), Error> {
        let new = Values::from_object(values)?;
        self.update(move |values| {
            values.clone_from(&new);
            Ok(())
        })
        .await
    }

    /// Changes the value under `key` from what it is; `None` where there is none, and where there
    /// is to be none.
    ///
    /// # Errors
    /// As [`update`](Self::update), and where the value has not the shape of a `T`.
    pub async fn update_slot<T, U>(
        &self,
        key: &str,
        mut change: impl FnMut(Option<T>) -> Option<U>,
    ) -> Result<(), Error>
    where
        T: DeserializeOwned,
        U: Serialize,
    {
        let key = key.to_owned();
        self.update(move |values| {
            match change(values.get(&key)?) {
                Some(value) => values.set(key.clone(), &value)?,
                None => drop(values.remove(&key)),
            }
            Ok(())
        })
        .await
    }

    /// Changes the values from what they are now. Where another worker was faster, `change` is
    /// made again, from what that one left.
    ///
    /// # Errors
    /// What `change` fails with: nothing is written then. Where the session is gone, the store
    /// fails, or others are faster every time.
    pub async fn update<R>(
        &self,
        mut change: impl FnMut(&mut Values) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let line = &self.0.line;
        for attempt in 0..TRIES {
            self.pause(attempt).await?;
            let get = SessionOp::Get { id: self.0.key.clone(), renew: None };
            let Reply::Record(Some(found)) = line.ask(Effect::Session(get)).await? else {
                return Err(Error::internal("the session is gone"));
            };
            let mut record = Record::decode(&found.data)
                .ok_or_else(|| Error::internal("the session's record cannot be read"))?;
            let mut values = Values::of(record.values.as_ref());
            let result = change(&mut values)?;
            record.values = Some(values.to_json());
            let save = SessionOp::Save {
                id: self.0.key.clone(),
                data: record.encode(),
                expected_version: found.version,
                ttl: line.keeping().ttl,
            };
            if let Reply::Saved(true) = line.ask(Effect::Session(save)).await? {
                *self.snapshot() = values;
                return Ok(result);
            }
        }
        Err(Error::internal("the session changes too fast to be changed"))
    }

    /// The first retry is at once; then those who collided wait for a random while each.
    async fn pause(&self, attempt: u32) -> Result<(), Error> {
        let line = &self.0.line;
        if attempt > 1
            && let Reply::Random(random) = line.ask(Effect::Random).await?
        {
            let most = 1_000_u64 << attempt.min(8);
            let [a, b, c, ..] = random;
            let wait = u64::from(u32::from_le_bytes([a, b, c, 0])) % most;
            line.wait(Duration::from_micros(wait)).await;
        }
        Ok(())
    }

    fn snapshot(&self) -> MutexGuard<'_, Values> {
        self.0.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Session {
    /// Shows no key: it opens the session.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(&*self.snapshot()).finish()
    }
}

/// Sessions that are opened by hand, on any revision and transport; see [`Exchange::sessions`].
///
/// Give the [handle](Session::handle) to the model or the client, and take it as an argument.
#[derive(Clone, Copy, Debug)]
pub struct Sessions<'a>(&'a Exchange);

impl<'a> Sessions<'a> {
    pub(super) fn new(exchange: &'a Exchange) -> Self {
        Self(exchange)
    }

    /// Opens an empty session, which belongs to whoever makes this call.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn open(self) -> Result<Session, Error> {
        let line = self.0.line();
        let Reply::Random(random) = line.ask(Effect::Random).await? else {
            return Err(Error::internal("no random bytes"));
        };
        let (handle, keeping) = (record::mint(&random), line.keeping());
        let key = keeping.key("handle", &handle);
        let record = Record { owner: keeping.owner.clone(), ..Record::default() };
        let (id, data, ttl) = (key.clone(), record.encode(), keeping.ttl);
        let charged_to = keeping.charged_to.clone();
        let create = SessionOp::Create { id, data, ttl, charged_to };
        match line.ask(Effect::Session(create)).await? {
            Reply::Created(true) => Ok(Session::new(line, key, Some(handle), Values::default())),
            _ => Err(Error::internal("the session could not be opened")),
        }
    }

    /// The session of that handle; `None` where it expired, never was, or belongs to somebody
    /// else. Its life begins anew.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn use_handle(self, handle: &str) -> Result<Option<Session>, Error> {
        let line = self.0.line();
        if !record::is_well_formed(handle.as_bytes()) {
            return Ok(None);
        }
        let keeping = line.keeping();
        let key = keeping.key("handle", handle);
        let get = SessionOp::Get { id: key.clone(), renew: Some(keeping.ttl) };
        let Reply::Record(Some(found)) = line.ask(Effect::Session(get)).await? else {
            return Ok(None);
        };
        let record = Record::decode(&found.data).filter(|it| it.owner == keeping.owner);
        Ok(record.map(|record| {
            let values = Values::of(record.values.as_ref());
            Session::new(line, key, Some(handle.to_owned()), values)
        }))
    }

    /// Ends the session of that handle, if it is one that [`use_handle`](Self::use_handle) gives.
    ///
    /// # Errors
    /// Where the store fails.
    pub async fn drop(self, handle: &str) -> Result<(), Error> {
        if let Some(session) = self.use_handle(handle).await? {
            let delete = SessionOp::Delete { id: session.0.key.clone() };
            session.0.line.ask(Effect::Session(delete)).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
