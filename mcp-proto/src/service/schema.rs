//! JSON Schemas of typed arguments and results.

#[cfg(feature = "schema")]
mod checker;
mod style;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

#[cfg(feature = "schema")]
pub(crate) use checker::Checker;
pub use style::SchemaStyle;

use super::declare::Validator;
use crate::model::{Json, PromptArgument};

/// The schema by which a `T` is read.
pub(crate) fn input<T: JsonSchema>() -> Schema {
    settings().for_deserialize().into_generator().into_root_schema_for::<T>()
}

/// The schema of how a `T` is written.
pub(crate) fn output<T: JsonSchema>() -> Schema {
    settings().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// 2020-12 is what clients assume, so the dialect need not be said.
fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None)
}

/// The input schema of a tool that takes no arguments (C89, R2511-TOOL-16).
pub(crate) fn nothing() -> Json {
    json!({ "type": "object", "properties": {}, "additionalProperties": false }).into()
}

/// The root of an input schema, made an object schema where it can be one (C89, R26-TOOL-03).
///
/// # Errors
/// What the schema is instead.
pub(crate) fn object_root(schema: Value) -> Result<Json, String> {
    let mut root = match schema {
        Value::Bool(true) => Map::new(),
        Value::Object(root) => root,
        other => return Err(other.to_string()),
    };
    let object = json!("object");
    match root.get("type") {
        Some(kind) if *kind == object => {}
        Some(Value::Array(kinds)) if kinds.contains(&object) => {}
        Some(other) => return Err(format!("\"type\": {other}")),
        None if root.contains_key("enum") => return Err("an enumeration".into()),
        None if root.contains_key("const") => return Err("a constant".into()),
        None => {}
    }
    root.insert("type".into(), object);
    root.entry("properties").or_insert_with(|| json!({}));
    Ok(Value::Object(root).into())
}

/// What no reader of a JSON Schema could make sense of, and where: a keyword whose value is of the
/// wrong kind (JSON Schema 2020-12). `None` where there is nothing of it.
pub(crate) fn fault(schema: &Json) -> Option<String> {
    let schema: Value = schema.decode().ok()?;
    fault_at(&schema, &mut String::new())
}

fn fault_at(schema: &Value, at: &mut String) -> Option<String> {
    const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
    let is_type = |kind: &Value| kind.as_str().is_some_and(|kind| TYPES.contains(&kind));
    let said = |at: &str, what: &str| {
        let at = if at.is_empty() { "its root" } else { at };
        Some(format!("{what}, at {at}"))
    };
    let Value::Object(members) = schema else {
        return if schema.is_boolean() {
            None
        } else {
            said(at, "a schema is an object or a boolean")
        };
    };
    for (keyword, value) in members {
        let before = at.len();
        at.push('/');
        at.push_str(keyword);
        let fault = match keyword.as_str() {
            "type" => match value {
                Value::Array(kinds) if !kinds.is_empty() && kinds.iter().all(is_type) => None,
                kind if is_type(kind) => None,
                _ => {
                    said(at, &format!("`type` is one of {}, or an array of them", TYPES.join(", ")))
                }
            },
            "required" => match value {
                Value::Array(names) if names.iter().all(Value::is_string) => None,
                _ => said(at, "`required` is an array of names"),
            },
            "enum" if !value.is_array() => said(at, "`enum` is an array"),
            "properties" | "$defs" | "patternProperties" => match value {
                Value::Object(schemas) => schemas.iter().find_map(|(name, schema)| {
                    let before = at.len();
                    at.push('/');
                    at.push_str(name);
                    let fault = fault_at(schema, at);
                    at.truncate(before);
                    fault
                }),
                _ => said(at, &format!("`{keyword}` is an object of schemas")),
            },
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => match value {
                Value::Array(schemas) => schemas.iter().find_map(|schema| fault_at(schema, at)),
                _ => said(at, &format!("`{keyword}` is an array of schemas")),
            },
            "items" | "additionalProperties" | "not" | "contains" => fault_at(value, at),
            _ => None,
        };
        at.truncate(before);
        if fault.is_some() {
            return fault;
        }
    }
    None
}

/// The schema of a result, where it says anything: `true` and `{}` do not, and null is what a
/// result without a value has.
pub(crate) fn of_result(schema: Schema, style: SchemaStyle) -> Option<Json> {
    match style.apply(schema.to_value()) {
        Value::Object(root) if !root.is_empty() && !is_any(&root) => {
            Some(Value::Object(root).into())
        }
        _ => None,
    }
}

/// A schema with a title, and nothing that restricts.
fn is_any(root: &Map<String, Value>) -> bool {
    root.keys().all(|key| matches!(key.as_str(), "title" | "description"))
}

/// A schema that was given as text.
///
/// # Errors
/// What is there instead of a schema.
pub(crate) fn parse(schema: &Json) -> Result<Value, String> {
    schema.decode().map_err(|error| error.to_string())
}

/// What checks arguments against a schema.
///
/// # Errors
/// Why nothing does, and what to do about it.
#[cfg(feature = "schema")]
pub(crate) fn validator(schema: &Json) -> Result<Validator, String> {
    let checker = Checker::of(schema)
        .map_err(|why| format!("its input schema is none ({why}); correct it"))?;
    Ok(Box::new(move |arguments| checker.check(arguments)))
}

/// What checks arguments against a schema.
///
/// # Errors
/// Why nothing does, and what to do about it.
#[cfg(not(feature = "schema"))]
pub(crate) fn validator(_: &Json) -> Result<Validator, String> {
    Err("turn on the feature `schema`, give a `.validator(..)`, or say `.unchecked()` if the \
         handler checks them"
        .into())
}

/// The arguments of a prompt, from the schema of its type.
pub(crate) fn prompt_arguments(schema: &Json) -> Vec<PromptArgument> {
    let schema: Value = schema.decode().unwrap_or_default();
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|n| n == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let arguments = properties.into_iter().flatten().map(|(name, property)| {
        let text = |key| property.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut argument = PromptArgument::new(name);
        argument.title = text("title");
        argument.description = text("description");
        argument.required = is_required(name);
        argument
    });
    arguments.collect()
}

/// A property that no string stands for: an array or an object.
pub(crate) fn no_word(schema: &Json) -> Option<String> {
    let schema: Value = schema.decode().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object)?;
    let composed = |property: &Value| {
        matches!(property.get("type").and_then(Value::as_str), Some("array" | "object"))
    };
    properties.iter().find(|(_, property)| composed(property)).map(|(name, _)| name.clone())
}
