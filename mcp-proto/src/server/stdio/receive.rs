//! From a line to calls, answers and updates.

use bytes::Bytes;

use super::{AskStep, Batch, Handshake, Parked, Stdio};
use crate::frame::lines::LineTooLong;
use crate::model::{Call, Failure, FailureKind, Operation};
use crate::revision::{
    self, Adapter, Context, Decoded, Established, Incoming, Preamble, Refused, Selection, Transport,
};
use crate::server::intake::{self, Answer, Plan};
use crate::server::listening::Listening;
use crate::server::session::{self, SessionChange};
use crate::server::subscriptions::Subscriptions;
use crate::server::{Answered, Bound, Notice};

impl Stdio {
    pub(super) fn receive(&mut self, line: Result<Bytes, LineTooLong>) {
        let endpoint = self.core.endpoint.clone();
        let incoming = match line {
            // Only messages may be on this stream (R24-STDIO-04), yet some parents print there.
            Ok(line) if !is_message(&line) => return self.skip("a line that is no message"),
            Ok(line) => revision::read(line, &endpoint.limits().read()),
            Err(too_long) => {
                self.core.notice(Notice::Bound(Bound::Message));
                let failure = Failure::new(FailureKind::Malformed, too_long.to_string());
                match Refused::outlined(&too_long.outline, failure) {
                    refused if refused.id().is_none() => {
                        return self.skip(&refused.failure.message);
                    }
                    refused => Err(refused),
                }
            }
        };
        let incoming = match incoming {
            Ok(incoming) => incoming,
            Err(refused) => {
                self.core.notices(&refused);
                return self.refuse(&self.spokesman(), &refused);
            }
        };
        let established = self.established.as_ref().map(|handshake| handshake.adapter);
        let context = Context {
            established: established.as_ref().map_or(Established::None, Established::Adapter),
            ..Context::new(Transport::Stdio)
        };
        let selection = match &incoming {
            Incoming::One(message) => endpoint.adapters().select(message, &context),
            Incoming::Batch(_) => endpoint.adapters().select_batch(&context),
        };
        match (selection, incoming) {
            (Selection::Adapter(adapter), Incoming::One(message)) => {
                self.decode(adapter, &message, None);
            }
            (Selection::Adapter(adapter), Incoming::Batch(messages)) => {
                self.receive_batch(adapter, messages);
            }
            (Selection::Refused { adapter, failure }, Incoming::One(message)) => {
                if let Some(id) = message.id() {
                    self.refuse(adapter, &Refused::new(Some(id.clone()), failure));
                }
            }
            (Selection::Refused { adapter, failure }, Incoming::Batch(messages)) => {
                if let Some(refused) = Refused::batch_of(messages, failure) {
                    self.refuse(adapter, &refused);
                }
            }
            // Nothing is ever pending here: a stream has no session's record to wait for.
            (Selection::AwaitSession, _) => {}
        }
    }

    /// Who words a refusal that no revision can be told for.
    pub(super) fn spokesman(&self) -> Adapter {
        match &self.established {
            Some(handshake) => handshake.adapter,
            None => *self.core.endpoint.adapters().fallback(),
        }
    }

    fn decode(&mut self, adapter: &Adapter, message: &Preamble, batch: Option<u64>) {
        let client = self.established.as_ref().map(|handshake| &handshake.client);
        match adapter.decode(message, client.filter(|_| adapter.has_handshake)) {
            Decoded::Call(call) if call.operation() == Operation::HandshakeComplete => {
                self.begin_listening();
            }
            Decoded::Call(call) if call.is_notification() => {}
            Decoded::Call(call) => self.dispatch(adapter, call, batch),
            Decoded::Cancelled { request, .. } => self.cancel(&request),
            Decoded::Answered(answered) => self.answered(answered),
            Decoded::Ignored => {}
            Decoded::Refused(refused) => self.refuse_in(adapter, &refused, batch),
        }
    }

    fn receive_batch(&mut self, adapter: &Adapter, messages: Vec<Result<Preamble, Refused>>) {
        let id = self.core.id();
        // Held open while its messages are read, so that it cannot end before they were.
        self.batches.push(Batch { id, waiting: 1, replies: Vec::new() });
        for message in messages {
            match message {
                Ok(message) => self.decode(adapter, &message, Some(id)),
                Err(refused) => self.refuse_in(adapter, &refused, Some(id)),
            }
        }
        self.settle_batch(id, None);
    }

