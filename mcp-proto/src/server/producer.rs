//! The writing side of a stream's log.

use core::time::Duration;
use std::collections::VecDeque;

use bytes::Bytes;

use super::core::Core;
use super::pending::Waiting;
use super::stream::{EVENT_TTL, Entry, KEEP, Key};
use crate::effect::{EFFECT_DEADLINE, Effect, Reply};
use crate::store::{Cursor, HubOp, fnv1a};
use crate::time::Instant;

/// The pause before an entry is offered again that the hub failed to take.
const PAUSE: Duration = Duration::from_millis(250);

/// Publishes one entry after the other, in order.
#[derive(Debug)]
pub(crate) struct Producer {
    topic: String,
    /// Of the next entry.
    key: Key,
    queue: VecDeque<Queued>,
    queued: usize,
    /// What the hub is taking now.
    publishing: Option<OnTheWay>,
    /// How long an entry waits for a hub that is slow, or fails.
    patience: Duration,
    /// What the hub keeps; `None` where others write there too.
    kept: Option<Kept>,
}

/// An entry, spelt and not, and since when it waits.
#[derive(Debug)]
struct Queued {
    spelt: Bytes,
    entry: Entry,
    since: Instant,
}

#[derive(Debug)]
struct OnTheWay {
    queued: Queued,
    keep: u32,
    /// It is not offered now, but after a pause.
    pauses: bool,
}

/// The sizes of the entries that the hub keeps.
#[derive(Debug, Default)]
struct Kept {
    sizes: VecDeque<usize>,
    bytes: usize,
    /// Entries had to go already.
    is_full: bool,
}

/// What became of entries.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// This one is on the log, up to this place.
    pub(crate) at: Option<(Cursor, Entry)>,
    /// These are not, or the hub does not say so: they waited for too long.
    pub(crate) lost: Vec<Entry>,
}

impl Producer {
    /// Of a stream that nobody else writes to. Its reader may be at hand, so that what cannot be
    /// published in time is better told than kept.
    pub(crate) fn new(topic: String) -> Self {
        let own = Self::shared(topic, &[], EFFECT_DEADLINE);
        Self { kept: Some(Kept::default()), ..own }
    }

    /// Of a stream that others, of other names, write to as well, and whose reader is elsewhere: an
    /// entry is offered for that long.
    pub(crate) fn shared(topic: String, name: &[u8], patience: Duration) -> Self {
        let (queue, key) = (VecDeque::new(), Key(fnv1a(name)));
        Self { topic, key, queue, queued: 0, publishing: None, patience, kept: None }
    }

    /// Bytes that wait for the hub.
    pub(crate) fn queued(&self) -> usize {
        self.queued
    }

    /// Nothing waits to be published.
    pub(crate) fn is_idle(&self) -> bool {
        self.publishing.is_none()
    }

    /// Offers nothing again from now on.
    pub(crate) fn hurry(&mut self) {
        self.patience = Duration::ZERO;
    }

    pub(crate) fn push(&mut self, core: &mut Core, mut entry: Entry) {
        if let Entry::Message { key, .. } = &mut entry {
            self.key = Key(self.key.0.wrapping_add(1));
            *key = Some(self.key);
        }
        let spelt = entry.encode();
        self.queued += spelt.len();
        self.queue.push_back(Queued { spelt, entry, since: core.now });
        self.publish(core);
    }

    /// The hub's answer, or the end of a pause.
    pub(crate) fn settle(&mut self, core: &mut Core, reply: Option<Reply>) -> Written {
        let mut written = Written::default();
        let Some(mut on_the_way) = self.publishing.take() else { return written };
        match reply {
            _ if on_the_way.pauses => self.emit(core, on_the_way),
            Some(Reply::Published(cursor)) => {
                written.at = Some((cursor, on_the_way.queued.entry));
                if self.queue.front().is_some_and(|next| self.is_late(core, next)) {
                    self.give_up(&mut written.lost);
                }
                self.publish(core);
            }
            _ if self.is_late(core, &on_the_way.queued) => {
                written.lost.push(on_the_way.queued.entry);
                self.give_up(&mut written.lost);
            }
            _ => {
                on_the_way.pauses = true;
                self.publishing = Some(on_the_way);
                core.alarm(Waiting::Producer, core.now + PAUSE);
            }
        }
        written
    }

    fn is_late(&self, core: &Core, queued: &Queued) -> bool {
        core.now >= queued.since + self.patience
    }

    /// What waits behind an entry that is late is late soon: it does not wait for that.
    fn give_up(&mut self, lost: &mut Vec<Entry>) {
        self.queued = 0;
        lost.extend(self.queue.drain(..).map(|queued| queued.entry));
    }

    fn publish(&mut self, core: &mut Core) {
        if self.publishing.is_none()
            && let Some(queued) = self.queue.pop_front()
        {
            let size = queued.spelt.len();
            self.queued -= size;
            let most = core.endpoint.limits().queued_bytes / 2;
            let keep = self.kept.as_mut().map_or(KEEP, |kept| kept.add(size, most));
            self.emit(core, OnTheWay { queued, keep, pauses: false });
        }
    }

    fn emit(&mut self, core: &mut Core, mut on_the_way: OnTheWay) {
        let (topic, message) = (self.topic.clone(), on_the_way.queued.spelt.clone());
        let keep = on_the_way.keep;
        on_the_way.pauses = false;
        self.publishing = Some(on_the_way);
        let publish = HubOp::Publish { topic, message, ttl: EVENT_TTL, keep };
        core.emit(Effect::Hub(publish), Waiting::Producer);
    }
}

impl Kept {
    /// How many entries are kept once one of `size` bytes is added, so that together they have
    /// no more than `most` bytes. Readers that take over have entries too, which count only once
    /// the log is full.
    fn add(&mut self, size: usize, most: usize) -> u32 {
        self.sizes.push_back(size);
        self.bytes += size;
        while self.sizes.len() > 1 && (self.bytes > most || self.sizes.len() > KEEP as usize) {
            self.bytes -= self.sizes.pop_front().unwrap_or_default();
            self.is_full = true;
        }
        let own = u32::try_from(self.sizes.len()).unwrap_or(KEEP);
        if self.is_full { own } else { KEEP }
    }
}
