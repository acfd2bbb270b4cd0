//! Waiting, written once for every hub whose log is somewhere else.

use core::fmt;
use core::future::Future;
use core::pin::pin;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::{Either, select};

use super::super::{Execution, Sleep};
use super::{Bells, Hub};
use crate::effect::{EffectError, Reply};

use crate::store::{Bell, Cursor, Found, HubOp, Place, Polled, Read, place, read};
use crate::time::Instant;

/// A log of events by topic, with no waiting in it.
///
/// Places are the log's own; [`Place`] says how they run.
pub trait Log: Send + Sync + 'static {
    /// Appends a message to a topic, to be kept for at least `ttl` and among the newest `keep`.
    fn append(
        &self,
        topic: &str,
        message: &[u8],
        ttl: Duration,
        keep: u32,
    ) -> impl Future<Output = Result<Place, EffectError>> + Send;

    /// What there is in each topic after a place, in the order of `topics`.
    fn read_after(
        &self,
        topics: &[(String, Place)],
    ) -> impl Future<Output = Result<Vec<Found>, EffectError>> + Send;

    /// Where the topic ends now; zero where there is none.
    fn position(&self, topic: &str) -> impl Future<Output = Result<Place, EffectError>> + Send;

    /// Forgets a topic; its readers learn that they lost something.
    fn delete(&self, topic: &str) -> impl Future<Output = Result<(), EffectError>> + Send;
}

/// What says that another process published: one connection for the whole process.
pub trait Wake: Send + 'static {
    /// Waits for news. After an error it is called again, a moment later, and connects anew; its
    /// first answer on a new connection is [`News::Any`], since some may have been missed.
    fn next(&mut self) -> impl Future<Output = Result<News, EffectError>> + Send;
}

/// Which topics have news.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Those of these bells.
    Of(Vec<Bell>),
    /// Any: it is not known.
    Any,
}

/// A hub on a [`Log`]: it looks, waits for the bell of one of the topics, and looks again.
/// Idle listeners cost no queries. Cloning shares it.
pub struct WaitingHub<L>(Arc<Inner<L>>);

struct Inner<L> {
    log: L,
    bells: Bells,
    sleep: Arc<dyn Sleep>,
}

impl<L: Log> WaitingHub<L> {
    /// A hub on `log`. To hear of other processes, something has to run [`heed`](Self::heed).
    pub fn new(log: L, sleep: Arc<dyn Sleep>) -> Self {
        Self(Arc::new(Inner { log, bells: Bells::new(), sleep }))
    }

    /// The log.
    pub fn log(&self) -> &L {
        &self.0.log
    }

    /// Passes the news of `wake` on to whoever waits here; never returns. While it fails, every
    /// listener looks again after `look_again`; `report` is told once, when it begins to fail.
    pub fn heed(
        &self,
        mut wake: impl Wake,
        look_again: Duration,
        report: impl Fn(&EffectError) + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        // Only the bells: this must not keep the log's connections alive.
        let (bells, sleep) = (self.0.bells.clone(), Arc::clone(&self.0.sleep));
        async move {
            let mut failing = false;
            loop {
                let next = wake.next().await;
                let failed_before = core::mem::replace(&mut failing, next.is_err());
                match next {
                    Ok(News::Of(rung)) => rung.into_iter().for_each(|bell| bells.ring(bell)),
                    Ok(News::Any) => bells.ring_all(),
                    Err(error) => {
                        if !failed_before {
                            report(&error);
                        }
                        sleep.sleep(look_again).await;
                        bells.ring_all();
                    }
                }
            }
        }
    }
}

impl<L> Clone for WaitingHub<L> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<L> fmt::Debug for WaitingHub<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WaitingHub").field(&self.0.bells).finish()
    }
}

impl<L: Log> Hub for WaitingHub<L> {
    fn execute(&self, _: Instant, op: HubOp) -> Execution {
        let hub = Arc::clone(&self.0);
        Execution::Later(match op {
            HubOp::Publish { topic, message, ttl, keep } => {
                Box::pin(async move { hub.publish(&topic, message, ttl, keep).await })
            }
            HubOp::Position { topic } => Box::pin(async move {
                hub.log.position(&topic).await.map(|place| Reply::Position(place.into()))
            }),
            HubOp::Poll { topics, wait } => {
                Box::pin(async move { hub.poll(topics, wait).await.map(Reply::Polled) })
            }
            HubOp::Delete { topic } => Box::pin(async move {
                hub.log.delete(&topic).await?;
                hub.bells.ring(Bell::of(&topic));
                Ok(Reply::Deleted)
            }),
        })
    }
}

/// How soon a listener looks again that could not.
const AFTER_FAILURE: Duration = Duration::from_millis(250);

impl<L: Log> Inner<L> {
    async fn publish(
        &self,
        topic: &str,
        message: Bytes,
        ttl: Duration,
        keep: u32,
    ) -> Result<Reply, EffectError> {
        let place = self.log.append(topic, &message, ttl, keep.max(1)).await?;
        self.bells.ring(Bell::of(topic)); // sooner than the news comes back
        Ok(Reply::Published(place.into()))
    }

    async fn poll(
        &self,
        topics: Vec<(String, Cursor)>,
        wait: Duration,
    ) -> Result<Vec<Polled>, EffectError> {
        let (mut polled, wanted) = split(topics);
        if !polled.is_empty() || wait.is_zero() || wanted.is_empty() {
            polled.extend(self.look(&wanted).await?);
            return Ok(polled);
        }
        let mut listening = self.bells.listen(wanted.iter().map(|(topic, _)| Bell::of(topic)));
        let news = async {
            let mut looked = self.look(&wanted).await;
            loop {
                match looked? {
                    polled if !polled.is_empty() => return Ok(polled),
                    _ => listening.heard().await,
                }
                looked = self.look(&wanted).await;
                while looked.is_err() {
                    // A log that fails for a while has no news: what waits, waits on.
                    select(pin!(listening.heard()), self.sleep.sleep(AFTER_FAILURE)).await;
                    looked = self.look(&wanted).await;
                }
            }
        };
        match select(pin!(news), self.sleep.sleep(wait)).await {
            Either::Left((polled, _)) => polled,
            Either::Right(_) => Ok(Vec::new()),
        }
    }

    async fn look(&self, wanted: &[(String, Place)]) -> Result<Vec<Polled>, EffectError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.log.read_after(wanted).await?;
        let looked = wanted.iter().zip(found).filter_map(|((topic, after), found)| {
            Some(Polled { topic: topic.clone(), read: read(*after, found)? })
        });
        Ok(looked.collect())
    }
}

/// The topics whose cursor no log spells like that, refused; and the others.
pub(super) fn split(topics: Vec<(String, Cursor)>) -> (Vec<Polled>, Vec<(String, Place)>) {
    let (mut refused, mut wanted) = (Vec::new(), Vec::with_capacity(topics.len()));
    for (topic, cursor) in topics {
        match place(&cursor) {
            Some(place) => wanted.push((topic, place)),
            None => refused.push(Polled { topic, read: Read::UnknownCursor }),
        }
    }
    (refused, wanted)
}
