//! What is kept of a client outlives its request, and so it is bounded in bytes, in every store.

use mcp_proto::revision::Revision;
use mcp_proto::server::Limits;
use mcp_proto::testing::Cluster;
use proptest::prelude::*;

use crate::fixture::{Caller, Way};
use crate::service::{SEC, Service, builder};

const MESSAGE: usize = 40_000;
const CLIENT: usize = 2_000;
const SUBSCRIBED: usize = 1_000;

fn cluster() -> Cluster<Service> {
    let limits = || {
        let mut limits = Limits::default();
        (limits.message, limits.client, limits.subscribed) = (MESSAGE, CLIENT, SUBSCRIBED);
        limits.http.body = MESSAGE as u64;
        limits
    };
    Cluster::new((0..2).map(|_| builder().limits(limits()).build()), Service)
}

/// Every handshake revision on every way that it has.
fn handshakes() -> impl Iterator<Item = (Revision, Way)> {
    let all = Revision::ALL.into_iter().filter(|it| it.adapter().has_handshake);
    all.flat_map(|revision| Way::ALL.map(|way| (revision, way)))
}

/// The one message that answers `id`.
fn answer(cluster: &mut Cluster<Service>, caller: &mut Caller, id: &str, message: &str) -> String {
    let line = caller.send(cluster, message);
    cluster.run();
    cluster.run_for(SEC(3));
    let heard = caller.heard(cluster, line);
    let is_it = |text: &String| {
        let message: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let is_its =
            serde_json::from_str(id).is_ok_and(|id: serde_json::Value| message["id"] == id);
        is_its && message.get("method").is_none()
    };
    heard.into_iter().rev().find(is_it).unwrap_or_default()
}

