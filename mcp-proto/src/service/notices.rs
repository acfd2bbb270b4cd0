//! Tells the operator of a server what it goes through, and not too much of it.

use core::fmt;
use core::mem::{Discriminant, discriminant};
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};

use crate::server::{Bound, Notice};
use crate::time::Instant;

/// How much time passes at least between two notices of one kind.
const PAUSE: Duration = Duration::from_secs(10);

/// Whom to tell, if anybody. Cloning shares it.
#[derive(Clone, Default)]
pub(crate) struct Notices(Option<Arc<Inner>>);

struct Inner {
    tell: Box<dyn Fn(&str) + Send + Sync>,
    /// The kinds that were told of; there are few.
    told: Mutex<Vec<Told>>,
}

struct Told {
    kind: Kind,
    at: Instant,
    /// How many were left out since then.
    others: u64,
}

/// What is told of by itself.
type Kind = (Discriminant<Notice>, Option<Discriminant<Bound>>);

impl Notices {
    pub(crate) fn new(tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Inner { tell: Box::new(tell), told: Mutex::default() })))
    }

    /// Tells what happens rarely by its nature.
    pub(crate) fn say(&self, text: impl FnOnce() -> String) {
        if let Some(inner) = &self.0 {
            (inner.tell)(&text());
        }
    }

    /// Tells what a peer can bring about: one of a kind, and after a while how many followed it.
    /// What a machine counts itself is told as it comes.
    pub(crate) fn tell(&self, now: Instant, notice: &Notice) {
        let Some(inner) = &self.0 else { return };
        if matches!(notice, Notice::Skipped { .. }) {
            return (inner.tell)(&notice.to_string());
        }
        match inner.others(now, notice) {
            None => {}
            Some(0) => (inner.tell)(&notice.to_string()),
            Some(others) => (inner.tell)(&format!("{notice} ({others} more like it)")),
        }
    }
}

impl Inner {
    /// How many of its kind were left out before; `None` if this one is.
    fn others(&self, now: Instant, notice: &Notice) -> Option<u64> {
        let bound =
            if let Notice::Bound(bound) = notice { Some(discriminant(bound)) } else { None };
        let kind = (discriminant(notice), bound);
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(told) = told.iter_mut().find(|told| told.kind == kind) else {
            told.push(Told { kind, at: now, others: 0 });
            return Some(0);
        };
        if now < told.at + PAUSE {
            told.others += 1;
            return None;
        }
        told.at = now;
        Some(core::mem::take(&mut told.others))
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Notices").field(&self.0.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_kind_is_told_in_ten_seconds_and_then_how_many_followed() {
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let notices = Notices::new(move |line| lines.lock().unwrap().push(line.to_owned()));
        let host = |name: &str| Notice::Host(name.into());
        let second = Duration::from_secs(1);
        let told = |at: u32, notice: &Notice| {
            notices.tell(Instant::ZERO + second * at, notice);
            core::mem::take(&mut *log.lock().unwrap())
        };
        assert_eq!(told(0, &host("a")).len(), 1);
        for at in 0..10 {
            assert!(told(at, &host("b")).is_empty(), "{at}");
        }
        // Each kind has its own time, and each bound.
        assert_eq!(told(5, &Notice::Origin("a".into())).len(), 1);
        assert_eq!(told(5, &Notice::Bound(Bound::Head)).len(), 1);
        assert_eq!(told(5, &Notice::Bound(Bound::Time)).len(), 1);
        assert!(told(14, &Notice::Bound(Bound::Time)).is_empty());
        let [line] = &told(10, &host("c"))[..] else { panic!("one line") };
        assert!(line.contains("`c`") && line.ends_with("(10 more like it)"), "{line}");
        let [line] = &told(20, &host("d"))[..] else { panic!("one line") };
        assert!(line.contains("`d`") && !line.contains("more like it"), "{line}");
    }
}
