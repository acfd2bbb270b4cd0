//! The contract that every client machine keeps.

use core::fmt;
use std::sync::Arc;

use super::core::Core;
use super::{AskId, CallId, Carriage, ClientError, Learned, ListenId};
use crate::effect::{Effect, EffectError, EffectId, Reply as EffectReply};
use crate::model::{
    BadQuestion, Change, Description, Filter, InputRequest, Json, LogMessage, Progress, Reply,
    Request,
};
use crate::revision::Adapter;
use crate::time::Instant;

/// The server, once it is known.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Server {
    /// The revision that is spoken with it.
    pub adapter: Adapter,
    /// How messages reach it.
    pub carriage: Carriage,
    /// Who it is and what it can do.
    pub description: Description,
}

/// What a machine has to say.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output {
    /// Something for the application.
    Event(Event),
    /// Something to do for the machine, answered with [`Machine::handle_reply`].
    Effect(EffectId, Effect),
    /// The machine no longer waits for this effect.
    Abandon(EffectId),
    /// Something for whoever carries the messages.
    Carry(super::Carry),
}

/// Something for the application.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The server is known, and calls are made. Comes again after a session was lost.
    Connected(Arc<Server>),
    /// The server could not be reached, or not be understood. Calls that waited have ended; the
    /// next one tries again.
    Unavailable(ClientError),
    /// How far a call has come.
    Progress(CallId, Progress),
    /// A call has ended. It is the last that is heard of it, and comes once for every call.
    Ended(CallId, Result<Box<Reply>, ClientError>),
    /// A question, answered with [`Machine::answer`].
    Ask(AskId, Question),
    /// The server no longer wants an answer to this question.
    Withdrawn(AskId),
    /// The server logs. On a stream of its own the call that it is about is known.
    Log(Option<CallId>, LogMessage),
    /// A subscription is in force, for so much of what was wanted (R26-SUBS-05).
    Listening(ListenId, Filter),
    /// Something changed.
    Changed(ListenId, Change),
    /// A subscription was interrupted: changes may have been missed.
    Missed(ListenId),
    /// A subscription has ended. It is the last that is heard of it.
    Unlistened(ListenId, Result<(), ClientError>),
    /// A notification that the machine makes nothing of (C11).
    Notification {
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Json>,
    },
    /// Something of the server's was wrong and was left out; for a log.
    Warning(String),
    /// The machine is done.
    Closed,
}

/// A question of the server's.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The call that it is about, where that is known.
    pub call: Option<CallId>,
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: String,
    /// The parameters: an object, if there are any.
    pub params: Option<Json>,
}

impl Question {
    /// A question of that method, for tests.
    #[cfg(all(test, feature = "service"))]
    pub(crate) fn new(method: &str, params: &'static str) -> Self {
        let params = Some(Json::scanned(params.into()));
        Self { call: None, method: method.to_owned(), params }
    }

    /// The question, as far as this library understands it.
    ///
    /// # Errors
    /// Where it is none that can be put to anybody; [`Declined::invalid`] answers it.
    pub fn read(&self) -> Result<InputRequest, BadQuestion> {
        InputRequest::read_params(&self.method, self.params.as_ref())
    }
}

/// A question that the application does not answer. To refuse a person's consent is an answer;
/// this is for what cannot be asked of anybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declined {
    /// The JSON-RPC code, where the revision has room for one.
    pub code: i64,
    /// One sentence for the server.
    pub message: String,
}

impl Declined {
    /// Sampling was refused by the person (R24-SAMP: code -1).
    pub fn by_user(message: impl Into<String>) -> Self {
        Self { code: -1, message: message.into() }
    }

    /// The question is none (R2511-ELIC: -32602).
    pub fn invalid(why: &BadQuestion) -> Self {
        Self { code: -32602, message: why.to_string() }
    }

    /// The application failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { code: -32603, message: message.into() }
    }
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What a machine over some carrier provides for the contract.
pub(crate) mod sealed {
    use super::{Core, Instant};

    pub trait Carrier {
        fn core(&self) -> &Core;
        fn core_mut(&mut self) -> &mut Core;
        /// Hands to the carrier what the core wants sent.
        fn pump(&mut self);
        /// The carrier's own deadline.
        fn carrier_timeout(&self) -> Option<Instant>;
        fn carrier_expired(&mut self, now: Instant);
        fn carrier_close(&mut self);
    }
}

