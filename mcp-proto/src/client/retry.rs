//! Trying again, where the trouble is the environment's.

use core::time::Duration;

use super::{ClientError, ErrorKind};

/// How often and for how long a client tries to reach a server that is not there (yet), over HTTP.
///
/// It tries again where the connection could not be made or broke, at the statuses 502, 503 and 504 of
/// whoever stands before the server, and at 429 that says when to come back (`Retry-After`). All else is
/// an answer, which would be the same the next time: other statuses, credentials that are refused, no
/// common revision, what is not the protocol, a handshake that nobody answers. A process that a client
/// starts is not started again by this.
///
/// Pauses grow twofold and are spread out: each is between half of its length and all of it, and as long
/// as the server tells at least. Calls that are made meanwhile wait; once the attempts are over, they
/// and [`connect`](super::Machine::connect) fail with the last error, and what asks for the server next
/// begins anew.
///
/// With [`calls`](Self::calls), a call that failed in one of these ways and certainly
/// [never](super::Ran::Never) ran is made again within the same bounds, too. A call that may have run is
/// not: whether it can be made twice, only its caller knows. That is one whose connection broke after any
/// of it was written, and one that was answered with 502, 503 or 504.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// Attempts after the first. 10.
    pub attempts: u32,
    /// No attempt begins later than this after the first failed, or after the call was made. 60 s.
    pub within: Duration,
    /// The first pause. 250 ms.
    pub first: Duration,
    /// The longest pause, where the server tells no longer one. 10 s.
    pub most: Duration,
    /// Calls that never ran are made again. Off.
    pub calls: bool,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 10,
            within: Duration::from_secs(60),
            first: Duration::from_millis(250),
            most: Duration::from_secs(10),
            calls: false,
        }
    }
}

impl Retry {
    /// Ten attempts within a minute, for the connection alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// So many attempts after the first.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// No attempt later than this after the first failed, or after the call was made.
    #[must_use]
    pub fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// Pauses from `first` to `most`.
    #[must_use]
    pub fn pauses(mut self, first: Duration, most: Duration) -> Self {
        (self.first, self.most) = (first, most);
        self
    }

    /// Calls that never ran are made again.
    #[must_use]
    pub fn calls(mut self) -> Self {
        self.calls = true;
        self
    }

    /// The pause before attempt `number`, of which the first is 1, after this error and `spent` on it so
    /// far; `None` where there is none to be made.
    pub(super) fn pause(
        &self,
        error: &ClientError,
        number: u32,
        spent: Duration,
        jitter: u64,
    ) -> Option<Duration> {
        if number > self.attempts || !is_the_environment_s(error) {
            return None;
        }
        let doubled = 2u32.saturating_pow(number.saturating_sub(1).min(31));
        let whole = self.first.saturating_mul(doubled).min(self.most);
        let half = whole / 2;
        let spread = u64::try_from(half.as_micros()).unwrap_or(u64::MAX).saturating_add(1);
        let own = half + Duration::from_micros(jitter % spread);
        let pause = own.max(error.retry_after().unwrap_or_default());
        (spent.saturating_add(pause) <= self.within).then_some(pause)
    }
}

/// Whether it is nobody's answer, but the state of the world between, which passes.
pub(super) fn is_the_environment_s(error: &ClientError) -> bool {
    match error.kind {
        ErrorKind::Connection(_) => true,
        ErrorKind::Http { status: 502..=504, .. } => true,
        ErrorKind::Http { status: 429, retry_after, .. } => retry_after.is_some(),
        _ => false,
    }
}

/// The attempts at one thing so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attempts {
    /// Those that were made again.
    pub(super) made: u32,
    /// When the first one failed, or was made.
    pub(super) since: Option<crate::time::Instant>,
}
