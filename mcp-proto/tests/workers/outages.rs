//! A call always ends: whatever the store and the hub do, a client that stays connected gets its
//! answer, or an end with or without an error, so soon after the handler was done.

use core::time::Duration;

use mcp_proto::effect::EFFECT_DEADLINE;
use mcp_proto::revision::Revision;
use mcp_proto::testing::{Cluster, Failing, LineId, Operation, Outage};
use mcp_proto::time::Instant;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::broken::{Fault, broken};
use crate::fixture::{Caller, Way};
use crate::service::{MS, SEC, Service, cluster};

/// How long after its handler a call is over for its client at the latest: the last write is
/// under way for so long, and is tried again for so long.
const BOUND: Duration = Duration::from_secs(2 * EFFECT_DEADLINE.as_secs() + 1);

/// What is called, and how long its handler takes.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Silent, and over before a reply has to be decided.
    Quick,
    /// Progress all the time.
    Talkative,
    /// Silent for longer than a heartbeat.
    Silent,
    /// One message, and then a second of silence.
    Asks,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Quick, Self::Talkative, Self::Silent, Self::Asks];

    fn tool(self) -> &'static str {
        match self {
            Self::Quick => "test_streaming",
            Self::Talkative => "count",
            Self::Silent => "slow",
            Self::Asks => "chat",
        }
    }

    fn time(self) -> Duration {
        match self {
            Self::Quick => MS(50),
            Self::Talkative => SEC(10),
            Self::Silent => SEC(60),
            // Nobody answers it.
            Self::Asks => SEC(120),
        }
    }
}

#[derive(Clone, Debug)]
struct Scene {
    revision: Revision,
    way: Way,
    kind: Kind,
    operations: Vec<Operation>,
    failing: Failing,
    /// After the call began, and for how long.
    from: Duration,
    length: Duration,
}

fn scene(
    ways: &'static [Way],
    operations: impl Strategy<Value = Vec<Operation>>,
) -> impl Strategy<Value = Scene> {
    let failing = prop::sample::select(vec![
        Failing::Refused,
        Failing::Silent,
        Failing::Unanswered,
        Failing::Slow(SEC(3)),
        Failing::Slow(SEC(9)),
        Failing::Slow(SEC(12)),
    ]);
    let conversations = Revision::ALL.iter().flat_map(|it| ways.iter().map(|way| (*it, *way)));
    let has = |(it, way): &(Revision, Way)| *way == Way::Http || it.adapter().has_handshake;
    (
        prop::sample::select(conversations.filter(has).collect::<Vec<_>>()),
        prop::sample::select(&Kind::ALL[..]),
        operations,
        failing,
        (0_u64..70_000, 1_u64..100_000),
    )
        .prop_map(|((revision, way), kind, operations, failing, (from, length))| Scene {
            revision,
            way,
            kind,
            operations,
            failing,
            from: MS(from),
            length: MS(length),
        })
}

/// What became of a call for the client that made it.
#[derive(Debug, PartialEq)]
enum End {
    /// It was answered.
    Answer(String),
    /// The stream was ended first.
    Cut,
    /// It waits on.
    None,
}

fn end(cluster: &Cluster<Service>, caller: &Caller, line: LineId, id: &str) -> End {
    let id = format!("\"id\":{id},");
    let mut heard = caller.heard(cluster, line).into_iter();
    if let Some(answer) = heard.find(|it| it.contains(&id) && !it.contains("\"method\"")) {
        return End::Answer(answer);
    }
    match cluster.responses(line).pop() {
        Some(response) if response.is_complete => End::Cut,
        _ => End::None,
    }
}

/// How a scene was played.
#[derive(Debug)]
struct Played {
    /// How the call ended, once its time was over.
    end: End,
    /// What came later, in bytes.
    later: usize,
    /// What the client heard.
    heard: Vec<String>,
}

impl Played {
    fn is_answer(&self) -> bool {
        matches!(self.end, End::Answer(_))
    }

    fn is_result(&self) -> bool {
        matches!(&self.end, End::Answer(it) if it.contains("\"result\""))
    }

    /// Whether nothing came twice, or too late for its order.
    fn is_in_order(&self) -> bool {
        let progress = self.heard.iter().filter_map(|message| {
            let (_, rest) = message.split_once("\"progress\":")?;
            rest.split([',', '}']).next()?.parse::<u32>().ok()
        });
        progress.is_sorted_by(|a, b| a < b)
            && self.heard.iter().filter(|it| it.contains("\"the call\"")).count() <= 1
    }
}

