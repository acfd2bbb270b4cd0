//! A hub in memory and in virtual time.

use core::time::Duration;
use std::collections::BTreeMap;

use bytes::Bytes;

use crate::effect::{EffectId, Reply};
use crate::store::{Cursor, HubOp, Polled, Read};
use crate::time::{Instant, earlier};

/// A hub in memory and in virtual time. Machines that share one, share nothing else.
///
/// Cursors count the messages of all topics, so no two places are alike.
#[derive(Debug, Default)]
pub struct Hub {
    topics: BTreeMap<String, Vec<Message>>,
    published: u64,
    waiting: Vec<Waiting>,
}

#[derive(Debug)]
struct Message {
    place: u64,
    message: Bytes,
    until: Instant,
}

#[derive(Debug)]
struct Waiting {
    /// Whose effect it is.
    machine: usize,
    id: EffectId,
    topics: Vec<(String, Cursor)>,
    until: Instant,
}

impl Hub {
    /// How many bytes the longest name of a topic has.
    pub fn longest_topic(&self) -> usize {
        self.topics.keys().map(String::len).max().unwrap_or(0)
    }

    /// Does what a machine asks; `None` where the answer comes later, from [`due`](Self::due).
    pub fn perform(
        &mut self,
        now: Instant,
        machine: usize,
        id: EffectId,
        op: &HubOp,
    ) -> Option<Reply> {
        self.expire(now);
        Some(match op {
            HubOp::Publish { topic, message, ttl, keep } => {
                self.publish(now, topic, message.clone(), *ttl, *keep)
            }
            HubOp::Position { .. } => Reply::Position(Cursor::from(self.published)),
            HubOp::Delete { topic } => {
                self.topics.remove(topic);
                Reply::Deleted
            }
            HubOp::Poll { topics, wait } => {
                let found = self.read(topics);
                if found.is_empty() && !wait.is_zero() {
                    let (topics, until) = (topics.clone(), now + *wait);
                    self.waiting.push(Waiting { machine, id, topics, until });
                    return None;
                }
                Reply::Polled(found)
            }
        })
    }

    /// Publishes, as another worker would.
    pub fn publish(
        &mut self,
        now: Instant,
        topic: &str,
        message: Bytes,
        ttl: Duration,
        keep: u32,
    ) -> Reply {
        self.published += 1;
        let messages = self.topics.entry(topic.to_owned()).or_default();
        messages.push(Message { place: self.published, message, until: now + ttl });
        let surplus = messages.len().saturating_sub(keep as usize);
        messages.drain(..surplus);
        Reply::Published(Cursor::from(self.published))
    }

    /// The polls that are answered by `now`: with news, or because they waited long enough.
    pub fn due(&mut self, now: Instant) -> Vec<(usize, EffectId, Reply)> {
        let mut answers = Vec::new();
        let mut waiting = core::mem::take(&mut self.waiting);
        waiting.retain(|poll| {
            let found = self.read(&poll.topics);
            let is_over = !found.is_empty() || poll.until <= now;
            if is_over {
                answers.push((poll.machine, poll.id, Reply::Polled(found)));
            }
            !is_over
        });
        self.waiting = waiting;
        answers
    }

    /// Stops waiting for a machine's effect.
    pub fn abandon(&mut self, machine: usize, id: EffectId) {
        self.waiting.retain(|poll| (poll.machine, poll.id) != (machine, id));
    }

    /// Stops waiting for everything of a machine that is gone.
    pub fn forget(&mut self, machine: usize) {
        self.waiting.retain(|poll| poll.machine != machine);
    }

    /// When a poll that waits is over at the latest.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.waiting.iter().fold(None, |soonest, poll| earlier(soonest, Some(poll.until)))
    }

    /// How many polls wait.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How many topics hold something at `now`.
    pub fn topics(&mut self, now: Instant) -> usize {
        self.expire(now);
        self.topics.len()
    }

    fn read(&self, topics: &[(String, Cursor)]) -> Vec<Polled> {
        let news = |(topic, cursor): &(String, Cursor)| {
            let after = cursor.as_str().parse::<u64>().ok().filter(|at| *at <= self.published);
            let Some(after) = after else {
                return Some(Polled { topic: topic.clone(), read: Read::UnknownCursor });
            };
            let messages: Vec<_> = self
                .topics
                .get(topic)?
                .iter()
                .filter(|message| message.place > after)
                .map(|message| (Cursor::from(message.place), message.message.clone()))
                .collect();
            let next = messages.last()?.0.clone();
            Some(Polled {
                topic: topic.clone(),
                read: Read::Messages { messages, next, lost: false },
            })
        };
        topics.iter().filter_map(news).collect()
    }

    fn expire(&mut self, now: Instant) {
        for messages in self.topics.values_mut() {
            messages.retain(|message| now < message.until);
        }
        self.topics.retain(|_, messages| !messages.is_empty());
    }
}
