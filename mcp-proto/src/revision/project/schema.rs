//! Input schemas. They pass through as they are, except for what breaks clients.

use crate::frame::json::{self, Kind};
use crate::frame::writer::{self, Object};
use crate::model::Json;
use crate::revision::Fields;

/// Keywords whose value is a subschema. Those for which `false` is the common value, and which
/// clients know as such (`additionalProperties`), are not among them: they stay as written unless
/// they are objects.
const SCHEMA: &[&str] = &["contains", "else", "if", "items", "not", "propertyNames", "then"];
/// Keywords whose value is an array of subschemas.
const SCHEMAS: &[&str] = &["allOf", "anyOf", "items", "oneOf", "prefixItems"];
/// Keywords whose value is an object of subschemas.
const NAMED_SCHEMAS: &[&str] =
    &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// Keywords whose value may be a subschema or a boolean.
const OPEN: &[&str] =
    &["additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"];

const ANNOTATION: &str = "x-mcp-header";

/// Appends a tool's input schema: an object at the root with `type` and `properties`, as clients
/// refuse whole lists for one tool without them (C89), subschemas that are objects, and the names
/// of headers only where the revision has them.
pub(super) fn write_input(fields: &Fields, schema: &Json, out: &mut Vec<u8>) {
    let schema = schema.as_bytes();
    let mut object = Object::begin(out);
    let (mut has_type, mut has_properties) = (false, false);
    for member in json::members(schema).iter() {
        let (name, value) = (member.decoded_name(schema), member.value.of(schema));
        match (&*name, json::kind(value)) {
            ("type", _) => {
                has_type = true;
                object.string("type", "object");
            }
            // Written below, so that it is one.
            ("properties", kind) if kind != Kind::Object => {}
            (keyword, _) => {
                has_properties |= keyword == "properties";
                write_member(&mut object, keyword, value, fields.mirrored);
            }
        }
    }
    if !has_type {
        object.string("type", "object");
    }
    if !has_properties {
        object.raw("properties", b"{}");
    }
    object.end();
}

/// Whether a schema says that its values are objects.
pub(super) fn is_object(schema: &Json) -> bool {
    let schema = schema.as_bytes();
    let root = json::members(schema).get(schema, "type");
    root.and_then(|span| json::string(span.of(schema))).is_some_and(|name| name == "object")
}

fn write_member(object: &mut Object<'_>, keyword: &str, value: &[u8], mirrored: bool) {
    let is = |keywords: &[&str]| keywords.contains(&keyword);
    match json::kind(value) {
        _ if keyword == ANNOTATION && !mirrored => {}
        Kind::Object if is(NAMED_SCHEMAS) => {
            object.object(keyword, |named| {
                for member in json::members(value).iter() {
                    let out = named.value(&member.decoded_name(value));
                    write_schema(member.value.of(value), mirrored, out);
                }
            });
        }
        Kind::Array if is(SCHEMAS) => {
            writer::array(object.value(keyword), json::elements(value), |element, out| {
                write_schema(element.of(value), mirrored, out);
            });
        }
        Kind::Object if is(OPEN) => write_schema(value, mirrored, object.value(keyword)),
        Kind::Object | Kind::True | Kind::False if is(SCHEMA) => {
            write_schema(value, mirrored, object.value(keyword));
        }
        _ => json::compact(value, object.value(keyword)),
    }
}

/// Booleans are schemas by the standard, yet many clients know only objects. The recursion is as
/// deep as the schema, whose depth the scanner bounds.
fn write_schema(schema: &[u8], mirrored: bool, out: &mut Vec<u8>) {
    match json::kind(schema) {
        Kind::True => out.extend_from_slice(b"{}"),
        Kind::False => out.extend_from_slice(br#"{"not":{}}"#),
        Kind::Object => {
            let mut object = Object::begin(out);
            for member in json::members(schema).iter() {
                let value = member.value.of(schema);
                write_member(&mut object, &member.decoded_name(schema), value, mirrored);
            }
            object.end();
        }
        _ => json::compact(schema, out),
    }
}
