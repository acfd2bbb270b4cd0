use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::sync::Mutex;

use super::*;
use crate::service::{MemoryHub, MemorySessionStore, hub::WaitingHub};
use crate::store::{Cursor, Extent, Found, HubOp, Place, SessionOp};

/// Polls until it is done: what waits here waits for nothing but its own turn.
fn block_on<F: Future>(future: F) -> F::Output {
    let (mut future, mut cx) = (pin!(future), Context::from_waker(Waker::noop()));
    for _ in 0..1_000_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
    }
    panic!("it waits for something that never comes");
}

fn sessions(store: impl SessionStore + Clone + 'static) -> Report {
    let workers: [Arc<dyn SessionStore>; 2] = [Arc::new(store.clone()), Arc::new(store)];
    block_on(session_store(&Subject::new(workers, Arc::new(VirtualTime::new()), "run")))
}

fn events(make: impl FnOnce(VirtualTime) -> Arc<dyn Hub>) -> Report {
    let time = VirtualTime::new();
    let worker = make(time.clone());
    block_on(hub(&Subject::new([Arc::clone(&worker), worker], Arc::new(time), "run")))
}

fn broken(report: &Report) -> Vec<&str> {
    let broken = report.cases.iter().filter(|(_, outcome)| outcome.is_err());
    broken.map(|(name, _)| *name).collect()
}

#[test]
fn the_memory_store_holds_to_the_contract() {
    let report = sessions(MemorySessionStore::new());
    println!("memory, sessions\n{report}");
    assert!(report.passed(), "{report}");
}

#[test]
fn the_memory_hub_holds_to_the_contract() {
    let report = events(|time| Arc::new(MemoryHub::with_timer(Arc::new(time))));
    println!("memory, events\n{report}");
    assert!(report.passed(), "{report}");
}

/// A store with a fault planted.
#[derive(Clone)]
struct Faulty(MemorySessionStore, fn(&mut SessionOp));

impl SessionStore for Faulty {
    fn execute(&self, now: Instant, mut op: SessionOp) -> Execution {
        (self.1)(&mut op);
        self.0.execute(now, op)
    }
}

#[test]
fn a_store_that_forgets_a_rule_breaks_its_case() {
    let faulty = |fault| sessions(Faulty(MemorySessionStore::new(), fault));
    let never_renews = faulty(|op| {
        if let SessionOp::Get { renew, .. } = op {
            *renew = None;
        }
    });
    assert_eq!(broken(&never_renews), ["renewing prolongs the life and changes no version"]);
    let ignores_case = faulty(|op| {
        let (SessionOp::Create { id, .. }
        | SessionOp::Get { id, .. }
        | SessionOp::Save { id, .. }
        | SessionOp::Delete { id }) = op;
        id.make_ascii_lowercase();
    });
    assert_eq!(broken(&ignores_case), ["ids are what they are"]);
    let lives_for_ever = faulty(|op| {
        if let SessionOp::Create { ttl, .. } = op {
            *ttl = LONG;
        }
    });
    assert!(
        broken(&lives_for_ever).contains(&"what has expired is gone, and its id is free for one")
    );
}

/// A hub with a fault planted.
struct FaultyHub(MemoryHub, fn(&mut HubOp));

impl Hub for FaultyHub {
    fn execute(&self, now: Instant, mut op: HubOp) -> Execution {
        (self.1)(&mut op);
        self.0.execute(now, op)
    }
}

#[test]
fn a_hub_that_forgets_a_rule_breaks_its_case() {
    let faulty =
        |fault| events(|time| Arc::new(FaultyHub(MemoryHub::with_timer(Arc::new(time)), fault)));
    let keeps_all = faulty(|op| {
        if let HubOp::Publish { keep, .. } = op {
            *keep = u32::MAX;
        }
    });
    assert_eq!(broken(&keeps_all), ["the newest are kept, and who missed others is told"]);
    let never_waits = faulty(|op| {
        if let HubOp::Poll { wait, .. } = op {
            *wait = Duration::ZERO;
        }
    });
    assert!(broken(&never_waits).contains(&"a poll without news ends after its wait"));
    let forgives = faulty(|op| {
        if let HubOp::Poll { topics, .. } = op {
            topics.retain(|(_, cursor)| cursor.as_str() != "x");
        }
    });
    assert_eq!(broken(&forgives), ["a cursor that was never given is refused at once"]);
}

