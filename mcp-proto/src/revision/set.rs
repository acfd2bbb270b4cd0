//! The revisions that an endpoint speaks.

use core::fmt;
use std::sync::Arc;

use super::{Adapter, Revision};
use crate::frame::writer::Object;
use crate::frame::{json, writer};
use crate::model::{Failure, FailureKind, Json};

/// The revisions that a server or client speaks. It negotiates, advertises and accepts only these.
///
/// Cloning is cheap. The default is every published revision.
#[derive(Clone, Debug)]
pub struct AdapterSet {
    /// Newest first.
    adapters: Arc<[Adapter]>,
    fallback: usize,
}

/// That revision alone.
impl From<Revision> for AdapterSet {
    fn from(revision: Revision) -> Self {
        Self { adapters: [*revision.adapter()].into(), fallback: 0 }
    }
}

impl AdapterSet {
    /// A set of these revisions, in any order. What cannot be attributed to one of them is
    /// answered as the newest would; [`fallback`](Self::with_fallback) changes that.
    ///
    /// # Errors
    /// Where there is none, or one version occurs twice.
    pub fn new(adapters: impl IntoIterator<Item = Adapter>) -> Result<Self, AdapterSetError> {
        let mut adapters: Vec<_> = adapters.into_iter().collect();
        if adapters.is_empty() {
            return Err(AdapterSetError::Empty);
        }
        // Versions are dates, so the newest is the greatest text.
        adapters.sort_by(|a, b| b.version.cmp(a.version));
        let twice = adapters.iter().zip(adapters.iter().skip(1)).find(|(a, b)| a == b);
        if let Some((twice, _)) = twice {
            return Err(AdapterSetError::Duplicate(twice.version));
        }
        Ok(Self { adapters: adapters.into(), fallback: 0 })
    }

    /// A set of published revisions.
    ///
    /// # Errors
    /// Where there is none, or one occurs twice.
    pub fn of(revisions: impl IntoIterator<Item = Revision>) -> Result<Self, AdapterSetError> {
        Self::new(revisions.into_iter().map(|revision| *revision.adapter()))
    }

    /// The same set, in which `version` answers what cannot be attributed to a revision, such as
    /// text that is not JSON.
    ///
    /// # Errors
    /// Where the set does not have that version.
    pub fn with_fallback(mut self, version: &str) -> Result<Self, AdapterSetError> {
        self.fallback = self.index(version).ok_or(AdapterSetError::Unknown)?;
        Ok(self)
    }

    /// Whether the other is a clone of this set: that of equal versions may differ otherwise.
    #[cfg(feature = "service")]
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.adapters, &other.adapters) && self.fallback == other.fallback
    }

    /// The revision that answers what cannot be attributed to one.
    pub fn fallback(&self) -> &Adapter {
        // The index was found in the list, which never changes.
        &self.adapters[self.fallback]
    }

    /// The revision of that exact version.
    pub fn by_version(&self, version: &str) -> Option<&Adapter> {
        self.iter().find(|adapter| adapter.version == version)
    }

    /// The versions, newest first, as they are advertised.
    pub fn versions(&self) -> impl Iterator<Item = &'static str> {
        self.iter().map(|adapter| adapter.version)
    }

    /// The revisions, newest first.
    pub fn iter(&self) -> core::slice::Iter<'_, Adapter> {
        self.adapters.iter()
    }

    /// The newest revision that begins with a handshake.
    pub fn newest_handshake(&self) -> Option<&Adapter> {
        self.iter().find(|adapter| adapter.has_handshake)
    }

    /// The newest revision whose requests describe themselves.
    pub fn newest_modern(&self) -> Option<&Adapter> {
        self.iter().find(|adapter| !adapter.has_handshake)
    }

    /// The newest revision among these versions, which a server offers, that is none of `tried`
    /// (R26-VER-02).
    pub fn newest_among(&self, offered: &[String], tried: &[&str]) -> Option<&Adapter> {
        let is_new =
            |adapter: &&Adapter| adapter.is_among(offered) && !tried.contains(&adapter.version);
        self.iter().find(is_new)
    }

    /// The revision that a handshake settles on: the pinned one, else the one that the client
    /// asked for, else the newest that has a handshake (R24-LIFE-07). Never one without.
    pub fn negotiate(&self, pin: Option<&str>, requested: &str) -> Option<&Adapter> {
        let exact = |version| self.by_version(version).filter(|adapter| adapter.has_handshake);
        match pin {
            Some(pin) => exact(pin),
            None => exact(requested).or_else(|| self.newest_handshake()),
        }
    }

    /// The failure for a version that is none of these (R26-VER-01).
    pub(super) fn unsupported(&self, requested: &str) -> Failure {
        let data = self.supported(
            |_| true,
            |data| {
                data.string("requested", requested);
            },
        );
        let message =
            "this protocol version is not supported here; `data.supported` has those that are";
        Failure::new(FailureKind::UnsupportedVersion, message).with_data(data)
    }

    /// `{ "supported": [..] }`, and what else is to be said.
    pub(super) fn supported(
        &self,
        which: impl Fn(&Adapter) -> bool,
        more: impl FnOnce(&mut Object<'_>),
    ) -> Json {
        let mut text = Vec::new();
        let mut data = Object::begin(&mut text);
        data.array("supported", self.iter().filter(|adapter| which(adapter)), |adapter, out| {
            json::write_string(out, adapter.version);
        });
        more(&mut data);
        data.end();
        Json::scanned(text.into())
    }

    /// Appends the array of versions.
    pub(super) fn write_versions(&self, out: &mut Vec<u8>) {
        writer::array(out, self.versions(), |version, out| json::write_string(out, version));
    }

    pub(super) fn index(&self, version: &str) -> Option<usize> {
        self.adapters.iter().position(|adapter| adapter.version == version)
    }
}

impl Default for AdapterSet {
    fn default() -> Self {
        let adapters: Vec<_> = Revision::ALL.iter().rev().map(|named| *named.adapter()).collect();
        Self { adapters: adapters.into(), fallback: 0 }
    }
}

/// Why revisions make no set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdapterSetError {
    /// There is no revision in it.
    Empty,
    /// A version occurs twice.
    Duplicate(&'static str),
    /// The version that was named is not in the set.
    Unknown,
}

impl fmt::Display for AdapterSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a set of revisions needs at least one"),
            Self::Duplicate(version) => write!(f, "the revision {version} is given twice"),
            Self::Unknown => f.write_str("the fallback must be a revision of the set"),
        }
    }
}

impl core::error::Error for AdapterSetError {}
