//! From a handler to the world, through its connection's loop.

use core::time::Duration;

use super::promise::{Promise, promise};
use super::{Command, Error, Outbox};
use crate::effect::{Effect, EffectError, Reply};
use crate::model::Keeping;
use crate::server::CallId;

/// What has the world do something for one call, in that call's name. The loop does it, so a
/// handler needs neither the stores nor the runtime.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    call: CallId,
    outbox: Outbox,
    keeping: Keeping,
}

impl Line {
    pub(crate) fn new(call: CallId, outbox: Outbox, keeping: Keeping) -> Self {
        Self { call, outbox, keeping }
    }

    /// Under whose name things are kept.
    pub(crate) fn keeping(&self) -> &Keeping {
        &self.keeping
    }

    /// Has an effect carried out.
    pub(crate) async fn ask(&self, effect: Effect) -> Result<Reply, Error> {
        let (promise, promised) = promise();
        self.outbox.send(self.call, Command::Do(Errand(Job::Effect(effect, promise))));
        let gone = || EffectError::Unavailable("the connection's loop has ended".into());
        Ok(promised.await.ok_or_else(gone)??)
    }

    /// Waits.
    pub(crate) async fn wait(&self, duration: Duration) {
        let (promise, promised) = promise();
        self.outbox.send(self.call, Command::Do(Errand(Job::Wait(duration, promise))));
        promised.await;
    }
}

/// Something to be done for a handler that is no matter of its machine.
#[derive(Debug)]
pub struct Errand(pub(crate) Job);

/// The errand itself.
#[derive(Debug)]
pub(crate) enum Job {
    Effect(Effect, Promise<Result<Reply, EffectError>>),
    Wait(Duration, Promise<()>),
}
