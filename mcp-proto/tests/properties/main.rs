//! What every machine keeps, whatever happens to it, in whatever order.
//!
//! Where its outputs are fetched changes nothing, nor does how its input is split; time never
//! runs out twice; nobody's replies and answers do nothing; nothing panics; and what was recorded
//! replays. The reader keeps up: what a machine drops behind a reader that does not is no part of
//! this, since reading is an input too.

#[path = "../fixture/mod.rs"]
mod fixture;

mod broken;
mod relief;
mod rising;
mod schedule;
mod traffic;

use broken::{Broken, Fault};
use fixture::{Peer, Wire};
use mcp_proto::revision::Revision;
use mcp_proto::server::{Connection, Endpoint, Limits, Machine, Stdio};
use mcp_proto::testing::{BareExchange, Head, replay};
use mcp_proto::time::Instant;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{TestError, TestRunner};
use schedule::{Manner, Op, Text, drains, ops, pieces, record, repeat};

const CASES: u32 = 1_000;

/// A kind of machine: how one is made, and what is done to it.
struct Subject<M> {
    name: &'static str,
    schedules: BoxedStrategy<Schedule>,
    machine: fn(&Head) -> M,
}

#[derive(Clone, Debug)]
struct Schedule {
    /// Of nearly all messages.
    revision: Revision,
    /// Of the one exchange, where there is just one.
    head: Head,
    ops: Vec<Op>,
}

fn stdio() -> Subject<Stdio> {
    Subject {
        name: "stdio",
        schedules: on_wire(Wire::Stdio),
        machine: |_| Stdio::new(endpoint(), Instant::ZERO),
    }
}

fn connection() -> Subject<Connection> {
    Subject {
        name: "HTTP/1.1",
        schedules: on_wire(Wire::Http),
        machine: |_| Connection::new(endpoint(), Instant::ZERO),
    }
}

fn exchange() -> Subject<BareExchange<Head>> {
    let schedule = |revision| {
        let rest = ops(traffic::body_bytes(revision));
        let ends = prop_oneof![6 => Just(true), 1 => Just(false)];
        (traffic::exchange(revision), ends, rest).prop_map(move |((head, body), ends, rest)| {
            let mut ops = vec![Op::Feed(Text(body))];
            ops.extend(ends.then_some(Op::Eof));
            ops.extend(rest);
            Schedule { revision, head, ops }
        })
    };
    Subject {
        name: "exchange",
        schedules: traffic::revision().prop_flat_map(schedule).boxed(),
        machine: |head| BareExchange::new(&endpoint(), Instant::ZERO, head.clone()),
    }
}

/// Schedules of a stream; most begin with a handshake, or a discovery.
fn on_wire(wire: Wire) -> BoxedStrategy<Schedule> {
    let schedule = move |revision| {
        let greets = prop_oneof![3 => Just(true), 1 => Just(false)];
        let rest = ops(traffic::bytes(wire, revision));
        (greets, rest).prop_map(move |(greets, rest)| {
            let mut peer = Peer::new(revision, wire);
            let hello = peer.hello();
            let hello = [Op::Feed(Text(peer.frame(&hello))), Op::Settle];
            let hello = hello.into_iter().filter(|_| greets);
            Schedule { revision, head: Head::default(), ops: hello.chain(rest).collect() }
        })
    };
    traffic::revision().prop_flat_map(schedule).boxed()
}

/// Bounds so small that traffic meets them.
fn endpoint() -> Endpoint {
    thread_local!(static ENDPOINT: Endpoint = {
        let mut limits = Limits::default();
        (limits.in_flight, limits.parked, limits.batch) = (2, 3, 3);
        (limits.message, limits.http.body, limits.http.head) = (900, 900, 600);
        fixture::builder().limits(limits).build()
    });
    ENDPOINT.with(Endpoint::clone)
}

