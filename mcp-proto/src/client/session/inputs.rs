//! Responses of the server.

use bytes::Bytes;

use super::exchange::{Exchange, For, Media, Reading, coding, described, session_id};
use super::redirects::Redirect;
use super::refusals::{refusal, say};
use super::silence::Pulse;
use super::{Carrier, ExchangeId, Session, Timer};
use crate::client::core::{Broken, Place, Purpose};
use crate::client::negotiation::Evidence;
use crate::client::retry::is_the_environment_s;
use crate::client::{ClientError, ErrorKind, Ran};
use crate::frame::http1::Headers;
use crate::frame::sse;
use crate::time::Instant;

impl Session {
    /// The head of an exchange's response came. Interim responses are not handed in.
    pub fn handle_head<H: Headers + ?Sized>(
        &mut self,
        now: Instant,
        exchange: ExchangeId,
        status: u16,
        headers: &H,
    ) {
        self.core.advance(now);
        let Some(found) = self.exchanges.get(&exchange) else { return };
        let (purpose, in_session) = (found.purpose, found.in_session);
        let most = self.core.config.limits.redirects;
        let (refusal, redirects) = match Redirect::of(found, status, headers, most) {
            Some(Redirect::Followed(place)) => return self.follow(exchange, place),
            Some(Redirect::Refused(error)) => (error, true),
            None => (refusal(status, headers), false),
        };
        let is_success = (200..300).contains(&status);
        let media = Media::of(headers);
        let listens =
            matches!(purpose, For::Request(_) | For::Resume(_) | For::Standing | For::Everything);
        if let Some(coding) = coding(headers).filter(|_| is_success && listens) {
            let what = format!("a body in the coding {coding:?}, where `identity` was asked for");
            self.broken(exchange, Broken::Nonsense(what.into()));
        } else if is_success && listens && media == Media::Events {
            if let For::Request(id) = purpose {
                self.note_session(id, headers);
            }
            let decoder = sse::Decoder::new(self.core.config.limits.sse());
            self.read(exchange, Reading::Events(Box::new(decoder)));
            if purpose == For::Standing {
                self.standing_opened();
            }
            self.pulse_begins(exchange);
        } else if is_success && matches!(purpose, For::Standing | For::Resume(_) | For::Everything)
        {
            self.broken(
                exchange,
                Broken::Nonsense("no event stream where one was asked for".into()),
            );
        } else if status == 404 && in_session && purpose != For::Goodbye {
            self.session_gone(exchange);
        } else {
            if let (true, For::Request(id)) = (is_success, purpose) {
                self.note_session(id, headers);
            }
            let is_read = match media {
                Media::Json => !redirects,
                Media::Text => !redirects && !is_success,
                Media::Events | Media::Other => false,
            };
            let reading = match is_read {
                true => Reading::Whole { status, body: Vec::new(), refusal },
                false => Reading::Unread { status, refusal, described: described(status, headers) },
            };
            self.read(exchange, reading);
            if !is_read {
                self.finish_early(exchange);
            }
        }
        self.pump();
    }

    /// A piece of a response's body came.
    pub fn handle_body(&mut self, now: Instant, exchange: ExchangeId, bytes: &[u8]) {
        self.core.advance(now);
        let most = self.core.config.limits.message;
        let found = self.exchanges.get_mut(&exchange);
        let is_standing = found.as_ref().is_some_and(|found| found.purpose == For::Standing);
        match found.map(|found| &mut found.reading) {
            Some(Reading::Whole { body, .. }) if body.len() + bytes.len() <= most => {
                body.extend_from_slice(bytes);
            }
            Some(Reading::Whole { .. }) => {
                self.broken(exchange, Broken::TooMuch("bytes of a body"))
            }
            Some(Reading::Events(decoder)) => {
                decoder.feed(bytes);
                if is_standing && !bytes.is_empty() {
                    self.standing_heard();
                }
                self.events(exchange);
                if !bytes.is_empty() {
                    self.pulse(exchange, bytes);
                }
            }
            Some(Reading::Unread { .. } | Reading::Nothing | Reading::Head(_)) | None => {}
        }
        self.pump();
    }

