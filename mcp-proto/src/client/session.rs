//! One server over HTTP.

mod answers;
mod exchange;
mod inputs;
mod redirects;
mod refusals;
mod requests;
mod silence;
mod streams;

use std::collections::BTreeMap;

use bytes::Bytes;

use self::answers::Answer;
use self::exchange::{Exchange, For};
use self::silence::Rhythm;
use self::streams::{Standing, Tail};
use super::core::{Core, Outgoing};
use super::machine::sealed::Carrier;
use super::timers::Timers;
use super::{Carriage, Carry, Config, ExchangeId, InvalidUrl, Machine, Method, Url};
use crate::time::Instant;

/// A client of one server over HTTP, with any number of exchanges at once, whoever carries them:
/// our own connections, another library's client, or a server's machine in the same process. See
/// [`Machine`] for the application's side.
///
/// - in: [`handle_head`](Self::handle_head), [`handle_body`](Self::handle_body),
///   [`handle_end`](Self::handle_end), [`handle_failed`](Self::handle_failed)
/// - out: [`Carry::Open`] and [`Carry::Close`] among the outputs
///
/// It speaks Streamable HTTP, and the transport before it (HTTP+SSE) where that is all that the
/// server has.
#[derive(Debug)]
pub struct Session {
    core: Core,
    url: Url,
    /// Of an HTTP+SSE server: where messages go.
    endpoint: Option<Url>,
    /// What the server calls this session.
    id: Option<String>,
    /// What the server would call the session that is being opened (C59).
    candidate: Option<String>,
    exchanges: BTreeMap<ExchangeId, Exchange>,
    /// The exchange in which a request's answer is to come.
    of_request: BTreeMap<i64, ExchangeId>,
    /// Streams that broke before the answer, and can be taken up again.
    tails: BTreeMap<i64, Tail>,
    /// Answers that the server has not taken yet.
    answers: BTreeMap<u64, Answer>,
    /// Bytes that they hold, about.
    unsent: usize,
    next_answer: u64,
    /// The word that the handshake is complete, and how often it did not arrive.
    confirming: Option<(Bytes, u32)>,
    standing: Standing,
    /// How the server's streams show that they still stand.
    rhythm: Rhythm,
    timers: Timers<Timer>,
    next_exchange: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// An exchange has gone on for long enough after what it was for.
    Enough(ExchangeId),
    /// A broken stream is taken up again.
    Resume(i64),
    /// An answer that did not arrive is sent again.
    Repeat(u64),
    /// The word that the handshake is complete is sent again.
    Confirm,
    /// The server's own stream is opened again.
    Stand,
    /// A stream has been silent for too long.
    Silent(ExchangeId),
}

impl Session {
    /// A client of the server at `url` that begins at `now`.
    ///
    /// # Errors
    /// Where that is no URL of a server.
    pub fn new(config: Config, url: &str, now: Instant) -> Result<Self, InvalidUrl> {
        let mut session = Self {
            core: Core::new(config, Carriage::Http, now),
            url: Url::parse(url)?,
            endpoint: None,
            id: None,
            candidate: None,
            exchanges: BTreeMap::new(),
            of_request: BTreeMap::new(),
            tails: BTreeMap::new(),
            answers: BTreeMap::new(),
            unsent: 0,
            next_answer: 0,
            confirming: None,
            standing: Standing::default(),
            rhythm: Rhythm::default(),
            timers: Timers::new(),
            next_exchange: 0,
        };
        session.core.ask_for_seed();
        session.connect(now);
        Ok(session)
    }

    /// Where the server is. Every request goes to this origin.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Whether the bodies of exchanges should be handed in now. While they should not, the
    /// application is behind with its events.
    pub fn wants_input(&self) -> bool {
        self.core.has_room()
    }

    /// How many exchanges are under way.
    pub fn exchanges(&self) -> usize {
        self.exchanges.len()
    }
}

impl Machine for Session {
    fn is_closed(&self) -> bool {
        self.core.is_closed() && self.exchanges.is_empty()
    }
}

impl Carrier for Session {
    fn core(&self) -> &Core {
        &self.core
    }

    fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    fn pump(&mut self) {
        while let Some(outgoing) = self.core.next_outgoing() {
            self.send(outgoing);
        }
    }

    fn carrier_timeout(&self) -> Option<Instant> {
        self.timers.next()
    }

    fn carrier_expired(&mut self, now: Instant) {
        while let Some(timer) = self.timers.expire(now) {
            match timer {
                Timer::Enough(exchange) => self.enough(exchange),
                Timer::Resume(id) => self.resume(id),
                Timer::Repeat(number) => self.post_answer(number),
                Timer::Confirm => self.confirm(),
                Timer::Stand => self.stand(),
                Timer::Silent(exchange) => self.silent(exchange),
            }
            self.pump();
        }
    }

    /// Ends all exchanges, and the session by one more, which may take a moment (C68,
    /// R2503-SESS-08). So may what tells the server that calls are no longer wanted.
    fn carrier_close(&mut self) {
        for exchange in self.exchanges.keys().copied().collect::<Vec<_>>() {
            match self.exchanges.get(&exchange).map(|it| it.purpose) {
                Some(For::Goodbye) => {}
                Some(For::Note { .. } | For::Answer(_) | For::Post(None, _)) => {
                    self.soon_enough(exchange);
                }
                _ => self.abandon(exchange),
            }
        }
        for (id, _) in core::mem::take(&mut self.tails) {
            self.timers.clear(Timer::Resume(id));
        }
        self.forget_answers();
        self.standing_ended();
        self.farewell();
    }
}

#[cfg(test)]
mod tests;
