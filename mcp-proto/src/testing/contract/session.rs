//! The contract of session stores.

use core::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;

use super::values::{names, values};
use super::{Broken, Case, LIFE, LONG, Outcome, Subject, done, ensure, other};
use crate::effect::Reply;
use crate::service::SessionStore;
use crate::store::{Record, SessionOp};
use crate::time::Instant;

pub(super) const CASES: &[Case<dyn SessionStore>] = &[
    ("an id is created once, and read by every worker", |s| Box::pin(created_once(s))),
    ("of many that create at once, one does", |s| Box::pin(created_by_one(s))),
    ("a save counts only over the version it was made from", |s| Box::pin(saved_by_version(s))),
    ("of many that save at once, one does", |s| Box::pin(saved_by_one(s))),
    ("concurrent updates that retry are all there", |s| Box::pin(updates_add_up(s))),
    ("renewing prolongs the life and changes no version", |s| Box::pin(renewed(s))),
    ("a save prolongs the life, reading alone does not", |s| Box::pin(save_renews(s))),
    ("what has expired is gone, and its id is free for one", |s| Box::pin(expired(s))),
    ("what was deleted is gone, for good", |s| Box::pin(deleted(s))),
    ("values come back byte for byte", |s| Box::pin(odd_values(s))),
    ("ids are what they are", |s| Box::pin(odd_ids(s))),
    ("a clock that goes back neither loses nor revives", |s| Box::pin(clock_back(s))),
];

/// How many do the same at once.
const CROWD: usize = 8;

type Store = Subject<dyn SessionStore>;

impl Store {
    async fn create(
        &self,
        worker: usize,
        id: &str,
        data: &str,
        ttl: Duration,
    ) -> Result<bool, Broken> {
        let data = Bytes::copy_from_slice(data.as_bytes());
        let op = SessionOp::Create { id: self.name(id), data, ttl, charged_to: None };
        match self.execute(worker, self.time.now(), op).await? {
            Reply::Created(created) => Ok(created),
            reply => Err(other(&reply)),
        }
    }

    async fn get(&self, worker: usize, id: &str) -> Result<Option<Record>, Broken> {
        self.get_at(worker, self.time.now(), id, None).await
    }

    async fn get_at(
        &self,
        worker: usize,
        now: Instant,
        id: &str,
        renew: Option<Duration>,
    ) -> Result<Option<Record>, Broken> {
        match self.execute(worker, now, SessionOp::Get { id: self.name(id), renew }).await? {
            Reply::Record(record) => Ok(record),
            reply => Err(other(&reply)),
        }
    }

    async fn live(&self, worker: usize, id: &str) -> Result<Record, Broken> {
        self.get(worker, id).await?.ok_or_else(|| Broken(format!("{id:?} is not there")))
    }

    async fn save(
        &self,
        worker: usize,
        id: &str,
        data: &str,
        expected_version: u64,
        ttl: Duration,
    ) -> Result<bool, Broken> {
        let (id, data) = (self.name(id), Bytes::copy_from_slice(data.as_bytes()));
        let op = SessionOp::Save { id, data, expected_version, ttl };
        match self.execute(worker, self.time.now(), op).await? {
            Reply::Saved(saved) => Ok(saved),
            reply => Err(other(&reply)),
        }
    }

    async fn delete(&self, worker: usize, id: &str) -> Outcome {
        let op = SessionOp::Delete { id: self.name(id) };
        match self.execute(worker, self.time.now(), op).await? {
            Reply::Deleted => Ok(()),
            reply => Err(other(&reply)),
        }
    }

    async fn execute(&self, worker: usize, now: Instant, op: SessionOp) -> Result<Reply, Broken> {
        done(self.worker(worker)?.execute(now, op)).await
    }
}

async fn created_once(s: &Store) -> Outcome {
    ensure(s.get(0, "once").await?.is_none(), || "it was there before".into())?;
    ensure(s.create(0, "once", "{}", LONG).await?, || "it was not created".into())?;
    ensure(!s.create(1, "once", "[]", LONG).await?, || "it was created twice".into())?;
    for worker in 0..s.workers.len() {
        let record = s.live(worker, "once").await?;
        ensure(record.data == "{}", || format!("worker {worker} reads {:?}", record.data))?;
    }
    Ok(())
}

