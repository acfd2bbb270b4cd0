use serde_json::{Value, json};

use super::*;

fn params(schema: Value) -> Result<Vec<MirroredParam>, InvalidAnnotation> {
    mirrored_params(schema.to_string().as_bytes())
}

#[test]
fn a_property_may_have_the_name_of_the_annotation() {
    let schema =
        json!({ "properties": { "x-mcp-header": { "type": "string", "x-mcp-header": "A" } } });
    let found = params(schema).expect("valid");
    assert_eq!(found.first().map(MirroredParam::path), Some(&["x-mcp-header".to_owned()][..]));
    assert_eq!(params(json!({ "$defs": { "x-mcp-header": {} } })), Ok(vec![]));
    assert_eq!(params(json!({ "required": ["x-mcp-header"] })), Ok(vec![]));
    assert_eq!(params(json!(true)), Ok(vec![]));
}

#[test]
fn an_escaped_annotation_is_found() {
    let schema = br#"{"properties":{"a":{"items":{"x\u002dmcp-header":"A"}}}}"#;
    let error = mirrored_params(schema).expect_err("unreachable");
    assert_eq!(
        (error.fault, error.at.as_str()),
        (AnnotationFault::Unreachable, "properties/a/items")
    );
}

#[test]
fn names_that_would_inject_a_header_are_refused() {
    // C28
    for name in ["X\r\nEvil: 1", "A B", "A:", "é"] {
        let schema = json!({ "properties": { "a": { "type": "string", "x-mcp-header": name } } });
        assert_eq!(params(schema).map_err(|error| error.fault), Err(AnnotationFault::NotAToken));
    }
}

#[test]
fn a_schema_may_nest_so_deep_and_no_deeper() {
    let nested = |depth: usize| {
        let (open, close) = (r#"{"not":"#.repeat(depth), "}".repeat(depth));
        mirrored_params(format!("{open}true{close}").as_bytes()).map_err(|error| error.fault)
    };
    assert_eq!(nested(MAX_DEPTH), Ok(vec![]));
    assert_eq!(nested(MAX_DEPTH + 1), Err(AnnotationFault::TooDeep));
    assert_eq!(nested(10_000), Err(AnnotationFault::TooDeep));
}

#[test]
fn an_argument_that_occurs_twice_mirrors_nothing() {
    let schema = json!({ "properties": { "a": { "type": "string", "x-mcp-header": "A" } } });
    let params = params(schema).expect("valid");
    let check = |arguments: &str, headers: &[(&str, &str)]| {
        check_mirrored(&params, Some(arguments.as_bytes()), headers).map_err(|error| error.fault)
    };
    let header = [("mcp-param-a", "x")];
    assert_eq!(check(r#"{"a":"x"}"#, &header), Ok(()));
    assert_eq!(check(r#"{"a":"y","\u0061":"x"}"#, &header), Err(MirrorFault::Ambiguous));
    assert_eq!(check(r#"{"a":"x"}"#, &[]), Err(MirrorFault::Missing));
    assert_eq!(check(r#"{"a":"y"}"#, &header), Err(MirrorFault::Different));
    assert_eq!(check(r#"{"a":null}"#, &header), Err(MirrorFault::Unexpected));
    assert_eq!(check(r#"{"a":[]}"#, &[]), Ok(()));
    assert_eq!(check_mirrored(&params, None, &[] as &[(&str, &str)]), Ok(()));
}
