//! How derived schemas are written.

use serde_json::{Map, Value, json};

/// How the schemas that are derived from types are written for clients.
///
/// Hosts hand schemas to models, and to validators of their own; many of them warn of, or refuse,
/// what they do not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaStyle {
    /// What may be left out is not said to be null as well; formats that only Rust has (`uint32`),
    /// titles that are names of types, and defaults that are null are left out.
    #[default]
    Clean,
    /// As `Clean`, and with definitions in place of references to them, where they do not contain
    /// themselves; and nothing has several types, or null for an alternative.
    Portable,
    /// As `schemars` derives them.
    Verbatim,
}

impl SchemaStyle {
    /// A schema in this style.
    pub(crate) fn apply(self, mut schema: Value) -> Value {
        if self == Self::Verbatim {
            return schema;
        }
        if self == Self::Portable {
            let defs = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
            inline(&mut schema, &defs);
            if !schema.to_string().contains("\"$ref\"")
                && let Value::Object(root) = &mut schema
            {
                root.remove("$defs");
            }
        }
        self.clean(&mut schema, true);
        schema
    }

    /// `names_type`: the title is that of a type.
    fn clean(self, schema: &mut Value, names_type: bool) {
        let Value::Object(members) = schema else { return };
        if names_type {
            members.remove("title");
        }
        if members.get("format").and_then(Value::as_str).is_some_and(is_of_rust) {
            members.remove("format");
        }
        if members.get("default").is_some_and(Value::is_null) {
            members.remove("default");
        }
        if self == Self::Portable {
            without_null(members);
        }
        let required: Vec<String> = members
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            .unwrap_or_default();
        for (keyword, value) in members.iter_mut() {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        if let (false, Value::Object(members)) =
                            (required.contains(name), &mut *property)
                        {
                            without_null(members);
                        }
                        self.clean(property, false);
                    }
                }
                ("$defs", Value::Object(schemas)) => {
                    schemas.values_mut().for_each(|schema| self.clean(schema, true));
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                    schemas.iter_mut().for_each(|schema| self.clean(schema, false));
                }
                ("items" | "additionalProperties" | "not" | "contains", schema) => {
                    self.clean(schema, false);
                }
                _ => {}
            }
        }
    }
}

/// Formats that stand for types of Rust, and that JSON Schema does not have.
fn is_of_rust(format: &str) -> bool {
    let digits = format.trim_start_matches("uint").trim_start_matches("int");
    let is_integer = format.starts_with("int") || format.starts_with("uint");
    (is_integer && digits.bytes().all(|byte| byte.is_ascii_digit()))
        || matches!(format, "float" | "double" | "char")
}

/// Takes null out of what a value may be, where something else is left.
fn without_null(members: &mut Map<String, Value>) {
    if let Some(Value::Array(kinds)) = members.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = &kinds[..] {
            let kind = kind.clone();
            members.insert("type".into(), kind);
        }
    }
    if let Some(Value::Array(values)) = members.get_mut("enum")
        && values.len() > 1
    {
        values.retain(|value| !value.is_null());
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = members.get_mut(keyword) else { continue };
        branches.retain(|branch| *branch != json!({ "type": "null" }));
        if let [Value::Object(only)] = &mut branches[..] {
            let only = core::mem::take(only);
            members.remove(keyword);
            for (name, value) in only {
                // What is said beside the branch is said of the property itself.
                members.entry(name).or_insert(value);
            }
        }
    }
}

/// Puts definitions in place of references to them.
fn inline(schema: &mut Value, defs: &Map<String, Value>) {
    match schema {
        Value::Object(members) => {
            // A definition may be a reference in turn.
            while let Some(definition) = referred(members, defs) {
                members.remove("$ref");
                for (member, value) in definition.iter().filter(|(member, _)| *member != "title") {
                    members.entry(member.clone()).or_insert_with(|| value.clone());
                }
            }
            let places = members.iter_mut().filter(|(keyword, _)| *keyword != "$defs");
            places.for_each(|(_, value)| inline(value, defs));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| inline(item, defs)),
        _ => {}
    }
}

/// The definition that is referred to, unless it leads to itself.
fn referred<'a>(
    members: &Map<String, Value>,
    defs: &'a Map<String, Value>,
) -> Option<&'a Map<String, Value>> {
    let name = members.get("$ref")?.as_str()?.strip_prefix("#/$defs/")?;
    defs.get(name)?.as_object().filter(|_| !contains_itself(name, defs))
}