    fn dispatch(&mut self, adapter: &Adapter, call: Call, batch: Option<u64>) {
        let Some(id) = call.id() else { return };
        let malformed = |why| Answer::Failure(Failure::new(FailureKind::Malformed, why));
        let (endpoint, published) = (&self.core.endpoint, &self.core.published);
        let unasked = intake::without_asking(endpoint, published, adapter, &call);
        let adapter = unasked.as_ref().unwrap_or(adapter);
        let plan = match self.is_in_flight(id) {
            true => Plan::Answer(malformed("this id is in use by a call that is running")),
            false => intake::plan(&self.core.published, adapter, &call),
        };
        match plan {
            Plan::Answer(answer) => self.answer(adapter, &call, answer, batch),
            Plan::Handshake | Plan::Listen(_) if batch.is_some() => {
                let answer = malformed("this method stands alone, never in a batch");
                self.answer(adapter, &call, answer, batch);
            }
            Plan::Handshake if self.established.is_some() && !self.begins_anew() => {
                self.answer(adapter, &call, malformed(intake::SHAKEN), batch);
            }
            Plan::Handshake => {
                let adapters = self.core.endpoint.adapters();
                let adapter = intake::negotiated(adapters, None, &call).unwrap_or(*adapter);
                let answer = match session::introduced(call.client(), self.core.endpoint.limits()) {
                    Ok(client) => {
                        let subscriptions = Subscriptions::default();
                        self.established = Some(Handshake { adapter, client, subscriptions });
                        Answer::Description
                    }
                    Err(failure) => Answer::Failure(failure),
                };
                self.answer(&adapter, &call, answer, batch);
            }
            Plan::Update(change) => {
                let updated = self.update(&change);
                let answer = updated.map_or_else(Answer::Failure, |()| Answer::Empty);
                self.answer(adapter, &call, answer, batch);
            }
            Plan::Listen(filter) => {
                let id = id.clone();
                let filter = filter.within(self.core.endpoint.limits().subscribed);
                let listening = Listening::by_request(&mut self.core, *adapter, id, filter);
                self.listening.push(listening);
            }
            Plan::Run => self.park(adapter, call, batch),
        }
    }

    /// Forgets what an earlier handshake settled, where that is allowed.
    fn begins_anew(&mut self) -> bool {
        let allowed = self.core.endpoint.shared().allow_reinitialize;
        if let Some(index) = self.listening.iter().position(|it| it.request().is_none() && allowed)
        {
            let listening = self.listening.swap_remove(index);
            self.core.abandon(listening.waiting());
        }
        allowed
    }

    fn park(&mut self, adapter: &Adapter, mut call: Call, batch: Option<u64>) {
        let published = self.core.published.clone();
        let tool = published.called(adapter, &call);
        match intake::take_answers(adapter, tool, &mut call) {
            Ok(()) => {
                let parked = Parked { adapter: *adapter, call, batch };
                if !self.can_park(&parked) {
                    self.core.notice(Notice::Bound(Bound::Parked));
                    let busy =
                        "busy: too many calls are under way; call again when some have ended";
                    let busy = Answer::Failure(Failure::new(FailureKind::Internal, busy));
                    return self.answer(adapter, &parked.call, busy, batch);
                }
                self.expect(batch);
                self.parked_bytes += parked.size();
                self.parked.push_back(parked);
                self.unpark();
            }
            Err(failure) => self.answer(adapter, &call, Answer::Failure(failure), batch),
        }
    }

    /// Whether one more call may run, or wait for others.
    fn can_park(&self, one: &Parked) -> bool {
        let limits = self.core.endpoint.limits();
        let fits = self.parked_bytes + one.size() <= limits.message || self.parked.is_empty();
        self.running.len() < limits.in_flight || (self.parked.len() < limits.parked && fits)
    }

    /// What a client sets once, it sets for its process.
    fn update(&mut self, change: &SessionChange) -> Result<(), Failure> {
        let most = self.core.endpoint.limits().subscribed;
        let Some(handshake) = &mut self.established else { return Ok(()) };
        match change {
            SessionChange::LogLevel(level) => handshake.client.log_level = Some(*level),
            SessionChange::Subscribe(uri) => {
                handshake.subscriptions.add(uri, most)?;
            }
            SessionChange::Unsubscribe(uri) => handshake.subscriptions.remove(uri),
            SessionChange::Complete | SessionChange::Negotiated(..) => {}
        }
        let filter = handshake.subscriptions.filter();
        if let Some(listening) = self.listening.iter_mut().find(|it| it.request().is_none()) {
            listening.set_filter(self.core.published.catalog(), filter);
        }
        Ok(())
    }

    /// From the end of the handshake on, the process is told what changes.
    fn begin_listening(&mut self) {
        let features = &self.core.published.catalog().features;
        let tells = features.list_changed || features.subscribe;
        let already = self.listening.iter().any(|it| it.request().is_none());
        if let Some(handshake) = self.established.as_ref().filter(|_| tells && !already) {
            let (adapter, filter) = (handshake.adapter, handshake.subscriptions.filter());
            let listening = Listening::by_process(&mut self.core, adapter, filter);
            self.listening.push(listening);
        }
    }

    /// The answer to one of our questions. What nobody asked is taken note of, and leaves
    /// nothing behind.
    fn answered(&mut self, answered: revision::Answered) {
        let asked = |ask: &super::Ask| match &ask.step {
            AskStep::Minting(_) => false,
            AskStep::Sent(request) => Some(request) == answered.id.as_ref(),
        };
        if let Some(index) = self.asks.iter().position(asked) {
            let ask = self.asks.swap_remove(index);
            let answer = answered.result.map_or_else(Answered::Error, Answered::Given);
            self.core.answered(ask.id, answer);
        }
    }
}

/// Whether a line could be a message at all: an object, or a batch.
fn is_message(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    matches!(line.trim_ascii_start().first(), Some(b'{' | b'['))
}

impl Parked {
    pub(super) fn size(&self) -> usize {
        self.call.raw().as_bytes().len()
    }
}
