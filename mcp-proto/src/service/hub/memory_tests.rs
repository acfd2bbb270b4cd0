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

/// What a reader was told: the messages read, and whether it was told of a loss before each.
#[derive(Debug, Clone)]
enum Step {
    Publish(u32),
    Delete,
    Pass(u64),
    Read(usize),
}

fn steps() -> impl proptest::strategy::Strategy<Value = Vec<Step>> {
    use proptest::prelude::*;
    let step = prop_oneof![
        5 => (1_u32..6).prop_map(Step::Publish),
        1 => Just(Step::Delete),
        2 => (1_u64..50).prop_map(Step::Pass),
        4 => (0_usize..3).prop_map(Step::Read),
    ];
    proptest::collection::vec(step, 0..60)
}

proptest::proptest! {
    /// Three readers of one topic, each at its own pace: a reader reads every message, in order and
    /// once, but for those that it was told it lost; and it was told only if there was a reason.
    #[test]
    fn a_reader_misses_nothing_that_it_was_not_told_of(steps in steps()) {
        let hub = MemoryHub::new();
        let mut readers = [0, 1, 2].map(|_| (Cursor::from(0), 0_u32));
        let (mut now, mut published, mut disturbed) = (0, 0_u32, false);
        for step in steps {
            match step {
                Step::Publish(keep) => {
                    let message = Bytes::from(published.to_string());
                    let op = HubOp::Publish { topic: "t".into(), message, ttl: TTL, keep };
                    run(&hub, at(now), op);
                    published += 1;
                    disturbed |= keep < 5; // trimmed, perhaps
                }
                Step::Delete => {
                    run(&hub, at(now), HubOp::Delete { topic: "t".into() });
                    disturbed = true;
                }
                Step::Pass(seconds) => {
                    now += seconds;
                    disturbed = true; // expired, perhaps
                }
                Step::Read(reader) => {
                    let (cursor, next) = &mut readers[reader];
                    let op = poll(&[("t", cursor)], Duration::ZERO);
                    let Reply::Polled(polled) = run(&hub, at(now), op) else { panic!("not polled") };
                    let Some(polled) = polled.into_iter().next() else { continue };
                    let Read::Messages { messages, next: place, lost } = polled.read else {
                        panic!("a cursor that was given is refused")
                    };
                    proptest::prop_assert!(!lost || disturbed, "lost without a reason");
                    let numbers: Vec<u32> = messages
                        .iter()
                        .map(|(_, text)| String::from_utf8_lossy(text).parse().expect("a number"))
                        .collect();
                    let from = numbers.first().copied().unwrap_or(*next);
                    // Who held the place before everything did not see what came and went.
                    let unseen = cursor.as_str() == "0";
                    proptest::prop_assert!(lost || unseen || from == *next, "a gap, untold");
                    proptest::prop_assert!(from >= *next, "read twice");
                    let expected: Vec<u32> = (from..).take(numbers.len()).collect();
                    proptest::prop_assert_eq!(&numbers, &expected);
                    *next = numbers.last().map_or(*next, |last| last + 1);
                    *cursor = place;
                }
            }
        }
    }
}

/// A message of so many bytes.
fn put(hub: &MemoryHub, now: Instant, topic: &str, bytes: usize) -> bool {
    let (topic, message) = (topic.to_owned(), vec![b' '; bytes].into());
    let publish = HubOp::Publish { topic, message, ttl: TTL, keep: 1_000 };
    matches!(hub.execute(now, publish), Execution::Done(Ok(Reply::Published(_))))
}

#[test]
fn what_is_kept_is_bounded_in_bytes_and_the_oldest_goes_first() {
    // Where few topics are written to, each has its share, and others are not concerned.
    let cases = [(1, 1_000, false), (2, 20_000, false), (40, 3_000, true), (5_000, 10, true)];
    for (topics, bytes, forgets) in cases {
        let hub = MemoryHub::new().bounded(100_000);
        let first = publish(&hub, at(0), "first");
        let before = Cursor::from(0);
        assert_eq!(look(&hub, at(0), "first", &before), Some((1, false)));
        for n in 0..10_000 {
            let topic = format!("topic {}", n % topics);
            assert!(put(&hub, at(n / 1_000), &topic, bytes), "{topics} {bytes}");
            assert!(hub.bytes() <= 100_000, "{topics} topics of {bytes}");
            let lock = hub.lock();
            assert!(lock.by_age.len() <= 2 * lock.messages + 1_025, "{topics} of {bytes}");
        }
        let newest = format!("topic {}", 9_999 % topics);
        assert!(look(&hub, at(9), &newest, &before).is_some_and(|(some, _)| some >= 1));
        let after = if forgets { Some((0, true)) } else { None };
        assert_eq!(look(&hub, at(9), "first", &first), after, "{topics} topics of {bytes}");
    }
}

#[test]
fn a_topic_that_outgrows_its_share_loses_its_own_and_says_so() {
    let hub = MemoryHub::new().bounded(80_000);
    let start = publish(&hub, at(0), "quiet");
    let from = publish(&hub, at(0), "loud");
    for _ in 0..100 {
        assert!(put(&hub, at(0), "loud", 1_000));
    }
    let (found, lost) = look(&hub, at(0), "loud", &from).expect("news");
    assert!((5..=10).contains(&found) && lost, "{found} {lost}");
    assert_eq!(look(&hub, at(0), "quiet", &start), None);
    assert_eq!(look(&hub, at(0), "quiet", &Cursor::from(0)), Some((1, false)));
}

#[test]
fn a_message_that_never_fits_is_an_error_and_all_that_ends_frees_its_bytes() {
    let hub = MemoryHub::new().bounded(10_000);
    assert!(!put(&hub, at(0), "a", 10_000));
    assert_eq!((hub.bytes(), hub.topics()), (0, 0));
    assert!(put(&hub, at(0), "a", 5_000) && put(&hub, at(0), "b", 1_000));
    run(&hub, at(0), HubOp::Delete { topic: "b".into() });
    assert!(hub.bytes() > 5_000);
    run(&hub, at(61), HubOp::Position { topic: "a".into() });
    assert_eq!((hub.bytes(), hub.topics(), hub.lock().messages), (0, 0, 0));
}
