use serde_json::{Value, json};

use super::super::*;
use crate::model::Json;

fn fault(schema: Value) -> (Option<String>, FormErrorKind) {
    match FormSchema::from_json(schema.clone().into()) {
        Err(error) => (error.field, error.kind),
        Ok(_) => panic!("{schema} is no form"),
    }
}

#[test]
fn what_is_no_form_is_refused_with_the_fix() {
    // R2506-ELIC-07, R2511-ELIC-07, T-69
    use FormErrorKind::*;
    for (schema, kind) in [
        (json!([]), NotAForm),
        (json!({"properties": {}}), NotAForm),
        (json!({"type": "object"}), NotAForm),
        (json!({"type": "string", "properties": {}}), NotAForm),
        (json!({"type": "object", "properties": []}), NotAForm),
        (json!({"type": "object", "properties": {}, "anyOf": []}), Composed),
        (json!({"type": "object", "properties": {}, "$ref": "#"}), Composed),
        (json!({"type": "object", "properties": {}, "required": "f"}), Required),
        (json!({"type": "object", "properties": {}, "required": [1]}), Required),
    ] {
        assert_eq!(fault(schema), (None, kind));
    }
    let twice = r#"{"type":"object","properties":{"a":{"type":"boolean"},"a":{"type":"string"}}}"#;
    let twice = FormSchema::from_json(Json::parse(twice).unwrap()).unwrap_err();
    assert_eq!((twice.field, twice.kind), (None, Repeated));
    let unknown = json!({"type": "object", "properties": {}, "required": ["f"]});
    assert_eq!(fault(unknown), (Some("f".into()), RequiredUnknown));

    for (field, kind) in [
        (json!(true), NotASchema),
        (json!({}), NoType),
        (json!({"enum": ["a"]}), NoType),
        (json!({"type": ["string", "null"]}), ManyTypes),
        (json!({"type": "null"}), UnknownType),
        (json!({"type": "object", "properties": {}}), Composed),
        (json!({"type": "object"}), Nested),
        (json!({"type": "array"}), Nested),
        (json!({"type": "array", "items": {"type": "string"}}), Nested),
        (json!({"type": "array", "items": {"type": "object"}}), Nested),
        (json!({"type": "array", "items": {"type": "integer", "enum": ["1"]}}), Options),
        (json!({"type": "string", "$ref": "#/$defs/x"}), Composed),
        (json!({"type": "string", "anyOf": [{"const": "a", "title": "A"}]}), Composed),
        (json!({"type": "number", "oneOf": []}), Composed),
        (json!({"type": "string", "const": "a"}), Composed),
        (json!({"type": "string", "format": "uuid"}), UnknownFormat),
        (json!({"type": "string", "enum": []}), Options),
        (json!({"type": "string", "enum": [1]}), Options),
        (json!({"type": "integer", "enum": [1]}), Options),
        (json!({"type": "string", "oneOf": []}), Options),
        (json!({"type": "string", "oneOf": {}}), Options),
        (json!({"type": "string", "oneOf": [{"const": "a"}]}), Untitled),
        (json!({"type": "string", "oneOf": [{"const": 1, "title": "One"}]}), Untitled),
        (
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"},
                {"const": "a", "title": "Also A"}]}),
            RepeatedOption,
        ),
        (json!({"type": "string", "minLength": -1}), Limit),
        (json!({"type": "string", "maxLength": 1.5}), Limit),
        (json!({"type": "number", "minimum": "0"}), Limit),
        (json!({"type": "string", "default": 1}), Default),
        (json!({"type": "string", "enum": ["a"], "default": "b"}), Default),
        (json!({"type": "integer", "maximum": 3, "default": 4}), Default),
    ] {
        let schema = json!({"type": "object", "properties": {"f": field}});
        assert_eq!(fault(schema), (Some("f".into()), kind), "{field}");
    }
    let error = FormError { field: Some("f".into()), kind: ManyTypes };
    assert_eq!(
        error.to_string(),
        "form field `f`: a field has one type; to make it optional, leave it out of `required`"
    );
}

#[test]
fn a_schema_keeps_its_text_its_order_and_what_nobody_knows() {
    // C97
    let text = r#"{ "$schema":"https://json-schema.org/draft/2020-12/schema","required":["z"],
        "type":"object","properties":{"z":{"x-hint":[1, 2],"type":"string","pattern":"^a"},
        "a":{"enum":["1","2"],"type":"string","enumNames":["One"]}},"title":"T"}"#;
    let schema = FormSchema::from_json(Json::parse(text).unwrap()).unwrap();
    let names: Vec<_> = schema.fields().iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["z", "a"]);
    assert!(schema.fields()[0].required && !schema.fields()[1].required);
    let options = vec![("1", "One").into(), "2".into()];
    assert_eq!(schema.fields()[1].kind, FieldKind::Choice { options });
    let mut out = Vec::new();
    schema.write(&InputFields::ALL, &mut out);
    assert_eq!(out, schema.as_json().as_bytes());
    let order = ["$schema", "required", "properties", "x-hint", "pattern", "enumNames", "title"];
    let places = order.map(|name| schema.as_json().as_str().find(name).expect(name));
    assert!(places.is_sorted());
}

