use super::super::support::{self, call, failure, outcome};
use super::super::{Args, Error, Registry, Service, State, prompt, schemars, tool};
use crate::model::{FailureKind, Operation, Outcome};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[expect(dead_code, reason = "shown by `Debug`")]
struct Typed {
    text: String,
    count: u8,
    #[serde(default)]
    flag: Option<bool>,
    #[serde(default)]
    word: Word,
    #[serde(default)]
    ratio: f64,
}

#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Word {
    #[default]
    On,
    Off,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nested {
    #[expect(dead_code)]
    items: Vec<Item>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Item {
    #[expect(dead_code)]
    size: u32,
}

async fn show(Args(typed): Args<Typed>) -> String {
    format!("{typed:?}")
}

fn service() -> Service {
    Registry::new("test", "1")
        .state(3_u8)
        .tool(tool("typed", show))
        .tool(tool("nested", |_: Args<Nested>, _: State<u8>| async { Ok::<_, Error>("fine") }))
        .prompt(prompt("typed", show))
        .resource_template("test://{text}/{count}{?flag,word,ratio}", show)
        .build()
        .expect("valid")
}

#[test]
fn wrong_arguments_of_a_tool_are_named_for_the_model() {
    // R26-TOOL-06
    for (name, arguments, parts) in [
        ("typed", r#"{"text":"a"}"#, &["tool `typed`", "`count` is missing"][..]),
        (
            "typed",
            r#"{"text":"a","count":"3"}"#,
            &["`count` must be an integer, and is the string \"3\""],
        ),
        ("typed", r#"{"text":"a","count":300}"#, &["`count` must be at most 255, and is 300"]),
        ("typed", r#"{"text":"a","count":-1}"#, &["`count` must be at least 0, and is -1"]),
        ("typed", r#"{"text":"a","count":2.5}"#, &["`count` must be an integer, and is 2.5"]),
        (
            "typed",
            r#"{"text":"a","count":1,"word":"up"}"#,
            &["`word` must be one of \"on\", \"off\", and is the string \"up\""],
        ),
        (
            "typed",
            r#"{"text":[],"word":"urgent","ratio":"x","flag":0}"#,
            &[
                "`count` is missing",
                "`text` must be a string, and is an array",
                "`word` must be one of",
                "`ratio` must be a number",
                "`flag` must be true or false, and is 0",
            ],
        ),
        (
            "nested",
            r#"{"items":[{"size":1},{"size":-1},{},7]}"#,
            &[
                "`items[1].size` must be at least 0, and is -1",
                "`items[2].size` is missing",
                "`items[3]` must be an object, and is 7",
            ],
        ),
        ("typed", "[]", &["must be an object, and is an array"]),
    ] {
        let failure = failure(outcome(&service(), call(Operation::CallTool, name, arguments)));
        assert_eq!(failure.kind, FailureKind::InvalidArguments);
        for part in parts {
            assert!(failure.message.contains(part), "{failure}\nlacks: {part}");
        }
        assert!(!failure.message.contains("line"), "positions mean nothing here: {failure}");
        for rust in ["u8", "u32", "i64", "f64", "struct", "field", "sequence"] {
            assert!(!failure.message.contains(rust), "{failure}");
        }
    }
    let missing = call(Operation::CallTool, "nested", "{}");
    let missing = crate::model::Call { arguments: None, ..missing };
    assert!(failure(outcome(&service(), missing)).message.contains("`items` is missing"));
}

#[test]
fn strings_of_prompts_and_templates_are_read_as_what_their_type_wants() {
    // T-62, R24-PRMT-03
    let arguments = r#"{"text":"7","count":"9","flag":"true","word":"off","ratio":"0.5"}"#;
    let prompt = outcome(&service(), call(Operation::GetPrompt, "typed", arguments));
    let uri = "test://7/9?flag=true&word=off&ratio=0.5";
    let resource = outcome(&service(), call(Operation::ReadResource, uri, "{}"));
    for outcome in [prompt, resource] {
        let shown = format!("{outcome:?}");
        for part in ["7", "count: 9", "flag: Some(true)", "word: Off", "ratio: 0.5"] {
            assert!(shown.contains(part), "{shown}\nlacks: {part}");
        }
    }
}

#[test]
fn strings_that_do_not_fit_are_invalid_parameters() {
    // R24-PRMT-06, C95
    let cases: [(Outcome, &[&str]); 6] = [
        (get(r#"{"text":"a","count":"x"}"#), &["`count` is `x`", "integer"]),
        (get(r#"{"text":"a"}"#), &["missing field `count`"]),
        (get(r#"{"text":"a","count":[7]}"#), &["argument `count`", "string"]),
        (get(r#"{"text":"a","count":1e3}"#), &["`count` is `1e3`", "integer"]),
        (get(r#"{"text":"a","count":"1","word":"up"}"#), &["`word` is `up`", "on, off"]),
        (read("test://a/x"), &["`count` is `x`", "integer"]),
    ];
    for (outcome, parts) in cases {
        let failure = failure(outcome);
        assert_eq!(failure.kind, FailureKind::InvalidParams);
        for part in parts {
            assert!(failure.message.contains(part), "{failure}\nlacks: {part}");
        }
    }

    fn get(arguments: &str) -> Outcome {
        outcome(&service(), call(Operation::GetPrompt, "typed", arguments))
    }
    fn read(uri: &str) -> Outcome {
        support::outcome(&service(), call(Operation::ReadResource, uri, "{}"))
    }
}

/// JSON Schema 2020-12, Validation, 6.1.1: a number without a fraction is an integer.
#[test]
fn integers_are_taken_however_they_are_written() {
    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    #[expect(dead_code, reason = "shown by `Debug`")]
    struct Numbers {
        signed: i64,
        small: u8,
        list: Vec<u32>,
        ratio: f64,
    }
    let service = Registry::new("test", "1")
        .tool(tool("t", |Args(it): Args<Numbers>| async move { format!("{it:?}") }))
        .extension("com.example/x", serde_json::json!({}))
        .method("com.example/x/y", |Args(it): Args<Numbers>| async move {
            super::super::Json(format!("{it:?}"))
        })
        .build()
        .expect("valid");
    let wanted = "Numbers { signed: -3, small: 100, list: [0, 2], ratio: 2.0 }";
    for arguments in [
        r#"{"signed":-3,"small":100,"list":[0,2],"ratio":2}"#,
        r#"{"signed":-3.0,"small":1e2,"list":[-0,2.0],"ratio":2.0}"#,
        r#"{"signed":-30e-1,"small":1.0E2,"list":[0e5,20e-1],"ratio":0.2e1}"#,
    ] {
        assert!(!support::tool(&service, "t", arguments).is_error, "{arguments}");
        let said = format!("{:?}", support::tool(&service, "t", arguments));
        assert!(said.contains(wanted), "{said}");
    }
    for arguments in [
        r#"{"signed":2.5,"small":1,"list":[],"ratio":1}"#,
        r#"{"signed":1,"small":2.56e2,"list":[],"ratio":1}"#,
        r#"{"signed":1,"small":1,"list":[0.1],"ratio":1}"#,
        r#"{"signed":1e300,"small":1,"list":[],"ratio":1}"#,
        r#"{"signed":"2.0","small":1,"list":[],"ratio":1}"#,
    ] {
        let failed = failure(outcome(&service, call(Operation::CallTool, "t", arguments)));
        assert_eq!(failed.kind, FailureKind::InvalidArguments, "{arguments}");
    }
    // Answers, results and whatever else is decoded.
    let decoded: Vec<u16> = crate::model::Json::parse("[2.0, 3e1]").unwrap().decode().unwrap();
    assert_eq!(decoded, [2, 30]);
    assert!(crate::model::Json::parse("[2.5]").unwrap().decode::<Vec<u16>>().is_err());
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Strict {
    #[expect(dead_code)]
    recipient: String,
    #[expect(dead_code)]
    subject: Option<String>,
}

#[test]
fn a_member_that_is_unknown_is_named_with_the_one_that_was_meant() {
    let service = Registry::new("test", "1")
        .tool(tool("send", |_: Args<Strict>| async { "sent" }))
        .build()
        .expect("valid");
    let sent = r#"{"recipent":"a","subject":null,"xyz":1}"#;
    let refused = failure(outcome(&service, call(Operation::CallTool, "send", sent))).message;
    for part in [
        "`recipient` is missing",
        "`recipent` is unknown; did you mean `recipient`?",
        "`xyz` is unknown",
    ] {
        assert!(refused.contains(part), "{refused}");
    }
    assert!(!refused.contains("subject"), "null is as good as nothing: {refused}");
}

#[test]
fn what_only_the_type_knows_is_told_in_the_words_of_json_too() {
    // The schema allows what the type does not read.
    let service = Registry::new("test", "1")
        .tool(tool("typed", show).input_schema(serde_json::json!({ "type": "object" })))
        .build();
    let Ok(service) = service else { return };
    for (sent, part) in [
        (r#"{"text":"a","count":"3"}"#, "expected an integer from 0 to 255"),
        (r#"{"text":"a","count":2.5}"#, "the number `2.5`"),
        (r#"{"count":1}"#, "missing member `text`"),
        (r#"{"text":"a","count":1,"ratio":[]}"#, "expected a number"),
    ] {
        let refused = failure(outcome(&service, call(Operation::CallTool, "typed", sent))).message;
        assert!(refused.contains(part), "{refused}");
    }
}

#[test]
fn no_more_is_told_or_looked_at_than_a_model_can_use() {
    let many: Vec<_> = (0..100_000).map(|n| serde_json::json!({ "size": -n - 1 })).collect();
    let sent = serde_json::json!({ "items": many }).to_string();
    let refused = failure(outcome(&service(), call(Operation::CallTool, "nested", &sent))).message;
    assert_eq!(refused.matches("must be at least 0").count(), 10, "{refused}");
    assert!(refused.len() < 2_000);
    let long = serde_json::json!({ "text": 1, "count": "x".repeat(100_000) }).to_string();
    let refused = failure(outcome(&service(), call(Operation::CallTool, "typed", &long))).message;
    assert!(refused.len() < 500, "{refused}");
}
