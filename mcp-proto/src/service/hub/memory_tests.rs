use core::task::{Context, Waker};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake};

use super::*;
use crate::store::{Cursor, Read};

const TTL: Duration = Duration::from_secs(60);

fn at(seconds: u64) -> Instant {
    Instant::from_millis(1_000 * seconds)
}

fn run(hub: &MemoryHub, now: Instant, op: HubOp) -> Reply {
    match hub.execute(now, op) {
        Execution::Done(Ok(reply)) => reply,
        other => panic!("memory answers at once: {other:?}"),
    }
}

fn publish(hub: &MemoryHub, now: Instant, topic: &str) -> Cursor {
    let op = HubOp::Publish { topic: topic.into(), message: "{}".into(), ttl: TTL, keep: 3 };
    match run(hub, now, op) {
        Reply::Published(cursor) => cursor,
        other => panic!("not published: {other:?}"),
    }
}

fn poll(topics: &[(&str, &Cursor)], wait: Duration) -> HubOp {
    let topics = topics.iter().map(|(topic, cursor)| ((*topic).to_owned(), (*cursor).clone()));
    HubOp::Poll { topics: topics.collect(), wait }
}

/// How many messages a look finds, and whether some were lost; `None` where there is no news.
fn look(hub: &MemoryHub, now: Instant, topic: &str, after: &Cursor) -> Option<(usize, bool)> {
    let Reply::Polled(polled) = run(hub, now, poll(&[(topic, after)], Duration::ZERO)) else {
        panic!("not polled")
    };
    match polled.into_iter().next()?.read {
        Read::Messages { messages, lost, .. } => Some((messages.len(), lost)),
        Read::UnknownCursor => panic!("refused"),
    }
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn only_the_listeners_of_a_topic_are_woken_and_idle_ones_leave_nothing() {
    let hub = MemoryHub::new();
    let start = Cursor::from(0);
    let wait = |topic| match hub.execute(at(0), poll(&[(topic, &start)], TTL)) {
        Execution::Later(waiting) => waiting,
        Execution::Done(_) => panic!("there is nothing yet"),
    };
    let (mut a, mut b) = (wait("a"), wait("b"));
    let (a_woken, b_woken) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
    let (a_waker, b_waker) = (Waker::from(a_woken.clone()), Waker::from(b_woken.clone()));
    assert!(a.as_mut().poll(&mut Context::from_waker(&a_waker)).is_pending());
    assert!(b.as_mut().poll(&mut Context::from_waker(&b_waker)).is_pending());
    publish(&hub, at(0), "a");
    assert_eq!((a_woken.0.load(Ordering::Relaxed), b_woken.0.load(Ordering::Relaxed)), (1, 0));
    let polled = a.as_mut().poll(&mut Context::from_waker(&a_waker));
    assert!(matches!(polled, Poll::Ready(Ok(Reply::Polled(polled))) if polled.len() == 1));
    drop((a, b));
    assert!(hub.bells.is_empty());
}

#[test]
fn messages_live_for_their_ttl_and_leave_nothing_behind() {
    let hub = MemoryHub::new();
    let start = Cursor::from(0);
    publish(&hub, at(0), "t");
    publish(&hub, at(30), "t");
    assert_eq!(look(&hub, at(59), "t", &start), Some((2, false)));
    assert_eq!(look(&hub, at(60), "t", &start), Some((1, true)), "the first has expired");
    assert_eq!(look(&hub, at(90), "t", &start), None);
    assert_eq!(hub.topics(), 0);
    assert!(hub.lock().by_expiry.is_empty());
}

#[test]
fn a_topic_that_expired_or_was_deleted_is_lost_and_goes_on_with_greater_places() {
    let hub = MemoryHub::new();
    let first = publish(&hub, at(0), "t");
    assert_eq!(look(&hub, at(60), "t", &first), Some((0, true)));
    let second = publish(&hub, at(61), "t");
    assert!(second.as_str() > first.as_str());
    assert_eq!(look(&hub, at(61), "t", &first), Some((1, true)));
    assert_eq!(run(&hub, at(61), HubOp::Delete { topic: "t".into() }), Reply::Deleted);
    assert_eq!(look(&hub, at(61), "t", &second), Some((0, true)));
    assert_eq!(look(&hub, at(61), "t", &Cursor::from(0)), None);
}

#[test]
fn more_than_a_page_is_read_in_pages() {
    let hub = MemoryHub::new();
    for _ in 0..PAGE_MESSAGES + 10 {
        let message = Bytes::from_static(b"{}");
        let op = HubOp::Publish { topic: "t".into(), message, ttl: TTL, keep: 10_000 };
        run(&hub, at(0), op);
    }
    assert_eq!(look(&hub, at(0), "t", &Cursor::from(0)), Some((PAGE_MESSAGES, false)));
    let page = Cursor::from(PAGE_MESSAGES as u64);
    assert_eq!(look(&hub, at(0), "t", &page), Some((10, false)));
}
