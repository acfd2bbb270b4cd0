//! Streams whose connection is gone, though nobody said so.
//!
//! Who forgets an idle flow (a router, a balancer) tells neither end. So a stream that showed life in a
//! rhythm is opened anew once it has been silent for too long for that rhythm.

use core::time::Duration;

use super::exchange::{For, Reading};
use super::{Carriage, Carry, ExchangeId, Session, Timer};
use crate::client::core::Broken;
use crate::client::{ClientError, ErrorKind};
use crate::revision::Resumption;
use crate::time::Instant;

/// What one stream showed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pulse {
    opened: Option<Instant>,
    /// When something came last.
    sign: Option<Instant>,
    /// When the last comment came: servers that keep a stream alive send them.
    beat: Option<Instant>,
    /// Silences that were broken, and the longest of them.
    silences: u32,
    longest: Duration,
    /// The piece that is read stands within a line.
    within_line: bool,
}

/// What the server's streams showed together.
#[derive(Debug, Default)]
pub(super) struct Rhythm {
    /// The longest time from one comment to the next.
    beats: Option<Duration>,
    /// The longest silence of a stream that showed life by messages alone, more than once.
    signs: Option<Duration>,
    /// The longest silence that was broken on any stream.
    longest: Duration,
    /// Streams in a row that were opened anew and showed nothing afterwards.
    deaf: u32,
}

/// Comments closer together than this are no rhythm.
const RHYTHM_LEAST: Duration = Duration::from_secs(1);

/// Messages come in bursts, so their rhythm says less than that of heartbeats; those come every 15 s
/// with most servers.
const MESSAGES_LEAST: Duration = Duration::from_secs(30);

/// However often opening anew brought nothing.
const MOST: Duration = Duration::from_secs(3_600);

impl Pulse {
    /// Whether a comment begins in the next piece of the stream.
    fn comments(&mut self, bytes: &[u8]) -> bool {
        let mut found = false;
        let mut rest = bytes;
        while !rest.is_empty() {
            found |= !self.within_line && rest.first() == Some(&b':');
            match memchr::memchr2(b'\n', b'\r', rest) {
                Some(end) => {
                    self.within_line = false;
                    rest = rest.get(end + 1..).unwrap_or_default();
                }
                None => {
                    self.within_line = true;
                    break;
                }
            }
        }
        found
    }
}

impl Rhythm {
    /// How long a stream may be silent, where that is known; at first no longer than `most`.
    fn bears(&self, most: Duration) -> Option<Duration> {
        let off = most == Duration::MAX || self.longest >= most;
        let bears = match (self.beats, self.signs) {
            (Some(beats), _) => beats.saturating_mul(3),
            (None, Some(signs)) => signs.saturating_mul(3).max(MESSAGES_LEAST),
            (None, None) => return None,
        };
        let longer = 2u32.saturating_pow(self.deaf.min(16));
        (!off).then(|| bears.min(most).saturating_mul(longer).min(MOST))
    }
}

impl Session {
    /// A stream opened.
    pub(super) fn pulse_begins(&mut self, exchange: ExchangeId) {
        let now = self.core.now;
        if let Some(found) = self.exchanges.get_mut(&exchange) {
            found.pulse = Pulse { opened: Some(now), sign: Some(now), ..Pulse::default() };
        }
        self.watch(exchange);
    }

    /// Something came on a stream.
    pub(super) fn pulse(&mut self, exchange: ExchangeId, bytes: &[u8]) {
        let now = self.core.now;
        let Some(found) = self.exchanges.get_mut(&exchange) else { return };
        let (pulse, rhythm) = (&mut found.pulse, &mut self.rhythm);
        if pulse.comments(bytes) {
            let since = pulse.beat.replace(now).map(|last| now.saturating_since(last));
            if let Some(since) = since.filter(|it| *it >= RHYTHM_LEAST) {
                rhythm.beats = rhythm.beats.max(Some(since));
            }
        }
        if let Some(last) = pulse.sign.replace(now).filter(|last| *last < now) {
            pulse.silences += 1;
            pulse.longest = pulse.longest.max(now.saturating_since(last));
            rhythm.longest = rhythm.longest.max(pulse.longest);
            rhythm.deaf = 0;
            if pulse.silences > 1 {
                rhythm.signs = rhythm.signs.max(Some(pulse.longest));
            }
        }
        self.watch(exchange);
    }

    /// Sets the time at which a stream has been silent for too long.
    fn watch(&mut self, exchange: ExchangeId) {
        let bears = self.rhythm.bears(self.core.config.limits.silence);
        let sign = self.exchanges.get(&exchange).and_then(|it| it.pulse.sign);
        match (bears.filter(|_| self.is_standing(exchange)), sign) {
            (Some(bears), Some(sign)) => self.timers.set(Timer::Silent(exchange), sign + bears),
            _ => self.timers.clear(Timer::Silent(exchange)),
        }
    }

    /// Whether a stream can be opened anew, and nothing else says how long it is waited for.
    fn is_standing(&self, exchange: ExchangeId) -> bool {
        let Some(found) = self.exchanges.get(&exchange) else { return false };
        let Reading::Events(decoder) = &found.reading else { return false };
        match found.purpose {
            For::Standing => true,
            // A burst of messages is no rhythm for calls to be lost by.
            For::Everything => self.rhythm.beats.is_some() || !self.core.has_calls(),
            For::Request(id) | For::Resume(id) if self.core.listens_by(id) => true,
            For::Request(id) | For::Resume(id) => {
                let adapter = self.core.adapter();
                let resumes = adapter.is_some_and(|it| it.resumption != Resumption::None);
                let is_numbered = !decoder.last_event_id().is_empty();
                let is_resumed = matches!(found.purpose, For::Resume(_));
                resumes && (is_numbered || is_resumed) && self.core.awaits(id)
            }
            _ => false,
        }
    }

    /// A stream has been silent for too long: it is opened anew.
    pub(super) fn silent(&mut self, exchange: ExchangeId) {
        let Some(found) = self.exchanges.get(&exchange) else { return };
        let now = self.core.now;
        if !self.is_standing(exchange) && !self.is_headless(exchange) {
            return;
        }
        // What is not read cannot be heard.
        if !self.wants_input() {
            let later = self.core.now + self.core.config.limits.silence.max(RHYTHM_LEAST);
            return self.timers.set(Timer::Silent(exchange), later);
        }
        let silent = found.pulse.sign.map_or(Duration::ZERO, |sign| now.saturating_since(sign));
        if found.pulse.sign == found.pulse.opened {
            self.rhythm.deaf = self.rhythm.deaf.saturating_add(1);
        }
        let why = format!("the stream was silent for {} s", silent.as_secs());
        self.core.carry(Carry::Close(exchange));
        let error = ClientError::maybe(ErrorKind::Connection(why));
        self.broken(exchange, Broken::Gone(error));
    }

    /// A stream that was open in this session before is opened within a call's patience, or not at all.
    pub(super) fn expect_head(&mut self, exchange: ExchangeId) {
        if self.standing.worked && self.core.carriage() == Carriage::Http {
            let until = self.core.now + self.core.config.limits.patience;
            self.timers.set(Timer::Silent(exchange), until);
        }
    }

    /// A stream for changes has no head yet.
    fn is_headless(&self, exchange: ExchangeId) -> bool {
        let found = self.exchanges.get(&exchange);
        found
            .is_some_and(|it| it.purpose == For::Standing && matches!(it.reading, Reading::Head(_)))
    }
}
