//! What runs the calls of a machine under test.

use core::time::Duration;
use std::collections::VecDeque;

use crate::model::{Call, InputRequest, LogMessage, Outcome, Progress};
use crate::server::{Answered, AskId, CallId, Machine};

/// Decides what happens to each call. Every `FnMut(&Call) -> Script` is one.
pub trait Application {
    /// What to do for `call`, now and later.
    fn call(&mut self, call: &Call) -> Script;

    /// What to do for `call` once a question of its script has come to something.
    fn answered(&mut self, call: &Call, question: &InputRequest, answered: Answered) -> Script {
        let _ = (call, question, answered);
        Script::silent()
    }
}

impl<F: FnMut(&Call) -> Script> Application for F {
    fn call(&mut self, call: &Call) -> Script {
        self(call)
    }
}

/// One thing that an application does for a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Act {
    /// It reports how far it has come.
    Progress(Progress),
    /// It logs.
    Log(LogMessage),
    /// It puts a question to the client, and does not wait for what comes of it.
    Ask(InputRequest),
    /// It takes back the questions that it put and that nothing came of yet.
    Withdraw,
    /// It closes the client's stream, and goes on.
    CloseStream,
    /// It answers.
    Respond(Outcome),
}

impl Act {
    /// Does it for `call`, whose open questions are `asked`.
    pub(super) fn perform(
        self,
        machine: &mut dyn Machine,
        call: CallId,
        asked: &mut Vec<(AskId, InputRequest)>,
    ) {
        match self {
            Self::Progress(progress) => machine.progress(call, progress),
            Self::Log(message) => machine.log(call, message),
            Self::Ask(question) => asked.push((machine.ask(call, question.clone()), question)),
            Self::Withdraw => asked.drain(..).for_each(|(ask, _)| machine.withdraw(ask)),
            Self::CloseStream => machine.close_stream(call),
            Self::Respond(outcome) => machine.respond(call, outcome),
        }
    }
}

/// What an application does for one call, in order, with pauses: each pause, and what comes after it.
///
/// What comes after a cancellation is left out, unless the script is
/// [`stubborn`](Self::stubborn).
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Script {
    pub(super) acts: VecDeque<(Duration, Act)>,
    pub(super) stubborn: bool,
    pause: Duration,
}

impl Script {
    /// The call is never answered, as if its handler hung.
    pub fn silent() -> Self {
        Self::default()
    }

    /// The call is answered at once.
    pub fn answer(outcome: impl Into<Outcome>) -> Self {
        Self::default().respond(outcome)
    }

    /// Waits before what comes next.
    pub fn wait(mut self, pause: Duration) -> Self {
        self.pause += pause;
        self
    }

    /// Reports how far the call has come.
    pub fn progress(self, progress: Progress) -> Self {
        self.act(Act::Progress(progress))
    }

    /// Logs to the client.
    pub fn log(self, message: LogMessage) -> Self {
        self.act(Act::Log(message))
    }

    /// Puts a question to the client. The script goes on meanwhile; what to do then is up to
    /// [`Application::answered`].
    pub fn ask(self, question: impl Into<InputRequest>) -> Self {
        self.act(Act::Ask(question.into()))
    }

    /// Takes back the questions that are still open.
    pub fn withdraw(self) -> Self {
        self.act(Act::Withdraw)
    }

    /// Closes the client's stream, and goes on.
    pub fn close_stream(self) -> Self {
        self.act(Act::CloseStream)
    }

    /// Answers the call.
    pub fn respond(self, outcome: impl Into<Outcome>) -> Self {
        self.act(Act::Respond(outcome.into()))
    }

    /// Goes on after a cancellation, as a handler that does not listen.
    pub fn stubborn(mut self) -> Self {
        self.stubborn = true;
        self
    }

    fn act(mut self, act: Act) -> Self {
        let pause = core::mem::take(&mut self.pause);
        self.acts.push_back((pause, act));
        self
    }
}

impl Iterator for Script {
    type Item = (Duration, Act);

    fn next(&mut self) -> Option<Self::Item> {
        self.acts.pop_front()
    }
}
