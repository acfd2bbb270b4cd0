//! What a host serves at the moment.

use core::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::{Service, Shared, Threading};
use crate::revision::{AdapterSet, Published};

/// For how many sets of revisions an edition keeps what it rendered. A server has one.
const SETS: usize = 4;

/// A service that can be replaced while it is served. Cloning shares it.
pub(crate) struct Live<M: Threading = Shared>(Arc<Slot<M>>);

struct Slot<M: Threading> {
    /// That of the edition. Streams look at it often, and at the edition only when it changed.
    version: AtomicU64,
    /// Locked to take or to replace it, never while it is used.
    edition: RwLock<Arc<Edition<M>>>,
}

/// A service, and what it looks like to clients.
pub(crate) struct Edition<M: Threading> {
    version: u64,
    service: Service<M>,
    /// The latest first.
    published: Mutex<Vec<Arc<Published>>>,
}

impl<M: Threading> Live<M> {
    /// The version that a service has before it is replaced: what endpoints are built of.
    pub(crate) const FIRST: u64 = 0;

    pub(crate) fn new(service: Service<M>) -> Self {
        let edition = RwLock::new(Arc::new(Edition::new(Self::FIRST, service)));
        Self(Arc::new(Slot { version: AtomicU64::new(Self::FIRST), edition }))
    }

    /// Which edition there is: a number that grows.
    pub(crate) fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    /// The edition that there is.
    pub(crate) fn edition(&self) -> Arc<Edition<M>> {
        Arc::clone(&self.0.edition.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the edition. Gives the one before, and the new one.
    pub(crate) fn replace(&self, service: Service<M>) -> (Arc<Edition<M>>, Arc<Edition<M>>) {
        let mut edition = self.0.edition.write().unwrap_or_else(PoisonError::into_inner);
        let next = Arc::new(Edition::new(edition.version + 1, service));
        let before = core::mem::replace(&mut *edition, Arc::clone(&next));
        self.0.version.store(next.version, Ordering::Release);
        (before, next)
    }
}

impl<M: Threading> Edition<M> {
    fn new(version: u64, service: Service<M>) -> Self {
        Self { version, service, published: Mutex::default() }
    }

    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    pub(crate) fn service(&self) -> &Service<M> {
        &self.service
    }

    /// Its listings for a set of revisions, rendered once for all who speak them.
    pub(crate) fn published(&self, adapters: &AdapterSet) -> Arc<Published> {
        let mut all = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = all.iter().find(|own| own.adapters().is(adapters)) {
            return Arc::clone(found);
        }
        let new = Arc::new(Published::new(Arc::clone(self.service.catalog()), adapters));
        all.truncate(SETS - 1);
        all.insert(0, Arc::clone(&new));
        new
    }
}

impl<M: Threading> Clone for Live<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Threading> fmt::Debug for Live<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.edition().service.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::revision::Revision;
    use crate::service::{Registry, tool};

    #[test]
    fn listings_are_rendered_once_for_a_set_and_anew_once_something_else_is_declared() {
        let with = |name: &str| {
            Registry::new("test", "1").tool(tool(name, || async { "" })).build().expect("valid")
        };
        let live = Live::new(with("old"));
        let sets = [AdapterSet::default(), AdapterSet::from(Revision::V2025_06_18)];
        let published = || sets.each_ref().map(|set| live.edition().published(set));
        let [first, other] = published();
        assert!(!Arc::ptr_eq(&first, &other), "each set has its own");
        for _ in 0..3 {
            let again = published();
            assert!(Arc::ptr_eq(&first, &again[0]) && Arc::ptr_eq(&other, &again[1]));
        }
        // An equal set that is no clone may have revisions of an application's own.
        assert!(!Arc::ptr_eq(&first, &live.edition().published(&AdapterSet::default())));

        live.replace(with("new"));
        let renewed = published();
        for (renewed, before) in renewed.iter().zip([&first, &other]) {
            assert!(!Arc::ptr_eq(renewed, before));
            assert!(renewed.catalog().tool("new").is_some());
            assert!(
                renewed.catalog().tool("old").is_none() && before.catalog().tool("old").is_some()
            );
        }
        assert!(Arc::ptr_eq(&renewed[0], &published()[0]));
    }
}
