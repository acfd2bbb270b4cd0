//! Time as an argument: machines never read a clock, they are told what time it is.

use core::fmt;
use core::ops::Add;
use core::time::Duration;

/// A point in time: microseconds since an epoch that the driver picks.
///
/// Only differences mean anything. Within one machine the driver must hand in
/// times that never decrease; a smaller one is treated like the greatest seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The driver's epoch.
    pub const ZERO: Self = Self(0);

    /// The instant `micros` microseconds after the epoch.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The instant `millis` milliseconds after the epoch; saturates at the end of time.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    /// Saturates at the end of time: a timeout too long to count never comes.
    fn add(self, after: Duration) -> Self {
        let micros = u64::try_from(after.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(micros))
    }
}

impl fmt::Display for Instant {
    /// Milliseconds, as in golden transcripts: `1500ms`, or `1500.250ms` where it matters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 1_000 {
            0 => write!(f, "{}ms", self.0 / 1_000),
            micros => write!(f, "{}.{micros:03}ms", self.0 / 1_000),
        }
    }
}

/// The earlier of two optional deadlines.
pub(crate) fn earlier(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_saturates_and_differences_never_go_below_zero() {
        let late = Instant::from_micros(u64::MAX);
        assert_eq!(late + Duration::MAX, late);
        assert_eq!(Instant::ZERO.saturating_since(late), Duration::ZERO);
        assert_eq!((Instant::from_millis(2) + Duration::from_micros(250)).to_string(), "2.250ms");
    }

    #[test]
    fn the_earlier_deadline_wins_and_none_never_does() {
        let (a, b) = (Instant::from_millis(1), Instant::from_millis(2));
        assert_eq!(earlier(Some(b), Some(a)), Some(a));
        assert_eq!(earlier(None, Some(b)), Some(b));
        assert_eq!(earlier(None, None), None);
    }
}
