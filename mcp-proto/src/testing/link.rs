//! The way that bytes take to a machine under test.

use core::time::Duration;

use super::Random;
use crate::time::Instant;

/// A way for bytes that keeps their order and, as asked, cuts them up, delays or loses them.
#[derive(Clone, Debug)]
#[must_use]
pub struct Link {
    random: Random,
    piece: usize,
    delay: Duration,
    stall: (u64, Duration),
    cut: u64,
    last: Instant,
    is_cut: bool,
}

/// What a link brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Some bytes.
    Bytes(Vec<u8>),
    /// The end of the stream.
    Eof,
    /// The link broke.
    Cut,
}

impl Link {
    /// A perfect link: everything arrives at once and in one piece.
    pub const fn direct() -> Self {
        Self::seeded(0)
    }

    /// A perfect link, until told otherwise, whose whims follow from `seed`.
    pub const fn seeded(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            piece: usize::MAX,
            delay: Duration::ZERO,
            stall: (0, Duration::ZERO),
            cut: 0,
            last: Instant::ZERO,
            is_cut: false,
        }
    }

    /// The same link with other whims.
    pub const fn with_seed(mut self, seed: u64) -> Self {
        self.random = Random::new(seed);
        self
    }

    /// The same link for another line: whims of its own, which follow from those of this one.
    pub(super) fn reseeded(&self, line: u64) -> Self {
        let seed = self.random.clone().draw() ^ Random::new(line).draw();
        self.clone().with_seed(seed)
    }

    /// Every byte arrives by itself.
    pub const fn bytewise() -> Self {
        let mut link = Self::direct();
        link.piece = 1;
        link
    }

    /// Bytes arrive in pieces of 1 to `most` bytes (all of the same size where `most` is 1).
    pub fn pieces(mut self, most: usize) -> Self {
        self.piece = most.max(1);
        self
    }

    /// Each piece comes up to `most` after the one before.
    pub fn delay(mut self, most: Duration) -> Self {
        self.delay = most;
        self
    }

    /// One piece in `n` comes `by` later still; none where `n` is 0.
    pub fn stall(mut self, n: u64, by: Duration) -> Self {
        self.stall = (n, by);
        self
    }

    /// The link breaks before one piece in `n`; never where `n` is 0.
    pub fn cut(mut self, n: u64) -> Self {
        self.cut = n;
        self
    }

    /// When and how `bytes` that leave at `now` arrive.
    pub fn carry(&mut self, now: Instant, bytes: &[u8]) -> Vec<(Instant, Arrival)> {
        let mut arrivals = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() && !self.is_cut {
            if self.random.one_in(self.cut) {
                self.is_cut = true;
                arrivals.push((self.pass(now), Arrival::Cut));
                break;
            }
            let most = self.piece.min(rest.len());
            let size = match self.piece {
                usize::MAX => most,
                _ => 1 + self.random.up_to(most as u64 - 1) as usize,
            };
            let (piece, after) = rest.split_at(size.min(rest.len()));
            arrivals.push((self.pass(now), Arrival::Bytes(piece.to_vec())));
            rest = after;
        }
        arrivals
    }

    /// When the end of a stream that ends at `now` arrives; never over a link that broke.
    pub fn end(&mut self, now: Instant) -> Option<(Instant, Arrival)> {
        (!self.is_cut).then(|| (self.pass(now), Arrival::Eof))
    }

    /// When the next piece arrives: never before the last one.
    fn pass(&mut self, now: Instant) -> Instant {
        let delay = self.delay.as_micros().try_into().unwrap_or(u64::MAX);
        let mut at = self.last.max(now) + Duration::from_micros(self.random.up_to(delay));
        if self.random.one_in(self.stall.0) {
            at = at + self.stall.1;
        }
        self.last = at;
        at
    }
}
