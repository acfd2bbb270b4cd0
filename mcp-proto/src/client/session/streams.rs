//! Streams that outlive a connection.

use core::time::Duration;

use super::exchange::For;
use super::{Carriage, ExchangeId, Session, Timer};
use crate::client::{ClientError, ErrorKind, Ran};
use crate::revision::Resumption;
use crate::time::Instant;

/// The stream of a request's answer, which broke.
#[derive(Debug, Default)]
pub(super) struct Tail {
    /// The last event that came.
    pub(super) from: String,
    /// How long the server wants its client to wait, in milliseconds.
    pub(super) retry: Option<u64>,
    /// How often it was taken up again since something new came.
    pub(super) attempts: u32,
}

/// The stream on which a server speaks unasked (R2503-HTTP-22).
#[derive(Debug, Default)]
pub(super) struct Standing {
    /// A subscription needs it.
    pub(super) needed: bool,
    pub(super) state: State,
    tail: Tail,
    opened: Option<Instant>,
    /// It was open in this session.
    pub(super) worked: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    #[default]
    Closed,
    Open(ExchangeId),
    Pausing,
    /// The server has none (T-28).
    Refused,
}

impl Standing {
    /// A new session begins.
    pub(super) fn reset(&mut self) {
        *self = Self { needed: self.needed, ..Self::default() };
    }
}

/// A stream that was open for so long has worked, even if nothing came.
const WORKED: Duration = Duration::from_secs(5);

impl Session {
    // ---- answers ----

    /// The stream of a request's answer broke. It is taken up again where the revision has that and
    /// the server numbered its events; else the request has no answer (C65, R26-HTTP-40).
    pub(super) fn broke(&mut self, id: i64, from: &str, retry: Option<u64>, error: ClientError) {
        if !self.core.awaits(id) {
            self.tails.remove(&id);
            return;
        }
        let resumes = self.core.adapter().is_some_and(|it| it.resumption != Resumption::None);
        let most = self.core.config.limits.reconnects;
        let tail = self.tails.entry(id).or_default();
        if !from.is_empty() && tail.from != from {
            tail.attempts = 0;
            from.clone_into(&mut tail.from);
        }
        tail.retry = retry.or(tail.retry);
        tail.attempts += 1;
        if !resumes || tail.from.is_empty() || tail.attempts > most {
            self.tails.remove(&id);
            return self.lose(id, error);
        }
        let pause = self.pause(tail_of(&self.tails, id));
        self.timers.set(Timer::Resume(id), self.core.now + pause);
    }

    /// What a server asked for, within bounds; ever longer where it did not help (R2511-HTTP-21).
    pub(super) fn pause(&self, (retry, attempts): (Option<u64>, u32)) -> Duration {
        let limits = &self.core.config.limits;
        let asked = retry.map_or(FIRST_PAUSE, Duration::from_millis);
        let longer = 2u32.saturating_pow(attempts.saturating_sub(1).min(16));
        let spread = self.spread(attempts);
        let pause = asked.saturating_mul(longer) + spread;
        pause.clamp(limits.retry_least, limits.retry_most)
    }

    /// Attempts after the first are spread out, so that the clients of a server that comes back do
    /// not all come at once.
    fn spread(&self, attempts: u32) -> Duration {
        match attempts {
            0 | 1 => Duration::ZERO,
            _ => Duration::from_millis(self.core.jitter(self.next_exchange) % 250),
        }
    }

    pub(super) fn resume(&mut self, id: i64) {
        if !self.core.awaits(id) {
            self.tails.remove(&id);
            return;
        }
        let Some(from) = self.tails.get(&id).map(|tail| tail.from.clone()) else { return };
        let exchange = self.get(For::Resume(id), Some(&from));
        self.of_request.insert(id, exchange);
    }

    // ---- what the server says unasked ----

