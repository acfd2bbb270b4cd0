//! Attempts that are made again.

use super::{Core, Life, Timer};
use crate::client::retry::Attempts;
use crate::client::{CallId, Carriage, ClientError, Ran};

impl Core {
    /// The server could not be reached: says whether it is tried again, after a pause in which everyone
    /// waits.
    pub(super) fn tries_again(&mut self, error: &ClientError) -> bool {
        let (is_http, now) = (self.carriage != Carriage::Stdio, self.now);
        let Some(retry) = self.config.retry.as_ref().filter(|_| is_http) else { return false };
        let Attempts { made, since } = self.attempts;
        let spent = now.saturating_since(since.unwrap_or(now));
        let jitter = self.jitter(u64::from(made) + 1);
        let Some(pause) = retry.pause(error, made + 1, spent, jitter) else {
            self.attempts = Attempts::default();
            return false;
        };
        self.attempts = Attempts { made: made + 1, since: Some(since.unwrap_or(now)) };
        self.life = Life::Idle;
        self.timers.set(Timer::Again, now + pause);
        self.warn(format!("{}; trying again in {} ms", error.kind, pause.as_millis()));
        true
    }

    /// Whether the next attempt has a time already.
    pub(super) fn is_pausing(&self) -> bool {
        self.timers.get(Timer::Again).is_some()
    }

    /// A call failed that never ran: says whether it is made again.
    pub(super) fn calls_again(&mut self, call: CallId, error: &ClientError) -> bool {
        let (is_http, now) = (self.carriage != Carriage::Stdio, self.now);
        let retry = self.config.retry.as_ref().filter(|retry| retry.calls && is_http);
        let Some(found) = self.calls.get(&call) else { return false };
        let Some(retry) = retry.filter(|_| error.ran == Ran::Never && !found.touched) else {
            return false;
        };
        let Attempts { made, since } = found.attempts;
        let spent = now.saturating_since(since.unwrap_or(now));
        let jitter = self.jitter(self.next_request.unsigned_abs());
        let Some(pause) = retry.pause(error, made + 1, spent, jitter) else { return false };
        if let Some(found) = self.calls.get_mut(&call) {
            found.attempts.made += 1;
            found.begin_anew();
        }
        self.timers.set(Timer::Resume(call), now + pause);
        true
    }
}