async fn created_by_one(s: &Store) -> Outcome {
    let created = join_all((0..CROWD).map(|n| s.create(n, "crowd", "{}", LONG))).await;
    won_by_one(created)
}

async fn saved_by_version(s: &Store) -> Outcome {
    s.create(0, "cas", "0", LONG).await?;
    let first = s.live(0, "cas").await?.version;
    ensure(s.save(0, "cas", "1", first, LONG).await?, || "the first save was refused".into())?;
    let second = s.live(1, "cas").await?;
    ensure(second.data == "1", || format!("another worker reads {:?}", second.data))?;
    ensure(second.version != first, || "a save did not change the version".into())?;
    ensure(!s.save(1, "cas", "2", first, LONG).await?, || "a stale save was accepted".into())?;
    for wrong in [second.version.wrapping_add(1), u64::MAX] {
        let saved = s.save(1, "cas", "2", wrong, LONG).await?;
        ensure(!saved, || format!("a save over version {wrong} was accepted"))?;
    }
    ensure(!s.save(0, "cas, no", "1", 1, LONG).await?, || "a save created a record".into())?;
    ensure(s.live(0, "cas").await? == second, || "a refused save changed something".into())
}

async fn saved_by_one(s: &Store) -> Outcome {
    s.create(0, "race", "0", LONG).await?;
    for round in 0..5 {
        let version = s.live(round, "race").await?.version;
        let saved = join_all((0..CROWD).map(|n| s.save(n, "race", "1", version, LONG))).await;
        won_by_one(saved)?;
    }
    Ok(())
}

async fn updates_add_up(s: &Store) -> Outcome {
    const EACH: usize = 5;
    s.create(0, "sum", "0", LONG).await?;
    let add = |worker: usize| async move {
        for _ in 0..EACH {
            loop {
                let record = s.live(worker, "sum").await?;
                let sum: usize = number(&record.data)?;
                let more = (sum + 1).to_string();
                if s.save(worker, "sum", &more, record.version, LONG).await? {
                    break;
                }
            }
        }
        Ok(())
    };
    join_all((0..CROWD).map(add)).await.into_iter().collect::<Outcome>()?;
    let sum: usize = number(&s.live(0, "sum").await?.data)?;
    ensure(sum == CROWD * EACH, || format!("{sum} of {} updates are there", CROWD * EACH))
}

async fn renewed(s: &Store) -> Outcome {
    s.create(0, "renewed", "{}", LIFE).await?;
    let version = s.live(0, "renewed").await?.version;
    for _ in 0..3 {
        s.pass(LIFE / 2).await;
        let renewed = s.get_at(1, s.time.now(), "renewed", Some(LIFE)).await?;
        let renewed = renewed.ok_or_else(|| Broken("it expired though it was renewed".into()))?;
        ensure(renewed.version == version, || "renewing changed the version".into())?;
    }
    ensure(s.save(0, "renewed", "[]", version, LONG).await?, || "it moved".into())?;
    s.get_at(0, s.time.now(), "renewed", Some(LIFE / 100)).await?;
    s.pass(LIFE / 4).await;
    ensure(s.get(0, "renewed").await?.is_some(), || "a short renewal cut a long life".into())
}

async fn save_renews(s: &Store) -> Outcome {
    for id in ["saved", "read"] {
        s.create(0, id, "{}", LIFE).await?;
    }
    s.pass(LIFE / 2).await;
    let version = s.live(0, "saved").await?.version;
    s.live(0, "read").await?;
    ensure(s.save(1, "saved", "[]", version, LIFE * 4).await?, || "the save was refused".into())?;
    s.pass(LIFE * 3 / 4).await;
    ensure(s.get(0, "saved").await?.is_some(), || "a save did not prolong the life".into())?;
    ensure(s.get(0, "read").await?.is_none(), || "reading prolonged the life".into())
}