/// Carries out schedules as they are, and once more in some manner, on machines of `make`.
fn compare<M: Machine>(
    runner: &mut TestRunner,
    schedules: BoxedStrategy<Schedule>,
    manners: BoxedStrategy<Manner>,
    make: impl Fn(&Head) -> M,
) -> Result<(), Box<TestError<(Schedule, Manner)>>> {
    let outcome =
        runner.run(&(schedules, manners), |(Schedule { revision, head, ops }, manner)| {
            let recorded = record(make(&head), revision, &ops);
            let (transcript, taken) = repeat(&recorded, make(&head), &manner);
            prop_assert_eq!(text(&transcript.sent), text(&recorded.transcript.sent));
            prop_assert_eq!(&transcript.outputs, &recorded.transcript.outputs);
            prop_assert_eq!(&taken, &recorded.taken);
            Ok(())
        });
    outcome.map_err(Box::new)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn runner() -> TestRunner {
    let source_file = Some(file!());
    TestRunner::new(ProptestConfig { source_file, ..ProptestConfig::with_cases(CASES) })
}

fn holds<M: Machine>(subject: Subject<M>, manners: BoxedStrategy<Manner>) {
    let outcome = compare(&mut runner(), subject.schedules, manners, subject.machine);
    outcome.unwrap_or_else(|error| panic!("{}: {error}", subject.name));
    println!("{}: {CASES} cases", subject.name);
}

fn drained_anywhere() -> BoxedStrategy<Manner> {
    drains().prop_map(|drains| Manner { drains, ..Manner::plain() }).boxed()
}

fn split_anywhere() -> BoxedStrategy<Manner> {
    let manner = (drains(), pieces());
    manner.prop_map(|(drains, pieces)| Manner { drains, pieces, ..Manner::plain() }).boxed()
}

fn among_strangers() -> BoxedStrategy<Manner> {
    Just(Manner { strangers: true, ..Manner::plain() }).boxed()
}

fn replays<M: Machine>(subject: Subject<M>) {
    let machine = subject.machine;
    let outcome = runner().run(&subject.schedules, |Schedule { revision, head, ops }| {
        let recorded = record(machine(&head), revision, &ops);
        prop_assert_eq!(replay(&recorded.inputs, machine(&head)), recorded.transcript);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{}: {error}", subject.name));
    println!("{}: {CASES} recordings", subject.name);
}

fn survives<M: Machine>(subject: Subject<M>) {
    let anything = prop::collection::vec(any::<u8>(), 0..300).boxed();
    let schedules = (traffic::exchange(Revision::V2025_11_25), ops(anything))
        .prop_map(|((head, _), ops)| Schedule { revision: Revision::V2025_11_25, head, ops });
    holds(Subject { schedules: schedules.boxed(), ..subject }, split_anywhere());
}

/// How many schedules of a thousand reach each of `marks` in what a machine sends or says.
fn reach<M: Machine>(subject: Subject<M>, marks: &[&str]) {
    let mut counts = vec![0; marks.len()];
    let mut runner = TestRunner::deterministic();
    for _ in 0..CASES {
        let tree = subject.schedules.new_tree(&mut runner).expect("a schedule");
        let Schedule { revision, head, ops } = tree.current();
        let recorded = record((subject.machine)(&head), revision, &ops);
        let said = text(&recorded.transcript.sent) + &recorded.transcript.outputs.concat();
        for (count, mark) in counts.iter_mut().zip(marks) {
            *count += usize::from(said.contains(mark));
        }
    }
    for (count, mark) in counts.iter().zip(marks) {
        println!("{}: {count} of {CASES} reach {mark:?}", subject.name);
        assert!(*count >= 5, "{}: only {count} reach {mark:?}", subject.name);
    }
}

/// Whether the property notices that machines have `fault`.
fn catches<M: Machine>(subject: Subject<M>, manners: BoxedStrategy<Manner>, fault: Fault) -> bool {
    let make =
        |head: &Head| Broken { machine: (subject.machine)(head), fault, mark: false, calls: 0 };
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
    compare(&mut TestRunner::new(config), subject.schedules, manners, make).is_err()
}

macro_rules! properties {
    ($($name:ident)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn where_outputs_are_fetched_changes_no_byte() {
                holds(super::$name(), drained_anywhere());
            }

            #[test]
            fn how_input_is_split_changes_no_byte() {
                holds(super::$name(), split_anywhere());
            }

            #[test]
            fn replies_answers_and_timeouts_that_nobody_waits_for_change_no_byte() {
                holds(super::$name(), among_strangers());
            }

            #[test]
            fn a_recording_replays_byte_for_byte() {
                replays(super::$name());
            }

            #[test]
            fn arbitrary_bytes_do_no_harm() {
                survives(super::$name());
            }
        }
    )*};
}

properties! { stdio connection exchange }

#[test]
fn a_planted_fault_in_splitting_is_found() {
    assert!(catches(stdio(), split_anywhere(), Fault::Splitting));
    assert!(catches(connection(), split_anywhere(), Fault::Splitting));
}

#[test]
fn a_planted_fault_in_draining_is_found() {
    assert!(catches(stdio(), drained_anywhere(), Fault::Draining));
    assert!(catches(connection(), drained_anywhere(), Fault::Draining));
    assert!(catches(exchange(), drained_anywhere(), Fault::Draining));
}

#[test]
fn a_planted_fault_in_replies_is_found() {
    assert!(catches(exchange(), among_strangers(), Fault::Replies));
}

#[test]
fn whatever_is_parked_what_relieves_it_gets_through() {
    let made = || Stdio::new(endpoint(), Instant::ZERO);
    let outcome = runner().run(&relief::floods(), |flood| relief::gets_through(made(), &flood));
    outcome.unwrap_or_else(|error| panic!("{error}"));
    println!("{CASES} floods");
}

#[test]
fn a_planted_fault_in_parking_is_found() {
    let made = || {
        let machine = Stdio::new(endpoint(), Instant::ZERO);
        Broken { machine, fault: Fault::Parking, mark: false, calls: 0 }
    };
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
    let mut runner = TestRunner::new(config);
    assert!(runner.run(&relief::floods(), |flood| relief::gets_through(made(), &flood)).is_err());
}

#[test]
fn progress_that_is_told_rises() {
    let rises = |reports: rising::Reports| {
        rising::rises(Stdio::new(endpoint(), Instant::ZERO), Wire::Stdio, &reports)?;
        rising::rises(Connection::new(endpoint(), Instant::ZERO), Wire::Http, &reports)
    };
    runner().run(&rising::reports(), rises).unwrap_or_else(|error| panic!("{error}"));
    println!("{CASES} calls");
}

#[test]
fn a_planted_fault_in_progress_is_found() {
    fn catches<M: Machine>(wire: Wire, make: impl Fn() -> M) -> bool {
        let made = || Broken { machine: make(), fault: Fault::Repeating, mark: false, calls: 0 };
        let config =
            ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) };
        let rises = |reports| rising::rises(made(), wire, &reports);
        TestRunner::new(config).run(&rising::reports(), rises).is_err()
    }
    assert!(catches(Wire::Stdio, || Stdio::new(endpoint(), Instant::ZERO)));
    assert!(catches(Wire::Http, || Connection::new(endpoint(), Instant::ZERO)));
}

/// Properties of traffic in which nothing happens would prove nothing.
#[test]
fn schedules_reach_what_machines_can_do() {
    let common = ["\"result\"", "\"error\"", "notifications/progress", "notifications/message"];
    reach(stdio(), &[&common[..], &["protocolVersion", "Cancelled", "}},{"]].concat());
    let http = [
        "Mcp-Session-Id: ",
        "text/event-stream",
        "2\r\n:\n\r\n2\r\n:\n",
        "100 Continue",
        "204 No Content",
        "404 Not Found",
        "503 Service Unavailable",
        "Abandon",
    ];
    reach(connection(), &[&common[..], &http].concat());
    let exchange_only = ["text/event-stream", "\n\n:\n", "503\n", "404\n", "Abandon", "Cancelled"];
    reach(exchange(), &[&common[..], &exchange_only].concat());
}
