//! The loop over a machine that does as it is told: what real machines do rarely.

use core::future::Future;
use core::pin::pin;
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::future::pending;

use super::super::support::call;
use super::super::world::{VirtualTime, pair};
use super::super::*;
use super::*;
use crate::effect::{Effect, EffectError, EffectId, Reply};
use crate::model::{InputRequest, LogMessage, Operation, Outcome, Progress};
use crate::revision::Published;
use crate::server::{AskId, CallId, Event, Machine, Output};
use crate::store::SessionOp;
use crate::time::Instant;

/// A machine that says what it was given to say, and remembers what it was told.
#[derive(Default)]
struct Script {
    /// Something goes on when the stream is gone.
    busy: bool,
    says: VecDeque<Output>,
    told: Arc<Mutex<Vec<String>>>,
    out: Vec<u8>,
    /// When it closes, and how.
    closes: Option<(Instant, Closing)>,
    /// What it says when it is time.
    alarm: Option<(Instant, Output)>,
    now: Instant,
    dead: bool,
}

impl Script {
    fn tell(&self, what: impl Into<String>) {
        self.told.lock().unwrap().push(what.into());
    }
}

impl Machine for Script {
    fn handle_input(&mut self, _: Instant, input: &[u8]) -> usize {
        self.tell(format!("{} bytes", input.len()));
        input.len()
    }
    fn handle_eof(&mut self, _: Instant) {
        self.tell("end");
    }
    fn handle_closed(&mut self, _: Instant) {
        self.tell("closed");
        self.dead = true;
    }
    fn handle_timeout(&mut self, now: Instant) {
        self.now = self.now.max(now);
        if let Some((_, output)) = self.alarm.take_if(|(at, _)| *at <= now) {
            self.says.push_back(output);
        }
    }
    fn handle_reply(&mut self, _: Instant, id: EffectId, reply: Result<Reply, EffectError>) {
        self.tell(format!(
            "{id}: {}",
            reply.map_or_else(|error| error.to_string(), |_| "ok".into())
        ));
    }
    fn handle_published(&mut self, _: Instant, _: Arc<Published>) {}
    fn respond(&mut self, call: CallId, _: Outcome) {
        self.tell(format!("{call}"));
    }
    fn progress(&mut self, call: CallId, progress: Progress) {
        self.tell(format!("{call}: {}", progress.progress));
    }
    fn log(&mut self, call: CallId, _: LogMessage) {
        self.tell(format!("{call}: log"));
    }
    fn ask(&mut self, call: CallId, _: InputRequest) -> AskId {
        self.tell(format!("{call}: ask"));
        AskId(0)
    }
    fn withdraw(&mut self, ask: AskId) {
        self.tell(format!("{ask}: withdraw"));
    }
    fn suspend(&mut self, call: CallId) {
        self.tell(format!("{call}: suspend"));
    }
    fn close_stream(&mut self, call: CallId) {
        self.tell(format!("{call}: close stream"));
    }
    fn is_idle(&self) -> bool {
        !self.busy
    }
    fn close(&mut self) {
        self.tell("close");
    }
    fn poll_output(&mut self) -> Option<Output> {
        self.says.pop_front()
    }
    fn transmit(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.out);
    }
    fn poll_timeout(&self) -> Option<Instant> {
        let closes = self.closes.map(|(at, _)| at).filter(|at| *at > self.now);
        earlier(self.alarm.as_ref().map(|(at, _)| *at), closes)
    }
    fn wants_input(&self) -> bool {
        true
    }
    fn closing(&self) -> Closing {
        match self.closes {
            _ if self.dead => Closing::Closed,
            Some((at, closing)) if at <= self.now => closing,
            _ => Closing::Open,
        }
    }
}

impl Carrier for Script {
    fn parts(&self, _: CallId, _: &Extensions) -> Option<Parts> {
        None
    }
}

fn seconds(seconds: u64) -> Instant {
    Instant::from_millis(1_000 * seconds)
}

