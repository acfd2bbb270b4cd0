//! Input schemas as clients see them.

use super::support::{adapter, catalog, json as text, listed, modern, published};
use crate::frame::json;
use crate::model::Tool;
use crate::revision::Adapter;
use serde_json::Value;

fn shown(adapter: &Adapter, schema: &str) -> String {
    let mut catalog = catalog();
    catalog.insert_tool(Tool::new("t", text(schema)));
    let mut out = Vec::new();
    let call = super::support::call(adapter, "tools/list", "");
    published(catalog).write_listing(adapter, &call, &mut out).unwrap();
    let mut value = out.as_slice();
    for name in ["result", "tools", "", "inputSchema"] {
        value = match name {
            "" => json::elements(value).next().unwrap().of(value),
            _ => json::members(value).get(value, name).unwrap().of(value),
        };
    }
    String::from_utf8(value.to_vec()).unwrap()
}

/// C89.
#[test]
fn the_root_is_an_object_with_properties() {
    for adapter in [adapter("2024-11-05"), modern()] {
        for schema in ["{}", "true", "null", r#"{"type":"null"}"#, r#"{"properties":null}"#] {
            let schema: Value = serde_json::from_str(&shown(adapter, schema)).unwrap();
            assert_eq!(schema["type"], "object");
            assert_eq!(schema["properties"], serde_json::json!({}));
        }
    }
    let given = r#"{"$schema":"x","type":"object","properties":{"b":{},"a":{}},"required":["a"]}"#;
    assert_eq!(shown(modern(), given), given, "in the order that it was written in");
    let reference = r##"{"$ref":"#/$defs/A","$defs":{"A":{"type":"object"}}}"##;
    let schema: Value = serde_json::from_str(&shown(modern(), reference)).unwrap();
    assert_eq!(schema["$ref"], "#/$defs/A");
}

#[test]
fn boolean_subschemas_become_objects() {
    let given = r#"{"type":"object","properties":{"any":true,"none":false,"deep":{"items":true,"anyOf":[true,{"not":false}]}},"additionalProperties":false,"unevaluatedProperties":{"properties":{"x":true}}}"#;
    let shown_as = r#"{"type":"object","properties":{"any":{},"none":{"not":{}},"deep":{"items":{},"anyOf":[{},{"not":{"not":{}}}]}},"additionalProperties":false,"unevaluatedProperties":{"properties":{"x":{}}}}"#;
    assert_eq!(shown(modern(), given), shown_as);
    // Where a value is data, and not a schema, it is left alone.
    let data = r#"{"type":"object","properties":{"a":{"const":true,"enum":[true,false],"default":{"items":true}}}}"#;
    assert_eq!(shown(modern(), data), data);
}

/// R26-HDR-08: a name that only one revision knows.
#[test]
fn header_names_are_for_the_revision_that_has_them() {
    let given = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"x-mcp-header":{"type":"string"}}}"#;
    assert_eq!(shown(modern(), given), given);
    let stripped = r#"{"type":"object","properties":{"region":{"type":"string"},"x-mcp-header":{"type":"string"}}}"#;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(shown(adapter(version), given), stripped, "the property of that name stays");
    }
}

/// R2506-TOOL-11, R26-TOOL-03, T-60.
#[test]
fn an_output_schema_is_shown_where_the_revision_can_say_it() {
    let mut catalog = catalog();
    for (name, schema) in [("array", r#"{"type":"array"}"#), ("object", r#"{"type":"object"}"#)] {
        let mut tool = Tool::new(name, text("{}"));
        tool.output_schema = Some(text(schema));
        catalog.insert_tool(tool);
    }
    let published = published(catalog);
    let has = |adapter: &Adapter| {
        let list = listed(&published, adapter, "tools/list");
        [0, 1].map(|index| list["tools"][index].get("outputSchema").is_some())
    };
    assert_eq!(has(adapter("2024-11-05")), [false, false]);
    assert_eq!(has(adapter("2025-03-26")), [false, false]);
    assert_eq!(has(adapter("2025-06-18")), [false, true]);
    assert_eq!(has(adapter("2025-11-25")), [false, true]);
    assert_eq!(has(modern()), [true, true]);
}
