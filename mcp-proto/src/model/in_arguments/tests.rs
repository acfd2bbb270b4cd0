use serde_json::{Value, json};

use super::*;
use crate::model::{Answer, Content, Field, elicit, elicit_url, list_roots, sample};

fn json_of(value: Value) -> Json {
    Json::from(value)
}

fn questions() -> Vec<(String, InputRequest)> {
    let form = elicit("Who are you?")
        .field(Field::text("name").description("as in your passport"))
        .field(Field::choice("plan", [("free", "Free of charge")]).default("free"))
        .field(Field::integer("age").optional());
    vec![
        ("confirm".into(), elicit("Deploy web?").into()),
        ("who".into(), form.into()),
        ("login".into(), elicit_url("Sign in.", "https://a.example/in")),
    ]
}

fn asked() -> (String, Value) {
    let arguments = json_of(json!({"service": "web"}));
    let result = InArguments::ask(Some(&arguments), &questions(), Some("state-1")).unwrap();
    assert!(!result.is_error);
    let meta = result.meta.unwrap().decode().unwrap();
    match result.content.into_iter().next() {
        Some(Content::Text { text, .. }) => (text, meta),
        other => panic!("{other:?}"),
    }
}

/// The arguments that the text says to copy.
fn copied_from(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[test]
fn the_text_says_what_is_asked_and_what_finishes_the_call() {
    let (text, _) = asked();
    for said in [
        "- `confirm`: Deploy web?",
        "  - `name` (text): as in your passport",
        "  - `plan` (one option); of `free` (Free of charge)",
        "  - `age` (integer, optional)",
        "Let the user open https://a.example/in themselves.",
    ] {
        assert!(text.contains(said), "{said} in\n{text}");
    }
    let action = "accept, decline or cancel";
    let expected = json!({
        "service": "web",
        "input_responses": {
            "confirm": {"action": action},
            "who": {"action": action, "content": {"name": "", "plan": "free", "age": 0}},
            "login": {"action": action},
        },
        "request_state": "state-1",
    });
    assert_eq!(copied_from(&text), expected);
}

#[test]
fn copying_the_text_unread_agrees_to_nothing() {
    let (text, _) = asked();
    let taken = InArguments::take(Some(json_of(copied_from(&text)))).unwrap();
    assert_eq!(taken.answers.len(), 3);
    for ((_, question), (_, answer)) in questions().iter().zip(&taken.answers) {
        assert!(Answer::read(question, answer).is_err());
    }
}

#[test]
fn programs_find_the_questions_in_meta() {
    let (_, meta) = asked();
    let asked = &meta[META];
    assert_eq!(asked["requestState"], "state-1");
    for (key, question) in questions() {
        let text = json_of(asked["inputRequests"][&key].clone());
        assert_eq!(InputRequest::read(&text).unwrap().method(), question.method());
    }
}

#[test]
fn only_what_a_person_can_be_asked_is_asked() {
    for question in [list_roots(), sample("a", 1).into()] {
        let result = InArguments::ask(None, &[("k".into(), question)], None);
        assert_eq!(result, Err(Unaskable::InArguments));
    }
}

#[test]
fn what_finishes_the_call_is_taken_out() {
    let given = json!({
        "a": [1, 2],
        "input_responses": {"k": {"action": "accept"}},
        "request_state": "s",
    });
    let quoted = json!({
        "a": [1, 2],
        "input_responses": r#" {"k": {"action": "accept"}} "#,
        "request_state": "s",
    });
    for arguments in [given, quoted] {
        let taken = InArguments::take(Some(json_of(arguments))).unwrap();
        assert_eq!(taken.arguments.unwrap().as_str(), r#"{"a":[1,2]}"#);
        assert_eq!(taken.state.as_deref(), Some("s"));
        let [(key, answer)] = &taken.answers[..] else { panic!("{:?}", taken.answers) };
        assert_eq!(key, "k");
        assert_eq!(answer.decode::<Value>().unwrap(), json!({"action": "accept"}));
    }
}

#[test]
fn arguments_without_the_two_are_left_alone() {
    let text = Json::parse(r#"{ "a" : {"request_state": 1} }"#).unwrap();
    for arguments in [None, Some(text)] {
        let taken = InArguments::take(arguments.clone()).unwrap();
        assert_eq!((taken.arguments, taken.answers.len(), taken.state), (arguments, 0, None));
    }
    let nulls = json_of(json!({"input_responses": null, "request_state": null}));
    let taken = InArguments::take(Some(nulls)).unwrap();
    assert_eq!(taken.arguments.unwrap().as_str(), "{}");
    assert_eq!((taken.answers.len(), taken.state), (0, None));
}

#[test]
fn malformed_ones_are_refused() {
    for (arguments, expected) in [
        (json!({"input_responses": []}), BadArguments::Answers),
        (json!({"input_responses": 1}), BadArguments::Answers),
        (json!({"input_responses": "{"}), BadArguments::Answers),
        (json!({"input_responses": "[]"}), BadArguments::Answers),
        (json!({"request_state": 1}), BadArguments::State),
        (json!({"request_state": {}}), BadArguments::State),
    ] {
        assert_eq!(InArguments::take(Some(json_of(arguments))), Err(expected));
    }
    let twice = r#"{"input_responses":{"k":{"action":"accept"},"k":{"action":"decline"}}}"#;
    let twice = InArguments::take(Some(Json::parse(twice).unwrap()));
    assert_eq!(twice, Err(BadArguments::Answers));
    let two = r#"{"request_state":"a","request_state":"b"}"#;
    let two = InArguments::take(Some(Json::scanned(two.into())));
    assert_eq!(two, Err(BadArguments::State));
    assert_eq!(
        BadArguments::Answers.to_string(),
        "`input_responses` must be an object of one answer per question"
    );
}

#[test]
fn the_schema_gets_two_optional_properties() {
    let own = json!({
        "$schema": "x",
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": false,
    });
    for (given, keys) in [
        (own, vec!["a", "input_responses", "request_state"]),
        (json!({"type": "object"}), vec!["input_responses", "request_state"]),
    ] {
        let mut out = Vec::new();
        InArguments::write_schema(&json_of(given.clone()), &mut out);
        let mut written: Value = serde_json::from_slice(&out).unwrap();
        let properties = written["properties"].as_object().unwrap();
        let mut names: Vec<_> = properties.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, keys);
        assert_eq!(written["properties"]["input_responses"]["type"], "object");
        assert_eq!(written["properties"]["request_state"]["type"], "string");
        for name in ["input_responses", "request_state"] {
            written["properties"].as_object_mut().unwrap().remove(name);
        }
        let mut expected = given;
        expected.as_object_mut().unwrap().entry("properties").or_insert(json!({}));
        assert_eq!(written, expected);
    }
}

#[test]
fn a_tool_with_an_argument_of_that_name_cannot_ask() {
    let collides = |schema| InArguments::collides(&json_of(schema));
    assert!(collides(json!({"properties": {"request_state": {}}})));
    assert!(collides(json!({"properties": {"input_responses": {}}})));
    assert!(!collides(json!({"properties": {"a": {"properties": {"request_state": {}}}}})));
    assert!(!collides(json!({})));
}