/// The memory hub's log, seen through [`WaitingHub`]: its waiting is what is tried here.
struct Remote(MemoryHub, VirtualTime);

impl Remote {
    async fn run(&self, op: HubOp) -> Result<Reply, EffectError> {
        match self.0.execute(self.1.now(), op) {
            Execution::Done(reply) => reply,
            Execution::Later(reply) => reply.await,
        }
    }
}

impl crate::service::hub::Log for Remote {
    async fn append(
        &self,
        topic: &str,
        message: &[u8],
        ttl: Duration,
        keep: u32,
    ) -> Result<Place, EffectError> {
        let message = message.to_vec().into();
        match self.run(HubOp::Publish { topic: topic.into(), message, ttl, keep }).await? {
            Reply::Published(cursor) => Ok(crate::store::place(&cursor).expect("its own")),
            reply => panic!("{reply:?}"),
        }
    }

    async fn read_after(&self, topics: &[(String, Place)]) -> Result<Vec<Found>, EffectError> {
        self.run(HubOp::Position { topic: "time passes".into() }).await?;
        Ok(topics.iter().map(|(topic, after)| self.0.found(topic, *after)).collect())
    }

    async fn position(&self, topic: &str) -> Result<Place, EffectError> {
        match self.run(HubOp::Position { topic: topic.into() }).await? {
            Reply::Position(cursor) => Ok(crate::store::place(&cursor).expect("its own")),
            reply => panic!("{reply:?}"),
        }
    }

    async fn delete(&self, topic: &str) -> Result<(), EffectError> {
        self.run(HubOp::Delete { topic: topic.into() }).await.map(|_| ())
    }
}

#[test]
fn a_hub_that_waits_over_a_log_holds_to_the_contract() {
    let report = events(|time| {
        let log = Remote(MemoryHub::new(), time.clone());
        Arc::new(WaitingHub::new(log, Arc::new(time)))
    });
    assert!(report.passed(), "{report}");
}

/// A log that counts how often it was read.
#[derive(Default)]
struct Counting(Mutex<usize>);

impl crate::service::hub::Log for Counting {
    async fn append(&self, _: &str, _: &[u8], _: Duration, _: u32) -> Result<Place, EffectError> {
        Ok(1)
    }

    async fn read_after(&self, topics: &[(String, Place)]) -> Result<Vec<Found>, EffectError> {
        *self.0.lock().unwrap() += 1;
        let nothing = Found { extent: Extent::Absent { ceiling: 9 }, messages: Vec::new() };
        Ok(vec![nothing; topics.len()])
    }

    async fn position(&self, _: &str) -> Result<Place, EffectError> {
        Ok(0)
    }

    async fn delete(&self, _: &str) -> Result<(), EffectError> {
        Ok(())
    }
}