/// Whether a definition leads to itself.
fn contains_itself(name: &str, defs: &Map<String, Value>) -> bool {
    let (mut seen, mut open) = (Vec::new(), vec![name]);
    while let Some(next) = open.pop() {
        let Some(definition) = defs.get(next) else { continue };
        for (other, _) in defs {
            if mentions(definition, other) {
                if other == name {
                    return true;
                }
                if !seen.contains(&other.as_str()) {
                    seen.push(other);
                    open.push(other);
                }
            }
        }
    }
    false
}

fn mentions(schema: &Value, name: &str) -> bool {
    match schema {
        Value::Object(members) => {
            let is_it = |path: &str| path.strip_prefix("#/$defs/") == Some(name);
            members.get("$ref").and_then(Value::as_str).is_some_and(is_it)
                || members.values().any(|value| mentions(value, name))
        }
        Value::Array(items) => items.iter().any(|item| mentions(item, name)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use schemars::JsonSchema;

    use super::*;
    use crate::service::schema;

    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    enum Level {
        Low,
        High,
    }

    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    struct Nested {
        /// How deep.
        depth: u8,
    }

    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    struct Tree {
        children: Vec<Tree>,
    }

    #[derive(serde::Serialize, serde::Deserialize, JsonSchema)]
    struct All {
        a: Option<String>,
        b: u32,
        c: Option<Vec<Level>>,
        /// The nested one.
        d: Option<Nested>,
        e: Option<f64>,
        #[serde(default)]
        f: Option<Level>,
        g: BTreeMap<String, i64>,
        h: usize,
        #[schemars(title = "When")]
        i: Option<bool>,
        j: Option<u64>,
    }

    fn input<T: JsonSchema>(style: SchemaStyle) -> Value {
        style.apply(schema::input::<T>().to_value())
    }

    #[test]
    fn a_clean_schema_says_nothing_that_only_rust_knows() {
        let schema = input::<All>(SchemaStyle::Clean);
        let text = schema.to_string();
        for absent in
            ["null", "uint", "int64", "double", "\"title\":\"All\"", "\"title\":\"Nested\""]
        {
            assert!(!text.contains(absent), "{absent}: {text}");
        }
        let properties = &schema["properties"];
        assert_eq!(properties["a"], json!({ "type": "string" }));
        assert_eq!(properties["b"]["type"], "integer");
        assert_eq!(properties["b"]["minimum"], 0);
        assert_eq!(properties["c"]["type"], "array");
        assert_eq!(properties["d"]["description"], "The nested one.");
        assert!(properties["d"].get("anyOf").is_none(), "{properties}");
        assert_eq!(properties["i"]["title"], "When", "a title that was given stays");
        assert_eq!(schema["required"], json!(["b", "g", "h"]));
        assert!(properties["d"]["$ref"].is_string(), "{properties}");
    }

    #[test]
    fn what_is_always_there_may_still_be_null() {
        let schema = SchemaStyle::Clean.apply(schema::output::<All>().to_value());
        let required = schema["required"].as_array().expect("names");
        assert!(required.contains(&json!("a")), "{schema}");
        assert_eq!(schema["properties"]["a"]["type"], json!(["string", "null"]));
        assert!(!schema.to_string().contains("uint32"));
    }

    #[test]
    fn a_portable_schema_has_no_references_type_arrays_or_null_branches() {
        for schema in [
            input::<All>(SchemaStyle::Portable),
            SchemaStyle::Portable.apply(schema::output::<All>().to_value()),
        ] {
            let text = schema.to_string();
            for absent in ["$ref", "$defs", "null", "anyOf", "\"type\":["] {
                assert!(!text.contains(absent), "{absent}: {text}");
            }
            assert_eq!(schema["properties"]["d"]["properties"]["depth"]["type"], "integer");
            assert_eq!(schema["properties"]["d"]["description"], "The nested one.");
        }
        // What contains itself cannot be put in place of itself.
        let tree = input::<Tree>(SchemaStyle::Portable);
        assert!(tree.to_string().contains("$ref"), "{tree}");
    }

    #[test]
    fn a_verbatim_schema_is_as_it_was_derived() {
        let derived = schema::input::<All>().to_value();
        assert_eq!(input::<All>(SchemaStyle::Verbatim), derived);
        assert_eq!(derived["title"], "All");
    }
}