#[test]
fn fields_are_written_as_the_specification_has_them() {
    let form = FormSchema::new([
        Field::text("t").title("T").description("d").length(1..=9).format(Format::DateTime),
        Field::number("n").range(0.5, 100.0).default(2.5),
        Field::integer("i").optional(),
        Field::boolean("b").default(true),
        Field::choice("c", ["a", "b"]).default("a"),
        Field::choice("ct", [("a", "First"), ("b", "Second")]),
        Field::choices("m", ["a", "b"]).count(1..=2).default(json!(["a"])),
        Field::choices("mt", [("a", "First"), ("b", "Second")]),
    ]);
    let expected = json!({
        "type": "object",
        "properties": {
            "t": {"type": "string", "title": "T", "description": "d", "minLength": 1,
                "maxLength": 9, "format": "date-time"},
            "n": {"type": "number", "minimum": 0.5, "maximum": 100, "default": 2.5},
            "i": {"type": "integer"},
            "b": {"type": "boolean", "default": true},
            "c": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "ct": {"type": "string", "oneOf": [{"const": "a", "title": "First"},
                {"const": "b", "title": "Second"}]},
            "m": {"type": "array", "minItems": 1, "maxItems": 2,
                "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a"]},
            "mt": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "First"},
                {"const": "b", "title": "Second"}]}},
        },
        "required": ["t", "n", "b", "c", "ct", "m", "mt"],
    });
    assert_eq!(form.as_json().decode::<Value>().unwrap(), expected);
    let read = FormSchema::from_json(form.as_json().clone()).unwrap();
    assert_eq!(read.fields(), form.fields());
    let defaults = json!({"n": 2.5, "b": true, "c": "a", "m": ["a"]});
    assert_eq!(form.defaults().decode::<Value>().unwrap(), defaults);
}

#[test]
fn a_form_made_of_fields_is_checked_when_it_is_asked() {
    let bad = |field| {
        let question = InputRequest::from(elicit("?").field(field));
        match question.check(&InputFields::ALL) {
            Err(Unaskable::Form(error)) => error.kind,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(bad(Field::choice("f", [] as [&str; 0])), FormErrorKind::Options);
    assert_eq!(bad(Field::text("f").default(1)), FormErrorKind::Default);
    let replaced = elicit("?").field(Field::text("f")).field(Field::boolean("f"));
    assert_eq!(replaced.schema, FormSchema::new([Field::boolean("f")]));
}

#[test]
fn formats_refuse_what_is_certainly_wrong() {
    let cases: [(Format, &[&str], &[&str]); 4] = [
        (
            Format::Email,
            &["a@b", "a.b+c@d.example", "\"a b\"@c", "ä@ö"],
            &["", "a", "@b", "a@", "a b@c", "a@b c"],
        ),
        (
            Format::Uri,
            &["https://a.example/x?y#z", "mailto:a@b", "urn:x:y"],
            &["", "a", "/a/b", "://a", "1a:b", "a b:c", "http:", "http://a b"],
        ),
        (
            Format::Date,
            &["2026-07-28", "2024-02-29", "2000-02-29"],
            &[
                "",
                "2026-7-28",
                "2025-02-29",
                "1900-02-29",
                "2026-13-01",
                "2026-04-31",
                "2026-00-10",
                "2026-07-28T",
                "20260728",
                "+026-07-28",
            ],
        ),
        (
            Format::DateTime,
            &["2026-07-28T12:00:00Z", "2026-07-28t23:59:60.123456789+05:30"],
            &[
                "",
                "2026-07-28",
                "2026-07-28T12:00:00",
                "2026-07-28T24:00:00Z",
                "2026-07-28T12:00Z",
                "2026-07-28T12:00:00.Z",
                "2026-07-28T12:00:00+5:00",
                "2026-07-28T12:00:00Zx",
            ],
        ),
    ];
    for (format, good, bad) in cases {
        for text in good {
            assert!(super::super::format::fits(format, text), "{format:?} {text}");
        }
        for text in bad {
            assert!(!super::super::format::fits(format, text), "{format:?} {text}");
        }
    }
}