#[test]
fn idle_listeners_cost_no_queries_and_a_bell_only_its_own() {
    let time = VirtualTime::new();
    let hub = WaitingHub::new(Counting::default(), Arc::new(time.clone()));
    let listen = |topic: String| {
        let op = HubOp::Poll { topics: vec![(topic, Cursor::from(0))], wait: LONG };
        match hub.execute(Instant::ZERO, op) {
            Execution::Later(waiting) => waiting,
            Execution::Done(reply) => panic!("{reply:?}"),
        }
    };
    let mut waiting: Vec<_> = (0..100).map(|n| listen(format!("topic {n}"))).collect();
    let mut cx = Context::from_waker(Waker::noop());
    let mut turn = || {
        waiting.retain_mut(|one| one.as_mut().poll(&mut cx).is_pending());
        (waiting.len(), *hub.log().0.lock().unwrap())
    };
    assert_eq!(turn(), (100, 100), "each looks once");
    block_on(time.pass(LONG / 2));
    assert_eq!(turn(), (100, 100), "and waits");
    let publish =
        HubOp::Publish { topic: "topic 7".into(), message: "1".into(), ttl: LONG, keep: 1 };
    block_on(done(hub.execute(Instant::ZERO, publish))).unwrap();
    assert_eq!(turn(), (100, 101), "one of them looks");
    block_on(time.pass(LONG));
    assert_eq!(turn(), (0, 101));
}

/// Fails, comes back, and falls silent.
struct Flaky(usize);

impl crate::service::hub::Wake for Flaky {
    async fn next(&mut self) -> Result<crate::service::hub::News, EffectError> {
        self.0 += 1;
        match self.0 {
            1 => Err(EffectError::Unavailable("cut".into())),
            2 => Ok(crate::service::hub::News::Any),
            _ => core::future::pending().await,
        }
    }
}

#[test]
fn a_wake_that_fails_is_reported_and_everyone_looks_again() {
    let time = VirtualTime::new();
    let hub = WaitingHub::new(Counting::default(), Arc::new(time.clone()));
    let reported = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&reported);
    let report = move |error: &EffectError| into.lock().unwrap().push(error.to_string());
    let mut heed = pin!(hub.heed(Flaky(0), LIFE, report));
    let op = HubOp::Poll { topics: vec![("topic".into(), Cursor::from(0))], wait: LONG };
    let Execution::Later(mut waiting) = hub.execute(Instant::ZERO, op) else { panic!("no wait") };
    let mut cx = Context::from_waker(Waker::noop());
    let mut turn = || {
        assert!(heed.as_mut().poll(&mut cx).is_pending());
        assert!(waiting.as_mut().poll(&mut cx).is_pending());
        *hub.log().0.lock().unwrap()
    };
    assert_eq!(turn(), 1);
    block_on(time.pass(LIFE));
    assert_eq!(turn(), 2, "after the failure, and after connecting anew: one look for both");
    assert_eq!(*reported.lock().unwrap(), ["cut"]);
}

/// An application's own hub, in four functions.
struct Own(Remote);

impl crate::service::SimpleHub for Own {
    type Error = EffectError;

    async fn publish(
        &self,
        topic: String,
        message: bytes::Bytes,
        ttl: Duration,
        keep: u32,
    ) -> Result<Cursor, EffectError> {
        match self.0.run(HubOp::Publish { topic, message, ttl, keep }).await? {
            Reply::Published(cursor) => Ok(cursor),
            reply => panic!("{reply:?}"),
        }
    }

    async fn position(&self, topic: String) -> Result<Cursor, EffectError> {
        match self.0.run(HubOp::Position { topic }).await? {
            Reply::Position(cursor) => Ok(cursor),
            reply => panic!("{reply:?}"),
        }
    }

    async fn poll(
        &self,
        topics: Vec<(String, Cursor)>,
        wait: Duration,
    ) -> Result<Vec<crate::store::Polled>, EffectError> {
        match self.0.run(HubOp::Poll { topics, wait }).await? {
            Reply::Polled(polled) => Ok(polled),
            reply => panic!("{reply:?}"),
        }
    }

    async fn delete(&self, topic: String) -> Result<(), EffectError> {
        self.0.run(HubOp::Delete { topic }).await.map(drop)
    }
}

#[test]
fn a_hub_of_four_functions_holds_to_the_contract() {
    let report = events(|time| {
        let hub = MemoryHub::with_timer(Arc::new(time.clone()));
        Arc::new(crate::service::Simple::new(Own(Remote(hub, time))))
    });
    assert!(report.passed(), "{report}");
}
