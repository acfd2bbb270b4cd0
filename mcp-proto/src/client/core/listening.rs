//! Subscriptions to changes, on every revision.

use core::time::Duration;
use std::collections::BTreeMap;

use super::hearing::Place;
use super::{Core, Outgoing, Purpose, Timer};
use crate::client::machine::Event;
use crate::client::{Carriage, ClientError, ErrorKind, ListenId, Ran};
use crate::frame::envelope::RequestId;
use crate::model::{Change, Filter, Operation, Request};
use crate::time::Instant;

/// A subscription.
#[derive(Debug)]
pub(super) struct Listener {
    filter: Filter,
    way: Way,
    /// What has to come before it is in force, where no single answer says so.
    establishing: Option<Establishing>,
    /// It is in force, as far as is known.
    in_force: bool,
    /// It was in force before, so that taking it up again may have missed something.
    was_heard: bool,
    /// Attempts to take it up again since something was heard.
    attempts: u32,
}

/// A subscription whose parts are not in force yet.
#[derive(Debug)]
struct Establishing {
    /// What the server takes, as far as it is known.
    accepted: Filter,
    /// The requests that subscribe, and to what.
    unanswered: BTreeMap<i64, String>,
    /// The stream on which changes are told is open, or none is needed.
    has_stream: bool,
}

/// How the server is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Not yet.
    Waiting,
    /// By a request that listens, of which this is the id.
    Request(i64),
    /// By requests that subscribe; the rest is told unasked.
    Unasked,
}

impl Core {
    pub(in crate::client) fn listen(&mut self, now: Instant, filter: Filter) -> ListenId {
        self.advance(now);
        let id = ListenId(self.next_listen);
        self.next_listen += 1;
        if let super::Life::Closed(error) = &self.life {
            let error = error.clone();
            self.emit(Event::Unlistened(id, Err(error)));
            return id;
        }
        if self.listeners.len() >= self.config.limits.calls {
            let error = ClientError::never(ErrorKind::TooManyCalls);
            self.emit(Event::Unlistened(id, Err(error)));
            return id;
        }
        let listener = Listener {
            filter,
            way: Way::Waiting,
            establishing: None,
            in_force: false,
            was_heard: false,
            attempts: 0,
        };
        self.listeners.insert(id, listener);
        match self.is_open() {
            true => self.start_listening(id),
            false => self.connect(now),
        }
        id
    }

    pub(in crate::client) fn unlisten(&mut self, now: Instant, listen: ListenId) {
        self.advance(now);
        self.end_listening(listen, Ok(()));
    }

    pub(super) fn start_listeners(&mut self) {
        for listen in self.listeners.keys().copied().collect::<Vec<_>>() {
            self.start_listening(listen);
        }
    }

    fn start_listening(&mut self, listen: ListenId) {
        let (Some(server), true) = (self.server.clone(), self.is_open()) else { return };
        let Some(listener) = self.listeners.get(&listen) else { return };
        let adapter = server.adapter;
        let filter = listener.filter.clone();
        if listener.way != Way::Waiting {
            return;
        }
        if adapter.method_for(Operation::Listen).is_some() {
            let request = Request::listen(filter);
            let id = self.send_call(&adapter, Purpose::Listen(listen), &request, &[]);
            return self.by(listen, Way::Request(id));
        }
        let can = server.description.capabilities;
        let accepted = Filter {
            tools: filter.tools && can.tools_changed,
            prompts: filter.prompts && can.prompts_changed,
            resources: filter.resources && can.resources_changed,
            uris: if can.subscribe { filter.uris } else { Vec::new() },
        };
        self.by(listen, Way::Unasked);
        let subscribe = |uri: &String| {
            let request = Request::subscription(Operation::Subscribe, uri);
            (self.send_call(&adapter, Purpose::Subscribe(listen), &request, &[]), uri.clone())
        };
        let unanswered = accepted.uris.iter().map(subscribe).collect();
        // Over HTTP what is told unasked needs a stream that is open.
        let has_stream = self.carriage != Carriage::Http;
        if let Some(listener) = self.listeners.get_mut(&listen) {
            listener.establishing = Some(Establishing { accepted, unanswered, has_stream });
        }
        self.timers.set(Timer::Establish(listen), self.now + self.config.limits.patience);
        self.outgoing.push_back(Outgoing::Stream(true));
        self.establish(listen);
    }

    /// A subscription begins once all its parts are in force (R26-SUBS-05).
    fn establish(&mut self, listen: ListenId) {
        let Some(listener) = self.listeners.get_mut(&listen) else { return };
        let whole = |it: &mut Establishing| it.unanswered.is_empty() && it.has_stream;
        if let Some(established) = listener.establishing.take_if(whole) {
            self.timers.clear(Timer::Establish(listen));
            self.taken_up(listen);
            self.emit(Event::Listening(listen, established.accepted));
        }
    }

