use serde_json::{Value, json};

use super::Checker;

fn check(schema: Value, value: Value) -> Result<(), String> {
    Checker::of(&schema.into()).expect("a schema").check(&value.into())
}

/// Each definition applies the next one twice, in that way.
fn doubling(levels: usize, twice: impl Fn(Value) -> Value) -> Value {
    let mut definitions = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
        definitions.insert(format!("d{level}"), twice(next));
    }
    definitions.insert(format!("d{levels}"), json!({ "type": "object" }));
    json!({ "$ref": "#/$defs/d0", "$defs": definitions })
}

#[test]
fn what_takes_more_steps_with_each_level_is_refused_before_it_is_begun() {
    let ways: [fn(Value) -> Value; 6] = [
        |next| json!({ "allOf": [next, next] }),
        |next| json!({ "anyOf": [{ "not": next }, next] }),
        |next| json!({ "oneOf": [next, { "type": "string" }, { "allOf": [next] }] }),
        |next| json!({ "if": next, "then": next }),
        |next| json!({ "dependentSchemas": { "a": next, "b": next } }),
        |next| json!({ "allOf": [next], "unevaluatedProperties": false }),
    ];
    for (number, twice) in ways.into_iter().enumerate() {
        let error = check(doubling(60, twice), json!({ "a": 1, "b": 2 })).expect_err("too much");
        assert!(error.contains("steps"), "{number}: {error}");
        // A few levels are nothing to speak of.
        let few = check(doubling(3, twice), json!({}));
        assert!(few.is_ok() || !few.clone().unwrap_err().contains("steps"), "{number}: {few:?}");
    }
}

#[test]
fn a_schema_of_trees_is_checked_as_long_as_the_value_is_one() {
    let tree = json!({
        "$id": "https://example.com/tree",
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": { "children": { "type": "array", "items": { "$dynamicRef": "#node" } } },
        "required": ["children"]
    });
    let mut value = json!({ "children": [] });
    for _ in 0..12 {
        value = json!({ "children": [value.clone(), value] });
    }
    assert_eq!(check(tree.clone(), value), Ok(()));
    let bad = check(tree, json!({ "children": [{ "children": 1 }] })).expect_err("no tree");
    assert!(bad.contains("/children/0/children"), "{bad}");
}

#[test]
fn values_and_schemas_that_are_large_deep_or_circular_end_in_an_error() {
    let circle = json!({ "$ref": "#/$defs/a",
        "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "allOf": [{ "$ref": "#/$defs/a" }] } } });
    for (schema, value, why) in [
        (circle, json!({}), "refers to itself"),
        (
            json!({ "items": { "type": "integer", "enum": (0..100).collect::<Vec<_>>() } }),
            json!(vec![1; 99_999]),
            "steps",
        ),
        (json!({ "items": { "not": { "type": "string" } } }), json!(vec![1; 200_000]), "parts"),
        (doubling(300, |next| json!({ "allOf": [next] })), json!({}), "deep"),
    ] {
        let error = check(schema, value).expect_err(why);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn a_pattern_goes_back_and_forth_only_so_often() {
    let schema = json!({ "type": "string", "pattern": "^(?=(a+)+$)(a|aa)+b$" });
    assert!(check(schema, json!("a".repeat(40_000))).is_err());
    let schema = json!({ "type": "string", "pattern": "^(?!x)[a-z]+$" });
    assert_eq!(check(schema.clone(), json!("abc")), Ok(()));
    assert!(check(schema, json!("xbc")).is_err());
}
