//! Where a schedule is drained, and how an input is split, changes nothing that a machine says.

use core::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};

use super::{
    AskId, CallId, Carry, Config, Declined, Event, ExchangeId, ListenId, Machine, Output, Session,
    Stdio,
};
use crate::effect::Reply;
use crate::model::{Filter, Implementation, Json, Operation, Request};
use crate::revision::{AdapterSet, Revision};
use crate::time::Instant;

/// One thing that happens to a machine.
#[derive(Clone, Debug)]
enum Op {
    Call(u8),
    Cancel(u64),
    Answer(u64, bool),
    Listen,
    Unlisten(u64),
    Pass(u64),
    /// Some text of the server's, in this exchange where there are exchanges.
    Say(u64, String),
    Head(u64, u16, u8),
    End(u64),
    Fail(u64),
    Close,
}

/// How a schedule is driven.
#[derive(Clone, Copy, Debug)]
struct Manner {
    /// Pieces of an input; none is whole.
    piece: Option<usize>,
    /// A drain after one operation in so many; none is at the end.
    drain: Option<usize>,
}

const WHOLE: Manner = Manner { piece: None, drain: None };

/// Something that the server may say, with an id that may be that of a request.
fn saying() -> impl Strategy<Value = String> {
    let result = prop_oneof![
        Just(r#"{"content":[]}"#),
        Just(r#"{"resultType":"complete","content":[{"type":"text","text":"é"}]}"#),
        Just(r#"{"resultType":"input_required","requestState":"s"}"#),
        Just(r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#),
        Just(r#"{"tools":[],"nextCursor":"x","ttlMs":5,"cacheScope":"public"}"#),
        Just(
            r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}"#
        ),
        Just("{}"),
        Just("[]"),
    ];
    let id = prop_oneof![4 => (1u64..12).prop_map(|id| id.to_string()), 1 => (1u64..12).prop_map(|id| format!("\"{id}\""))];
    prop_oneof![
        8 => (id.clone(), result)
            .prop_map(|(id, result)| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)),
        3 => (id.clone(), prop_oneof![Just(-32601i64), Just(-32020), Just(-32602), Just(7)])
            .prop_map(|(id, code)| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"m"}}}}"#)),
        2 => (id.clone(), 0..9u8).prop_map(|(id, done)| format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{done}}}}}"#
        )),
        2 => (id.clone(), prop_oneof![Just("ping"), Just("roots/list"), Just("x/y")])
            .prop_map(|(id, method)| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)),
        1 => id.prop_map(|id| format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )),
        1 => Just(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_owned()),
        1 => Just(r#"{"jsonrpc":"2.0","method":"window/logMessage","params":{"a":1}}"#.to_owned()),
        1 => Just(r#"[{"jsonrpc":"2.0","id":3,"result":{}},{"jsonrpc":"2.0"}]"#.to_owned()),
        1 => "[ -~]{0,40}",
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let small = 0u64..10;
    prop_oneof![
        6 => (0u8..6).prop_map(Op::Call),
        2 => small.clone().prop_map(Op::Cancel),
        2 => (small.clone(), any::<bool>()).prop_map(|(ask, yes)| Op::Answer(ask, yes)),
        1 => Just(Op::Listen),
        1 => (0u64..2).prop_map(Op::Unlisten),
        3 => prop_oneof![Just(1u64), Just(700), Just(9_000), Just(130_000)].prop_map(Op::Pass),
        12 => (small.clone(), saying()).prop_map(|(at, text)| Op::Say(at, text)),
        6 => (small.clone(), prop_oneof![6 => Just(200u16), 1 => Just(202), 1 => Just(404), 1 => Just(401), 1 => Just(500)], 0u8..3)
            .prop_map(|(at, status, kind)| Op::Head(at, status, kind)),
        4 => small.clone().prop_map(Op::End),
        2 => small.prop_map(Op::Fail),
        1 => Just(Op::Close),
    ]
}

fn config(revision: Revision) -> Config {
    let mut config = Config::new(Implementation::new("client", "1"));
    config.adapters = AdapterSet::of([revision]).unwrap();
    config.capabilities.roots = true;
    config.cache = true;
    config
}

/// A machine under test, with everything that it said.
struct Run<M> {
    machine: M,
    now: Instant,
    manner: Manner,
    said: Vec<String>,
    bytes: Vec<u8>,
}

trait Subject: Machine {
    fn input(&mut self, now: Instant, at: u64, bytes: &[u8]);
    fn own(&mut self, now: Instant, op: &Op);
    fn frame(text: &str) -> String;
    fn bytes(&mut self, out: &mut Vec<u8>);
}

impl Subject for Stdio {
    fn input(&mut self, now: Instant, _: u64, bytes: &[u8]) {
        self.handle_input(now, bytes);
    }

    fn own(&mut self, _: Instant, _: &Op) {}

    fn frame(text: &str) -> String {
        format!("{text}\n")
    }

    fn bytes(&mut self, out: &mut Vec<u8>) {
        self.transmit(out);
    }
}

impl Subject for Session {
    fn input(&mut self, now: Instant, at: u64, bytes: &[u8]) {
        self.handle_body(now, ExchangeId(at), bytes);
    }

    fn own(&mut self, now: Instant, op: &Op) {
        match op {
            Op::Head(at, status, kind) => {
                let kind =
                    ["application/json", "text/event-stream", "text/html"][usize::from(*kind)];
                let headers = [("Content-Type", kind), ("Mcp-Session-Id", "s")];
                self.handle_head(now, ExchangeId(*at), *status, &headers[..]);
            }
            Op::End(at) => self.handle_end(now, ExchangeId(*at)),
            Op::Fail(at) => self.handle_failed(now, ExchangeId(*at), true, "reset"),
            _ => {}
        }
    }

    fn frame(text: &str) -> String {
        format!("id: 1\ndata: {text}\n\n")
    }

    fn bytes(&mut self, _: &mut Vec<u8>) {}
}

impl<M: Subject> Run<M> {
    fn new(machine: M, manner: Manner) -> Self {
        Self { machine, now: Instant::ZERO, manner, said: Vec::new(), bytes: Vec::new() }
    }

    fn say(&mut self, at: u64, text: &str) {
        let text = M::frame(text);
        match self.manner.piece {
            None => self.machine.input(self.now, at, text.as_bytes()),
            Some(piece) => {
                text.as_bytes().chunks(piece).for_each(|it| self.machine.input(self.now, at, it));
            }
        }
    }

    fn apply(&mut self, op: &Op) {
        let now = self.now;
        match op {
            Op::Call(kind) => {
                let request = match kind {
                    0 => Request::list(Operation::ListTools),
                    1 => Request::ping(),
                    2 => Request::describe(),
                    3 => Request::extension("x/y", None),
                    4 => Request::read_resource("a://b"),
                    _ => Request::call_tool("t", None).with_progress(),
                };
                self.machine.call(now, request);
            }
            Op::Cancel(call) => self.machine.cancel(now, CallId(*call)),
            Op::Answer(ask, yes) => {
                let yes = yes.then(|| Json::scanned(bytes::Bytes::from_static(b"{\"roots\":[]}")));
                self.machine.answer(now, AskId(*ask), yes.ok_or_else(|| Declined::failed("no")));
            }
            Op::Listen => {
                self.machine.listen(now, Filter::lists());
            }
            Op::Unlisten(listen) => self.machine.unlisten(now, ListenId(*listen)),
            Op::Pass(millis) => {
                let until = now + Duration::from_millis(*millis);
                while let Some(at) = self.machine.poll_timeout().filter(|at| *at <= until) {
                    self.now = self.now.max(at);
                    self.machine.handle_timeout(self.now);
                    let next = self.machine.poll_timeout();
                    assert!(next.is_none_or(|next| next > self.now), "it waits for the past");
                }
                self.now = until;
                self.machine.handle_timeout(until);
            }
            Op::Say(at, text) => self.say(*at, text),
            Op::Close => self.machine.close(now),
            own => self.machine.own(now, own),
        }
    }

    /// The one effect is answered before anything else, as its contract says.
    fn drain(&mut self) {
        while let Some(output) = self.machine.poll_output() {
            let text = match &output {
                Output::Carry(Carry::Open(open)) => {
                    format!("{open:?} {:?} {:?}", open.headers, open.body)
                }
                other => format!("{other:?}"),
            };
            if let Output::Effect(id, _) = output {
                self.machine.handle_reply(self.now, id, Ok(Reply::Random([7; 32])));
            }
            self.said.push(text);
        }
        self.machine.bytes(&mut self.bytes);
    }

    fn finish(mut self, prelude: &[Op], ops: &[Op]) -> (Vec<String>, Vec<u8>) {
        self.drain();
        for (index, op) in prelude.iter().chain(ops).enumerate() {
            self.apply(op);
            if self.manner.drain.is_some_and(|every| index % every == 0) {
                self.drain();
            }
        }
        self.drain();
        (self.said, self.bytes)
    }
}

/// Every call ends once at most, and all of them once the machine is closed.
fn each_ends_once(said: &[String]) {
    let ends: Vec<_> = said
        .iter()
        .filter_map(|text| text.strip_prefix("Event(Ended(CallId("))
        .filter_map(|rest| rest.split(')').next())
        .collect();
    let mut once = ends.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), ends.len(), "{said:?}");
}

