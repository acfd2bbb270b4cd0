//! Messages to the server.

use bytes::Bytes;

use super::exchange::{Exchange, For, Reading, Sent};
use super::silence::Pulse;
use super::{Carriage, Carry, ExchangeId, Method, Outgoing, Session, Timer, Url};
use crate::client::Open;
use crate::client::core::{Broken, Purpose};

impl Session {
    pub(super) fn send(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Request { id, body, headers, purpose } => {
                let headers = self.headers(headers, purpose == Purpose::Negotiation);
                let what = match self.endpoint {
                    Some(_) => For::Post(Some(id), false),
                    None => For::Request(id),
                };
                let exchange = self.post(what, headers, body);
                self.of_request.insert(id, exchange);
            }
            Outgoing::Answer(body) => self.send_answer(body),
            Outgoing::Initialized(body) => {
                self.confirming = Some((body, 0));
                self.confirm();
            }
            Outgoing::Forget { id, body } => {
                // The end of a session is that of its calls.
                let ends = self.core.is_closed() && self.id.is_some();
                if let Some(body) = body.filter(|_| !ends) {
                    self.note(body, false);
                }
                self.tails.remove(&id);
                self.timers.clear(Timer::Resume(id));
                if let Some(exchange) = self.of_request.remove(&id) {
                    self.abandon(exchange);
                }
            }
            Outgoing::Seek => self.seek(),
            Outgoing::Begun => self.begun(),
            Outgoing::Stream(wanted) => self.want_stream(wanted),
            Outgoing::Respawn => {}
        }
    }

    /// Tells that the handshake is complete; nothing is told unasked before.
    pub(super) fn confirm(&mut self) {
        if let Some((body, _)) = self.confirming.clone() {
            self.note(body, true);
        }
    }

    /// That word did not arrive: whether it is sent again. Sent twice it does no harm.
    pub(super) fn confirms_again(&mut self) -> bool {
        let most = self.core.config.limits.reconnects;
        let Some((_, attempts)) = &mut self.confirming else { return false };
        *attempts += 1;
        let attempts = *attempts;
        if attempts > most || self.core.is_closed() {
            self.confirming = None;
            return false;
        }
        let pause = self.pause((Some(0), attempts));
        self.timers.set(Timer::Confirm, self.core.now + pause);
        true
    }

    fn note(&mut self, body: Bytes, completes: bool) {
        let what = match self.endpoint {
            Some(_) => For::Post(None, completes),
            None => For::Note { completes },
        };
        let headers = self.headers(Vec::new(), false);
        self.post(what, headers, body);
    }

    pub(super) fn post(
        &mut self,
        what: For,
        headers: Vec<(String, String)>,
        body: Bytes,
    ) -> ExchangeId {
        let mut all = vec![
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
            ("Accept-Encoding".to_owned(), "identity".to_owned()),
        ];
        all.extend(headers);
        let url = self.endpoint.as_ref().unwrap_or(&self.url).clone();
        self.open(what, Method::Post, url, all, body)
    }

    /// The headers that say which revision and which session a message is of. A handshake is of
    /// neither (R2506-HDR-01, T-31, C59).
    pub(super) fn headers(
        &self,
        mirrored: Vec<(String, String)>,
        negotiates: bool,
    ) -> Vec<(String, String)> {
        let mut headers = Vec::with_capacity(mirrored.len() + 2);
        let adapter = self.core.adapter();
        let opens = negotiates && adapter.is_some_and(|adapter| adapter.has_handshake);
        if let Some(adapter) = adapter.filter(|_| !opens) {
            headers.push(("MCP-Protocol-Version".to_owned(), adapter.version.to_owned()));
            if let Some(id) = self.id.as_ref().filter(|_| adapter.has_handshake) {
                headers.push(("Mcp-Session-Id".to_owned(), id.clone()));
            }
        }
        headers.extend(mirrored);
        headers
    }

    /// A GET for events; `from` is the last one that came (R2503-RESUME-04).
    pub(super) fn get(&mut self, what: For, from: Option<&str>) -> ExchangeId {
        let mut headers = vec![
            ("Accept".to_owned(), "text/event-stream".to_owned()),
            ("Accept-Encoding".to_owned(), "identity".to_owned()),
        ];
        headers.extend(self.headers(Vec::new(), false));
        if let Some(from) = from.filter(|from| !from.is_empty()) {
            headers.push(("Last-Event-ID".to_owned(), from.to_owned()));
        }
        self.open(what, Method::Get, self.url.clone(), headers, Bytes::new())
    }

    fn open(
        &mut self,
        purpose: For,
        method: Method,
        url: Url,
        headers: Vec<(String, String)>,
        body: Bytes,
    ) -> ExchangeId {
        self.begin(purpose, url, Sent { method, headers, body, redirects: 0 })
    }

    pub(super) fn begin(&mut self, purpose: For, url: Url, sent: Sent) -> ExchangeId {
        let exchange = ExchangeId(self.next_exchange);
        self.next_exchange += 1;
        self.core.carry(Carry::Open(Open {
            exchange,
            method: sent.method,
            target: url.target().to_owned(),
            headers: sent.headers.clone(),
            body: sent.body.clone(),
        }));
        let in_session = sent.headers.iter().any(|(name, _)| name == "Mcp-Session-Id");
        let reading = Reading::Head(Box::new(sent));
        self.exchanges.insert(
            exchange,
            Exchange { purpose, reading, url, in_session, pulse: Pulse::default() },
        );
        exchange
    }

    /// Nothing is waited for from this exchange any more.
    pub(super) fn unwatch(&mut self, exchange: ExchangeId) {
        self.timers.clear(Timer::Enough(exchange));
        self.timers.clear(Timer::Silent(exchange));
    }

    /// Ends an exchange that nobody needs any more.
    pub(super) fn abandon(&mut self, exchange: ExchangeId) {
        self.unwatch(exchange);
        if self.exchanges.remove(&exchange).is_some() {
            self.core.carry(Carry::Close(exchange));
        }
    }

    /// An exchange has had its time.
    pub(super) fn enough(&mut self, exchange: ExchangeId) {
        match self.exchanges.get(&exchange).map(|found| found.purpose) {
            // Then it is no server of the oldest transport, and that is evidence.
            Some(For::Everything) => {
                self.broken(exchange, Broken::Nonsense("no endpoint on its stream".into()));
            }
            _ => self.abandon(exchange),
        }
    }

    /// The server is known: from here on messages are of its session, if it gave one.
    fn begun(&mut self) {
        let opens_session = self.core.carriage() == Carriage::Http
            && self.core.adapter().is_some_and(|adapter| adapter.has_handshake);
        self.id = self.candidate.take().filter(|_| opens_session);
        self.forget_answers();
        self.standing.reset();
    }

    /// R2503-SESS-08; C59: without a session there is nothing to end.
    pub(super) fn farewell(&mut self) {
        if self.id.is_none() {
            return;
        }
        let headers = self.headers(Vec::new(), false);
        let url = self.url.clone();
        let goodbye = self.open(For::Goodbye, Method::Delete, url, headers, Bytes::new());
        self.id = None;
        self.soon_enough(goodbye);
    }

    /// An exchange may go on for as long as a farewell takes.
    pub(super) fn soon_enough(&mut self, exchange: ExchangeId) {
        let until = self.core.now + self.core.config.limits.goodbye;
        self.timers.set(Timer::Enough(exchange), until);
    }
}
