//! The contract of hubs.

use core::pin::pin;
use core::time::Duration;
use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use futures_util::future::{Either, join, join_all, select};

use super::values::{mebibyte, names, values};
use super::{Broken, Case, LIFE, LONG, Outcome, Subject, done, ensure, other};
use crate::effect::Reply;
use crate::service::Hub;
use crate::store::{Cursor, HubOp, Polled, Read};

pub(super) const CASES: &[Case<dyn Hub>] = &[
    ("messages are read in order, by every worker, again and again", |h| Box::pin(in_order(h))),
    ("what is published after a position is read from it", |h| Box::pin(from_position(h))),
    ("under contention, readers see the order of publishing and no gap", |h| {
        Box::pin(contention(h))
    }),
    ("a waiting poll learns of what another worker publishes", |h| Box::pin(woken(h))),
    ("a poll without news ends after its wait", |h| Box::pin(wait_ends(h))),
    ("one poll reads many topics, and returns those with news", |h| Box::pin(many_topics(h))),
    ("the newest are kept, and who missed others is told", |h| Box::pin(trimmed(h))),
    ("a cursor that was never given is refused at once", |h| Box::pin(unknown(h))),
    ("readers of a deleted topic are told, and read on", |h| Box::pin(deleted(h))),
    ("a message lives for its time; readers get past its end", |h| Box::pin(expired(h))),
    ("long histories are read in pages without a loss", |h| Box::pin(pages(h))),
    ("messages come back byte for byte", |h| Box::pin(odd_values(h))),
    ("topics are what they are", |h| Box::pin(odd_topics(h))),
    ("a poll that was given up does no harm", |h| Box::pin(given_up(h))),
];

const KEEP: u32 = 1_000;

/// Longer than a case takes: who waits to its end was not woken.
const WAIT: Duration = Duration::from_secs(20);

type Events = Subject<dyn Hub>;

/// What one topic had: messages with their cursors, where to read on, and whether some were lost.
type News = (Vec<(Cursor, Bytes)>, Cursor, bool);

impl Events {
    async fn publish(&self, worker: usize, topic: &str, message: &str) -> Result<Cursor, Broken> {
        let message = Bytes::copy_from_slice(message.as_bytes());
        self.append(worker, topic, message, LONG, KEEP).await
    }

    async fn append(
        &self,
        worker: usize,
        topic: &str,
        message: Bytes,
        ttl: Duration,
        keep: u32,
    ) -> Result<Cursor, Broken> {
        let op = HubOp::Publish { topic: self.name(topic), message, ttl, keep };
        match self.execute(worker, op).await? {
            Reply::Published(cursor) => Ok(cursor),
            reply => Err(other(&reply)),
        }
    }

    async fn position(&self, worker: usize, topic: &str) -> Result<Cursor, Broken> {
        match self.execute(worker, HubOp::Position { topic: self.name(topic) }).await? {
            Reply::Position(cursor) => Ok(cursor),
            reply => Err(other(&reply)),
        }
    }

    async fn delete(&self, worker: usize, topic: &str) -> Outcome {
        match self.execute(worker, HubOp::Delete { topic: self.name(topic) }).await? {
            Reply::Deleted => Ok(()),
            reply => Err(other(&reply)),
        }
    }

    async fn poll(
        &self,
        worker: usize,
        topics: &[(&str, &Cursor)],
        wait: Duration,
    ) -> Result<Vec<Polled>, Broken> {
        let named = topics.iter().map(|(topic, cursor)| (self.name(topic), (*cursor).clone()));
        match self.execute(worker, HubOp::Poll { topics: named.collect(), wait }).await? {
            Reply::Polled(polled) => Ok(polled),
            reply => Err(other(&reply)),
        }
    }

    /// What is new in one topic; `None` where nothing is.
    async fn news(
        &self,
        worker: usize,
        topic: &str,
        after: &Cursor,
        wait: Duration,
    ) -> Result<Option<News>, Broken> {
        let mut polled = self.poll(worker, &[(topic, after)], wait).await?.into_iter();
        let one = polled.next();
        ensure(polled.next().is_none(), || "one topic was answered twice".into())?;
        match one.map(|polled| (polled.topic == self.name(topic), polled.read)) {
            None => Ok(None),
            Some((true, Read::Messages { messages, next, lost })) => {
                Ok(Some((messages, next, lost)))
            }
            Some((true, Read::UnknownCursor)) => {
                Err(Broken(format!("the cursor {after} was refused")))
            }
            Some((false, _)) => Err(Broken("another topic was answered".into())),
        }
    }

    async fn look(
        &self,
        worker: usize,
        topic: &str,
        after: &Cursor,
    ) -> Result<Option<News>, Broken> {
        self.news(worker, topic, after, Duration::ZERO).await
    }

