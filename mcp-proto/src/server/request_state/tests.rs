use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::question;
use crate::model::{
    AnswerAction, BadAnswer, Field, InputRequest, Operation, Settled, elicit, list_roots,
};

fn json_of(value: serde_json::Value) -> Json {
    Json::from(value)
}

fn binding() -> Binding {
    Binding {
        operation: Operation::CallTool,
        target: Some("deploy".into()),
        arguments: Digest::of(&json_of(json!({"service": "web"}))),
        principal: Some("ann".into()),
    }
}

fn round() -> Round {
    Round {
        binding: binding(),
        questions: vec![("confirm".into(), elicit("Deploy web?").into())],
        settled: Vec::new(),
        state: None,
    }
}

fn digest(action: &str) -> Digest {
    Digest::of_answers(&[("confirm".into(), json_of(json!({ "action": action })))])
}

fn outcome() -> Json {
    json_of(json!({"content": []}))
}

const NOW: u64 = 1_000;
const UNTIL: u64 = 2_000;

/// A record in each of its lives, all first claimed with "accept".
fn lives() -> [Record; 3] {
    let open = Record::open(round());
    let claimed = open.clone().claim(digest("accept"), NOW, UNTIL).unwrap();
    [open, claimed.record(), claimed.finish(outcome())]
}

