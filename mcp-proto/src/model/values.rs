//! An application's own values, by key.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Json;
use super::view::View;
use crate::frame::writer::Object;

/// Values by key, in the order in which the keys came: what an application keeps in a session. Each
/// is JSON text, and survives as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values(Vec<(String, Json)>);

impl Values {
    /// The members of an object; none where it is something else.
    pub(crate) fn of(object: Option<&Json>) -> Self {
        let view = object.and_then(|object| View::of(object.as_bytes()));
        let member = |(key, value): (std::borrow::Cow<'_, str>, &[u8])| {
            (key.into_owned(), super::view::copied(value))
        };
        Self(view.iter().flat_map(View::iter).map(member).collect())
    }

    /// The values that `object` serializes to.
    ///
    /// # Errors
    /// Where it cannot be JSON, or is no object that names each member once.
    pub fn from_object<T: Serialize + ?Sized>(object: &T) -> Result<Self, serde_json::Error> {
        let object = Json::of(object)?;
        if View::of(object.as_bytes()).is_none() {
            let why = "values are an object that names each member once";
            return Err(serde::ser::Error::custom(why));
        }
        Ok(Self::of(Some(&object)))
    }

    /// The value under `key`; `None` where there is none.
    ///
    /// # Errors
    /// Where it has not the shape of a `T`.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, serde_json::Error> {
        self.raw(key).map(Json::decode).transpose()
    }

    /// The value under `key`, as it was written.
    pub fn raw(&self, key: &str) -> Option<&Json> {
        self.0.iter().find(|(own, _)| own == key).map(|(_, value)| value)
    }

    /// Puts a value under `key`, in place of what was there.
    ///
    /// # Errors
    /// Where it cannot be JSON.
    pub fn set<T: Serialize + ?Sized>(
        &mut self,
        key: impl Into<String>,
        value: &T,
    ) -> Result<(), serde_json::Error> {
        self.put(key.into(), Json::of(value)?);
        Ok(())
    }

    /// Puts JSON text under `key`, in place of what was there.
    pub fn put(&mut self, key: impl Into<String>, value: Json) {
        let key = key.into();
        match self.0.iter_mut().find(|(own, _)| *own == key) {
            Some((_, own)) => *own = value,
            None => self.0.push((key, value)),
        }
    }

    /// Removes what is under `key`.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let index = self.0.iter().position(|(own, _)| own == key)?;
        Some(self.0.remove(index).1)
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    /// All of them as one object.
    pub fn to_json(&self) -> Json {
        let mut out = Vec::new();
        let mut object = Object::begin(&mut out);
        for (key, value) in &self.0 {
            value.write(object.value(key));
        }
        object.end();
        Json::scanned(out.into())
    }
}
