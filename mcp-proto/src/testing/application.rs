//! What runs the calls of a machine under test.

use core::time::Duration;
use std::collections::VecDeque;

use crate::model::{Call, LogMessage, Outcome, Progress};

/// Decides what happens to each call. Every `FnMut(&Call) -> Script` is one.
pub trait Application {
    /// What to do for `call`, now and later.
    fn call(&mut self, call: &Call) -> Script;
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
    /// It answers.
    Respond(Outcome),
}

/// What an application does for one call, in order, with pauses.
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
