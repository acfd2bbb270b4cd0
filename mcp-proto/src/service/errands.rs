//! What a loop does for its handlers that is no matter of the machine.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::announcer::publish;
use super::line::Job;
use super::promise::Promise;
use super::{Execution, Host, Runtime, Threading};
use crate::effect::{Effect, EffectError, Reply};
use crate::model::{Change, Text};
use crate::time::{Instant, earlier};

type Answering = Pin<Box<dyn Future<Output = Result<Reply, EffectError>> + Send>>;
type Answer = Promise<Result<Reply, EffectError>>;

/// The errands of one loop. There are few at a time.
#[derive(Default)]
pub(crate) struct Errands {
    under_way: Vec<(Option<Answer>, Answering)>,
    alarms: Vec<(Instant, Promise<()>)>,
    /// Changes to be announced, each once, whoever said so since the last turn.
    changes: Vec<(Text, Change)>,
}

impl Errands {
    pub(crate) fn begin<M: Threading>(
        &mut self,
        host: &Host<impl Runtime<M>, M>,
        now: Instant,
        job: Job,
    ) {
        match job {
            Job::Effect(effect, answer) => match host.answer(effect) {
                Execution::Done(reply) => answer.keep(reply),
                Execution::Later(reply) => self.under_way.push((Some(answer), reply)),
            },
            Job::Wait(duration, answer) => self.alarms.push((now + duration, answer)),
        }
    }

    pub(crate) fn announce(&mut self, namespace: Text, change: Change) {
        let change = (namespace, change);
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.alarms.is_empty() && self.changes.is_empty()
    }

    /// When the next alarm goes off.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.alarms.iter().map(|(at, _)| Some(*at)).fold(None, earlier)
    }

    /// Goes on with all of them; false where nothing moved.
    pub(crate) fn poll<M: Threading>(
        &mut self,
        host: &Host<impl Runtime<M>, M>,
        now: Instant,
        cx: &mut Context<'_>,
    ) -> bool {
        let mut moved = false;
        for (namespace, change) in self.changes.drain(..) {
            moved = true;
            // Whoever announces cannot do anything about a hub that fails.
            if let Execution::Later(reply) = host.answer(Effect::Hub(publish(&namespace, &change)))
            {
                self.under_way.push((None, reply));
            }
        }
        let mut index = 0;
        while let Some((_, errand)) = self.under_way.get_mut(index) {
            match errand.as_mut().poll(cx) {
                Poll::Pending => index += 1,
                Poll::Ready(reply) => {
                    moved = true;
                    if let (Some(answer), _) = self.under_way.swap_remove(index) {
                        answer.keep(reply);
                    }
                }
            }
        }
        while let Some(index) = self.alarms.iter().position(|(at, _)| *at <= now) {
            moved = true;
            self.alarms.swap_remove(index).1.keep(());
        }
        moved
    }
}
