//! How slow a peer may be.

use core::time::Duration;

use crate::time::Instant;

/// Bytes on their way. They may pause for so long, and no longer; and to move on now and then is not
/// enough: all in all they must keep up a rate, with one pause in hand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    began: Instant,
    last: Instant,
    moved: u64,
}

impl Pace {
    /// Nothing has moved yet.
    pub(crate) const fn begin(now: Instant) -> Self {
        Self { began: now, last: now, moved: 0 }
    }

    /// So many more bytes moved.
    pub(crate) fn moved(&mut self, now: Instant, bytes: usize) {
        self.moved = self.moved.saturating_add(bytes as u64);
        self.last = now;
    }

    /// When they are too slow, at `rate` bytes a second at least; a rate of 0 is none.
    pub(crate) fn deadline(&self, pause: Duration, rate: u64) -> Instant {
        let silent = self.last + pause;
        match self.moved.saturating_mul(1_000_000).checked_div(rate) {
            Some(micros) => silent.min(self.began + pause + Duration::from_micros(micros)),
            None => silent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_pauses_and_who_drips_is_too_slow_and_who_keeps_up_is_not() {
        let at = |seconds: u64| Instant::from_millis(1_000 * seconds);
        let pause = Duration::from_secs(30);
        let end = |steps: &[(u64, usize)], rate| {
            let mut pace = Pace::begin(at(0));
            steps.iter().for_each(|(seconds, bytes)| pace.moved(at(*seconds), *bytes));
            pace.deadline(pause, rate)
        };
        assert_eq!(end(&[], 100), at(30));
        assert_eq!(end(&[(25, 1)], 100), Instant::from_millis(30_010));
        assert_eq!(end(&[(20, 1_000)], 100), at(40));
        assert_eq!(end(&[(20, 1_000), (39, 1_000)], 100), at(50));
        assert_eq!(end(&[(1, 1_000_000)], 100), at(31), "then a pause ends it");
        assert_eq!(end(&[(25, 1), (50, 1)], 0), at(80), "without a rate only pauses count");
        assert_eq!(end(&[(1, usize::MAX)], 1), at(31));
    }
}
