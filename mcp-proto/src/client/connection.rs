//! One TCP connection's part of a session.

use super::{ExchangeId, Open, Session, Url};
use crate::frame::http1::client::{Client, Event, Failure, RequestLine};
use crate::frame::http1::{Closing, Limits, SendError};
use crate::time::Instant;

/// An HTTP/1.1 connection that carries a session's exchanges, one after the other. It joins
/// [`http1::client`](crate::frame::http1::client) and [`Session`].
///
/// - in: [`handle_input`](Self::handle_input), [`handle_eof`](Self::handle_eof),
///   [`handle_closed`](Self::handle_closed), [`handle_timeout`](Self::handle_timeout)
/// - commands: [`open`](Self::open), [`close`](Self::close)
/// - out: [`transmit`](Self::transmit); what came goes to the session at once
/// - state: [`poll_timeout`](Self::poll_timeout), [`can_open`](Self::can_open),
///   [`exchange`](Self::exchange), [`closing`](Self::closing)
#[derive(Debug)]
pub struct Connection {
    http: Client,
    exchange: Option<ExchangeId>,
}

impl Connection {
    /// A connection that was made at `now`.
    pub fn new(now: Instant, limits: Limits) -> Self {
        Self { http: Client::new(now, limits), exchange: None }
    }

    /// Begins an exchange. `more` are header fields of the carrier's own, such as credentials.
    ///
    /// # Errors
    /// Where the connection is busy or gone, or a field cannot be sent. Nothing is written then.
    pub fn open(
        &mut self,
        url: &Url,
        open: &Open,
        more: &[(String, String)],
    ) -> Result<(), SendError> {
        let host = url.authority();
        let line = RequestLine { method: open.method.as_str(), target: &open.target, host: &host };
        let own = open.headers.iter().chain(more).map(|(name, value)| (name, value));
        self.http.send(line, own, &open.body)?;
        self.exchange = Some(open.exchange);
        Ok(())
    }

    /// Takes bytes from the server and returns how many it took: all of them, unless
    /// [`wants_input`](Self::wants_input) has become false.
    pub fn handle_input(&mut self, now: Instant, data: &[u8], session: &mut Session) -> usize {
        let mut taken = 0;
        while let Some(rest) = data.get(taken..).filter(|rest| !rest.is_empty()) {
            let more = self.http.handle_input(now, rest);
            self.hand_on(now, session);
            if more == 0 {
                break;
            }
            taken += more;
        }
        taken
    }

    /// The server will send nothing more.
    pub fn handle_eof(&mut self, now: Instant, session: &mut Session) {
        self.http.handle_eof(now);
        self.hand_on(now, session);
    }

    /// The connection is gone.
    pub fn handle_closed(&mut self, now: Instant, session: &mut Session) {
        self.http.handle_closed(now);
        self.hand_on(now, session);
    }

    /// Acts on the deadline if it has passed; does nothing otherwise.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.http.handle_timeout(now);
    }

    /// The session no longer wants this exchange: the connection closes, if it carries it.
    pub fn close(&mut self, now: Instant, exchange: ExchangeId) {
        if self.exchange == Some(exchange) {
            self.exchange = None;
            self.http.close(now);
        }
    }

    /// Appends what is to be sent to `out`.
    pub fn transmit(&mut self, out: &mut Vec<u8>) {
        self.http.transmit(out);
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.http.poll_timeout()
    }

    /// Whether more input is useful now.
    pub fn wants_input(&self) -> bool {
        self.http.wants_input()
    }

    /// Whether an exchange may begin.
    pub fn can_open(&self) -> bool {
        self.exchange.is_none() && self.http.can_request()
    }

    /// The exchange that it carries.
    pub fn exchange(&self) -> Option<ExchangeId> {
        self.exchange
    }

    /// Whether and how the connection is to be closed.
    pub fn closing(&self) -> Closing {
        self.http.closing()
    }

    fn hand_on(&mut self, now: Instant, session: &mut Session) {
        while let Some(event) = self.http.poll_event() {
            let Some(exchange) = self.exchange else { continue };
            match event {
                Event::Head(head) => session.handle_head(now, exchange, head.status(), &head),
                Event::Body(body) => session.handle_body(now, exchange, &body),
                Event::End => {
                    self.exchange = None;
                    session.handle_end(now, exchange);
                }
                Event::Failed(failure) => {
                    self.exchange = None;
                    fail(now, exchange, failure, session);
                }
            }
        }
    }
}

/// The request was written, so that the server may have it whatever came back.
fn fail(now: Instant, exchange: ExchangeId, failure: Failure, session: &mut Session) {
    session.handle_failed(now, exchange, true, &failure.to_string());
}
