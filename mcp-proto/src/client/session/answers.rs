//! Answers to the server's requests. What they answer waits for them, and takes them once, so one that
//! may not have arrived is sent again. A server that takes none gets no more.

use bytes::Bytes;

use super::exchange::For;
use super::{Session, Timer};
use crate::client::ClientError;

/// An answer that the server has not taken yet.
#[derive(Debug)]
pub(super) struct Answer {
    body: Bytes,
    /// How often it did not arrive.
    attempts: u32,
}

impl Session {
    pub(super) fn send_answer(&mut self, body: Bytes) {
        if self.unsent >= self.core.config.limits.unsent {
            return self.core.warn("a request is not answered: the server takes no answers");
        }
        self.unsent += held(&body);
        let number = self.next_answer;
        self.next_answer += 1;
        self.answers.insert(number, Answer { body, attempts: 0 });
        self.post_answer(number);
    }

    pub(super) fn post_answer(&mut self, number: u64) {
        let Some(answer) = self.answers.get(&number) else { return };
        let body = answer.body.clone();
        self.post(For::Answer(number), self.headers(Vec::new(), false), body);
    }

    /// The server has taken an answer, or refused it.
    pub(super) fn answer_taken(&mut self, number: u64) {
        if let Some(answer) = self.answers.remove(&number) {
            self.unsent -= held(&answer.body);
        }
    }

    /// The connection broke before the server said that it took an answer.
    pub(super) fn answer_broke(&mut self, number: u64, error: &ClientError) {
        let most = self.core.config.limits.reconnects;
        let Some(answer) = self.answers.get_mut(&number) else { return };
        answer.attempts += 1;
        let attempts = answer.attempts;
        if attempts > most {
            self.answer_taken(number);
            return self.core.warn(format!("an answer did not arrive: {error}"));
        }
        let pause = self.pause((Some(0), attempts));
        self.timers.set(Timer::Repeat(number), self.core.now + pause);
    }

    /// Nobody waits for answers any more: who asked is gone.
    pub(super) fn forget_answers(&mut self) {
        for (number, _) in core::mem::take(&mut self.answers) {
            self.timers.clear(Timer::Repeat(number));
        }
        self.unsent = 0;
    }
}

/// What an answer takes that waits, with its exchange.
fn held(body: &Bytes) -> usize {
    body.len() + 1_024
}
