use serde_json::{Value, json};

use super::super::*;
use crate::model::Json;

fn form(property: Value) -> Result<FormSchema, FormErrorKind> {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "T",
        "type": "object",
        "properties": {"f": property},
        "$defs": {
            "Plain": {"type": "string", "enum": ["A", "B"], "description": "D"},
            "Told": {"oneOf": [
                {"type": "string", "enum": ["A"]},
                {"type": "string", "const": "B", "description": "The second"},
            ]},
            "One": {"type": "string", "const": "A"},
            "Chain": {"$ref": "#/$defs/Plain"},
            "Loop": {"$ref": "#/$defs/Loop"},
            "Rich": {"oneOf": [{"type": "object", "properties": {}}]},
            "Nested": {"type": "object", "properties": {}},
        },
    });
    FormSchema::from_type_schema(&Json::from(schema)).map_err(|error| error.kind)
}

#[test]
fn what_types_derive_becomes_a_form() {
    let titled = json!([{"const": "A", "title": "A"}, {"const": "B", "title": "The second"}]);
    for (property, expected) in [
        (json!({"type": "string"}), json!({"type": "string"})),
        (json!({"type": ["string", "null"]}), json!({"type": "string"})),
        (
            json!({"type": ["integer", "null"], "format": "uint32", "minimum": 0, "default": null}),
            json!({"type": "integer", "minimum": 0}),
        ),
        (json!({"type": "number", "format": "double"}), json!({"type": "number"})),
        (json!({"type": "string", "format": "uuid"}), json!({"type": "string"})),
        (json!({"type": "string", "format": "date"}), json!({"type": "string", "format": "date"})),
        (
            json!({"$ref": "#/$defs/Plain", "description": "own", "default": "A"}),
            json!({"type": "string", "enum": ["A", "B"], "description": "own", "default": "A"}),
        ),
        (
            json!({"anyOf": [{"$ref": "#/$defs/Chain"}, {"type": "null"}], "title": "T"}),
            json!({"type": "string", "enum": ["A", "B"], "description": "D", "title": "T"}),
        ),
        (json!({"$ref": "#/$defs/Told"}), json!({"type": "string", "oneOf": titled})),
        (json!({"$ref": "#/$defs/One"}), json!({"type": "string", "enum": ["A"]})),
        (
            json!({"type": "array", "items": {"$ref": "#/$defs/Told"}, "uniqueItems": true}),
            json!({"type": "array", "items": {"anyOf": titled}, "uniqueItems": true}),
        ),
        (
            json!({"type": "array", "items": {"$ref": "#/$defs/Plain"}}),
            json!({"type": "array",
                "items": {"type": "string", "enum": ["A", "B"], "description": "D"}}),
        ),
    ] {
        let form = form(property.clone()).unwrap_or_else(|kind| panic!("{property}: {kind:?}"));
        let written: Value = form.as_json().decode().unwrap();
        assert_eq!(written["properties"]["f"], expected, "{property}");
        assert_eq!(written["title"], "T");
        assert!(written.get("$defs").is_none());
    }
}

#[test]
fn what_is_no_form_in_any_words_is_refused() {
    for (property, kind) in [
        (json!({"$ref": "#/$defs/Nested"}), FormErrorKind::Composed),
        (json!({"$ref": "#/$defs/Rich"}), FormErrorKind::Untitled),
        (json!({"$ref": "#/$defs/Loop"}), FormErrorKind::Composed),
        (json!({"$ref": "#/$defs/Absent"}), FormErrorKind::Composed),
        (json!({"type": "array", "items": {"type": "string"}}), FormErrorKind::Nested),
        (json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}), FormErrorKind::NoType),
        (json!(true), FormErrorKind::NoType),
    ] {
        assert_eq!(form(property.clone()), Err(kind), "{property}");
    }
    assert!(FormSchema::from_type_schema(&Json::from(json!("x"))).is_err());
}

/// What schemars really derives.
#[cfg(feature = "service")]
#[test]
fn a_derived_type_is_a_form() {
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Order {
        /// How many.
        count: u32,
        price: f64,
        note: Option<String>,
        size: Option<Size>,
        extras: Vec<Extra>,
        gift: bool,
    }
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    enum Size {
        Small,
        Large,
    }
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    enum Extra {
        /// With milk
        Milk,
        Sugar,
    }
    let schema = Json::of(&schemars::schema_for!(Order)).unwrap();
    let form = FormSchema::from_type_schema(&schema).unwrap();
    let kind = |name: &str| {
        let field = form.fields().iter().find(|field| field.name == name).unwrap();
        (field.kind.clone(), field.required)
    };
    let number = |integer, minimum| FieldKind::Number { integer, minimum, maximum: None };
    let text = FieldKind::Text { min_length: None, max_length: None, format: None };
    let sizes = FieldKind::Choice { options: vec!["Small".into(), "Large".into()] };
    assert_eq!(kind("count"), (number(true, Some(0.0)), true));
    assert_eq!(kind("price"), (number(false, None), true));
    assert_eq!(kind("note"), (text, false));
    assert_eq!(kind("size"), (sizes, false));
    assert_eq!(kind("gift"), (FieldKind::Boolean, true));
    let (FieldKind::Choices { options, .. }, true) = kind("extras") else { panic!("{form:?}") };
    let titles: Vec<_> = options.iter().filter_map(|option| option.title.as_deref()).collect();
    assert!(titles.contains(&"With milk") && titles.contains(&"Sugar"), "{titles:?}");
}
