//! The session that a call belongs to.

use core::fmt;

use super::Json;

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
