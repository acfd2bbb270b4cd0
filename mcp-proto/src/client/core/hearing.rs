//! Messages from the server.

use bytes::Bytes;

use super::Broken;
use super::asking::{INVALID_REQUEST, Manner, unanswered};
use super::{Core, Life, Outgoing, Purpose, Timer};
use crate::client::machine::Event;
use crate::client::negotiation::Evidence;
use crate::client::{CallId, ClientError, ErrorKind, Ran};
use crate::frame::envelope::{Outline, ProgressToken, RequestId, rough_elements};
use crate::frame::json::{self, Kind};
use crate::model::{
    FailureKind, InArguments, InputRequired, Json, Operation, Progress, Reply, ReplyValue,
};
use crate::revision::{
    self, Adapter, Heard, Incoming, ReadBound, Received, Refused, ServerError, Subject,
};

/// Where a message was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum Place {
    /// On the stream of everything.
    Stream,
    /// In the response to this request, with this status.
    Response(i64, u16),
}

impl Core {
    /// Takes one JSON text: a message, or a batch of them.
    pub(in crate::client) fn hear(&mut self, text: Bytes, place: Place) {
        let batch = (json::kind(&text) == Kind::Array).then(|| text.clone());
        let limits = self.config.limits.read(self.config.replaces_surrogates);
        match revision::read(text, &limits) {
            Ok(Incoming::One(message)) => self.take(Heard::of(&message), place),
            // R2503-RPC-17: one bad element does not spoil the others.
            Ok(Incoming::Batch(messages)) => {
                for message in messages {
                    match message {
                        Ok(message) => self.take(Heard::of(&message), place),
                        Err(refused) => self.refused(refused, place),
                    }
                }
            }
            // The status says what a refusal's body does not.
            Err(_) if matches!(place, Place::Response(_, 300..)) => {}
            Err(refused) => match batch.filter(|_| refused.exceeds != Some(ReadBound::Batch)) {
                Some(batch) => self.hear_apart(&batch, &refused, place),
                None => self.refused(refused, place),
            },
        }
    }

    /// What cannot be read ends the request that its id names, at once: it has no other answer.
    fn refused(&mut self, refused: Refused, place: Place) {
        let why = refused.failure.message.into_owned();
        match refused.subject {
            Subject::Response(Some(id)) => match self.outstanding(&id) {
                Some(id) => self.broken(id, Broken::Nonsense(why.into())),
                None => self.unasked(&id),
            },
            Subject::Request(id) => self.unreadable(&id, why, place),
            Subject::Response(None) | Subject::Requests(_) | Subject::Unknown => {
                self.warn(format!("no message: {why}"));
            }
        }
    }

    /// The elements of a batch that cannot be read as a whole: one bad element does not spoil the
    /// others (R2503-RPC-17).
    fn hear_apart(&mut self, batch: &Bytes, refused: &Refused, place: Place) {
        let elements = rough_elements(batch, self.config.limits.batch);
        let mut messages = elements.into_iter().map(<[u8]>::trim_ascii).peekable();
        if messages.peek().is_none() {
            self.warn(format!("no message: {}", refused.failure.message));
        }
        for message in messages.filter(|message| json::kind(message) == Kind::Object) {
            self.hear(batch.slice_ref(message), place);
        }
    }

    /// A request of the server's that cannot be read is refused under its id.
    fn unreadable(&mut self, id: &RequestId, why: String, place: Place) {
        // The body of a response has no requests: what waits for it learns that it is no answer.
        let may_ask = self.adapter().filter(|adapter| adapter.has_handshake);
        let (Some(adapter), Place::Stream | Place::Response(_, 200)) = (may_ask, place) else {
            return self.warn(format!("no message: {why}"));
        };
        if matches!(self.life, Life::Closed(_)) {
            return;
        }
        let body = self.notify(|out| adapter.write_refusal(out, id, INVALID_REQUEST, &why));
        self.outgoing.push_back(Outgoing::Answer(body));
    }

    /// A message is longer than a client takes: `outline` is what could be told of it.
    pub(in crate::client) fn overlong(&mut self, outline: &Outline, what: &'static str) {
        let id = outline.response_id().and_then(|id| self.outstanding(id));
        match (id, outline.request_id()) {
            (Some(id), _) => self.broken(id, Broken::TooMuch(what)),
            (None, Some(id)) => {
                self.unreadable(id, "the message is too long".to_owned(), Place::Stream);
            }
            (None, None) => self.warn(format!("no message: too many {what}")),
        }
    }

