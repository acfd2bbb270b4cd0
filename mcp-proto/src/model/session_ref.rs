//! The session that a call belongs to.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use super::{Json, Text};

/// Under whose name a call keeps things, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keeping {
    pub(crate) namespace: Text,
    /// The principal's identity, where what is kept is bound to it.
    pub(crate) owner: Option<String>,
    pub(crate) ttl: Duration,
    /// Whom a store charges for it.
    pub(crate) charged_to: Option<Arc<str>>,
}

#[cfg(feature = "service")]
impl Keeping {
    /// The key of a thing of that kind.
    pub(crate) fn key(&self, kind: &str, name: &str) -> String {
        crate::store::topic(&self.namespace, kind, Some(name))
    }
}

/// The session that a call belongs to: where its record is, and the application's values in it as
/// they were when the call began.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionRef {
    key: String,
    values: Option<Json>,
}

impl SessionRef {
    pub(crate) fn new(key: String, values: Option<Json>) -> Self {
        Self { key, values }
    }

    /// The record's key in the session store. It opens the session, so it is a secret.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The application's values: an object, where any were set.
    pub fn values(&self) -> Option<&Json> {
        self.values.as_ref()
    }
}

impl fmt::Debug for SessionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionRef").field("values", &self.values).finish_non_exhaustive()
    }
}
