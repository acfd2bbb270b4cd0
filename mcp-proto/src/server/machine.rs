//! The contract that every server machine keeps.

use core::fmt;
use std::sync::Arc;

use crate::effect::{Effect, EffectError, EffectId, Reply};
use crate::frame::http1::Closing;
use crate::model::{Call, InputRequest, Json, LogMessage, Outcome, Progress};
use crate::revision::Published;
use crate::time::Instant;

use super::Notice;

/// Names one call of one machine. Ids are never reused within a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub(crate) u64);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, 'c', self.0)
    }
}

/// Names one question of one machine. Ids are never reused within a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AskId(pub(crate) u64);

impl fmt::Display for AskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, 'a', self.0)
    }
}

/// How many bits count within one exchange of a connection; those above are its number.
pub(crate) const IDS: u32 = 24;

/// `c7`, or `c2.7` for the third exchange of a connection.
pub(crate) fn show(f: &mut fmt::Formatter<'_>, kind: char, id: u64) -> fmt::Result {
    match (id >> IDS, id & ((1 << IDS) - 1)) {
        (0, id) => write!(f, "{kind}{id}"),
        (exchange, id) => write!(f, "{kind}{exchange}.{id}"),
    }
}

/// What came of a question that was put to the client while the call went on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Answered {
    /// The client's result, as it came: to be judged against the question
    /// ([`Answer::read`](crate::model::Answer::read)).
    Given(Json),
    /// The client answered with an error: an object with a code and a message, and no consent to
    /// anything.
    Error(Json),
    /// Nobody answered in time; the question was withdrawn.
    TimedOut,
    /// This client cannot be asked that on this call.
    Unsupported,
    /// The store or the hub failed.
    Failed,
}

/// What a machine has to say.
#[derive(Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "a box would cost an allocation for every call")]
pub enum Output {
    /// Something for the application.
    Event(Event),
    /// Something to do for the machine, answered with [`Machine::handle_reply`].
    Effect(EffectId, Effect),
    /// The machine no longer waits for this effect.
    Abandon(EffectId),
}

/// Something for the application.
#[derive(Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "a box would cost an allocation for every call")]
pub enum Event {
    /// A call to run. It is answered with [`Machine::respond`], once.
    Call(CallId, Call),
    /// Nobody waits for this call any more: stop it. It needs no answer, and none is sent.
    Cancelled(CallId),
    /// What came of a question; see [`Machine::ask`]. It comes once.
    Answered(AskId, Answered),
    /// Something for the server's log. A peer can bring about as many as it likes.
    Notice(Notice),
}

/// One byte stream's server.
///
/// # Contract
/// **In**: [`handle_input`](Self::handle_input), [`handle_eof`](Self::handle_eof),
/// [`handle_closed`](Self::handle_closed), [`handle_timeout`](Self::handle_timeout),
/// [`handle_reply`](Self::handle_reply), [`handle_published`](Self::handle_published).
/// **Commands**: [`respond`](Self::respond), [`progress`](Self::progress), [`log`](Self::log),
/// [`ask`](Self::ask), [`withdraw`](Self::withdraw), [`suspend`](Self::suspend),
/// [`close_stream`](Self::close_stream), [`close`](Self::close).
/// **Out**: [`poll_output`](Self::poll_output), [`transmit`](Self::transmit).
/// **State**: [`poll_timeout`](Self::poll_timeout), [`wants_input`](Self::wants_input),
/// [`closing`](Self::closing), [`is_idle`](Self::is_idle).
///
/// 1. Any order of inputs and commands is legal; where the outputs are drained changes no byte.
/// 2. How an input is split changes no byte.
/// 3. After `handle_timeout(now)`, `poll_timeout()` is `None` or later than `now`.
/// 4. Late, repeated and unknown replies and answers are ignored.
/// 5. No input makes a machine panic, loop, or hold more than its [`Limits`](super::Limits) say.
pub trait Machine {
    /// Takes bytes that arrived and says how many it took. It takes less than all of them only
    /// while [`wants_input`](Self::wants_input) is false; the caller keeps the rest.
    fn handle_input(&mut self, now: Instant, input: &[u8]) -> usize;

    /// The peer ended its side of the stream.
    fn handle_eof(&mut self, now: Instant);

    /// The stream is gone: it was reset, or a write failed.
    fn handle_closed(&mut self, now: Instant);

    /// Time passed. Does nothing if no deadline was reached.
    fn handle_timeout(&mut self, now: Instant);

    /// The world's answer to an effect.
    fn handle_reply(&mut self, now: Instant, id: EffectId, reply: Result<Reply, EffectError>);

    /// What the server declares has changed.
    fn handle_published(&mut self, now: Instant, published: Arc<Published>);

    /// The application's answer to a call.
    fn respond(&mut self, call: CallId, outcome: Outcome);

    /// Reports how far a call has come. Nothing is sent where the client asked for no progress,
    /// the report does not exceed the last one, or the reply cannot carry it.
    fn progress(&mut self, call: CallId, progress: Progress);

    /// Logs to the client. Nothing is sent where the client wants no such message, or the reply
    /// cannot carry it.
    fn log(&mut self, call: CallId, message: LogMessage);

    /// Puts a question to the client while the call goes on, where the revision has that
    /// ([`AskBy::Push`](crate::revision::AskBy::Push)). What comes of it is an
    /// [`Event::Answered`].
    fn ask(&mut self, call: CallId, request: InputRequest) -> AskId;

    /// Takes a question back: the client is told, and no answer comes any more.
    fn withdraw(&mut self, ask: AskId);

    /// The application could not answer the call at once. From now on the machine watches for
    /// cancellations that reach other workers.
    fn suspend(&mut self, call: CallId);

    /// Closes the client's stream while the call goes on, where it can be taken up again: the
    /// client comes back for the rest (R2511-HTTP-19). Elsewhere this does nothing.
    fn close_stream(&mut self, call: CallId);

    /// Ends the stream: takes no further request, lets the running calls finish, then closes.
    fn close(&mut self);

    /// The next thing that the machine has to say. Draining decides nothing.
    fn poll_output(&mut self) -> Option<Output>;

    /// Appends what is to be written to `out`.
    fn transmit(&mut self, out: &mut Vec<u8>);

    /// When [`handle_timeout`](Self::handle_timeout) is wanted at the latest.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Whether [`handle_input`](Self::handle_input) takes anything now.
    fn wants_input(&self) -> bool;

    /// Whether the stream goes on.
    fn closing(&self) -> Closing;

    /// Nothing runs any more. A machine whose stream is closed is to be driven on (without its
    /// stream) until it is idle: calls may go on whose results can be fetched elsewhere.
    fn is_idle(&self) -> bool;
}