    /// Reads on until `count` messages were read, none of them lost.
    async fn follow(
        &self,
        worker: usize,
        topic: &str,
        from: Cursor,
        count: usize,
    ) -> Result<Vec<(Cursor, Bytes)>, Broken> {
        let (mut all, mut after) = (Vec::new(), from);
        while all.len() < count {
            let news = self.news(worker, topic, &after, WAIT).await?;
            let Some((messages, next, lost)) = news else {
                return Err(Broken(format!("{} of {count} came, then nothing", all.len())));
            };
            ensure(!lost, || format!("a reader lost something after {} messages", all.len()))?;
            all.extend(messages);
            after = next;
        }
        let left = self.look(worker, topic, &after).await?;
        ensure(left.is_none(), || "there is news after the last message".into())?;
        Ok(all)
    }

    async fn execute(&self, worker: usize, op: HubOp) -> Result<Reply, Broken> {
        done(self.worker(worker)?.execute(self.time.now(), op)).await
    }
}

fn texts(messages: &[(Cursor, Bytes)]) -> Vec<&str> {
    messages.iter().filter_map(|(_, message)| core::str::from_utf8(message).ok()).collect()
}

async fn in_order(h: &Events) -> Outcome {
    let start = h.position(0, "order").await?;
    let mut cursors = Vec::new();
    for message in ["1", "2", "3"] {
        cursors.push(h.publish(cursors.len(), "order", message).await?);
    }
    for worker in [0, 1, 0, 1] {
        let read = h.follow(worker, "order", start.clone(), 3).await?;
        ensure(texts(&read) == ["1", "2", "3"], || format!("read {:?}", texts(&read)))?;
        let behind: Vec<_> = read.into_iter().map(|(cursor, _)| cursor).collect();
        ensure(behind == cursors, || format!("published at {cursors:?}, read at {behind:?}"))?;
        for (n, cursor) in cursors.iter().enumerate() {
            let rest = h.follow(worker, "order", cursor.clone(), 2 - n).await?;
            ensure(rest.len() == 2 - n, || format!("{} messages after {cursor}", rest.len()))?;
        }
    }
    let last = cursors.pop();
    let end = h.position(1, "order").await?;
    ensure(last.as_ref() == Some(&end), || format!("the end {last:?} is at {end}"))
}

async fn from_position(h: &Events) -> Outcome {
    for round in 0..3 {
        let message = round.to_string();
        let position = h.position(1, "position").await?;
        h.publish(0, "position", &message).await?;
        let read = h.follow(1, "position", position, 1).await?;
        ensure(texts(&read) == [&*message], || format!("read {:?}", texts(&read)))?;
    }
    Ok(())
}

async fn contention(h: &Events) -> Outcome {
    const WRITERS: usize = 8;
    const EACH: usize = 25;
    let start = h.position(0, "contended").await?;
    let write = |writer: usize| async move {
        let mut published = Vec::new();
        for n in 0..EACH {
            let message = format!("[{writer},{n}]");
            let cursor = h.publish(writer, "contended", &message).await?;
            published.push((cursor, message));
        }
        Ok::<_, Broken>(published)
    };
    let read = |worker| h.follow(worker, "contended", start.clone(), WRITERS * EACH);
    let writers = join_all((0..WRITERS).map(write));
    let (written, readers) = join(writers, join_all((0..3).map(read))).await;

    let mut place = BTreeMap::new();
    for published in written {
        for (cursor, message) in published? {
            place.insert(message, cursor);
        }
    }
    for read in readers {
        let read = read?;
        let distinct: HashSet<_> = read.iter().map(|(cursor, _)| cursor.clone()).collect();
        ensure(distinct.len() == WRITERS * EACH, || "two messages have one cursor".into())?;
        let mut next_of = [0; WRITERS];
        for (cursor, message) in &read {
            let text = String::from_utf8_lossy(message);
            let same = place.get(&*text) == Some(cursor);
            ensure(same, || format!("{text} was published elsewhere than at {cursor}"))?;
            let parts: Option<(usize, usize)> = serde_json::from_slice(message).ok();
            let Some((writer, n)) = parts else { return Err(Broken(format!("read {text}"))) };
            let expected = next_of.get_mut(writer).filter(|next| **next == n);
            let Some(next) = expected else {
                return Err(Broken(format!("writer {writer}'s message {n} came out of order")));
            };
            *next += 1;
        }
    }
    Ok(())
}