    /// A request that subscribes was answered, or will not be.
    pub(super) fn subscribed_to(&mut self, listen: ListenId, id: i64, is_accepted: bool) {
        let listener = self.listeners.get_mut(&listen);
        let Some(parts) = listener.and_then(|it| it.establishing.as_mut()) else { return };
        if let (Some(uri), false) = (parts.unanswered.remove(&id), is_accepted) {
            parts.accepted.uris.retain(|accepted| *accepted != uri);
        }
        self.establish(listen);
    }

    fn by(&mut self, listen: ListenId, way: Way) {
        if let Some(listener) = self.listeners.get_mut(&listen) {
            (listener.way, listener.in_force) = (way, false);
        }
    }

    /// A subscription is in force. If it is so again, something may have been missed in between.
    fn taken_up(&mut self, listen: ListenId) {
        let Some(listener) = self.listeners.get_mut(&listen) else { return };
        let again = core::mem::replace(&mut listener.was_heard, true);
        (listener.in_force, listener.attempts) = (true, 0);
        if again {
            self.emit(Event::Missed(listen));
        }
    }

    /// Something arrived on a subscription.
    fn heard_by(&mut self, listen: ListenId) {
        let Some(listener) = self.listeners.get_mut(&listen) else { return };
        listener.attempts = 0;
        listener.was_heard = true;
    }

    /// R26-SUBS-03, R26-SUBS-05. From here on the request has no answer for as long as it goes.
    pub(super) fn acknowledged(&mut self, by: Option<&RequestId>, filter: Filter, place: Place) {
        let Some((listen, id)) = self.subscribed(by, place) else { return };
        // Once is enough, however often it is said.
        if self.listeners.get(&listen).is_none_or(|listener| listener.in_force) {
            return;
        }
        self.timers.clear(Timer::Silence(id));
        self.taken_up(listen);
        self.emit(Event::Listening(listen, filter));
    }

    /// The subscription that a message belongs to: the one that it names, else that of the response
    /// that it came in.
    fn subscribed(&self, by: Option<&RequestId>, place: Place) -> Option<(ListenId, i64)> {
        let named = by.and_then(|id| id.as_integer().or_else(|| id.unquoted()?.as_integer()));
        let id = match (named, place) {
            (Some(id), _) => id,
            (None, Place::Response(id, _)) => id,
            (None, Place::Stream) => return None,
        };
        match self.requests.get(&id)?.purpose {
            Purpose::Listen(listen) => Some((listen, id)),
            _ => None,
        }
    }

    pub(super) fn changed(&mut self, change: Change, by: Option<&RequestId>, place: Place) {
        self.forget_cached(&change);
        let to: Vec<ListenId> = match self.subscribed(by, place) {
            Some((listen, _)) => vec![listen],
            None => {
                let hears = |listener: &&Listener| {
                    listener.way == Way::Unasked && concerns(&listener.filter, &change)
                };
                let all = self.listeners.iter().filter(|(_, listener)| hears(listener));
                all.map(|(id, _)| *id).collect()
            }
        };
        for listen in to {
            let is_whole = |it: &Listener| it.establishing.is_none();
            if self.listeners.get(&listen).is_some_and(is_whole) {
                self.heard_by(listen);
            }
            if self.has_room() {
                self.emit(Event::Changed(listen, change.clone()));
            }
        }
    }

