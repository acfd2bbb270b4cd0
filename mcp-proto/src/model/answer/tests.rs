use serde::Deserialize;
use serde_json::json;

use super::*;
use crate::model::{
    Block, Field, FormSchema, Format, InputRequest, Misfit, Role, elicit, elicit_url, list_roots,
    sample,
};

fn read(question: &InputRequest, result: &str) -> Result<Answer, BadAnswer> {
    Answer::read(question, &json_of(result))
}

fn json_of(text: &str) -> Json {
    Json::scanned(text.as_bytes().to_vec().into())
}

fn confirm() -> InputRequest {
    elicit("Deploy web?").into()
}

fn form(fields: impl IntoIterator<Item = Field>) -> InputRequest {
    elicit("Fill in.").schema(FormSchema::new(fields)).into()
}

/// What a client, or a model in its place, may send that nobody may take for consent.
#[test]
fn only_an_accepted_answer_that_fits_is_consent() {
    // R2506-ELIC-10, R2506-ELIC-11, R26-ELIC-10, T-70, C97
    let no_action = [
        r"{}",
        r#"{"content":{}}"#,
        r#"{"action":null}"#,
        r#"{"action":true}"#,
        r#"{"action":["accept"]}"#,
        r#"{"Action":"accept"}"#,
        r#"{"code":-32603,"message":"no"}"#,
        r#"{"error":{"code":-1,"message":"rejected"}}"#,
        r#"{"resultType":"complete"}"#,
    ];
    for question in [confirm(), elicit_url("Sign in.", "https://a.example/"), form([])] {
        for result in no_action {
            assert_eq!(read(&question, result), Err(BadAnswer::NoAction), "{result}");
        }
        for action in ["ok", "Accept", "accept ", "accepted", "", "yes"] {
            let result = json!({ "action": action }).to_string();
            assert_eq!(read(&question, &result), Err(BadAnswer::UnknownAction(action.into())));
        }
        for result in ["null", "true", "12345", "\"accept\"", "[]", r#"[{"action":"accept"}]"#] {
            assert_eq!(read(&question, result), Err(BadAnswer::NotAnObject), "{result}");
        }
        let twice = r#"{"action":"accept","action":"decline"}"#;
        assert_eq!(read(&question, twice), Err(BadAnswer::NotAnObject));
        let error = json_of(r#"{"code":-1,"message":"User rejected"}"#);
        assert_eq!(
            Answer::of_reply(&question, Err(&error)),
            Err(BadAnswer::Error { code: -1, message: "User rejected".into() })
        );
        assert!(
            Answer::of_reply(&question, Ok(&json_of(r#"{"action":"accept"}"#))).unwrap().accepted()
        );
    }
}

#[test]
fn refusals_are_not_validated_and_differ() {
    // C97
    let question = form([Field::boolean("sure")]);
    for (action, name) in [(AnswerAction::Decline, "decline"), (AnswerAction::Cancel, "cancel")] {
        for rest in ["", r#","content":null"#, r#","content":{"sure":"?"}"#, r#","content":7"#] {
            let answer = read(&question, &format!(r#"{{"action":"{name}"{rest}}}"#)).unwrap();
            assert_eq!((answer.action(), answer.raw()), (action, None));
            assert!(!answer.accepted());
            assert_eq!(answer.action().to_string(), name);
        }
    }
}

#[test]
fn accepting_without_content_is_fine_where_nothing_is_required() {
    // C97
    for question in [confirm(), form([Field::text("note").optional()])] {
        for result in [
            r#"{"action":"accept"}"#,
            r#"{"action":"accept","content":null}"#,
            r#"{"action":"accept","content":{}}"#,
        ] {
            assert!(read(&question, result).unwrap().accepted());
        }
    }
    let required = form([Field::text("note")]);
    for result in [r#"{"action":"accept"}"#, r#"{"action":"accept","content":{}}"#] {
        let missing = BadAnswer::Field { name: "note".into(), why: Misfit::Missing };
        assert_eq!(read(&required, result), Err(missing));
    }
}

#[test]
fn a_form_that_does_not_fit_is_no_answer() {
    // R2511-ELIC-11
    let text = || Field::text("f");
    let days = || Field::choices("f", ["mon", "tue", "wed"]);
    let cases = [
        (text(), json!(1), Misfit::Type),
        (text(), json!(null), Misfit::Type),
        (text().length(2..=3), json!("a"), Misfit::TooShort),
        (text().length(2..=3), json!("äöüß"), Misfit::TooLong),
        (text().format(Format::Email), json!("nobody"), Misfit::Format),
        (Field::number("f"), json!("1"), Misfit::Type),
        (Field::number("f").range(0.5, 2.0), json!(0.4), Misfit::TooSmall),
        (Field::number("f").range(0.5, 2.0), json!(3), Misfit::TooLarge),
        (Field::integer("f"), json!(1.5), Misfit::Type),
        (Field::integer("f"), json!(true), Misfit::Type),
        (Field::boolean("f"), json!("true"), Misfit::Type),
        (Field::boolean("f"), json!(1), Misfit::Type),
        (Field::choice("f", ["a", "b"]), json!("c"), Misfit::NoOption),
        (Field::choice("f", ["a", "b"]), json!(["a"]), Misfit::Type),
        (Field::choice("f", [("a", "First")]), json!("First"), Misfit::NoOption),
        (days(), json!("mon"), Misfit::Type),
        (days(), json!(["mon", "sun"]), Misfit::NoOption),
        (days(), json!(["mon", 1]), Misfit::Type),
        (days().count(1..=2), json!([]), Misfit::TooFew),
        (days().count(1..=2), json!(["mon", "tue", "wed"]), Misfit::TooMany),
    ];
    for (field, value, why) in cases {
        // A field that may be left out must fit all the same where it is there.
        for field in [field.clone(), field.optional()] {
            let result = json!({"action": "accept", "content": {"f": value}}).to_string();
            let expected = BadAnswer::Field { name: "f".into(), why };
            assert_eq!(read(&form([field]), &result), Err(expected), "{result}");
        }
    }
    for content in [json!([]), json!("x"), json!(true), json!(0)] {
        let result = json!({"action": "accept", "content": content}).to_string();
        assert_eq!(read(&form([]), &result), Err(BadAnswer::NotAnObject));
    }
    let twice = r#"{"action":"accept","content":{"f":true,"f":false}}"#;
    assert_eq!(read(&form([Field::boolean("f")]), twice), Err(BadAnswer::NotAnObject));
}

#[test]
fn what_was_not_asked_for_is_let_through_unless_the_schema_forbids_it() {
    let result = r#"{"action":"accept","content":{"more":[{}]}}"#;
    assert!(read(&confirm(), result).is_ok());
    let closed = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    let closed = FormSchema::from_json(Json::parse(closed).unwrap()).unwrap();
    let closed = elicit("?").schema(closed).into();
    let unasked = BadAnswer::Field { name: "more".into(), why: Misfit::Unasked };
    assert_eq!(read(&closed, result), Err(unasked));
}

#[test]
fn content_is_decoded() {
    #[derive(Deserialize, PartialEq, Debug)]
    struct Filled {
        name: String,
        days: Vec<String>,
    }
    let question = form([Field::text("name"), Field::choices("days", ["mon", "tue"])]);
    let result = r#"{"action":"accept","content":{"name":"\u00e9","days":["tue"]},"_meta":{}}"#;
    let answer = read(&question, result).unwrap();
    let filled = Filled { name: "é".into(), days: vec!["tue".into()] };
    assert_eq!(answer.content::<Filled>().unwrap(), filled);
    #[derive(Deserialize, PartialEq, Debug)]
    struct Loose {
        name: Option<String>,
    }
    let empty = read(&confirm(), r#"{"action":"accept"}"#).unwrap();
    assert_eq!(empty.content::<Loose>().unwrap(), Loose { name: None });
}

#[test]
fn a_url_gives_no_content() {
    // T-70, R2511-ELIC-09
    let question = elicit_url("Sign in.", "https://a.example/");
    let answer = read(&question, r#"{"action":"accept","content":{"token":"x"}}"#).unwrap();
    assert!(answer.accepted());
    assert_eq!(answer.raw(), None);
}

#[test]
fn answers_are_written_as_they_are_read() {
    for (answer, text) in [
        (elicit_accept(&json!({"a": 1})).unwrap(), r#"{"action":"accept","content":{"a":1}}"#),
        (elicit_decline(), r#"{"action":"decline"}"#),
        (elicit_cancel(), r#"{"action":"cancel"}"#),
    ] {
        let mut out = Vec::new();
        answer.write(&mut out);
        assert_eq!(String::from_utf8_lossy(&out), text);
        assert_eq!(read(&confirm(), text), Ok(answer));
    }
}

#[test]
fn a_model_answers_with_one_block_or_several() {
    // C98, T-72, R2511-SAMP-04
    let question = sample("Capital of France?", 100).into();
    let one = r#"{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"m",
        "stopReason":"vendorX"}"#;
    let said = read(&question, one).unwrap().sampled().unwrap();
    assert_eq!(
        (said.role, said.text().as_str(), said.model.as_str()),
        (Role::Assistant, "Paris", "m")
    );
    assert_eq!(said.stop_reason.as_deref(), Some("vendorX"));
    let many = r#"{"role":"assistant","content":[{"type":"text","text":"a"},
        {"type":"tool_use","id":"1","name":"t","input":{}},{"type":"text","text":"b"}],"model":"m"}"#;
    let said = read(&question, many).unwrap().sampled().unwrap();
    assert_eq!(said.text(), "ab");
    assert_eq!(said.content.iter().find_map(Block::as_tool_use).unwrap().name, "t");
    for (bad, member) in [
        (r#"{"action":"accept"}"#, "role"),
        (r#"{"role":"system","content":{"type":"text","text":""},"model":"m"}"#, "role"),
        (r#"{"role":"assistant","content":"Paris","model":"m"}"#, "content"),
        (r#"{"role":"assistant","content":[{"text":""}],"model":"m"}"#, "content"),
        (r#"{"role":"assistant","content":{"type":"text","text":""}}"#, "model"),
        (r#"{"role":"assistant","content":[],"model":"m","stopReason":1}"#, "stopReason"),
    ] {
        assert_eq!(read(&question, bad), Err(BadAnswer::Member(member)), "{bad}");
    }
}

#[test]
fn roots_are_file_uris() {
    // R24-ROOT-02, R24-ROOT-03, R2506-ROOT-02
    let question = list_roots();
    let answer =
        r#"{"roots":[{"uri":"file:///a","name":"A","_meta":{"x":1}},{"uri":"FILE:///b"}]}"#;
    let roots = read(&question, answer).unwrap().roots().unwrap().roots;
    assert_eq!(roots.len(), 2);
    assert_eq!((roots[0].uri.as_str(), roots[0].name.as_deref()), ("file:///a", Some("A")));
    assert_eq!(read(&question, r#"{"roots":[]}"#).unwrap().roots().unwrap(), Roots::default());
    for bad in ["https://a.example/", "/etc", "file:/a", "é".repeat(9).as_str()] {
        let result = json!({"roots": [{ "uri": bad }]}).to_string();
        assert_eq!(read(&question, &result), Err(BadAnswer::RootUri(bad.into())));
    }
    for (bad, member) in [
        (r"{}", "roots"),
        (r#"{"roots":{}}"#, "roots"),
        (r#"{"roots":["file:///a"]}"#, "roots"),
        (r#"{"roots":[{"name":"a"}]}"#, "uri"),
    ] {
        assert_eq!(read(&question, bad), Err(BadAnswer::Member(member)), "{bad}");
    }
}