    pub(super) fn want_stream(&mut self, wanted: bool) {
        self.standing.needed = wanted;
        if !wanted && !self.core.config.unasked && self.standing.state != State::Refused {
            return self.standing_ended();
        }
        if wanted && self.standing.state == State::Refused {
            let error =
                ClientError::never(ErrorKind::Protocol("it has no stream for changes".into()));
            return self.core.stream_refused(&error);
        }
        if wanted {
            if matches!(self.standing.state, State::Open(_)) && self.standing.worked {
                self.core.stream_is_open();
            }
            self.stand();
        }
    }

    /// Opens the stream, where there can be one and it is wanted.
    pub(super) fn stand(&mut self) {
        let has_one = self.core.carriage() == Carriage::Http
            && self.core.is_open()
            && self.core.adapter().is_some_and(|adapter| adapter.has_handshake);
        let wanted = self.standing.needed || self.core.config.unasked;
        if !has_one || !wanted || !matches!(self.standing.state, State::Closed | State::Pausing) {
            return;
        }
        let from = self.standing.tail.from.clone();
        let exchange = self.get(For::Standing, Some(&from));
        self.standing.state = State::Open(exchange);
        self.expect_head(exchange);
    }

    /// The stream is there.
    pub(super) fn standing_opened(&mut self) {
        self.standing.opened = Some(self.core.now);
        self.standing.worked = true;
        self.core.stream_opened();
    }

    /// Something came on it.
    pub(super) fn standing_heard(&mut self) {
        self.standing.tail.attempts = 0;
    }

    /// The stream ended. It is opened again, ever more rarely where that does not help (C65).
    pub(super) fn standing_broke(&mut self, from: &str, retry: Option<u64>, error: ClientError) {
        let most = self.core.config.limits.reconnects;
        let now = self.core.now;
        let Standing { tail, opened, .. } = &mut self.standing;
        let lived = opened.take().map_or(Duration::ZERO, |at| now.saturating_since(at));
        if lived >= WORKED || (!from.is_empty() && tail.from != from) {
            tail.attempts = 0;
        }
        if !from.is_empty() {
            from.clone_into(&mut tail.from);
        }
        tail.retry = retry.or(tail.retry);
        tail.attempts += 1;
        let state = (tail.retry, tail.attempts);
        if tail.attempts > most {
            return self.standing_given_up(error);
        }
        self.standing.state = State::Pausing;
        let told = error.retry_after().unwrap_or_default();
        let pause = self.pause(state).max(told.min(self.core.config.limits.retry_most));
        self.timers.set(Timer::Stand, now + pause);
    }

    /// There is no such stream, for good: status 405 (T-28).
    pub(super) fn standing_refused(&mut self) {
        self.standing.state = State::Refused;
        let error = ClientError::never(ErrorKind::Protocol("it has no stream for changes".into()));
        self.core.stream_refused(&error);
    }

    /// The stream cannot be had now. Those who need it are told; the next subscription tries again.
    pub(super) fn standing_given_up(&mut self, error: ClientError) {
        self.standing.reset();
        self.core.warn(format!("the stream for changes is given up: {error}"));
        self.core.stream_refused(&ClientError { ran: Ran::Never, ..error });
    }

    pub(super) fn standing_ended(&mut self) {
        self.timers.clear(Timer::Stand);
        if let State::Open(exchange) = self.standing.state {
            self.abandon(exchange);
        }
        self.standing.reset();
    }

    // ---- HTTP+SSE ----

    /// Opens the stream of an HTTP+SSE server, which tells where messages go.
    pub(super) fn seek(&mut self) {
        self.endpoint = None;
        let everything = |exchange: &super::Exchange| exchange.purpose == For::Everything;
        let old: Vec<_> =
            self.exchanges.iter().filter(|(_, it)| everything(it)).map(|(id, _)| *id).collect();
        for exchange in old {
            self.abandon(exchange);
        }
        let exchange = self.get(For::Everything, None);
        let until = self.core.now + self.core.config.limits.handshake;
        self.timers.set(Timer::Enough(exchange), until);
    }
}

fn tail_of(tails: &std::collections::BTreeMap<i64, Tail>, id: i64) -> (Option<u64>, u32) {
    tails.get(&id).map_or((None, 0), |tail| (tail.retry, tail.attempts))
}

const FIRST_PAUSE: Duration = Duration::from_millis(1_000);