    fn take(&mut self, heard: Heard, place: Place) {
        match heard {
            Heard::Result { id, result } => match self.outstanding(&id) {
                Some(id) => self.result(id, result),
                None => self.unasked(&id),
            },
            Heard::Error { id, error } => {
                let status = match place {
                    Place::Response(_, status) => Some(status),
                    Place::Stream => None,
                };
                let about = match (&id, place) {
                    (Some(id), Place::Response(answered, 300..)) => {
                        // A refusal answers what it refuses, whatever id it has.
                        self.outstanding(id).or(self.awaits(answered).then_some(answered))
                    }
                    (Some(id), _) => self.outstanding(id),
                    // An error without an id in the response to a request is about that request.
                    (None, Place::Response(answered, _)) => {
                        self.awaits(answered).then_some(answered)
                    }
                    // While the server is found out, nothing else was asked.
                    (None, Place::Stream) => self.negotiating().first().copied(),
                };
                match (about, id) {
                    (Some(about), _) => self.error(about, error, status),
                    (None, Some(id)) => self.unasked(&id),
                    (None, None) => self.warn(format!("error {}: {}", error.code, error.message)),
                }
            }
            Heard::Request { id, method, params } => self.requested(id, method, params, place),
            Heard::Progress(token, progress) => self.progressed(&token, progress),
            Heard::Log(message) => {
                let call = match place {
                    Place::Response(id, _) => self.call_of(id),
                    Place::Stream => None,
                };
                if self.has_room() {
                    self.emit(Event::Log(call, message));
                }
            }
            Heard::Changed { change, subscription } => {
                self.changed(change, subscription.as_ref(), place)
            }
            Heard::Acknowledged { subscription, filter } => {
                self.acknowledged(subscription.as_ref(), filter, place)
            }
            Heard::Cancelled(id) => self.server_cancels(&id),
            Heard::Other { method, params } => {
                if self.has_room() {
                    self.emit(Event::Notification { method, params });
                }
            }
        }
    }

    /// The request that an answer's id names. A gateway may have made a string of the number (C02).
    fn outstanding(&self, id: &RequestId) -> Option<i64> {
        let own = |id: &RequestId| id.as_text().is_none().then(|| id.as_integer()).flatten();
        let id = own(id).or_else(|| own(&id.unquoted()?))?;
        self.awaits(id).then_some(id)
    }

    /// The answer to something that was not asked, or is not waited for any more (R24-CANC-05).
    fn unasked(&mut self, id: &RequestId) {
        let given_up = id.as_integer().is_some_and(|id| (1..self.next_request).contains(&id));
        if !given_up {
            self.warn(format!("an answer to request {id}, which was never made"));
        }
    }

    pub(super) fn call_of(&self, id: i64) -> Option<CallId> {
        match self.requests.get(&id)?.purpose {
            Purpose::Call(call) => Some(call),
            _ => None,
        }
    }

    fn result(&mut self, id: i64, result: Json) {
        let (Some(adapter), Some(sent)) = (self.adapter(), self.settle(id)) else { return };
        if sent.purpose == Purpose::Negotiation {
            return self.evidence(Evidence::Result(result));
        }
        let received = adapter.read_result(sent.operation, &result, self.is_http());
        match (sent.purpose, received) {
            (Purpose::Call(call), Ok(Received::Reply(reply))) => {
                match adapter.asks_in_arguments().then(|| asked_by(&reply)).flatten() {
                    Some(asks) if self.config.capabilities.elicitation_form => {
                        self.questioned(call, asks, Manner::Arguments, |_| reply);
                    }
                    _ => self.replied(call, &adapter, reply),
                }
            }
            (Purpose::Call(call), Ok(Received::Questions(questions))) => {
                let reply = |asks| unanswered(asks, result);
                self.questioned(call, questions, Manner::Members, reply);
            }
            (Purpose::Refresh(call), Ok(Received::Reply(reply))) => {
                self.refreshed(call, &adapter, reply);
            }
            (Purpose::Call(call), Err(bad)) => {
                self.fail(call, ClientError::maybe(ErrorKind::BadReply(bad)));
            }
            (Purpose::Refresh(call), _) => {
                let what = ErrorKind::Protocol("a list of tools that is none".into());
                self.fail(call, ClientError::never(what));
            }
            (Purpose::Listen(listen), _) => self.end_listening(listen, Ok(())),
            (Purpose::Subscribe(listen), _) => self.subscribed_to(listen, id, true),
            (Purpose::Aside, _) | (Purpose::Negotiation, _) => {}
        }
    }