fn host(time: &VirtualTime, sessions: Arc<dyn SessionStore>) -> Host<VirtualTime> {
    let service = Registry::new("test", "1")
        .tool(tool("hang", pending::<()>))
        .tool(tool("talk", |ex: Exchange| async move {
            ex.progress(1, 2);
            ex.progress(2, 2);
        }))
        .build()
        .expect("valid");
    Host::with_sessions(service, time.clone(), sessions)
}

fn plain(time: &VirtualTime) -> Host<VirtualTime> {
    host(time, Arc::new(MemorySessionStore::new()))
}

fn calls(id: u64, tool: &str) -> Output {
    Output::Event(Event::Call(CallId(id), call(Operation::CallTool, tool, "{}")))
}

#[test]
fn a_lingering_stream_is_shut_one_way_and_read_until_the_peer_ends_or_time_is_up() {
    for (peer_ends, over) in [(true, seconds(3)), (false, seconds(9))] {
        let time = VirtualTime::default();
        let closes = Some((seconds(2), Closing::Linger(seconds(9))));
        let machine = Script { closes, out: b"bye".to_vec(), ..Script::default() };
        let told = Arc::clone(&machine.told);
        let (ours, mut theirs) = pair(64);
        let clock = time.clone();
        let client = async {
            assert_eq!(theirs.receive_all().await, "bye");
            assert_eq!(clock.time(), seconds(2), "the end of the writing side");
            clock.sleep(Duration::from_secs(1)).await;
            theirs.send(b"still talking").await;
            if peer_ends {
                theirs.end();
            }
            theirs
        };
        let run = plain(&time).run(machine, ours, Extensions::new(), pending());
        let (ended, _theirs) = time.run(run, client);
        ended.expect("it ended by itself");
        assert_eq!(time.time(), over);
        assert!(told.lock().unwrap().contains(&"13 bytes".to_owned()), "{told:?}");
    }
}

#[test]
fn what_waits_to_be_written_stops_reading_until_there_is_less_of_it() {
    let time = VirtualTime::default();
    let machine = Script { out: vec![b'x'; UNWRITTEN + 64], ..Script::default() };
    let told = Arc::clone(&machine.told);
    let (ours, mut theirs) = pair(64);
    let mut run = pin!(plain(&time).run(machine, ours, Extensions::new(), pending()));
    let mut cx = Context::from_waker(std::task::Waker::noop());
    assert!(run.as_mut().poll(&mut cx).is_pending());
    assert!(pin!(theirs.send(b"hello")).poll(&mut cx).is_ready());
    assert!(run.as_mut().poll(&mut cx).is_pending());
    assert!(told.lock().unwrap().is_empty(), "all but 64 bytes of it are left to be written");
    assert!(pin!(theirs.receive()).poll(&mut cx).is_ready());
    assert!(run.as_mut().poll(&mut cx).is_pending());
    assert!(run.as_mut().poll(&mut cx).is_pending());
    assert_eq!(*told.lock().unwrap(), ["5 bytes"]);
}

#[test]
fn a_peer_that_takes_nothing_of_the_last_words_is_given_up() {
    let time = VirtualTime::default();
    let closes = Some((seconds(20), Closing::AfterFlush));
    let machine = Script { closes, out: vec![b'x'; 100], ..Script::default() };
    let told = Arc::clone(&machine.told);
    let (ours, theirs) = pair(64);
    let run = plain(&time).run(machine, ours, Extensions::new(), pending());
    let (ended, ()) = time.run(run, async {});
    assert_eq!(ended.expect_err("it was given up").kind(), ErrorKind::TimedOut);
    assert_eq!(time.time(), seconds(20), "stalled for long enough when it came to close");
    assert_eq!(*told.lock().unwrap(), ["closed"]);
    drop(theirs);
}

#[test]
fn other_tasks_have_their_turn_beside_a_stream_that_never_waits() {
    struct Endless(Arc<AtomicUsize>);
    impl AsyncRead for Endless {
        fn poll_read(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &mut [u8],
        ) -> Poll<io::Result<usize>> {
            self.0.fetch_add(1, Ordering::SeqCst);
            Poll::Ready(Ok(1))
        }
    }
    impl AsyncWrite for Endless {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            from: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(from.len()))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
        fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
    let reads = Arc::new(AtomicUsize::new(0));
    let time = VirtualTime::default();
    let stream = Endless(Arc::clone(&reads));
    let mut run = pin!(plain(&time).run(Script::default(), stream, Extensions::new(), pending()));
    assert!(run.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop())).is_pending());
    assert_eq!(reads.load(Ordering::SeqCst), ROUNDS);
}