    /// A response is complete.
    pub fn handle_end(&mut self, now: Instant, exchange: ExchangeId) {
        self.core.advance(now);
        self.finish(exchange);
        self.pump();
    }

    /// An exchange has no response, or not all of one; `sent` says whether any of the request may
    /// have reached the server, `why` what went wrong.
    pub fn handle_failed(&mut self, now: Instant, exchange: ExchangeId, sent: bool, why: &str) {
        self.core.advance(now);
        let ran = if sent { Ran::Maybe } else { Ran::Never };
        let error = ClientError { kind: ErrorKind::Connection(why.to_owned()), ran };
        self.broken(exchange, Broken::Gone(error));
        self.pump();
    }

    fn read(&mut self, exchange: ExchangeId, reading: Reading) {
        if let Some(found) = self.exchanges.get_mut(&exchange) {
            found.reading = reading;
        }
    }

    /// Which session a successful handshake opens, if any (C59).
    fn note_session<H: Headers + ?Sized>(&mut self, id: i64, headers: &H) {
        if self.core.purpose(id) == Some(Purpose::Negotiation) {
            self.candidate = session_id(headers, self.core.config.limits.session_id);
        }
    }

    // ---- event streams ----

    /// Takes the events that are complete. One after the other, never by recursion (C64).
    fn events(&mut self, exchange: ExchangeId) {
        loop {
            let Some(Exchange { purpose, reading: Reading::Events(decoder), .. }) =
                self.exchanges.get_mut(&exchange)
            else {
                return;
            };
            let purpose = *purpose;
            match decoder.next_event() {
                None => return,
                Some(Ok(event)) => self.event(exchange, purpose, event),
                Some(Err(_)) => {
                    return self.broken(exchange, Broken::TooMuch("bytes of an event"));
                }
            }
            self.pump();
        }
    }

    fn event(&mut self, exchange: ExchangeId, purpose: For, event: sse::Event) {
        let name = event.event().unwrap_or("message").to_owned();
        let Some(message) = event.message() else {
            return;
        };
        if purpose == For::Everything && name == "endpoint" {
            return self.endpoint_told(exchange, message);
        }
        if name != "message" {
            return;
        }
        let text = Bytes::copy_from_slice(message.as_bytes());
        match purpose {
            For::Request(id) | For::Resume(id) => {
                self.core.hear(text, Place::Response(id, 200));
                // What the stream was for has come; the rest of it has a moment (C67).
                if !self.core.awaits(id) {
                    self.of_request.remove(&id);
                    self.tails.remove(&id);
                    let until = self.core.now + self.core.config.limits.drain;
                    self.timers.set(Timer::Enough(exchange), until);
                }
            }
            For::Standing | For::Everything => self.core.hear(text, Place::Stream),
            For::Note { .. } | For::Answer(_) | For::Post(..) | For::Goodbye | For::Spent => {}
        }
    }

    /// An HTTP+SSE server tells where messages go: within its own origin (C56, T-26).
    fn endpoint_told(&mut self, exchange: ExchangeId, reference: &str) {
        self.timers.clear(Timer::Enough(exchange));
        let Some(found) = self.exchanges.get(&exchange) else { return };
        match found.url.join(reference) {
            Ok(endpoint) => {
                let is_first = self.endpoint.is_none();
                self.endpoint = Some(endpoint);
                if is_first {
                    self.core.evidence(Evidence::Endpoint);
                }
            }
            Err(_) => {
                self.core.warn(format!("an endpoint of another origin is not used: {reference}"));
                self.broken(exchange, Broken::Nonsense("an endpoint of another origin".into()));
            }
        }
    }

    // ---- ends ----