async fn woken(h: &Events) -> Outcome {
    let start = h.position(0, "woken").await?;
    let waiting = async {
        let news = h.news(1, "woken", &start, WAIT).await?;
        news.ok_or_else(|| Broken("it waited to the end".into()))
    };
    let publishing = async {
        h.pass(Duration::from_millis(50)).await;
        h.publish(0, "woken by none", "0").await?;
        h.pass(Duration::from_millis(50)).await;
        h.publish(0, "woken", "1").await
    };
    let ((messages, ..), _) = both(join(waiting, publishing).await)?;
    ensure(texts(&messages) == ["1"], || format!("read {:?}", texts(&messages)))
}

async fn wait_ends(h: &Events) -> Outcome {
    let start = h.position(0, "quiet").await?;
    let wait = Duration::from_millis(300);
    let began = h.time.now();
    let passing = async {
        h.pass(wait).await;
        h.pass(wait).await;
    };
    let polling = async {
        let polled = h.poll(0, &[("quiet", &start)], wait).await;
        (polled, h.time.now().saturating_since(began))
    };
    let ((polled, waited), ()) = join(polling, passing).await;
    let polled = polled?;
    ensure(polled.is_empty(), || format!("there was news: {polled:?}"))?;
    ensure(waited >= wait, || format!("it waited for {waited:?} only"))
}

async fn many_topics(h: &Events) -> Outcome {
    let names: Vec<_> = (0..50).map(|n| format!("many {n}")).collect();
    let mut topics = Vec::new();
    for name in &names {
        topics.push((name.as_str(), h.position(0, name).await?));
    }
    for n in [3_usize, 17, 49] {
        h.publish(n, &format!("many {n}"), &n.to_string()).await?;
    }
    let asked: Vec<_> = topics.iter().map(|(name, cursor)| (*name, cursor)).collect();
    let polled = h.poll(0, &asked, WAIT).await?;
    let named: HashSet<_> = polled.iter().map(|polled| polled.topic.clone()).collect();
    let expected = [3, 17, 49].map(|n| h.name(&format!("many {n}")));
    let right = polled.len() == 3 && expected.iter().all(|topic| named.contains(topic));
    ensure(right, || format!("news in {named:?}"))?;
    let none = h.poll(0, &[], Duration::ZERO).await?;
    ensure(none.is_empty(), || "news without a topic".into())
}

async fn trimmed(h: &Events) -> Outcome {
    let start = h.position(0, "trimmed").await?;
    let mut cursors = Vec::new();
    for n in 0..6 {
        let message = n.to_string().into();
        cursors.push(h.append(n, "trimmed", message, LONG, 3).await?);
    }
    let [first, .., third, _, _, _] = cursors.as_slice() else { return Ok(()) };
    for (after, lost_expected) in [(&start, true), (first, true), (third, false)] {
        let Some((messages, _, lost)) = h.look(1, "trimmed", after).await? else {
            return Err(Broken("there is no news".into()));
        };
        ensure(texts(&messages) == ["3", "4", "5"], || format!("kept {:?}", texts(&messages)))?;
        ensure(lost == lost_expected, || format!("after {after}: lost is {lost}"))?;
    }
    Ok(())
}

async fn unknown(h: &Events) -> Outcome {
    h.publish(0, "known", "1").await?;
    let beyond = i64::MAX.unsigned_abs();
    let never = [beyond.to_string(), u64::MAX.to_string(), "-1".into(), "x".into(), "1_0".into()];
    for cursor in never.into_iter().filter_map(Cursor::new) {
        for topic in ["known", "never published"] {
            let polled = h.poll(0, &[(topic, &cursor)], WAIT).await?;
            let refused = matches!(polled.as_slice(), [one] if one.read == Read::UnknownCursor);
            ensure(refused, || format!("{cursor} of {topic:?} was answered with {polled:?}"))?;
        }
    }
    let (bad, start) = (Cursor::from(beyond), h.position(0, "known too").await?);
    let polled = h.poll(0, &[("known", &bad), ("known too", &start)], WAIT).await?;
    ensure(polled.len() == 1, || format!("beside another topic: {polled:?}"))
}