#[test]
fn what_a_client_says_about_itself_is_bounded_and_refused_by_name() {
    for (revision, way) in handshakes() {
        let info = |filler: usize| {
            let name = "n".repeat(filler);
            format!(r#""capabilities":{{}},"clientInfo":{{"name":"{name}","version":"1"}}"#)
        };
        let declared = |filler: usize| {
            let more = "n".repeat(filler);
            format!(
                r#""capabilities":{{"experimental":{{"x":{{"y":"{more}"}}}}}},"clientInfo":{{"name":"n","version":"1"}}"#
            )
        };
        for (what, fits) in [
            (info(CLIENT - 100), true),
            (declared(CLIENT - 100), true),
            (info(CLIENT), false),
            (declared(CLIENT), false),
            (info(MESSAGE - 1_000), false),
            (declared(MESSAGE - 1_000), false),
        ] {
            let mut cluster = cluster();
            // Over HTTP+SSE the stream is opened before the handshake.
            let mut caller = Caller::new(revision, way, 2);
            if way != Way::Http {
                caller = unshaken(caller, &mut cluster);
            }
            let params = format!(r#""protocolVersion":"{revision}",{what}"#);
            let hello = caller.peer.request_as("7", "initialize", &params, "");
            let before = cluster.store().largest();
            let answer = answer(&mut cluster, &mut caller, "7", &hello);
            assert_eq!(answer.contains("\"result\""), fits, "{revision} {way:?}: {answer}");
            assert!(cluster.store().largest() <= CLIENT + 1_000);
            if !fits {
                assert!(answer.contains("-32602"), "{revision} {way:?}: {answer}");
                assert!(answer.contains("more than 2000 bytes"), "{revision} {way:?}: {answer}");
                assert_eq!(cluster.store().largest(), before, "nothing is kept");
            }
        }
    }
}

/// A client whose stream is open, and that said nothing yet.
fn unshaken(mut caller: Caller, cluster: &mut Cluster<Service>) -> Caller {
    let revision = caller.peer.revision;
    caller.peer.revision = Revision::V2026_07_28;
    let mut caller = caller.open(cluster);
    caller.peer.revision = revision;
    caller
}

#[test]
fn subscriptions_are_bounded_by_their_bytes_and_one_too_many_is_an_error() {
    for (revision, way) in handshakes() {
        let mut cluster = cluster();
        let mut caller = Caller::new(revision, way, 2).open(&mut cluster);
        let mut subscribe = |n: usize, length: usize, method: &str| {
            let uri = format!("test://template/{n}{}/data", "x".repeat(length));
            let id = format!("{}", 1_000 + n);
            let request = caller.peer.request_as(&id, method, &format!(r#""uri":"{uri}""#), "");
            answer(&mut cluster, &mut caller, &id, &request)
        };
        let what = format!("{revision} {way:?}");
        for n in 0..4 {
            let answer = subscribe(n, 200, "resources/subscribe");
            assert!(answer.contains("\"result\""), "{what}: {answer}");
        }
        for length in [200, 900, 4_000] {
            let answer = subscribe(10, length, "resources/subscribe");
            assert!(
                answer.contains("-32602") && answer.contains("unsubscribe"),
                "{what}: {answer}"
            );
        }
        let gone = subscribe(0, 200, "resources/unsubscribe");
        assert!(gone.contains("\"result\""), "{what}: {gone}");
        let answer = subscribe(10, 200, "resources/subscribe");
        assert!(answer.contains("\"result\""), "{what}: {answer}");
        assert!(cluster.store().largest() <= SUBSCRIBED + 1_000, "{what}");
    }
}

#[test]
fn in_a_batch_only_the_subscription_that_does_not_fit_is_refused() {
    for way in Way::ALL {
        let mut cluster = cluster();
        let mut caller = Caller::new(Revision::V2025_03_26, way, 2).open(&mut cluster);
        let requests = [(1, 300), (2, 2_000), (3, 300)].map(|(n, length)| {
            let uri = format!("test://template/{n}{}/data", "x".repeat(length));
            let id = format!("70{n}");
            caller.peer.request_as(&id, "resources/subscribe", &format!(r#""uri":"{uri}""#), "")
        });
        let line = caller.send(&mut cluster, &format!("[{}]", requests.join(",")));
        cluster.run();
        let heard = caller.heard(&cluster, line).pop().expect("a reply");
        let replies: serde_json::Value = serde_json::from_str(&heard).expect("JSON");
        let codes: Vec<_> = replies
            .as_array()
            .expect("an array")
            .iter()
            .map(|reply| (reply["id"].as_i64(), reply["error"]["code"].as_i64()))
            .collect();
        let expected = [(Some(701), None), (Some(702), Some(-32602)), (Some(703), None)];
        assert_eq!(codes, expected, "{way:?}");
    }
}

#[test]
fn a_request_to_listen_is_acknowledged_for_as_much_as_fits() {
    for way in [Way::Http, Way::Stdio] {
        let mut cluster = cluster();
        let mut caller = Caller::new(Revision::V2026_07_28, way, 2).open(&mut cluster);
        let uris = (0..20).map(|n| format!("\"test://template/{n}{}/data\"", "x".repeat(100)));
        let uris: Vec<_> = uris.collect();
        let params = format!(r#""notifications":{{"resourceSubscriptions":[{}]}}"#, uris.join(","));
        let listen = caller.peer.request_as("7", "subscriptions/listen", &params, "");
        let line = caller.send(&mut cluster, &listen);
        cluster.run_for(SEC(1));
        let heard = caller.heard(&cluster, line).concat();
        let told = heard.matches("test://template").count();
        assert!((5..=SUBSCRIBED / 100).contains(&told), "{way:?}: {told} of {heard}");
    }
}

/// Calls the tool that keeps what it is given; gives the state, or the error.
fn kept(
    cluster: &mut Cluster<Service>,
    caller: &mut Caller,
    length: usize,
    times: usize,
) -> Result<(String, String), String> {
    let text = "k".repeat(length);
    let arguments = format!(r#""name":"keep","arguments":{{"text":"{text}","times":{times}}}"#);
    let call = caller.peer.request_as("70", "tools/call", &arguments, "");
    let reply = answer(cluster, caller, "70", &call);
    match reply.split_once(r#""requestState":""#) {
        Some((_, rest)) => Ok((arguments, rest.split_once('"').expect("text").0.to_owned())),
        None => Err(reply),
    }
}

fn finish(
    cluster: &mut Cluster<Service>,
    caller: &mut Caller,
    (arguments, state): &(String, String),
) -> String {
    let given = r#""inputResponses":{"who":{"action":"accept","content":{"name":"ada"}}}"#;
    let params = format!(r#"{arguments},"requestState":"{state}",{given}"#);
    let retry = caller.peer.request_as("71", "tools/call", &params, "");
    answer(cluster, caller, "71", &retry)
}

#[test]
fn what_a_call_keeps_while_it_asks_is_no_larger_than_a_message() {
    let mut cluster = cluster();
    let mut caller = Caller::new(Revision::V2026_07_28, Way::Http, 2)
        .declaring(r#"{"elicitation":{}}"#)
        .open(&mut cluster);
    for length in [10, 1_000, MESSAGE - 5_000] {
        let kept = kept(&mut cluster, &mut caller, length, 1).expect("a state");
        assert!(cluster.store().largest() <= MESSAGE);
        let done = finish(&mut cluster, &mut caller, &kept);
        assert!(done.contains("kkkk"), "{done:.200}");
    }
    let refused = kept(&mut cluster, &mut caller, MESSAGE - 300, 1).expect_err("too large");
    assert!(refused.contains("-32603") && refused.contains("larger than a message"), "{refused}");
    assert!(cluster.store().largest() <= MESSAGE);
}

#[test]
fn an_outcome_that_is_too_large_to_be_kept_is_given_once() {
    let mut cluster = cluster();
    let mut caller = Caller::new(Revision::V2026_07_28, Way::Http, 2)
        .declaring(r#"{"elicitation":{}}"#)
        .open(&mut cluster);
    for (times, is_kept) in [(1, true), (30, true), (50, false), (500, false)] {
        let kept = kept(&mut cluster, &mut caller, 1_000, times).expect("a state");
        let first = finish(&mut cluster, &mut caller, &kept);
        assert!(first.len() > 1_000 * times, "{first:.200}");
        let again = finish(&mut cluster, &mut caller, &kept);
        assert_eq!(again == first, is_kept, "{times}: {again:.200}");
        assert!(is_kept || again.contains("given once"), "{again:.200}");
        assert!(cluster.store().largest() <= MESSAGE + 1_000);
    }
}

#[test]
fn a_call_is_cancelled_by_an_id_of_any_length_and_no_name_is_as_long() {
    for (revision, way) in handshakes().filter(|(_, way)| *way != Way::Stdio) {
        for length in [1, 60, 63, 100, MESSAGE / 4] {
            let mut cluster = cluster();
            let mut caller = Caller::new(revision, way, 2).open(&mut cluster);
            let id = format!("\"{}\"", "i".repeat(length));
            let call = caller.peer.request_as(&id, "tools/call", r#""name":"long""#, "");
            caller.send(&mut cluster, &call);
            cluster.run_for(SEC(2));
            let cancel = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            );
            caller.send(&mut cluster, &cancel);
            cluster.run_for(SEC(2));
            assert!(cluster.hub().longest_topic() < 300, "{revision} {way:?}");
            assert_eq!(cluster.cancelled_calls(), 1, "{revision} {way:?} {length}");
        }
    }
}

/// What a client may send that leaves something behind, and how large it is.
#[derive(Clone, Copy, Debug)]
enum Large {
    Hello(usize),
    Subscribe(usize),
    Ask(usize),
    Finish,
    Answer(usize),
    Cancel(usize),
}

fn large() -> impl Strategy<Value = Large> {
    (0..6, 0..MESSAGE - 500).prop_map(|(kind, size)| match kind {
        0 => Large::Hello(size),
        1 => Large::Subscribe(size % 8_000),
        2 => Large::Ask(size),
        3 => Large::Finish,
        4 => Large::Answer(size),
        _ => Large::Cancel(size),
    })
}

/// The largest record after these messages, and the longest name.
fn after(limits: Limits, way: Way, all: &[Large]) -> (usize, usize) {
    let workers = (0..2).map(|_| builder().limits(limits).build());
    let mut cluster = Cluster::new(workers, Service);
    let revision = Revision::V2025_03_26;
    let mut caller = Caller::new(revision, way, 2).open(&mut cluster);
    let mut modern = Caller::new(Revision::V2026_07_28, Way::Http, 2)
        .declaring(r#"{"elicitation":{}}"#)
        .open(&mut cluster);
    let mut state = None;
    for (n, one) in all.iter().enumerate() {
        let id = (100 + n).to_string();
        let x = |size: &usize| "x".repeat(*size);
        match one {
            Large::Hello(size) => {
                let params = format!(
                    r#""protocolVersion":"{revision}","capabilities":{{"experimental":{{"x":{{"y":"{}"}}}}}},"clientInfo":{{"name":"n","version":"1"}}"#,
                    x(size)
                );
                let hello = Caller::new(revision, Way::Http, 1).peer.request_as(
                    &id,
                    "initialize",
                    &params,
                    "",
                );
                Caller::new(revision, Way::Http, 1).send(&mut cluster, &hello);
            }
            Large::Subscribe(size) => {
                let uri = format!(r#""uri":"test://template/{n}{}/data""#, x(size));
                let request = caller.peer.request_as(&id, "resources/subscribe", &uri, "");
                caller.send(&mut cluster, &request);
            }
            Large::Ask(size) => state = kept(&mut cluster, &mut modern, *size, 3).ok(),
            Large::Finish => {
                if let Some(state) = &state {
                    finish(&mut cluster, &mut modern, state);
                }
            }
            Large::Answer(size) => {
                let text = format!(r#"{{"jsonrpc":"2.0","id":"{}","result":{{}}}}"#, x(size));
                caller.send(&mut cluster, &text);
            }
            Large::Cancel(size) => {
                let text = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"{}"}}}}"#,
                    x(size)
                );
                caller.send(&mut cluster, &text);
            }
        }
        cluster.run_for(SEC(1));
    }
    (cluster.store().largest(), cluster.hub().longest_topic())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn whatever_is_sent_no_record_outgrows_its_bound(
        all in prop::collection::vec(large(), 1..12),
        way in prop::sample::select(vec![Way::Http, Way::Sse]),
    ) {
        let mut limits = Limits::default();
        (limits.message, limits.client, limits.subscribed) = (MESSAGE, CLIENT, SUBSCRIBED);
        let (record, topic) = after(limits, way, &all);
        prop_assert!(record <= MESSAGE + 500, "{record}");
        prop_assert!(topic <= 300, "{topic}");
    }
}

/// The same inputs under limits that are none, which is what the property has to notice.
#[test]
fn a_bound_that_is_not_kept_is_noticed() {
    let all = [Large::Hello(MESSAGE - 600); 3];
    let mut limits = Limits::default();
    limits.message = MESSAGE;
    limits.client = usize::MAX;
    let (record, _) = after(limits, Way::Http, &all);
    assert!(record > MESSAGE - 600);
    limits.client = CLIENT;
    assert!(after(limits, Way::Http, &all).0 < CLIENT + 500);

    let many = [Large::Subscribe(4_000); 12];
    limits.subscribed = usize::MAX;
    assert!(after(limits, Way::Sse, &many).0 > MESSAGE + 500);
    limits.subscribed = SUBSCRIBED;
    assert!(after(limits, Way::Sse, &many).0 < SUBSCRIBED + 500);
}