    /// A stream on which changes are told opened. What was told before on another may have been
    /// missed.
    pub(in crate::client) fn stream_opened(&mut self) {
        let is_whole = |it: &Listener| it.way == Way::Unasked && it.establishing.is_none();
        let all = self.listeners.iter().filter(|(_, it)| is_whole(it));
        for listen in all.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.taken_up(listen);
        }
        self.stream_is_open();
    }

    /// There is a stream on which changes are told.
    pub(in crate::client) fn stream_is_open(&mut self) {
        for listen in self.listeners.keys().copied().collect::<Vec<_>>() {
            let listener = self.listeners.get_mut(&listen);
            if let Some(parts) = listener.and_then(|it| it.establishing.as_mut()) {
                parts.has_stream = true;
            }
            self.establish(listen);
        }
    }

    /// The server has no stream to tell changes on, so nobody hears of them.
    pub(in crate::client) fn stream_refused(&mut self, error: &ClientError) {
        let is_one = |listener: &Listener| listener.way == Way::Unasked;
        let all = self.listeners.iter().filter(|(_, listener)| is_one(listener));
        for listen in all.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.end_listening(listen, Err(error.clone()));
        }
    }

    /// The session is gone, and with it what was subscribed.
    pub(super) fn interrupt_listeners(&mut self) {
        for (listen, listener) in &mut self.listeners {
            self.timers.clear(Timer::Establish(*listen));
            listener.way = Way::Waiting;
            listener.establishing = None;
        }
    }

    /// The stream of a subscription ended without a word: it is made again (R26-SUBS-11).
    pub(super) fn listening_broke(&mut self, listen: ListenId, error: ClientError) {
        let most = self.config.limits.reconnects;
        let Some(listener) = self.listeners.get_mut(&listen) else { return };
        (listener.way, listener.establishing) = (Way::Waiting, None);
        listener.attempts += 1;
        if listener.attempts > most || !error.is_transient() {
            return self.end_listening(listen, Err(error));
        }
        let pause = pause(listener.attempts, error.retry_after(), self.config.limits.retry_most);
        self.timers.set(Timer::Relisten(listen), self.now + pause);
    }

    /// Has the server looked for again, where somebody waits for its changes.
    pub(super) fn reconnect(&mut self, why: &ClientError) {
        let most = self.config.limits.reconnects;
        let mut soonest = None;
        for listen in self.listeners.keys().copied().collect::<Vec<_>>() {
            let Some(listener) = self.listeners.get_mut(&listen) else { continue };
            listener.attempts += 1;
            if listener.attempts > most {
                let given_up = ClientError { ran: Ran::Never, ..why.clone() };
                self.end_listening(listen, Err(given_up));
            } else {
                soonest =
                    Some(soonest.map_or(listener.attempts, |it: u32| it.min(listener.attempts)));
            }
        }
        if let Some(attempts) = soonest {
            let pause = pause(attempts, why.retry_after(), self.config.limits.retry_most);
            self.timers.set(Timer::Reconnect, self.now + pause);
        }
    }

    /// The server could not be found, or not again. Who listened before has it looked for again,
    /// where that may help.
    pub(super) fn unserved(&mut self, error: &ClientError) {
        let is_transient = error.is_transient();
        for listen in self.listeners.keys().copied().collect::<Vec<_>>() {
            let waits = self.listeners.get(&listen).is_some_and(|it| it.was_heard && is_transient);
            if !waits {
                self.end_listening(listen, Err(error.clone()));
            }
        }
        self.reconnect(error);
    }

    pub(super) fn listening_failed(&mut self, listen: ListenId, kind: ErrorKind) {
        self.end_listening(listen, Err(ClientError::never(kind)));
    }

    pub(super) fn relisten(&mut self, listen: ListenId) {
        self.start_listening(listen);
    }

    /// The one place where subscriptions end.
    pub(super) fn end_listening(&mut self, listen: ListenId, how: Result<(), ClientError>) {
        let Some(ended) = self.listeners.remove(&listen) else { return };
        self.timers.clear(Timer::Relisten(listen));
        self.timers.clear(Timer::Establish(listen));
        match ended.way {
            Way::Waiting => {}
            Way::Request(id) => self.forget(id, "no longer listening"),
            Way::Unasked => self.unsubscribe(&ended.filter),
        }
        let unasked = |listener: &Listener| listener.way == Way::Unasked;
        if ended.way == Way::Unasked && !self.listeners.values().any(unasked) {
            self.outgoing.push_back(Outgoing::Stream(false));
        }
        self.emit(Event::Unlistened(listen, how));
    }

    /// What nobody else listens to.
    fn unsubscribe(&mut self, filter: &Filter) {
        let Some(server) = self.server.clone().filter(|_| self.is_open()) else { return };
        if !server.description.capabilities.subscribe {
            return;
        }
        for uri in &filter.uris {
            let others = self.listeners.values();
            if !others.into_iter().any(|other| other.filter.uris.contains(uri)) {
                let request = Request::subscription(Operation::Unsubscribe, uri);
                self.send_call(&server.adapter, Purpose::Aside, &request, &[]);
            }
        }
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Ever longer, and as long as the server tells, within `most`.
fn pause(attempts: u32, told: Option<Duration>, most: Duration) -> Duration {
    let own = FIRST_PAUSE * 2u32.saturating_pow(attempts.saturating_sub(1).min(16));
    own.max(told.unwrap_or_default()).min(most)
}

/// Whether a listener wants to know. A part of a resource that it listens to counts (R26-SUBS-15).
fn concerns(filter: &Filter, change: &Change) -> bool {
    let within = |uri: &str| {
        let part_of = |own: &String| {
            uri.strip_prefix(own.as_str()).is_some_and(|rest| rest.starts_with(['/', '#', '?']))
        };
        filter.uris.iter().any(part_of)
    };
    filter.wants(change) || matches!(change, Change::Updated(uri) if within(uri))
}