    fn error(&mut self, id: i64, error: ServerError, status: Option<u16>) {
        let (Some(adapter), Some(sent)) = (self.adapter(), self.settle(id)) else { return };
        if sent.purpose == Purpose::Negotiation {
            return self.evidence(Evidence::Refused(error, status));
        }
        let failed = server_error(&adapter, error);
        match sent.purpose {
            Purpose::Call(call) => {
                let is_mismatch = matches!(
                    failed.kind,
                    ErrorKind::Server { meaning: FailureKind::HeaderMismatch, .. }
                );
                let is_unknown = matches!(
                    failed.kind,
                    ErrorKind::Server { meaning: FailureKind::UnknownMethod, .. }
                );
                if !(is_mismatch && self.refresh(call, &adapter)
                    || is_unknown && self.lists_nothing(call))
                {
                    self.fail(call, failed);
                }
            }
            Purpose::Refresh(call) => {
                self.fail(call, ClientError { ran: Ran::Never, ..failed });
            }
            Purpose::Listen(listen) => self.end_listening(listen, Err(failed)),
            Purpose::Aside => self.warn(failed.to_string()),
            Purpose::Subscribe(listen) => {
                self.warn(failed.to_string());
                self.subscribed_to(listen, id, false);
            }
            Purpose::Negotiation => {}
        }
    }

    /// Progress shows that the server is at it, so its clock starts again (R2503-TIME-03). What does
    /// not rise is no progress (R24-PROG-02).
    fn progressed(&mut self, token: &ProgressToken, progress: Progress) {
        let text = token.as_text().and_then(|text| text.parse().ok());
        let Some(id) = token.as_integer().or(text) else { return };
        let Some(call) = self.call_of(id) else { return };
        let Some(found) = self.calls.get(&call).filter(|call| call.request.progress) else {
            return;
        };
        let patience = found.request.patience.unwrap_or(self.config.limits.patience);
        let Some(sent) = self.requests.get_mut(&id) else { return };
        if sent.reported.is_some_and(|reported| progress.progress <= reported) {
            return;
        }
        sent.reported = Some(progress.progress);
        self.timers.set(Timer::Silence(id), self.now + patience);
        if self.has_room() {
            self.emit(Event::Progress(call, progress));
        }
    }

    /// The server no longer wants an answer of ours, or ends a subscription (C88).
    fn server_cancels(&mut self, id: &RequestId) {
        if self.withdrawn(id) {
            return;
        }
        let Some(id) = self.outstanding(id) else { return };
        if let Some(Purpose::Listen(listen)) = self.purpose(id) {
            // It is over: there is nothing left for us to cancel (R26-CANC-01).
            self.settle(id);
            self.end_listening(listen, Ok(()));
        }
    }

    fn requested(&mut self, id: RequestId, method: String, params: Option<Json>, place: Place) {
        let Some(adapter) = self.adapter() else { return };
        if matches!(self.life, Life::Closed(_)) {
            return;
        }
        // R26-RPC-35: it must not ask in this way, and we must not answer.
        if !adapter.has_handshake {
            return self
                .warn(format!("a request of the server's, which it may not make: {method}"));
        }
        match adapter.operation_for(&method) {
            Some(Operation::Ping) => {
                let empty = Json::scanned(Bytes::from_static(b"{}"));
                let body = self.notify(|out| adapter.write_answer(out, &id, &empty));
                self.outgoing.push_back(Outgoing::Answer(body));
            }
            _ => self.asked(&adapter, id, method, params, place),
        }
    }
}

/// What a tool's result asks in the way of old revisions.
fn asked_by(reply: &Reply) -> Option<InputRequired> {
    match (&reply.value, &reply.meta) {
        (ReplyValue::Tool(_), Some(meta)) => InArguments::asked(meta),
        _ => None,
    }
}

/// An error that the server answered with. Some codes say that nothing ran.
fn server_error(adapter: &Adapter, error: ServerError) -> ClientError {
    let meaning = adapter.kind_of(error.code);
    let ran = match meaning {
        FailureKind::Parse
        | FailureKind::Malformed
        | FailureKind::UnknownMethod
        | FailureKind::HeaderMismatch
        | FailureKind::UnsupportedVersion => Ran::Never,
        _ => Ran::Maybe,
    };
    ClientError { kind: ErrorKind::Server { error, meaning }, ran }
}