fn prelude(revision: Revision, http: bool) -> Vec<Op> {
    let version = revision.adapter().version;
    let result = match revision.adapter().has_handshake {
        true => format!(
            r#"{{"protocolVersion":"{version}","capabilities":{{"tools":{{"listChanged":true}}}}}}"#
        ),
        false => format!(r#"{{"supportedVersions":["{version}"],"capabilities":{{}}}}"#),
    };
    let answer = Op::Say(0, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    match http {
        false => vec![answer],
        true => vec![Op::Head(0, 200, 1), answer, Op::End(0), Op::Head(1, 202, 0), Op::End(1)],
    }
}

fn run_all(cases: u32, http: bool) {
    let manner = (
        prop_oneof![Just(None), (1usize..9).prop_map(Some)],
        prop_oneof![Just(None), (1usize..5).prop_map(Some)],
    )
        .prop_map(|(piece, drain)| Manner { piece, drain });
    let revision = prop::sample::select(Revision::ALL.to_vec());
    let schedule = (revision, any::<bool>(), prop::collection::vec(op(), 0..40), manner);
    let mut runner =
        TestRunner::new(Cases { cases, failure_persistence: None, ..Cases::default() });
    let outcome = runner.run(&schedule, |(revision, known, ops, manner)| {
        let before = if known { prelude(revision, http) } else { Vec::new() };
        let run = |manner| match http {
            false => {
                Run::new(Stdio::new(config(revision), Instant::ZERO), manner).finish(&before, &ops)
            }
            true => {
                let session = Session::new(config(revision), "http://h/", Instant::ZERO).unwrap();
                Run::new(session, manner).finish(&before, &ops)
            }
        };
        let (whole, other) = (run(WHOLE), run(manner));
        each_ends_once(&whole.0);
        prop_assert_eq!(whole, other);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn on_byte_streams_splitting_and_draining_change_nothing() {
    run_all(1_500, false);
}

#[test]
fn over_http_splitting_and_draining_change_nothing() {
    run_all(1_500, true);
}

#[test]
fn a_machine_that_decided_in_its_drain_would_be_found() {
    // A fault like that: an event is swallowed where it is not fetched at once.
    let ops = [Op::Call(5), Op::Close];
    let client = || Stdio::new(config(Revision::V2025_11_25), Instant::ZERO);
    let often = Run::new(client(), Manner { piece: None, drain: Some(1) }).finish(&[], &ops);
    let mut forgetful = Run::new(client(), WHOLE);
    forgetful.apply(&ops[0]);
    forgetful.apply(&ops[1]);
    let first = forgetful.machine.poll_output();
    assert!(matches!(first, Some(Output::Event(Event::Ended(..)))));
    forgetful.drain();
    assert_ne!((forgetful.said, forgetful.bytes), often);
}
