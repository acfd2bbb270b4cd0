//! What tests of the loop run on: virtual time, pipes in memory, an executor of two tasks.

use core::future::Future;
use core::net::SocketAddr;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Wake;

use futures_io::{AsyncRead, AsyncWrite};

use super::client::Dial;
pub(crate) use super::pair::{End, pair};
use super::virtual_time::VirtualTime as Clock;
pub(crate) use super::virtual_time::VirtualTimer;
use super::{Driver, Listener, Runtime, Shared, Threading};
use crate::effect::EffectError;
use crate::time::Instant;

/// A runtime whose time passes only when nothing else can happen.
#[derive(Clone, Default)]
pub(crate) struct VirtualTime {
    clock: Clock,
    counts: Arc<Mutex<Counts>>,
}

thread_local! {
    /// What was left to run on; it does whenever something is [run](VirtualTime::run).
    static DETACHED: RefCell<Vec<Pin<Box<dyn Future<Output = ()>>>>> = RefCell::default();
}

#[derive(Default)]
struct Counts {
    detached: usize,
    /// How often random bytes were wanted.
    drawn: u8,
}

impl VirtualTime {
    /// How much work was left to run on.
    pub(crate) fn detached(&self) -> usize {
        self.counts.lock().unwrap().detached
    }

    /// Now.
    pub(crate) fn time(&self) -> Instant {
        self.clock.now()
    }

    /// Waits.
    pub(crate) async fn sleep(&self, time: Duration) {
        self.clock.sleep(time).await;
    }

    /// Runs `server` and `client` until both are done, in virtual time.
    ///
    /// # Panics
    /// Where both wait for something that never comes.
    pub(crate) fn run<S: Future, C: Future>(&self, server: S, client: C) -> (S::Output, C::Output) {
        let (mut server, mut client) = (pin!(server), pin!(client));
        let (mut served, mut done) = (None, None);
        let flag = Arc::new(Flag::default());
        let waker = Waker::from(Arc::clone(&flag));
        let mut cx = Context::from_waker(&waker);
        loop {
            flag.0.store(false, Ordering::SeqCst);
            poll_into(&mut served, server.as_mut(), &mut cx);
            poll_into(&mut done, client.as_mut(), &mut cx);
            let mut detached = DETACHED.take();
            detached.retain_mut(|work| work.as_mut().poll(&mut cx).is_pending());
            DETACHED.with_borrow_mut(|all| all.append(&mut detached));
            (served, done) = match (served, done) {
                (Some(served), Some(done)) => return (served, done),
                unfinished => unfinished,
            };
            if !flag.0.load(Ordering::SeqCst) {
                self.pass();
            }
        }
    }

    /// Nothing can happen now: the next timer goes off.
    fn pass(&self) {
        let next = self.clock.next().expect("everybody waits, and no timer is set");
        self.clock.advance(next);
    }
}

fn poll_into<F: Future>(done: &mut Option<F::Output>, future: Pin<&mut F>, cx: &mut Context<'_>) {
    if done.is_none()
        && let Poll::Ready(output) = future.poll(cx)
    {
        *done = Some(output);
    }
}

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl<M: Threading> Runtime<M> for VirtualTime {
    type Timer = VirtualTimer;

    fn now(&self) -> Instant {
        self.time()
    }

    fn timer(&self) -> VirtualTimer {
        self.clock.timer()
    }

    fn wall(&self) -> Duration {
        Duration::from_micros(self.time().as_micros())
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), EffectError> {
        let mut counts = self.counts.lock().unwrap();
        counts.drawn = counts.drawn.wrapping_add(1);
        bytes.fill(counts.drawn);
        Ok(())
    }

    fn detach<T: 'static>(&self, work: M::Boxed<'static, T>) {
        self.counts.lock().unwrap().detached += 1;
        DETACHED.with_borrow_mut(|all| {
            all.push(Box::pin(async move {
                work.await;
            }));
        });
    }
}

impl Driver<Shared> for VirtualTime {
    type Listener = Port;
    type Stdio = End;