async fn expired(s: &Store) -> Outcome {
    s.create(0, "expired", "{}", LIFE).await?;
    let version = s.live(0, "expired").await?.version;
    s.pass(LIFE + LIFE / 8).await;
    for renew in [None, Some(LONG)] {
        let record = s.get_at(0, s.time.now(), "expired", renew).await?;
        ensure(record.is_none(), || format!("it is still there (renew: {renew:?})"))?;
    }
    ensure(!s.save(0, "expired", "1", version, LONG).await?, || "a save revived it".into())?;
    let created = join_all((0..CROWD).map(|n| s.create(n, "expired", "[]", LONG))).await;
    won_by_one(created)?;
    never_saved(s, "expired", version).await
}

async fn deleted(s: &Store) -> Outcome {
    s.create(0, "deleted", "{}", LONG).await?;
    let first = s.live(0, "deleted").await?.version;
    s.save(0, "deleted", "1", first, LONG).await?;
    let second = s.live(0, "deleted").await?.version;
    s.delete(1, "deleted").await?;
    s.delete(0, "deleted").await?;
    ensure(s.get(0, "deleted").await?.is_none(), || "it is still there".into())?;
    ensure(!s.save(0, "deleted", "2", second, LONG).await?, || "a save revived it".into())?;
    ensure(s.create(0, "deleted", "[]", LONG).await?, || "its id is not free".into())?;
    never_saved(s, "deleted", first).await?;
    never_saved(s, "deleted", second).await
}

async fn odd_values(s: &Store) -> Outcome {
    for (n, data) in values().into_iter().enumerate() {
        let id = format!("value {n}");
        let text = core::str::from_utf8(&data).unwrap_or_default();
        s.create(0, &id, text, LONG).await?;
        let created = s.live(1, &id).await?;
        ensure(created.data == data, || format!("value {n} came back changed"))?;
        s.save(1, &id, "0", created.version, LONG).await?;
        let version = s.live(0, &id).await?.version;
        s.save(0, &id, text, version, LONG).await?;
        ensure(s.live(1, &id).await?.data == data, || format!("value {n} was saved changed"))?;
        s.delete(0, &id).await?;
    }
    Ok(())
}

async fn odd_ids(s: &Store) -> Outcome {
    for (n, id) in names().iter().enumerate() {
        let created = s.create(0, id, &n.to_string(), LONG).await?;
        ensure(created, || format!("id {n} is taken for another"))?;
    }
    for (n, id) in names().iter().enumerate() {
        let record = s.live(1, id).await?;
        ensure(record.data == n.to_string(), || format!("id {n} leads to {:?}", record.data))?;
    }
    Ok(())
}

async fn clock_back(s: &Store) -> Outcome {
    s.create(0, "short", "{}", LIFE).await?;
    s.create(0, "long", "{}", LONG).await?;
    s.pass(LIFE + LIFE / 8).await;
    ensure(s.get(0, "short").await?.is_none(), || "it has not expired".into())?;
    let back = Instant::ZERO;
    let short = s.get_at(0, back, "short", Some(LONG)).await?;
    ensure(short.is_none(), || "an expired record came back".into())?;
    let long = s.get_at(0, back, "long", Some(LIFE)).await?;
    ensure(long.is_some(), || "a live record was lost".into())?;
    ensure(s.get(0, "long").await?.is_some(), || "a live record was lost later".into())
}

/// A save made from an earlier record must not land on the one that has the id now.
async fn never_saved(s: &Store, id: &str, version: u64) -> Outcome {
    let saved = s.save(0, id, "3", version, LONG).await?;
    ensure(!saved, || "a save from an earlier record of that id was accepted".into())
}

fn won_by_one(outcomes: Vec<Result<bool, Broken>>) -> Outcome {
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, _>>()?;
    let won = outcomes.iter().filter(|won| **won).count();
    ensure(won == 1, || format!("{won} of {CROWD} were told that it was them"))
}

fn number(data: &Bytes) -> Result<usize, Broken> {
    let text = core::str::from_utf8(data).ok().and_then(|text| text.parse().ok());
    text.ok_or_else(|| Broken(format!("{data:?} is no number")))
}