    /// An exchange came to its end in good order.
    fn finish(&mut self, exchange: ExchangeId) {
        self.unwatch(exchange);
        let Some(found) = self.exchanges.get(&exchange) else { return };
        match (&found.reading, found.purpose) {
            (Reading::Head(_), _) => {
                let error = ErrorKind::Connection("the response has no head".to_owned());
                return self.broken(exchange, Broken::Gone(ClientError::maybe(error)));
            }
            (Reading::Events(_), _) => {
                let error = ErrorKind::Connection("the stream ended before the answer".to_owned());
                return self.broken(exchange, Broken::Gone(ClientError::maybe(error)));
            }
            (Reading::Whole { .. } | Reading::Unread { .. } | Reading::Nothing, _) => {}
        }
        let Some(Exchange { purpose, reading, .. }) = self.exchanges.remove(&exchange) else {
            return;
        };
        let (status, body, refusal, described) = match reading {
            Reading::Whole { status, body, mut refusal } => {
                // Answers are read once, and by those who wait for them.
                if !(200..300).contains(&status) {
                    say(&mut refusal, &body);
                }
                (status, body, refusal, None)
            }
            Reading::Unread { status, refusal, described } => {
                (status, Vec::new(), refusal, Some(described))
            }
            Reading::Nothing | Reading::Head(_) | Reading::Events(_) => return,
        };
        match purpose {
            // Whoever stands before the server could not reach it, so it is as if nobody had
            // answered.
            For::Resume(id) if status >= 500 => {
                self.of_request.remove(&id);
                self.broke(id, "", None, refusal);
            }
            For::Answer(number) if status >= 500 => self.answer_broke(number, &refusal),
            For::Request(id) | For::Resume(id) => {
                self.of_request.remove(&id);
                self.whole(id, status, body, refusal, described);
            }
            For::Note { completes } => self.noted(status, completes, &refusal),
            For::Answer(number) => {
                self.answer_taken(number);
                self.noted(status, false, &refusal);
            }
            For::Post(id, completes) => self.posted(id, status, body, completes, refusal),
            For::Standing => match status {
                405 => self.standing_refused(),
                // 409: the stream before this one is not over yet, as far as the server knows.
                409 => self.standing_broke("", None, refusal),
                _ if refusal.is_transient() => self.standing_broke("", None, refusal),
                _ => self.standing_given_up(refusal),
            },
            For::Everything => self.core.evidence(Evidence::Status(status, refusal)),
            For::Goodbye | For::Spent => {}
        }
    }

    /// The head of a response has said all that matters.
    fn finish_early(&mut self, exchange: ExchangeId) {
        self.finish(exchange);
        self.spend(exchange);
    }

    /// The rest of a response means nothing. It has a moment, so that the connection may serve
    /// another exchange (C67). Gives what the exchange was.
    pub(super) fn spend(&mut self, exchange: ExchangeId) -> Option<Exchange> {
        let (url, reading) = (self.url.clone(), Reading::Nothing);
        let pulse = Pulse::default();
        let spent = Exchange { purpose: For::Spent, reading, url, in_session: false, pulse };
        let until = self.core.now + self.core.config.limits.drain;
        self.timers.clear(Timer::Silent(exchange));
        self.timers.set(Timer::Enough(exchange), until);
        self.exchanges.insert(exchange, spent)
    }

    /// A response that is no stream came whole.
    fn whole(
        &mut self,
        id: i64,
        status: u16,
        body: Vec<u8>,
        refusal: ClientError,
        described: Option<String>,
    ) {
        // Credentials come before all that a body may say (C23, C70).
        let wants_credentials = matches!(refusal.kind, ErrorKind::Unauthorized { .. });
        // Where it is tried again, the status says so, and not whoever words it as a message.
        let comes_back = self.core.config.retry.is_some() && is_the_environment_s(&refusal);
        if !wants_credentials && !comes_back && !body.trim_ascii().is_empty() {
            self.core.hear(body.into(), Place::Response(id, status));
        }
        if self.core.awaits(id) {
            let broken = match status {
                200..300 => {
                    let whole = || format!("a body of status {status} without the answer");
                    Broken::Nonsense(described.unwrap_or_else(whole).into())
                }
                _ => Broken::Status(status, refusal),
            };
            self.core.broken(id, broken);
        }
    }

    /// A message that has no answer arrived, or was refused.
    fn noted(&mut self, status: u16, completes: bool, refusal: &ClientError) {
        if completes && status >= 500 && self.confirms_again() {
            return;
        }
        if !(200..300).contains(&status) {
            self.core.warn(format!("a message was refused: {refusal}"));
        }
        if completes {
            self.core.confirmed();
            self.pump();
            self.stand();
        }
    }