    async fn bind(&self, _: String) -> io::Result<Port> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn stdio(&self, _: bool) -> io::Result<End> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A runtime that makes connections with a function, to any host.
#[derive(Clone)]
pub(crate) struct Dialer<R, F> {
    pub(crate) runtime: R,
    pub(crate) dial: F,
    /// The environment.
    pub(crate) variables: &'static [(&'static str, &'static str)],
}

impl<R, F> Dialer<R, F> {
    pub(crate) fn new(runtime: R, dial: F) -> Self {
        Self { runtime, dial, variables: &[] }
    }
}

impl<R: Runtime<Shared>, F: 'static> Runtime<Shared> for Dialer<R, F> {
    type Timer = R::Timer;

    fn now(&self) -> Instant {
        self.runtime.now()
    }

    fn timer(&self) -> R::Timer {
        self.runtime.timer()
    }

    fn wall(&self) -> Duration {
        self.runtime.wall()
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), EffectError> {
        self.runtime.fill_random(bytes)
    }

    fn detach<T: 'static>(&self, work: <Shared as Threading>::Boxed<'static, T>) {
        self.runtime.detach(work);
    }
}

impl<R, F, G> Dial for Dialer<R, F>
where
    R: Runtime<Shared, Timer: Send> + Clone + Send + Sync,
    F: Fn(String, u16) -> G + Clone + Send + Sync + 'static,
    G: Future<Output = io::Result<End>> + Send + 'static,
{
    type Stream = End;

    fn dial(&self, host: String, port: u16) -> impl Future<Output = io::Result<End>> + 'static {
        (self.dial)(host, port)
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        let is = |(own, _): &&(&str, &str)| *own == name;
        self.variables.iter().find(is).map(|(_, value)| value.into())
    }
}

/// A listener that clients [connect](Self::connect) to without a socket. Cloning shares it.
#[derive(Clone, Default)]
pub(crate) struct Port(Arc<Mutex<Waiters>>);

#[derive(Default)]
struct Waiters {
    ends: VecDeque<End>,
    waiting: Option<Waker>,
}

impl Port {
    /// A new connection; the client's end of it.
    pub(crate) fn connect(&self) -> End {
        let (ours, theirs) = pair(1 << 16);
        let mut waiters = self.0.lock().unwrap();
        waiters.ends.push_back(ours);
        if let Some(waker) = waiters.waiting.take() {
            waker.wake();
        }
        theirs
    }
}

impl Listener for Port {
    type Stream = End;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(End, SocketAddr)>> {
        let mut waiters = self.0.lock().unwrap();
        match waiters.ends.pop_front() {
            Some(end) => Poll::Ready(Ok((end, ([127, 0, 0, 1], 1).into()))),
            None => {
                waiters.waiting = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(([127, 0, 0, 1], 8080).into())
    }
}

impl End {
    /// How many writes the other end made.
    pub(crate) fn writes(&self) -> usize {
        self.incoming.lock().unwrap().writes
    }

    /// Writes all of `bytes`.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        let mut sent = 0;
        while sent < bytes.len() {
            let rest = &bytes[sent..];
            sent += std::future::poll_fn(|cx| Pin::new(&mut *self).poll_write(cx, rest))
                .await
                .expect("the other end reads");
        }
    }

    /// Reads what there is; nothing at the end.
    pub(crate) async fn receive(&mut self) -> Vec<u8> {
        let mut bytes = [0; 4096];
        let read = std::future::poll_fn(|cx| Pin::new(&mut *self).poll_read(cx, &mut bytes))
            .await
            .expect("pipes do not fail");
        bytes[..read].to_vec()
    }

    /// Reads until `enough`, or to the end.
    pub(crate) async fn receive_until(&mut self, enough: impl Fn(&str) -> bool) -> String {
        let mut text = String::new();
        while !enough(&text) {
            let more = self.receive().await;
            if more.is_empty() {
                break;
            }
            text.push_str(&String::from_utf8(more).expect("UTF-8"));
        }
        text
    }

    /// Reads to the end.
    pub(crate) async fn receive_all(&mut self) -> String {
        self.receive_until(|_| false).await
    }
}
