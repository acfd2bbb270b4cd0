//! The contract of session stores.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;

/// One operation of a session store. Values are JSON text; ids are opaque and may be secrets.
///
/// Each is atomic: two workers that do the same at the same time see it happen once.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionOp {
    /// Stores `data` under `id`, unless a live record is there. Answered by
    /// [`Reply::Created`](crate::effect::Reply::Created).
    Create {
        /// The new record's id.
        id: String,
        /// JSON text.
        data: Bytes,
        /// How long the record lives without being renewed.
        ttl: Duration,
        /// Whose it is, for a store that shares out its room: the principal, or the network
        /// address that the request came from; `None` where neither is known. It is no part of
        /// the record.
        charged_to: Option<Arc<str>>,
    },
    /// Reads the live record. Answered by [`Reply::Record`](crate::effect::Reply::Record).
    Get {
        /// The record's id.
        id: String,
        /// Renews the record's life to this, unless it lives for longer anyway, without changing
        /// its version. A store may skip the write while 7/8 of it remain.
        renew: Option<Duration>,
    },
    /// Replaces the data and renews the life, if the version is still the expected one. Answered
    /// by [`Reply::Saved`](crate::effect::Reply::Saved).
    Save {
        /// The record's id.
        id: String,
        /// JSON text.
        data: Bytes,
        /// The version that the new data were made from.
        expected_version: u64,
        /// How long the record lives without being renewed.
        ttl: Duration,
    },
    /// Forgets the record. Answered by [`Reply::Deleted`](crate::effect::Reply::Deleted).
    Delete {
        /// The record's id.
        id: String,
    },
}

impl fmt::Debug for SessionOp {
    /// Shows what is done and how much, not to whom: an id opens its session.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { data, ttl, .. } => write!(f, "Create({} bytes, {ttl:?})", data.len()),
            Self::Get { renew, .. } => write!(f, "Get(renew: {renew:?})"),
            Self::Save { data, expected_version, ttl, .. } => {
                write!(f, "Save({} bytes over version {expected_version}, {ttl:?})", data.len())
            }
            Self::Delete { .. } => f.write_str("Delete"),
        }
    }
}

/// A live record of a session store.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    /// JSON text.
    pub data: Bytes,
    /// Changes with every save. A later record of the same id has none of the earlier versions.
    pub version: u64,
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Record({} bytes, version {})", self.data.len(), self.version)
    }
}
