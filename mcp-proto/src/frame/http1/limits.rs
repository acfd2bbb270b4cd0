//! What one connection may hold and how long it may take.

use core::time::Duration;

use crate::time::Instant;

/// Bounds of one HTTP/1.1 connection; what exceeds one is refused with the status named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a head, from the first line to the blank one: 431. At most 65,535 count.
    /// As many bytes are read ahead while a response is under way.
    pub head: usize,
    /// Header fields of a head: 431. At most 256 count.
    pub headers: usize,
    /// Bytes of a request target: 414.
    pub target: usize,
    /// Bytes of a body, chunk framing aside: 413.
    pub body: u64,
    /// Bytes of chunk extensions and trailers of one body, beyond the bytes of its data: 400.
    pub trailers: usize,
    /// The longest body read and thrown away after an early response, so that the connection
    /// lives on; behind a longer one it closes.
    pub drain: u64,
    /// From a head's first byte to its last: 408.
    pub head_time: Duration,
    /// Between two reads of a body: 408.
    pub body_time: Duration,
    /// Bytes a second that a body has to come with all in all, with one
    /// [`body_time`](Self::body_time) in hand: 408. 4 KiB; none where this is 0.
    pub body_rate: u64,
    /// How long the rest of a body may take that is thrown away after an early response; then the
    /// connection closes. 5 s.
    pub drain_time: Duration,
    /// Without a request, the connection closes silently after this long. 75 s: longer than the
    /// 60 s for which common balancers keep a connection that idles. Who closes last of the two
    /// never loses a request; where both close at once, one may be on its way.
    pub idle_time: Duration,
    /// Without a request, buffers are given back after this long.
    pub release_time: Duration,
    /// How long a closing connection reads on for the sake of its last response.
    pub linger_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: 16 * 1024,
            headers: 100,
            target: 8 * 1024,
            body: 4 * 1024 * 1024,
            trailers: 8 * 1024,
            drain: 64 * 1024,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(30),
            body_rate: 4 * 1024,
            drain_time: Duration::from_secs(5),
            idle_time: Duration::from_secs(75),
            release_time: Duration::from_secs(1),
            linger_time: Duration::from_secs(2),
        }
    }
}

impl Limits {
    /// The head limit that applies: spans into a head are 16 bits wide.
    pub(super) fn head_bytes(&self) -> usize {
        self.head.min(usize::from(u16::MAX))
    }

    /// What an idle connection waits for first.
    pub(super) fn idle(&self, now: Instant) -> Option<(Instant, Idle)> {
        let close = deadline(now, self.idle_time);
        match deadline(now, self.release_time) {
            Some(release) if close.is_none_or(|close| release < close) => {
                Some((release, Idle::Release { close }))
            }
            _ => close.map(|close| (close, Idle::Close)),
        }
    }
}

/// The stages of idleness: the buffers go first, then the connection.
#[derive(Clone, Copy, Debug)]
pub(super) enum Idle {
    Release { close: Option<Instant> },
    Close,
}

/// The instant `wait` after `now`; none where that is no later, or never.
pub(super) fn deadline(now: Instant, wait: Duration) -> Option<Instant> {
    Some(now + wait).filter(|at| now < *at && *at < now + Duration::MAX)
}