    /// A message to an HTTP+SSE server arrived, or was refused. Some answer in the response (C56).
    fn posted(
        &mut self,
        id: Option<i64>,
        status: u16,
        body: Vec<u8>,
        completes: bool,
        refusal: ClientError,
    ) {
        let is_success = (200..300).contains(&status);
        let Some(id) = id else { return self.noted(status, completes, &refusal) };
        self.of_request.remove(&id);
        if body.trim_ascii().starts_with(b"{") {
            self.core.hear(body.into(), Place::Response(id, status));
        }
        if !is_success && self.core.awaits(id) {
            self.core.broken(id, Broken::Status(status, refusal));
        }
    }

    /// The session that a request named is gone (C58).
    fn session_gone(&mut self, exchange: ExchangeId) {
        let Some(Exchange { purpose, .. }) = self.exchanges.get(&exchange) else { return };
        let purpose = *purpose;
        let never_worked = !self.standing.worked;
        self.abandon(exchange);
        // Some have no such route and no stream; then 404 says nothing about the session.
        if purpose == For::Standing && never_worked {
            let kind = ErrorKind::Http { status: 404, retry_after: None, said: None };
            return self.standing_given_up(ClientError::never(kind));
        }
        if let For::Note { completes: true } = purpose {
            let kind = ErrorKind::Http { status: 404, retry_after: None, said: None };
            return self.noted(404, true, &ClientError::never(kind));
        }
        self.id = None;
        self.standing_ended();
        match purpose {
            For::Request(id) => {
                self.of_request.remove(&id);
                self.core.session_lost(id, Ran::Never);
            }
            For::Resume(id) => {
                self.of_request.remove(&id);
                self.tails.remove(&id);
                self.core.session_lost(id, Ran::Maybe);
            }
            _ => self.core.renew(),
        }
    }

    /// An exchange ends in disorder.
    pub(super) fn broken(&mut self, exchange: ExchangeId, how: Broken) {
        self.unwatch(exchange);
        let Some(found) = self.exchanges.remove(&exchange) else { return };
        if !matches!(how, Broken::Gone(_)) {
            self.core.carry(crate::client::Carry::Close(exchange));
        }
        let (from, retry) = match &found.reading {
            Reading::Events(decoder) => {
                (decoder.last_event_id().to_owned(), decoder.reconnection_time())
            }
            _ => (String::new(), None),
        };
        match (found.purpose, how) {
            (For::Request(id) | For::Resume(id), Broken::Gone(error)) => {
                self.of_request.remove(&id);
                let resumes = matches!(found.purpose, For::Resume(_)) || !from.is_empty();
                match resumes {
                    true => self.broke(id, &from, retry, error),
                    false => self.lose(id, error),
                }
            }
            (For::Request(id) | For::Resume(id), how) => {
                self.of_request.remove(&id);
                self.tails.remove(&id);
                self.core.broken(id, how);
            }
            (For::Note { completes: true } | For::Post(None, true), Broken::Gone(_))
                if self.confirms_again() => {}
            (For::Note { completes } | For::Post(None, completes), how) => {
                self.core.warn(format!("a message did not arrive: {}", how.into_error()));
                if completes {
                    self.core.confirmed();
                    self.pump();
                    self.stand();
                }
            }
            (For::Answer(number), Broken::Gone(error)) => self.answer_broke(number, &error),
            (For::Answer(number), how) => {
                self.answer_taken(number);
                self.core.warn(format!("an answer did not arrive: {}", how.into_error()));
            }
            (For::Post(Some(id), _), how) => {
                self.of_request.remove(&id);
                self.core.broken(id, how);
            }
            (For::Standing, Broken::Gone(error)) => self.standing_broke(&from, retry, error),
            (For::Standing, how) => self.standing_given_up(how.into_error()),
            (For::Everything, how) => {
                self.endpoint = None;
                self.core.disconnected(how);
            }
            (For::Goodbye | For::Spent, _) => {}
        }
    }

    pub(super) fn lose(&mut self, id: i64, error: ClientError) {
        self.core.broken(id, Broken::Gone(error));
    }
}