fn play(scene: &Scene) -> Played {
    play_on(cluster(2), scene)
}

fn play_on(mut cluster: Cluster<Service>, scene: &Scene) -> Played {
    let capabilities = r#"{"sampling":{},"elicitation":{}}"#;
    let caller = Caller::new(scene.revision, scene.way, 2).declaring(capabilities);
    let mut caller = caller.open(&mut cluster);
    let is_modern = !scene.revision.adapter().has_handshake;
    let params = match scene.kind {
        Kind::Asks if is_modern => repeated(&mut cluster, &mut caller),
        kind => format!("\"name\":\"{}\"", kind.tool()),
    };
    let begin = cluster.now();
    let Scene { operations, failing, from, length, .. } = scene.clone();
    cluster.store().set_outage(Outage::new(operations, failing, begin + from, length));
    let id = "\"the call\"";
    let call = caller.peer.request_as(id, "tools/call", &params, "\"progressToken\":\"p\"");
    let line = caller.send(&mut cluster, &call);
    // Over HTTP+SSE only the end of the outage can bring the answer.
    let since = match scene.way {
        Way::Sse => scene.kind.time().max(from + length),
        _ => scene.kind.time(),
    };
    run_until(&mut cluster, begin + since + BOUND);
    let end = end(&cluster, &caller, line, id);
    let before = cluster.received(line).len();
    cluster.run_for(SEC(100));
    let later = cluster.received(line).len() - before;
    Played { end, later, heard: caller.heard(&cluster, line) }
}

/// The parameters of a call that asked, and is repeated with the answer (R26-MRTR-02).
fn repeated(cluster: &mut Cluster<Service>, caller: &mut Caller) -> String {
    let line = caller.call(cluster, "ask", "");
    cluster.run();
    let asked = caller.heard(cluster, line).pop().expect("a question");
    let state = asked.split_once("requestState\":\"").and_then(|(_, it)| it.split_once('"'));
    let answer = r#"{"who":{"action":"accept","content":{"name":"ada"}}}"#;
    let (state, _) = state.expect("a state");
    format!(r#""name":"ask","requestState":"{state}","inputResponses":{answer}"#)
}

fn run_until(cluster: &mut Cluster<Service>, at: Instant) {
    cluster.run_for(at.saturating_since(cluster.now()));
}

fn writes() -> impl Strategy<Value = Vec<Operation>> {
    prop_oneof![
        Just(Operation::WRITES.to_vec()),
        prop::sample::subsequence(Operation::WRITES.to_vec(), 1..=3),
    ]
}

fn anything() -> impl Strategy<Value = Vec<Operation>> {
    prop_oneof![
        Just(Operation::ALL.to_vec()),
        prop::sample::subsequence(Operation::ALL.to_vec(), 1..=4),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_call_is_over_in_time_whatever_fails_and_nothing_is_said_after_it(
        scene in scene(&[Way::Http], anything()),
    ) {
        let played = play(&scene);
        prop_assert!(played.end != End::None && played.later == 0, "{played:?}");
        prop_assert!(played.is_in_order(), "{played:?}");
    }

    #[test]
    fn an_answer_reaches_who_is_connected_though_nothing_can_be_written(
        scene in scene(&[Way::Http], writes()),
    ) {
        // What begins the call has to be written.
        let scene = Scene { from: scene.from + MS(10), ..scene };
        let played = play(&scene);
        // Where a state has one outcome for all who repeat the call, that has to be written first.
        let has_state = matches!(scene.kind, Kind::Asks) && !scene.revision.adapter().has_handshake;
        let is_answer = played.is_result() || (has_state && played.is_answer());
        prop_assert!(is_answer && played.is_in_order(), "{played:?}");
    }

    #[test]
    fn an_answer_on_a_stream_of_its_own_comes_once_the_outage_is_over(
        scene in scene(&[Way::Sse], writes()),
    ) {
        let scene = Scene { from: scene.from + MS(10), ..scene };
        let played = play(&scene);
        prop_assert!(played.is_result() || played.end == End::Cut, "{played:?}");
        prop_assert!(played.is_in_order(), "{played:?}");
    }
}

#[test]
fn a_call_that_does_not_end_is_found() {
    for fault in [broken(Fault::Mute), broken(Fault::Timeless)] {
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        let found = (0..400).any(|_| {
            let scene = scene(&[Way::Http], anything()).new_tree(&mut runner).expect("a scene");
            play_on(cluster(2).with_machines(fault), &scene.current()).end == End::None
        });
        assert!(found);
    }
}
