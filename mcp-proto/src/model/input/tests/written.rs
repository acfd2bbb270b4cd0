use serde_json::{Value, json};

use super::super::*;
use crate::model::{ClientCapabilities, Json};

/// The form of 2025-06-18: options and booleans with defaults are all it has.
const FLAT: InputFields = InputFields { sampling_audio: true, ..InputFields::NONE };

fn params(question: impl Into<InputRequest>, fields: &InputFields) -> Result<Value, Unaskable> {
    let mut out = b"kept".to_vec();
    let client = ClientCapabilities::default();
    match question.into().write_params(&mut out, fields, &client, "id-1") {
        Ok(()) => Ok(serde_json::from_slice(&out[4..]).expect("JSON")),
        Err(why) => {
            assert_eq!(out, b"kept", "nothing is appended on errors");
            Err(why)
        }
    }
}

#[test]
fn forms_are_projected() {
    // T-69, R2506-ELIC-07, R2511-ELIC-07
    let form = || {
        elicit("m")
            .field(Field::choice("t", [("a", "First"), ("b", "Second")]).default("a"))
            .field(Field::boolean("b").default(true))
            .field(Field::integer("n").default(3).optional())
    };
    let properties = json!({
        "t": {"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]},
        "b": {"type": "boolean", "default": true},
        "n": {"type": "integer"},
    });
    let schema = json!({"type": "object", "properties": properties, "required": ["t", "b"]});
    assert_eq!(params(form(), &FLAT), Ok(json!({"message": "m", "requestedSchema": schema})));
    let newest = params(form(), &InputFields::ALL).unwrap();
    assert_eq!(newest["mode"], "form");
    assert_eq!(newest["requestedSchema"]["properties"]["n"]["default"], 3);
    assert_eq!(newest["requestedSchema"]["properties"]["t"]["oneOf"][0]["title"], "First");

    let several = || elicit("m").field(Field::choices("days", ["mon"]));
    let why = Unaskable::MultiSelect { field: "days".into() };
    assert_eq!(params(several(), &FLAT), Err(why));
    assert!(params(several(), &InputFields::ALL).is_ok());
}

#[test]
fn agreement_is_a_form_without_fields() {
    let empty = json!({"type": "object", "properties": {}});
    assert_eq!(
        params(elicit("Sure?"), &FLAT),
        Ok(json!({"message": "Sure?", "requestedSchema": empty}))
    );
}

#[test]
fn a_url_has_an_id_where_the_revision_has_ids() {
    // R2511-ELIC-05, R26-ELIC-05
    let url = || elicit_url("m", "https://a.example/x");
    assert_eq!(params(url(), &FLAT), Err(Unaskable::UrlMode));
    let plain = json!({"mode": "url", "message": "m", "url": "https://a.example/x"});
    assert_eq!(params(url(), &InputFields::ALL), Ok(plain.clone()));
    let with_ids = InputFields { elicitation_id: true, ..InputFields::ALL };
    let mut expected = plain;
    expected["elicitationId"] = json!("id-1");
    assert_eq!(params(url(), &with_ids), Ok(expected));
    for bad in ["", "a.example", "/x", "https://a b"] {
        let why = Unaskable::BadUrl { url: bad.into() };
        assert_eq!(params(elicit_url("m", bad), &InputFields::ALL), Err(why));
    }
}

#[test]
fn sampling_is_said_in_the_words_of_the_revision() {
    // C98, T-72, R24-SAMP-03, R2511-SAMP-03
    let plain = json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": "q"}}],
        "maxTokens": 100,
    });
    assert_eq!(params(sample("q", 100), &InputFields::NONE), Ok(plain));

    let several = || sample(SamplingMessage::user("a").and("b"), 1);
    let blocks = |params: Value| params["messages"].as_array().unwrap().len();
    assert_eq!(blocks(params(several(), &InputFields::NONE).unwrap()), 2);
    assert_eq!(blocks(params(several(), &InputFields::ALL).unwrap()), 1);

    let tools = sample("q", 1).tool_choice(ToolChoice::Auto);
    assert_eq!(params(tools, &FLAT), Err(Unaskable::SamplingTools));
    let sound = || sample(SamplingMessage::user(Block::audio(b"x", "audio/wav")), 1);
    assert_eq!(params(sound(), &InputFields::NONE), Err(Unaskable::SamplingAudio));
    assert!(params(sound(), &FLAT).is_ok());
    let broken = sample(SamplingMessage::user(Block::tool_result("1", "", true)), 1);
    let why = Unaskable::Pairing(PairingError::Unbalanced { message: 0 });
    assert_eq!(params(broken, &InputFields::ALL), Err(why));
}

