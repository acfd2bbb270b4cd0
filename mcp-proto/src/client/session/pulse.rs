//! Whether a stream still lives: one whose flow was forgotten on the way is silent for ever, and no
//! error says so.

use core::time::Duration;

use crate::time::Instant;

/// The signs of life of one stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pulse {
    last: Option<Instant>,
    /// The longest time between two of them; zero before there were two.
    between: Duration,
}

/// No stream is given up sooner: a burst of events promises nothing, and common servers give a sign
/// every 15 to 30 s.
pub(super) const LEAST: Duration = Duration::from_secs(45);

impl Pulse {
    /// The stream opened, or something came on it.
    pub(super) fn sign(&mut self, now: Instant) {
        if let Some(last) = self.last {
            self.between = self.between.max(now.saturating_since(last));
        }
        self.last = Some(now);
    }

    /// Until when there has to be another sign: thrice the longest time between two, `most` at the
    /// longest, but twice that time in any case. A stream on which nothing came promised nothing.
    pub(super) fn deadline(&self, most: Duration) -> Option<Instant> {
        let last = self.last.filter(|_| !self.between.is_zero())?;
        let twice = self.between.saturating_mul(2);
        let wait = self.between.saturating_mul(3).min(most).max(LEAST).max(twice);
        (most < Duration::MAX).then(|| last + wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_thrice_its_own_rhythm_within_bounds() {
        let most = Duration::from_secs(60);
        for (signs, wait) in [
            (&[0][..], None),
            (&[0, 0], None),
            (&[0, 1], Some(45)),
            (&[0, 15, 30], Some(45)),
            (&[0, 17, 34], Some(51)),
            (&[0, 15, 40, 41], Some(60)),
            (&[0, 25, 50], Some(60)),
            (&[0, 90, 180], Some(180)),
        ] {
            let mut pulse = Pulse::default();
            signs.iter().for_each(|at| pulse.sign(Instant::from_millis(1_000 * at)));
            let last = Instant::from_millis(1_000 * signs[signs.len() - 1]);
            let expected = wait.map(|wait| last + Duration::from_secs(wait));
            assert_eq!(pulse.deadline(most), expected, "{signs:?}");
            assert_eq!(pulse.deadline(Duration::MAX), None);
        }
    }
}