#[test]
fn an_abandoned_effect_is_dropped_and_an_answered_one_told() {
    struct Held(Arc<AtomicUsize>);
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    struct Never(Arc<AtomicUsize>);
    impl SessionStore for Never {
        fn execute(&self, _: Instant, _: SessionOp) -> Execution {
            let held = Held(Arc::clone(&self.0));
            Execution::Later(Box::pin(async move {
                pending::<()>().await;
                drop(held);
                Ok(Reply::Deleted)
            }))
        }
    }
    let time = VirtualTime::default();
    let dropped = Arc::new(AtomicUsize::new(0));
    let delete = Effect::Session(SessionOp::Delete { id: "a".into() });
    let machine = Script {
        says: [Output::Effect(EffectId(1), delete), Output::Effect(EffectId(2), Effect::Random)]
            .into(),
        alarm: Some((seconds(1), Output::Abandon(EffectId(1)))),
        ..Script::default()
    };
    let told = Arc::clone(&machine.told);
    let (ours, theirs) = pair(64);
    let host = host(&time, Arc::new(Never(Arc::clone(&dropped))));
    let mut run = pin!(host.run(machine, ours, Extensions::new(), pending()));
    let waiting = async {
        time.sleep(Duration::from_millis(999)).await;
        let before = dropped.load(Ordering::SeqCst);
        time.sleep(Duration::from_millis(2)).await;
        (before, dropped.load(Ordering::SeqCst))
    };
    let mut waiting = pin!(waiting);
    let both = futures_util::future::select(run.as_mut(), waiting.as_mut());
    match time.run(both, async {}).0 {
        futures_util::future::Either::Right((dropped, _)) => assert_eq!(dropped, (0, 1)),
        futures_util::future::Either::Left(_) => panic!("it ended"),
    }
    assert_eq!(*told.lock().unwrap(), ["e2: ok"]);
    drop(theirs);
}

#[test]
fn what_a_handler_says_goes_before_its_answer_even_if_it_never_waits() {
    let time = VirtualTime::default();
    let machine = Script {
        says: [calls(1, "talk"), calls(2, "nobody")].into(),
        closes: Some((seconds(0), Closing::AfterFlush)),
        ..Script::default()
    };
    let told = Arc::clone(&machine.told);
    let (ours, _theirs) = pair(64);
    let run = plain(&time).run(machine, ours, Extensions::new(), pending());
    time.run(run, async {}).0.expect("it ended by itself");
    assert_eq!(*told.lock().unwrap(), ["c1: 1", "c1: 2", "c1", "c2"]);
}

#[test]
fn a_machine_that_is_not_idle_when_its_stream_ends_goes_on() {
    let time = VirtualTime::default();
    let machine = Script {
        says: [calls(1, "hang"), calls(2, "hang"), Output::Event(Event::Cancelled(CallId(1)))]
            .into(),
        closes: Some((seconds(1), Closing::Closed)),
        busy: true,
        ..Script::default()
    };
    let (ours, _theirs) = pair(64);
    let run = plain(&time).run(machine, ours, Extensions::new(), pending());
    time.run(run, async {}).0.expect("it ended by itself");
    assert_eq!(time.detached(), 1);
}

#[test]
fn a_machine_is_told_once_to_close_and_that_its_stream_broke() {
    let time = VirtualTime::default();
    let machine = Script { alarm: None, out: vec![b'x'; 100], ..Script::default() };
    let told = Arc::clone(&machine.told);
    let (ours, theirs) = pair(64);
    let clock = time.clone();
    let client = async move {
        clock.sleep(Duration::from_secs(1)).await;
        drop(theirs);
    };
    let run = plain(&time).run(machine, ours, Extensions::new(), async {});
    let (ended, ()) = time.run(run, client);
    assert!(ended.is_err());
    assert_eq!(*told.lock().unwrap(), ["close", "end", "closed"]);
}