async fn deleted(h: &Events) -> Outcome {
    let start = h.position(0, "deleted").await?;
    let first = h.publish(0, "deleted", "1").await?;
    let second = h.publish(0, "deleted", "2").await?;
    let waiting = async {
        let news = h.news(1, "deleted", &second, WAIT).await?;
        news.ok_or_else(|| Broken("who waits there was not told".into()))
    };
    let deleting = async {
        h.pass(Duration::from_millis(50)).await;
        h.delete(0, "deleted").await
    };
    let ((messages, next, lost), ()) = both(join(waiting, deleting).await)?;
    ensure(messages.is_empty() && lost, || format!("who waits there reads {messages:?}, {lost}"))?;
    h.delete(1, "deleted").await?;
    h.delete(1, "never published").await?;
    let fresh = h.position(0, "deleted").await?;
    let third = h.publish(0, "deleted", "3").await?;
    let old = [&first, &second].contains(&&third);
    ensure(!old, || "a cursor was given for a second time".into())?;
    for (after, lost_expected) in [(&first, Some(true)), (&second, Some(true)), (&start, None)] {
        let Some((messages, _, lost)) = h.look(1, "deleted", after).await? else {
            return Err(Broken(format!("{after} is stuck")));
        };
        ensure(texts(&messages) == ["3"], || format!("after {after}: {:?}", texts(&messages)))?;
        let right = lost_expected.is_none_or(|expected| lost == expected);
        ensure(right, || format!("after {after}: lost is {lost}"))?;
    }
    for after in [next, fresh] {
        h.follow(0, "deleted", after, 1).await?;
    }
    Ok(())
}

async fn expired(h: &Events) -> Outcome {
    let start = h.position(0, "expired").await?;
    let first = h.append(0, "expired", "1".into(), LIFE, KEEP).await?;
    h.pass(LIFE / 2).await;
    h.follow(0, "expired", start.clone(), 1).await?;
    h.pass(LIFE).await;
    // It may be there for longer; who read it is never stuck, nor refused.
    let (mut after, mut told) = (first.clone(), false);
    if let Some((messages, next, lost)) = h.look(0, "expired", &first).await? {
        ensure(messages.is_empty() && lost, || format!("read {messages:?}, {lost}"))?;
        (after, told) = (next, true);
    }
    let second = h.append(1, "expired", "2".into(), LONG, KEEP).await?;
    ensure(second != first, || "a cursor was given for a second time".into())?;
    for (after, may_lose) in [(&after, !told), (&first, true), (&start, true)] {
        let Some((messages, _, lost)) = h.look(0, "expired", after).await? else {
            return Err(Broken(format!("{after} is stuck")));
        };
        let newest = texts(&messages).last().copied();
        ensure(newest == Some("2"), || format!("after {after}: {:?}", texts(&messages)))?;
        ensure(may_lose || !lost, || format!("after {after}: lost for a second time"))?;
    }
    Ok(())
}

async fn pages(h: &Events) -> Outcome {
    let start = h.position(0, "pages").await?;
    for n in 0..600 {
        h.publish(n, "pages", &n.to_string()).await?;
    }
    let read = h.follow(1, "pages", start, 600).await?;
    let right = texts(&read).iter().enumerate().all(|(n, text)| *text == n.to_string());
    ensure(right, || "out of order".into())?;

    let start = h.position(0, "big pages").await?;
    for _ in 0..5 {
        h.append(0, "big pages", mebibyte(), LONG, KEEP).await?;
    }
    let read = h.follow(1, "big pages", start, 5).await?;
    ensure(read.iter().all(|(_, message)| *message == mebibyte()), || "spoilt".into())?;
    h.delete(0, "big pages").await
}

async fn odd_values(h: &Events) -> Outcome {
    let start = h.position(0, "values").await?;
    for message in values() {
        h.append(0, "values", message, LONG, KEEP).await?;
    }
    let read = h.follow(1, "values", start, values().len()).await?;
    for (n, ((_, read), sent)) in read.iter().zip(values()).enumerate() {
        ensure(*read == sent, || format!("value {n} came back changed"))?;
    }
    h.delete(0, "values").await
}

async fn odd_topics(h: &Events) -> Outcome {
    let mut starts = Vec::new();
    for name in names() {
        starts.push(h.position(0, &name).await?);
        h.publish(0, &name, &format!("{:?}", name.len())).await?;
    }
    for (name, start) in names().iter().zip(starts) {
        let read = h.follow(1, name, start, 1).await?;
        let right = texts(&read) == [format!("{:?}", name.len())];
        ensure(right, || format!("{name:?} leads to {:?}", texts(&read)))?;
    }
    Ok(())
}

async fn given_up(h: &Events) -> Outcome {
    let start = h.position(0, "given up").await?;
    for _ in 0..20 {
        let waiting = pin!(h.news(0, "given up", &start, WAIT));
        match select(waiting, h.time.pass(Duration::from_millis(5))).await {
            Either::Left((news, _)) => {
                let news = news?;
                return Err(Broken(format!("there was news: {}", news.is_some())));
            }
            Either::Right(_) => {}
        }
    }
    h.publish(1, "given up", "1").await?;
    h.follow(0, "given up", start, 1).await.map(|_| ())
}

fn both<A, B>((a, b): (Result<A, Broken>, Result<B, Broken>)) -> Result<(A, B), Broken> {
    Ok((a?, b?))
}
