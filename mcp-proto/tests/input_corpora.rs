//! The specification's examples of questions and answers, and every question that is written
//! against the schema of its revision.

mod corpora;

use std::path::Path;

use jsonschema::Validator;
use mcp_proto::model::{
    Answer, Block, ClientCapabilities, Field, FormSchema, InputFields, InputRequest, Json,
    Sampling, SamplingMessage, ToolChoice, elicit, elicit_url, list_roots, method, sample,
};
use mcp_proto::revision::Revision;
use serde_json::{Value, json};

#[test]
fn the_examples_read_and_are_written_again() {
    let folder = corpora::folder().join("mcp-examples");
    if !folder.is_dir() {
        println!("corpora absent ({}): examples of questions not run", folder.display());
        return;
    }
    let mut ran = 0;
    for (kind, run) in KINDS {
        for example in examples(&folder.join(kind)) {
            run(&example);
            ran += 1;
        }
    }
    corpora::report("mcp-examples, questions and answers", ran);
}

/// A kind of example, and what is done with each.
type Kind = (&'static str, fn(&Value));

const KINDS: [Kind; 18] = [
    ("ElicitRequest", request),
    ("ElicitRequestFormParams", |example| params(method::ELICIT, example)),
    ("ElicitRequestURLParams", |example| params(method::ELICIT, example)),
    ("CreateMessageRequest", request),
    ("CreateMessageRequestParams", |example| params(method::SAMPLE, example)),
    ("ListRootsRequest", request),
    ("InputRequests", requests),
    ("InputRequiredResult", |example| requests(&example["inputRequests"])),
    ("BooleanSchema", field),
    ("NumberSchema", field),
    ("StringSchema", field),
    ("TitledMultiSelectEnumSchema", field),
    ("TitledSingleSelectEnumSchema", field),
    ("UntitledMultiSelectEnumSchema", field),
    ("UntitledSingleSelectEnumSchema", field),
    ("ElicitResult", |example| answers(&elicit_url("?", "https://a.example/"), example)),
    ("CreateMessageResult", |example| answers(&sample("?", 1).into(), example)),
    ("ListRootsResult", |example| answers(&list_roots(), example)),
];

fn request(example: &Value) {
    params(example["method"].as_str().expect("a method"), &example["params"]);
}

fn requests(example: &Value) {
    for (_, example) in example.as_object().into_iter().flatten() {
        request(example);
    }
}

/// What is read is written again, but for `mode`, which may be left out, and for what says which
/// request it was.
fn params(method: &str, example: &Value) {
    let params = (!example.is_null()).then(|| Json::from(example.clone()));
    let question = InputRequest::read_params(method, params.as_ref()).expect("a question");
    let mut out = Vec::new();
    let client = ClientCapabilities::default();
    question.write_params(&mut out, &InputFields::ALL, &client, "").expect("askable");
    let mut written: Value = serde_json::from_slice(&out).expect("JSON");
    if method == method::ELICIT && example.get("mode").is_none() {
        written.as_object_mut().expect("an object").remove("mode");
    }
    let example = if example.is_null() { &json!({}) } else { example };
    assert_eq!(normal(&written), normal(example));
}

/// Numbers as one type: the writer has integers where it can.
fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), normal(value))).collect()
        }
        other => other.clone(),
    }
}

fn field(example: &Value) {
    let schema = json!({"type": "object", "properties": {"f": example}, "required": ["f"]});
    let form = FormSchema::from_json(Json::from(schema.clone())).expect("a form");
    assert_eq!(form.as_json().decode::<Value>().expect("JSON"), schema);
    assert_eq!(form.defaults().decode::<Value>().expect("JSON"), json!({"f": example["default"]}));
    assert!(form.judge(Some(&form.defaults())).is_ok());
}

fn answers(question: &InputRequest, example: &Value) {
    let answer = Answer::read(question, &Json::from(example.clone())).expect("an answer");
    assert!(answer.accepted());
}

fn examples(folder: &Path) -> Vec<Value> {
    let files = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let text = |path| std::fs::read(path).expect("a file");
    files
        .map(|entry| serde_json::from_slice(&text(entry.expect("an entry").path())).expect("JSON"))
        .collect()
}

#[test]
fn every_question_fits_the_schema_of_its_revision() {
    for revision in Revision::ALL {
        let file = format!("schemas/{revision}.json");
        let Some(schema) = corpora::load(&file) else { return };
        let (mut written, mut refused) = (0, 0);
        for question in questions() {
            let Some(validator) = validator(&schema, &question) else { continue };
            let mut out = Vec::new();
            let fields = &revision.adapter().input;
            let client = ClientCapabilities::default();
            match question.write_params(&mut out, fields, &client, "id-1") {
                Ok(()) => written += 1,
                Err(_) => {
                    refused += 1;
                    continue;
                }
            }
            let params: Value = serde_json::from_slice(&out).expect("JSON");
            let request =
                json!({"jsonrpc": "2.0", "id": 1, "method": question.method(), "params": params});
            let errors: Vec<_> = validator.iter_errors(&request).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{revision}: {errors:?}\n{request:#}");
        }
        println!("{refused} questions cannot be put in {revision}");
        corpora::report(&format!("{file}, questions"), written);
    }
}

/// The definition of the question's request; `None` where the revision has none.
fn validator(schema: &Value, question: &InputRequest) -> Option<Validator> {
    let definition = match question.method() {
        method::ELICIT => "ElicitRequest",
        method::SAMPLE => "CreateMessageRequest",
        _ => "ListRootsRequest",
    };
    let place = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    schema[place].get(definition)?;
    let mut schema = schema.clone();
    schema["$ref"] = json!(format!("#/{place}/{definition}"));
    Some(jsonschema::validator_for(&schema).expect("a schema"))
}

fn questions() -> Vec<InputRequest> {
    let tool = Json::from(json!({"name": "t", "inputSchema": {"type": "object"}}));
    let used = Block::tool_use("1", "t", &Json::from(json!({})));
    let conversation: Sampling = sample("q", 10)
        .message(SamplingMessage::assistant("a").and(used))
        .message(SamplingMessage::user(Block::tool_result("1", "r", true)));
    vec![
        elicit("Sure?").into(),
        elicit("Fill in.")
            .field(Field::text("t").title("T").description("d").length(1..=9).default("x"))
            .field(Field::number("n").range(0.0, 9.5).default(1.5))
            .field(Field::integer("i").default(3).optional())
            .field(Field::boolean("b").default(false))
            .field(Field::choice("c", ["a"]).default("a"))
            .field(Field::choice("ct", [("a", "A")]))
            .into(),
        elicit("Which?").field(Field::choices("m", ["a"]).count(1..=2)).into(),
        elicit("Which?").field(Field::choices("m", [("a", "A")]).default(json!(["a"]))).into(),
        elicit_url("Sign in.", "https://a.example/in"),
        sample("q", 10).system_prompt("s").model("m").priorities(0.0, 0.5, 1.0).into(),
        sample(SamplingMessage::user("a").and(Block::image(b"x", "image/png")), 1).into(),
        sample(SamplingMessage::user(Block::audio(b"x", "audio/wav")), 1).into(),
        sample("q", 10).tool(tool).tool_choice(ToolChoice::Required).into(),
        conversation.into(),
        list_roots(),
    ]
}
