//! Forms judge answers as a JSON Schema validator does.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use super::super::*;
use super::round_trip::field;
use crate::model::Json;

#[test]
fn forms_judge_as_a_validator_of_json_schema_does() {
    let seen = [Cell::new(0), Cell::new(0)];
    let cases = (vec(field(), 0..4), vec(("[a-e]|.{1,3}", value()), 0..5));
    let mut runner = TestRunner::new(Config { cases: 1500, ..Config::default() });
    let outcome = runner.run(&cases, |(fields, values)| {
        let form = FormSchema::new(fields);
        // Half of the names are those of the form, or hardly any answer would fit.
        let names = form.fields().iter().map(|field| Some(field.name.clone()));
        let names = names.chain(std::iter::repeat(None));
        let content: Map<String, Value> = values
            .into_iter()
            .zip(names)
            .map(|((name, value), own)| (own.unwrap_or(name), value))
            .collect();
        let content = Value::Object(content);
        let schema: Value = form.as_json().decode().expect("JSON");
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let expected = validator.is_valid(&content);
        let judged = form.judge(Some(&Json::from(content.clone())));
        let count = &seen[usize::from(expected)];
        count.set(count.get() + 1);
        prop_assert_eq!(judged.is_ok(), expected, "{} {} {:?}", schema, content, judged);
        Ok(())
    });
    outcome.unwrap();
    assert!(seen.iter().all(|count| count.get() > 100), "both verdicts must occur: {seen:?}");
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => "[a-d]{0,4}".prop_map(Value::from),
        1 => ".{0,6}".prop_map(Value::from),
        2 => (-12..12i64).prop_map(Value::from),
        1 => (-1e9..1e9f64).prop_map(Value::from),
        1 => (-12..12i32).prop_map(|whole| json!(f64::from(whole))),
        2 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        2 => vec("[a-d]", 0..4).prop_map(Value::from),
        1 => Just(json!({})),
    ]
}