/// One server's client, whatever carries the messages.
///
/// # Contract
/// **In**: [`handle_timeout`](Self::handle_timeout), [`handle_reply`](Self::handle_reply), and the
/// carrier's own inputs. **Commands**: [`connect`](Self::connect), [`call`](Self::call),
/// [`cancel`](Self::cancel), [`answer`](Self::answer), [`listen`](Self::listen),
/// [`unlisten`](Self::unlisten), [`close`](Self::close). **Out**: [`poll_output`](Self::poll_output).
/// **State**: [`poll_timeout`](Self::poll_timeout), [`server`](Self::server),
/// [`learned`](Self::learned), [`is_closed`](Self::is_closed).
///
/// 1. Any order of inputs and commands is legal; where the outputs are drained changes no byte.
/// 2. How an input is split changes no byte.
/// 3. After `handle_timeout(now)`, `poll_timeout()` is `None` or later than `now`.
/// 4. Late, repeated and unknown replies and answers are ignored.
/// 5. No input makes a machine panic, loop, or hold more than its [`Limits`](super::Limits) say.
/// 6. Every call ends exactly once, with a result, or with an error that says whether it may have
///    run.
pub trait Machine: sealed::Carrier {
    /// Finds out who the server is, unless that is known or under way. A new machine does so by
    /// itself, and so does a call.
    fn connect(&mut self, now: Instant) {
        self.core_mut().connect(now);
        self.pump();
    }

    /// Makes a call. It waits until the server is known.
    fn call(&mut self, now: Instant, request: Request) -> CallId {
        let call = self.core_mut().call(now, request);
        self.pump();
        call
    }

    /// Ends a call that is no longer wanted, and tells the server in the revision's way
    /// (R24-CANC-01, R26-HTTP-17). One that has ended is ignored.
    fn cancel(&mut self, now: Instant, call: CallId) {
        self.core_mut().cancel(now, call);
        self.pump();
    }

    /// Answers a question: the result as the protocol spells it, an object. A form that was accepted
    /// gets the defaults of the fields that the answer leaves out (R2511-ELIC-08).
    fn answer(&mut self, now: Instant, ask: AskId, answer: Result<Json, Declined>) {
        self.core_mut().answer(now, ask, answer);
        self.pump();
    }

    /// Asks to be told of changes, in the revision's way.
    fn listen(&mut self, now: Instant, filter: Filter) -> ListenId {
        let listen = self.core_mut().listen(now, filter);
        self.pump();
        listen
    }

    /// Ends a subscription.
    fn unlisten(&mut self, now: Instant, listen: ListenId) {
        self.core_mut().unlisten(now, listen);
        self.pump();
    }

    /// Forgets what may not be shared between credentials: they are others from here on
    /// (R26-CACHE-08).
    fn forget_private(&mut self) {
        self.core_mut().forget_private();
    }

    /// Ends everything: calls end with [`ErrorKind::Closed`](super::ErrorKind::Closed).
    fn close(&mut self, now: Instant) {
        self.core_mut().close(now);
        self.pump();
        self.carrier_close();
    }

    /// Time passed. Does nothing if no deadline was reached.
    fn handle_timeout(&mut self, now: Instant) {
        self.core_mut().handle_timeout(now);
        self.pump();
        self.carrier_expired(now);
        self.pump();
    }

    /// The world's answer to an effect.
    fn handle_reply(
        &mut self,
        now: Instant,
        id: EffectId,
        reply: Result<EffectReply, EffectError>,
    ) {
        self.core_mut().handle_reply(now, id, reply);
        self.pump();
    }

    /// The next thing that the machine has to say. Draining decides nothing.
    fn poll_output(&mut self) -> Option<Output> {
        self.core_mut().poll_output()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is wanted at the latest.
    fn poll_timeout(&self) -> Option<Instant> {
        crate::time::earlier(self.core().poll_timeout(), self.carrier_timeout())
    }

    /// The server, once it is known.
    fn server(&self) -> Option<&Arc<Server>> {
        self.core().server()
    }

    /// What was learned, for the next machine that talks to this server (R26-VER-06).
    fn learned(&self) -> Option<Learned> {
        self.server().map(|server| Learned::of(server))
    }

    /// Whether the machine is done: it takes nothing more.
    fn is_closed(&self) -> bool {
        self.core().is_closed()
    }
}