#[test]
fn one_of_several_retries_runs() {
    // R26-MRTR-11, C100
    enum Then {
        Runs,
        Is(Unclaimed),
    }
    use Then::*;
    let in_progress = || Is(Unclaimed::InProgress { until_ms: UNTIL });
    let [open, claimed, done] = lives();
    let refused = || Is(Unclaimed::Refused);
    let replay = || Is(Unclaimed::Replay(outcome()));
    for (record, answers, now, then) in [
        (&open, "accept", NOW, Runs),
        (&open, "decline", NOW, Runs),
        (&claimed, "accept", NOW, in_progress()),
        (&claimed, "accept", UNTIL - 1, in_progress()),
        (&claimed, "accept", UNTIL, Runs),
        (&claimed, "decline", NOW, refused()),
        // The handler may have acted on the first answers before its worker was lost.
        (&claimed, "decline", UNTIL, refused()),
        (&done, "accept", NOW, replay()),
        (&done, "accept", UNTIL, replay()),
        (&done, "decline", NOW, refused()),
        (&done, "decline", UNTIL, refused()),
    ] {
        // What another worker reads from the store decides just the same.
        for record in [record.clone(), Record::decode(&record.encode()).unwrap()] {
            let life = format!("{record:?}, {answers} at {now}");
            match (record.claim(digest(answers), now, now + 500), &then) {
                (Ok(claimed), Runs) => assert_eq!(claimed.until_ms, now + 500, "{life}"),
                (Err(unclaimed), Is(expected)) => assert_eq!(unclaimed, *expected, "{life}"),
                (other, _) => panic!("{life}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_state_is_unknown_to_every_other_request() {
    // R26-MRTR-10, R26-ELIC-18, C100
    let record = Record::open(round());
    assert!(record.is_for(&binding()));
    for other in [
        Binding { operation: Operation::GetPrompt, ..binding() },
        Binding { target: Some("drop".into()), ..binding() },
        Binding { target: None, ..binding() },
        Binding { arguments: Digest::of_arguments(None), ..binding() },
        Binding { principal: Some("bob".into()), ..binding() },
        Binding { principal: None, ..binding() },
    ] {
        assert!(!record.is_for(&other), "{other:?}");
    }
}

#[test]
fn digests_do_not_depend_on_how_a_value_is_written() {
    let of = |text: &'static str| Digest::of(&Json::parse(text).unwrap());
    assert_eq!(of(r#"{"a":1,"b":"é"}"#), of(r#"{ "b":"\u00e9", "a":1.0 }"#));
    assert_ne!(of(r#"{"a":1}"#), of(r#"{"a":"1"}"#));
    assert_eq!(Digest::of_arguments(None), of("{}"));
    let answer = |key: &str, text: &'static str| (key.to_owned(), Json::parse(text).unwrap());
    let (a, b) = (answer("a", r#"{"action":"accept"}"#), answer("b", r#"{"roots":[]}"#));
    let (one, other) = ([a.clone(), b.clone()], [b, a]);
    assert_eq!(Digest::of_answers(&one), Digest::of_answers(&other));
    assert_ne!(Digest::of_answers(&one), Digest::of_answers(&one[..1]));
}

#[test]
fn an_answer_counts_for_the_question_that_was_asked() {
    // T-52, R26-MRTR-13, R26-MRTR-14
    let earlier = Settled { question: list_roots(), result: json_of(json!({"roots": []})) };
    let round = Round { settled: vec![("roots".into(), earlier)], ..round() };
    let accept = json_of(json!({"action": "accept"}));
    let came = |key: &str| vec![(key.to_owned(), accept.clone())];
    let confirm = InputRequest::from(elicit("Deploy web?"));

    let answer = round.answer("confirm", &confirm, &came("confirm")).unwrap().unwrap();
    assert_eq!(answer.action(), AnswerAction::Accept);
    assert!(round.answer("roots", &list_roots(), &[]).unwrap().unwrap().accepted());
    for (key, question, answers, why) in [
        ("confirm", confirm.clone(), vec![], "nothing came"),
        ("confirm", confirm.clone(), came("other"), "another key"),
        ("confirm", elicit("Drop everything?").into(), came("confirm"), "another question"),
        ("other", confirm.clone(), came("other"), "nobody asked"),
        ("roots", confirm.clone(), came("roots"), "another question in an earlier round"),
    ] {
        assert_eq!(round.answer(key, &question, &answers), None, "{why}");
    }
    let bad = vec![("confirm".to_owned(), json_of(json!({})))];
    assert_eq!(round.answer("confirm", &confirm, &bad), Some(Err(BadAnswer::NoAction)));
}

#[test]
fn a_round_keeps_what_fits() {
    // T-49: what the client does not send again is not lost.
    let who = InputRequest::from(elicit("Who?").field(Field::text("name")));
    let mut round = round();
    round.questions.push(("who".into(), who));
    let answers = [
        ("confirm".to_owned(), json_of(json!({"action": "decline"}))),
        ("who".to_owned(), json_of(json!({"action": "accept", "content": {}}))),
        ("extra".to_owned(), json_of(json!({"action": "accept"}))),
    ];
    let settled = round.settle(&answers);
    let [(key, only)] = &settled[..] else { panic!("{settled:?}") };
    assert_eq!((key.as_str(), only.answer().unwrap().action()), ("confirm", AnswerAction::Decline));
    let next = Round { settled, questions: Vec::new(), ..round };
    assert!(next.answer("confirm", &only_question(), &[]).unwrap().is_ok());
}

fn only_question() -> InputRequest {
    elicit("Deploy web?").into()
}

#[test]
fn text_that_is_no_record_is_none() {
    let [open, claimed, done] = lives().map(|record| record.encode());
    for text in [&b""[..], b"null", b"{}", b"[1]", b"{\"format\":1}", b"\xff"] {
        assert_eq!(Record::decode(text), None);
    }
    for whole in [open, claimed, done] {
        let text = String::from_utf8(whole).unwrap();
        assert!(Record::decode(text.as_bytes()).is_some());
        for (from, to) in [
            (r#""format":1"#, r#""format":2"#),
            (r#""operation":"call_tool""#, r#""operation":"conquer""#),
            (r#""target":"deploy""#, r#""target":1"#),
            (r#""principal":"ann""#, r#""principal":null"#),
            (r#""method":"elicitation/create""#, r#""method":"tools/list""#),
            (r#""settled":{}"#, r#""settled":[]"#),
            (r#""arguments":""#, r#""arguments":"x"#),
            ("}", "},"),
        ] {
            if !text.contains(from) {
                // A state that is done has no questions any more.
                assert!(from.contains("elicitation") && text.contains("done"), "{from}: {text}");
                continue;
            }
            let changed = text.replacen(from, to, 1);
            assert_eq!(Record::decode(changed.as_bytes()), None, "{changed}");
        }
        for end in 0..text.len() {
            assert_eq!(Record::decode(&text.as_bytes()[..end]), None);
        }
    }
}

proptest! {
    #[test]
    fn a_record_reads_back_equal(record in record()) {
        prop_assert_eq!(Record::decode(&record.encode()), Some(record));
    }

    #[test]
    fn foreign_text_never_panics(text in vec(any::<u8>(), 0..64)) {
        prop_assert_eq!(Record::decode(&text), None);
    }
}

fn record() -> impl Strategy<Value = Record> {
    let value = || {
        any::<(String, i32)>().prop_map(|(text, number)| json_of(json!({"t": text, "n": [number]})))
    };
    let settled = (question(), value()).prop_map(|(question, result)| Settled { question, result });
    let binding = (0..Operation::ALL.len(), option::of(any::<String>()), value(), any::<bool>())
        .prop_map(|(operation, target, arguments, known)| Binding {
            operation: Operation::ALL[operation],
            target,
            arguments: Digest::of(&arguments),
            principal: known.then(|| "ann".into()),
        });
    let round = (
        binding,
        proptest::collection::btree_map(any::<String>(), question(), 0..3),
        proptest::collection::btree_map(any::<String>(), settled, 0..3),
        option::of(value()),
    )
        .prop_map(|(binding, questions, settled, state)| Round {
            binding,
            questions: questions.into_iter().collect(),
            settled: settled.into_iter().collect(),
            state,
        });
    (round, 0..3, value(), any::<u64>(), value()).prop_map(
        |(round, life, answers, until_ms, outcome)| {
            let open = Record::open(round);
            let claimed = open.clone().claim(Digest::of(&answers), 0, until_ms).expect("open");
            match life {
                0 => open,
                1 => claimed.record(),
                _ => claimed.finish(outcome),
            }
        },
    )
}
