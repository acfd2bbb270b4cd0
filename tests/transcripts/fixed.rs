//! A driver whose time and random bytes are the test's, on another's sockets.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_channel::oneshot;
use mcp_proto::effect::EffectError;
use mcp_proto::service::{Driver, Runtime, Shared, Threading, Timer};
use mcp_proto::testing::Random;
use mcp_proto::time::Instant;

/// A driver with the sockets of `D`.
#[derive(Clone)]
pub(crate) struct Fixed<D> {
    driver: D,
    world: World,
}

/// What all that happens on one server depends on. Cloning shares it.
#[derive(Clone)]
pub(crate) struct World(Arc<Inner>);

struct Inner {
    micros: AtomicU64,
    random: Mutex<Random>,
    sleepers: Mutex<Vec<(Instant, Waker)>>,
    hangs: AtomicBool,
    /// Dropped when the server is to end.
    runs: Mutex<Option<oneshot::Sender<()>>>,
}

impl Default for World {
    fn default() -> Self {
        Self(Arc::new(Inner {
            micros: AtomicU64::new(0),
            random: Mutex::new(Random::new(0)),
            sleepers: Mutex::default(),
            hangs: AtomicBool::new(false),
            runs: Mutex::default(),
        }))
    }
}

/// Time passes in steps, so that what is due on the way happens on the way.
const STEP: Duration = Duration::from_millis(250);

impl World {
    pub(crate) fn now(&self) -> Instant {
        Instant::from_micros(self.0.micros.load(Ordering::SeqCst))
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).expect("not that long");
        self.0.micros.fetch_add(micros, Ordering::SeqCst);
        let now = self.now();
        let mut sleepers = self.0.sleepers.lock().expect("no panic");
        let due: Vec<_> = sleepers.extract_if(.., |(at, _)| *at <= now).collect();
        drop(sleepers);
        due.into_iter().for_each(|(_, waker)| waker.wake());
    }

    /// A handler's pause: time passes because of it, and everyone else has a turn.
    pub(crate) async fn pause(&self, mut duration: Duration) {
        while !duration.is_zero() {
            let step = duration.min(STEP);
            duration -= step;
            self.pass(step);
            let mut yielded = false;
            poll_fn(|cx| {
                if std::mem::replace(&mut yielded, true) {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
        }
    }

    /// A handler that never answers is running.
    pub(crate) fn hang(&self) {
        self.0.hangs.store(true, Ordering::SeqCst);
    }

    /// Whether one began to since this was asked.
    pub(crate) fn hangs(&self) -> bool {
        self.0.hangs.swap(false, Ordering::SeqCst)
    }

    /// Ends the server that waits for [`ended`](Self::ended).
    pub(crate) fn end(&self) {
        *self.0.runs.lock().expect("no panic") = None;
    }

    pub(crate) fn ended(&self) -> impl Future<Output = ()> + use<> {
        let (sender, ended) = oneshot::channel();
        *self.0.runs.lock().expect("no panic") = Some(sender);
        async {
            let _ = ended.await;
        }
    }
}

impl<D> Fixed<D> {
    pub(crate) fn new(driver: D, world: World) -> Self {
        Self { driver, world }
    }
}

impl<D: Driver> Runtime for Fixed<D> {
    type Timer = FixedTimer;

    fn now(&self) -> Instant {
        self.world.now()
    }

    fn timer(&self) -> FixedTimer {
        FixedTimer { world: self.world.clone(), at: None }
    }

    fn wall(&self) -> Duration {
        Duration::from_micros(self.world.now().as_micros())
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), EffectError> {
        let drawn = self.world.0.random.lock().expect("no panic").bytes();
        bytes.copy_from_slice(&drawn[..bytes.len()]);
        Ok(())
    }

    fn detach<T: 'static>(&self, work: <Shared as Threading>::Boxed<'static, T>) {
        self.driver.detach(work);
    }
}

impl<D: Driver> Driver for Fixed<D> {
    type Listener = D::Listener;
    type Stdio = D::Stdio;

    async fn bind(&self, address: String) -> io::Result<D::Listener> {
        self.driver.bind(address).await
    }

    fn stdio(&self, private: bool) -> io::Result<D::Stdio> {
        self.driver.stdio(private)
    }
}

pub(crate) struct FixedTimer {
    world: World,
    at: Option<Instant>,
}

impl Timer for FixedTimer {
    fn reset(mut self: Pin<&mut Self>, at: Instant) {
        self.at = Some(at);
    }

    fn poll_elapsed(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(at) = self.at else { return Poll::Pending };
        let mut sleepers = self.world.0.sleepers.lock().expect("no panic");
        if at <= self.world.now() {
            return Poll::Ready(());
        }
        sleepers.push((at, cx.waker().clone()));
        Poll::Pending
    }
}
