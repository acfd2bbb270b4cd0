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
use crate::effect::{EffectError, Reply};
use crate::store::{Bell, Extent, Found, HubOp, PAGE_BYTES, PAGE_MESSAGES, Place, Polled, read};
use crate::time::Instant;

/// A hub in memory: for one process, for development, for tests. Cloning shares it.
///
/// Time comes from the caller. Publishing wakes who waits for that topic; an idle listener costs
/// nothing. Without a timer, a poll waits until there is news: who drives it keeps its `wait`, by
/// dropping it.
///
/// It keeps no more than [`BYTES`](Self::BYTES) of messages and topics unless told otherwise, and of
/// one topic no more than an eighth of that: the oldest messages go first, before their time if need
/// be. Readers that come for them are told that some are lost.
#[derive(Clone, Default)]
pub struct MemoryHub {
    topics: Arc<Mutex<Topics>>,
    bells: Bells,
    timer: Option<Arc<dyn Sleep>>,
}

impl MemoryHub {
    /// How many bytes are kept unless told otherwise: 64 MiB.
    pub const BYTES: usize = 64 << 20;

    /// An empty hub whose polls wait until there is news, or they are dropped.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty hub whose polls end after their `wait`.
    pub fn with_timer(timer: Arc<dyn Sleep>) -> Self {
        Self { timer: Some(timer), ..Self::default() }
    }

    /// The same hub, which keeps no more than so many bytes from now on. A message that is larger
    /// than that alone is an error of the hub.
    #[must_use]
    pub fn bounded(self, bytes: usize) -> Self {
        self.lock().most = bytes;
        self
    }

    /// How many bytes are kept, about.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
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
        let (topics, bytes) = (self.topics(), self.bytes());
        write!(f, "MemoryHub({topics} topics, {bytes} bytes, {:?})", self.bells)
    }
}

impl Hub for MemoryHub {
    fn execute(&self, now: Instant, op: HubOp) -> Execution {
        self.lock().expire(now);
        let reply = match op {
            HubOp::Publish { topic, message, ttl, keep } => {
                let bell = Bell::of(&topic);
                match self.lock().append(topic, message, ttl, keep) {
                    Ok(place) => {
                        self.bells.ring(bell);
                        Reply::Published(place.into())
                    }
                    Err(error) => return Execution::Done(Err(error)),
                }
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

/// What a message takes besides its bytes, about.
const MESSAGE: usize = 150;

/// What a topic takes besides its name and its messages, about.
const TOPIC: usize = 400;

/// Which part of all one topic may take.
const SHARE: usize = 8;

struct Topics {
    now: Instant,
    most: usize,
    bytes: usize,
    /// The messages in the order in which they came. Some of them are gone.
    by_age: VecDeque<(Arc<str>, Place)>,
    /// How many are not gone.
    messages: usize,
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
    bytes: usize,
    messages: VecDeque<(Bytes, Instant)>,
}

impl Default for Topics {
    fn default() -> Self {
        Self {
            now: Instant::default(),
            most: MemoryHub::BYTES,
            bytes: 0,
            by_age: VecDeque::new(),
            messages: 0,
            ceiling: Place::default(),
            by_name: HashMap::new(),
            by_expiry: BTreeSet::new(),
        }
    }
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
            self.remove(&name);
        }
    }

    fn append(
        &mut self,
        name: String,
        message: Bytes,
        ttl: Duration,
        keep: u32,
    ) -> Result<Place, EffectError> {
        let (now, ceiling, most) = (self.now, self.ceiling, self.most);
        let name: Arc<str> = name.into();
        let held = message.len() + MESSAGE;
        if name.len() + TOPIC + held > most {
            let why = format!("a message of {held} bytes in a memory hub of {most}; give it more");
            return Err(EffectError::Unavailable(why));
        }
        let topic = self.by_name.entry(Arc::clone(&name)).or_insert_with(|| {
            self.bytes += name.len() + TOPIC;
            Topic {
                first: ceiling + 1,
                last: ceiling,
                expires: now,
                bytes: 0,
                messages: VecDeque::new(),
            }
        });
        self.by_expiry.remove(&(topic.expires, Arc::clone(&name)));
        topic.last += 1;
        topic.expires = topic.expires.max(now + ttl);
        topic.messages.push_back((message, topic.expires));
        topic.bytes += held;
        self.bytes += held;
        self.messages += 1;
        self.by_age.push_back((Arc::clone(&name), topic.last));
        let keep = usize::try_from(keep).unwrap_or(usize::MAX).max(1);
        let kept = |topic: &Topic| topic.messages.front().is_some_and(|(_, end)| *end > now);
        let is_over = |topic: &Topic| topic.messages.len() > keep || topic.bytes > most / SHARE;
        while topic.messages.len() > 1 && (is_over(topic) || !kept(topic)) {
            let freed = topic.drop_first();
            self.bytes -= freed;
            self.messages -= 1;
        }
        let place = topic.last;
        self.ceiling = self.ceiling.max(place);
        self.by_expiry.insert((topic.expires, name));
        self.make_room();
        Ok(place)
    }

    /// Lets go of the oldest messages until all fit, which the newest one does alone. A topic goes
    /// with its last message.
    fn make_room(&mut self) {
        while self.bytes > self.most {
            let Some((name, place)) = self.by_age.pop_front() else { break };
            let Some(topic) = self.by_name.get_mut(&name) else { continue };
            if topic.oldest() != Some(place) {
                continue;
            }
            match topic.messages.len() {
                1 => self.remove(&name),
                _ => {
                    self.bytes -= topic.drop_first();
                    self.messages -= 1;
                }
            }
        }
        if self.by_age.len() > 2 * self.messages + 1_024 {
            let by_name = &self.by_name;
            let is_there = |name: &Arc<str>, place: Place| {
                by_name.get(name).and_then(Topic::oldest).is_some_and(|oldest| oldest <= place)
            };
            self.by_age.retain(|(name, place)| is_there(name, *place));
        }
    }

    fn remove(&mut self, name: &str) {
        if let Some((name, topic)) = self.by_name.remove_entry(name) {
            self.bytes -= name.len() + TOPIC + topic.bytes;
            self.messages -= topic.messages.len();
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
            let oldest = topic.oldest().unwrap_or(topic.last + 1);
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

impl Topic {
    /// The place of the oldest message that is kept.
    fn oldest(&self) -> Option<Place> {
        (!self.messages.is_empty()).then(|| self.last + 1 - self.messages.len() as Place)
    }

    /// Lets go of the oldest message; gives what it took.
    fn drop_first(&mut self) -> usize {
        let freed = self.messages.pop_front().map_or(0, |(message, _)| message.len() + MESSAGE);
        self.bytes -= freed;
        freed
    }
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
