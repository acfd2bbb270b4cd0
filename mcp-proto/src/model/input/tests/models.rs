use serde_json::json;

use super::super::*;
use crate::model::Json;

fn used(id: &str) -> Block {
    Block::tool_use(id, "t", &Json::from(json!({})))
}

fn result(id: &str) -> Block {
    Block::tool_result(id, "done", false)
}

#[test]
fn uses_of_tools_and_their_results_pair() {
    // R2511-SAMP-13, R2511-SAMP-14, T-72, C98
    use PairingError::*;
    use SamplingMessage as M;
    let cases: Vec<(Vec<SamplingMessage>, Result<(), PairingError>)> = vec![
        (vec![], Ok(())),
        (vec![M::user("a"), M::assistant("b"), M::user("c")], Ok(())),
        (vec![M::assistant(used("1")), M::user(result("1"))], Ok(())),
        (
            vec![
                M::assistant("a").and(used("1")).and(used("2")),
                M::user(result("2")).and(result("1")),
                M::assistant(used("3")),
                M::user(result("3")),
                M::assistant("b"),
            ],
            Ok(()),
        ),
        (vec![M::assistant(used("1"))], Err(Unbalanced { message: 0 })),
        (vec![M::assistant(used("1")), M::user("a")], Err(Unbalanced { message: 0 })),
        (vec![M::assistant(used("1")), M::user(result("2"))], Err(Unbalanced { message: 0 })),
        (
            vec![M::assistant(used("1")).and(used("2")), M::user(result("1"))],
            Err(Unbalanced { message: 0 }),
        ),
        (
            vec![M::assistant(used("1")), M::user(result("1")).and(result("1"))],
            Err(Unbalanced { message: 0 }),
        ),
        (vec![M::assistant(used("1")).and(used("1"))], Err(Unbalanced { message: 0 })),
        (vec![M::user(result("1"))], Err(Unbalanced { message: 0 })),
        (
            vec![M::assistant(used("1")), M::user(result("1")).and("and")],
            Err(MixedResults { message: 1 }),
        ),
        (
            vec![M::assistant(used("1")), M::assistant(result("1"))],
            Err(MixedResults { message: 1 }),
        ),
        (vec![M::user(used("1"))], Err(UseByUser { message: 0 })),
    ];
    for (messages, expected) in cases {
        let sampling = Sampling::new(messages, 1);
        assert_eq!(sampling.check_pairing(), expected, "{sampling:?}");
    }
}

#[test]
fn tools_must_have_been_declared() {
    // R2511-SAMP-10
    let plain: InputRequest = sample("a", 1).into();
    assert!(!plain.needs().sampling_tools && plain.needs().sampling);
    let tool = || Json::from(json!({"name": "t", "inputSchema": {"type": "object"}}));
    for question in [
        sample("a", 1).tool(tool()),
        sample("a", 1).tool_choice(ToolChoice::None),
        sample("a", 1).message(SamplingMessage::assistant(used("1"))),
    ] {
        let question = InputRequest::from(question);
        assert!(question.needs().sampling_tools);
        assert!(!question.supported_by(&plain.needs()));
    }
}

#[test]
fn each_kind_of_question_needs_its_own_capability() {
    // R2511-ELIC-02, R26-MRTR-07, T-68
    let questions = [
        (elicit("a").into(), r#"{"elicitation":{}}"#),
        (elicit_url("a", "https://b.example/"), r#"{"elicitation":{"url":{}}}"#),
        (sample("a", 1).into(), r#"{"sampling":{}}"#),
        (list_roots(), r#"{"roots":{}}"#),
    ];
    for (index, (question, declared)) in questions.iter().enumerate() {
        let client = ClientCapabilities::read(declared.as_bytes());
        let mut needs = Vec::new();
        question.needs().write(&mut needs);
        assert_eq!(String::from_utf8_lossy(&needs), *declared);
        for (other, (question, _)) in questions.iter().enumerate() {
            assert_eq!(question.supported_by(&client), index == other);
        }
    }
}
