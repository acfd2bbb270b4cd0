//! What handlers have to say before they are done, on its way to their connection's machine.

use core::fmt;
use core::task::Waker;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::task::AtomicWaker;

use super::asking::{Question, Round};
use super::line::Errand;
use crate::model::{Change, LogMessage, Progress, Text};
use crate::server::CallId;

/// Something that a handler wants done for its call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Command {
    /// Report progress.
    Progress(Progress),
    /// Log to the client.
    Log(LogMessage),
    /// Give the call up.
    Cancel,
    /// Put a question to the client while the call goes on.
    Ask(Question),
    /// Tell clients of that namespace what changed.
    Announce {
        /// Whose clients.
        namespace: Text,
        /// What changed.
        change: Change,
    },
    /// Close the client's stream while the call goes on.
    CloseStream,
    /// Do something that is no matter of the machine: a [`Host`](super::Host) does it. Where it is
    /// dropped, what waits for it fails.
    Do(Errand),
    /// A question is not waited for any more.
    Withdraw,
    /// End the call with questions, unless its handler is done.
    Round(Round),
}

impl Command {
    /// What nobody misses where the client reads too slowly.
    fn may_be_lost(&self) -> bool {
        matches!(self, Self::Progress(_) | Self::Log(_))
    }
}

/// The commands of one connection's calls, in the order in which they were given. Cloning shares
/// it.
///
/// The lock is held for a push or a swap, by one connection's handlers and loop only.
#[derive(Clone, Default)]
pub struct Outbox(Arc<Inner>);

#[derive(Default)]
struct Inner {
    queue: Mutex<Queue>,
    waker: AtomicWaker,
}

#[derive(Default)]
struct Queue {
    commands: VecDeque<(CallId, Command)>,
    closed: bool,
}

impl Outbox {
    /// How many commands wait at most. Handlers that say more before the loop comes by lose log
    /// messages and progress, as they would where the client reads too slowly.
    pub const MOST: usize = 1024;

    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next command.
    pub fn pop(&self) -> Option<(CallId, Command)> {
        self.queue().commands.pop_front()
    }

    /// All commands that wait.
    pub(crate) fn take(&self) -> VecDeque<(CallId, Command)> {
        core::mem::take(&mut self.queue().commands)
    }

    /// Wakes `waker`, and no other any more, when a command comes.
    pub fn register(&self, waker: &Waker) {
        self.0.waker.register(waker);
    }

    /// Takes nothing any more, and drops what waits: nobody is left who would do it.
    pub(crate) fn close(&self) {
        let mut queue = self.queue();
        queue.closed = true;
        let left = core::mem::take(&mut queue.commands);
        drop(queue);
        drop(left);
    }

    pub(crate) fn send(&self, call: CallId, command: Command) {
        {
            let mut queue = self.queue();
            let full = queue.commands.len() >= Self::MOST;
            if queue.closed || full && command.may_be_lost() {
                return;
            }
            queue.commands.push_back((call, command));
        }
        self.0.waker.wake();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outbox({} waiting)", self.queue().commands.len())
    }
}
