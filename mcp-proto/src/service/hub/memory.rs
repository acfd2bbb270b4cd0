//! Events in this process's memory.

use core::fmt;
use core::pin::pin;
use core::time::Duration;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::future::{Either, select};

use super::super::{Execution, Sleep};
use super::waiting::split;
use super::{Bells, Hub};
use crate::effect::Reply;
use crate::store::{Bell, Extent, Found, HubOp, PAGE_BYTES, PAGE_MESSAGES, Place, Polled, read};
use crate::time::Instant;

/// A hub in memory: for one process, for development, for tests. Cloning shares it.
///
/// Time comes from the caller. Publishing wakes who waits for that topic; an idle listener costs
/// nothing. Without a timer, a poll waits until there is news: who drives it keeps its `wait`, by
/// dropping it.
#[derive(Clone, Default)]
pub struct MemoryHub {
    topics: Arc<Mutex<Topics>>,
    bells: Bells,
    timer: Option<Arc<dyn Sleep>>,
}

impl MemoryHub {
    /// An empty hub whose polls wait until there is news, or they are dropped.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty hub whose polls end after their `wait`.
    pub fn with_timer(timer: Arc<dyn Sleep>) -> Self {
        Self { timer: Some(timer), ..Self::default() }
    }

    /// How many topics there are, expired ones that nothing cleared away yet included.
    pub fn topics(&self) -> usize {
        self.lock().by_name.len()
    }

    #[cfg(test)]
    pub(crate) fn found(&self, name: &str, after: Place) -> Found {
        self.lock().found(name, after)
    }

    fn lock(&self) -> MutexGuard<'_, Topics> {
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn poll(
        &self,
        refused: Vec<Polled>,
        wanted: Vec<(String, Place)>,
        wait: Duration,
    ) -> Execution {
        let mut polled = refused;
        polled.extend(self.lock().look(&wanted));
        if !polled.is_empty() || wait.is_zero() || wanted.is_empty() {
            return Execution::Done(Ok(Reply::Polled(polled)));
        }
        let hub = self.clone();
        Execution::Later(Box::pin(async move {
            let mut listening = hub.bells.listen(wanted.iter().map(|(topic, _)| Bell::of(topic)));
            let news = async {
                loop {
                    let polled = hub.lock().look(&wanted);
                    if !polled.is_empty() {
                        return polled;
                    }
                    listening.heard().await;
                }
            };
            let Some(timer) = &hub.timer else { return Ok(Reply::Polled(news.await)) };
            match select(pin!(news), timer.sleep(wait)).await {
                Either::Left((polled, _)) => Ok(Reply::Polled(polled)),
                Either::Right(_) => Ok(Reply::Polled(Vec::new())),
            }
        }))
    }
}

impl fmt::Debug for MemoryHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryHub({} topics, {:?})", self.topics(), self.bells)
    }
}

impl Hub for MemoryHub {
    fn execute(&self, now: Instant, op: HubOp) -> Execution {
        self.lock().expire(now);
        let reply = match op {
            HubOp::Publish { topic, message, ttl, keep } => {
                let bell = Bell::of(&topic);
                let place = self.lock().append(topic, message, ttl, keep);
                self.bells.ring(bell);
                Reply::Published(place.into())
            }
            HubOp::Position { topic } => Reply::Position(self.lock().extent(&topic).end().into()),
            HubOp::Poll { topics, wait } => {
                let (refused, wanted) = split(topics);
                return self.poll(refused, wanted, wait);
            }
            HubOp::Delete { topic } => {
                self.lock().remove(&topic);
                self.bells.ring(Bell::of(&topic));
                Reply::Deleted
            }
        };
        Execution::Done(Ok(reply))
    }
}

#[derive(Default)]
struct Topics {
    now: Instant,
    /// The greatest place that any topic gave. A new topic goes on from here, so that its places
    /// are greater than those of an earlier one of its name.
    ceiling: Place,
    by_name: HashMap<Arc<str>, Topic>,
    by_expiry: BTreeSet<(Instant, Arc<str>)>,
}

/// Messages end at `last`, without gaps; none of them expires before an older one.
struct Topic {
    first: Place,
    last: Place,
    expires: Instant,
    messages: VecDeque<(Bytes, Instant)>,
}

impl Topics {
    /// Time passes; it never goes back.
    fn expire(&mut self, now: Instant) {
        self.now = self.now.max(now);
        while let Some((expires, name)) = self.by_expiry.pop_first() {
            if expires > self.now {
                self.by_expiry.insert((expires, name));
                break;
            }
            self.by_name.remove(&name);
        }
    }

    fn append(&mut self, name: String, message: Bytes, ttl: Duration, keep: u32) -> Place {
        let (now, ceiling) = (self.now, self.ceiling);
        let name: Arc<str> = name.into();
        let topic = self.by_name.entry(Arc::clone(&name)).or_insert_with(|| Topic {
            first: ceiling + 1,
            last: ceiling,
            expires: now,
            messages: VecDeque::new(),
        });
        self.by_expiry.remove(&(topic.expires, Arc::clone(&name)));
        topic.last += 1;
        topic.expires = topic.expires.max(now + ttl);
        topic.messages.push_back((message, topic.expires));
        let keep = usize::try_from(keep).unwrap_or(usize::MAX).max(1);
        let kept = |topic: &Topic| topic.messages.front().is_some_and(|(_, end)| *end > now);
        while topic.messages.len() > keep || topic.messages.len() > 1 && !kept(topic) {
            topic.messages.pop_front();
        }
        self.ceiling = self.ceiling.max(topic.last);
        self.by_expiry.insert((topic.expires, name));
        topic.last
    }

    fn remove(&mut self, name: &str) {
        if let Some((name, topic)) = self.by_name.remove_entry(name) {
            self.by_expiry.remove(&(topic.expires, name));
        }
    }

    fn extent(&self, name: &str) -> Extent {
        match self.by_name.get(name) {
            Some(&Topic { first, last, .. }) => Extent::Known { first, last },
            None => Extent::Absent { ceiling: self.ceiling },
        }
    }

    fn look(&self, wanted: &[(String, Place)]) -> Vec<Polled> {
        let look = |(topic, after): &(String, Place)| {
            Some(Polled { topic: topic.clone(), read: read(*after, self.found(topic, *after))? })
        };
        wanted.iter().filter_map(look).collect()
    }

    fn found(&self, name: &str, after: Place) -> Found {
        let mut messages = Vec::new();
        if let Some(topic) = self.by_name.get(name) {
            let oldest = topic.last + 1 - topic.messages.len() as Place;
            let seen = usize::try_from((after + 1).saturating_sub(oldest)).unwrap_or(usize::MAX);
            let mut bytes = 0;
            for (index, (message, expires)) in topic.messages.iter().enumerate().skip(seen) {
                if messages.len() == PAGE_MESSAGES || bytes >= PAGE_BYTES {
                    break;
                }
                if *expires > self.now {
                    bytes += message.len();
                    messages.push((oldest + index as Place, message.clone()));
                }
            }
        }
        Found { extent: self.extent(name), messages }
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