#[test]
fn everything_of_a_sampling_request_is_written() {
    let question = sample("q", 5)
        .system_prompt("s")
        .model("big")
        .model("small")
        .priorities(0.0, 0.25, 1.0)
        .temperature(0.5)
        .stop_sequence("\n")
        .include_context(IncludeContext::ThisServer)
        .metadata(Json::from(json!({"k": 1})))
        .tool(Json::from(json!({"name": "t"})))
        .tool_choice(ToolChoice::Required)
        .extra("vendor", Json::from(json!([1])));
    let expected = json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": "q"}}],
        "maxTokens": 5,
        "systemPrompt": "s",
        "modelPreferences": {"hints": [{"name": "big"}, {"name": "small"}], "costPriority": 0,
            "speedPriority": 0.25, "intelligencePriority": 1},
        "temperature": 0.5,
        "stopSequences": ["\n"],
        "includeContext": "thisServer",
        "metadata": {"k": 1},
        "tools": [{"name": "t"}],
        "toolChoice": {"mode": "required"},
        "vendor": [1],
    });
    assert_eq!(params(question, &InputFields::ALL), Ok(expected));
}

#[test]
fn context_is_asked_of_clients_that_declared_it() {
    // R2511-SAMP-12
    let question = InputRequest::from(sample("q", 1).include_context(IncludeContext::AllServers));
    let fields = InputFields { sampling_context_declared: true, ..InputFields::ALL };
    for (declared, said) in
        [(r#"{"sampling":{}}"#, false), (r#"{"sampling":{"context":{}}}"#, true)]
    {
        let client = ClientCapabilities::read(declared.as_bytes());
        let mut out = Vec::new();
        question.write_request(&mut out, &fields, &client).unwrap();
        let written: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(written["params"].get("includeContext").is_some(), said);
    }
}

#[test]
fn roots_have_empty_params() {
    let mut out = Vec::new();
    let client = ClientCapabilities::default();
    list_roots().write_request(&mut out, &InputFields::ALL, &client).unwrap();
    assert_eq!(out, br#"{"method":"roots/list","params":{}}"#);
}

#[test]
fn a_missing_mode_is_form_and_an_unknown_one_is_refused() {
    // R2511-ELIC-06, T-68
    let read = |text: &str| InputRequest::from_text(text.as_bytes());
    let form = r#"{"method":"elicitation/create","params":{"message":"m",
        "requestedSchema":{"type":"object","properties":{}}}}"#;
    assert_eq!(read(form), Ok(elicit("m").into()));
    for (text, expected) in [
        (r"[]", BadQuestion::Shape),
        (r"{}", BadQuestion::Shape),
        (r#"{"method":"tools/list"}"#, BadQuestion::UnknownMethod("tools/list".into())),
        (
            r#"{"method":"elicitation/create","params":{"mode":"x","message":"m"}}"#,
            BadQuestion::UnknownMode("x".into()),
        ),
        (
            r#"{"method":"elicitation/create","params":{"mode":1,"message":"m"}}"#,
            BadQuestion::Member("mode"),
        ),
        (r#"{"method":"elicitation/create","params":{}}"#, BadQuestion::Member("message")),
        (
            r#"{"method":"elicitation/create","params":{"message":"m"}}"#,
            BadQuestion::Member("requestedSchema"),
        ),
        (
            r#"{"method":"elicitation/create","params":{"mode":"url","message":"m"}}"#,
            BadQuestion::Member("url"),
        ),
        (r#"{"method":"sampling/createMessage","params":{"maxTokens":1}}"#, BadQuestion::Sampling),
        (
            r#"{"method":"sampling/createMessage","params":{"messages":[{}],"maxTokens":1}}"#,
            BadQuestion::Sampling,
        ),
    ] {
        assert_eq!(read(text), Err(expected), "{text}");
    }
    assert_eq!(read(r#"{"method":"roots/list"}"#), Ok(list_roots()));
}
