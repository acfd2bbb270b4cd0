//! From a JSON Schema to a form.

use std::collections::BTreeSet;

use super::{FormError, FormErrorKind as Fault, FormSchema};
use crate::frame::json::{self, Kind};
use crate::model::Json;
use crate::model::input::judge;
use crate::model::input::{Choice, Field, FieldKind, Format};
use crate::model::view::{View, boolean, copied, elements, number};

/// Keywords that compose or refer to schemas: a client that draws a form knows none of them.
const COMPOSED: [&str; 16] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "const",
    "properties",
    "patternProperties",
    "propertyNames",
    "dependentSchemas",
    "dependentRequired",
    "prefixItems",
    "contains",
    "unevaluatedProperties",
];

pub(super) fn read(schema: Json) -> Result<FormSchema, FormError> {
    let whole = |kind| FormError { field: None, kind };
    let text = schema.as_bytes();
    if json::kind(text) != Kind::Object {
        return Err(whole(Fault::NotAForm));
    }
    let root = View::of(text).ok_or(whole(Fault::Repeated))?;
    if root.string("type").as_deref() != Some("object") {
        return Err(whole(Fault::NotAForm));
    }
    let composes = |name: &str| {
        name != "properties" && COMPOSED.contains(&name) || matches!(name, "anyOf" | "oneOf")
    };
    if root.iter().any(|(name, _)| composes(&name)) {
        return Err(whole(Fault::Composed));
    }
    let properties = root.get("properties").ok_or(whole(Fault::NotAForm))?;
    if json::kind(properties) != Kind::Object {
        return Err(whole(Fault::NotAForm));
    }
    let properties = View::of(properties).ok_or(whole(Fault::Repeated))?;
    let mut required = required(root.get("required")).ok_or(whole(Fault::Required))?;
    let mut fields = Vec::new();
    for (name, property) in properties.iter() {
        let needed = required.remove(&*name);
        match field(&name, property) {
            Ok(field) => fields.push(Field { required: needed, ..field }),
            Err(kind) => return Err(FormError { field: Some(name.into()), kind }),
        }
    }
    if let Some(name) = required.pop_first() {
        return Err(FormError { field: Some(name), kind: Fault::RequiredUnknown });
    }
    let closed = root.get("additionalProperties").and_then(boolean) == Some(false);
    Ok(FormSchema { text: schema, fields, closed })
}

fn required(names: Option<&[u8]>) -> Option<BTreeSet<String>> {
    let Some(names) = names else { return Some(BTreeSet::new()) };
    strings(names).map(BTreeSet::from_iter)
}

/// The strings of an array; `None` where it is none, or holds anything else.
fn strings(array: &[u8]) -> Option<Vec<String>> {
    if json::kind(array) != Kind::Array {
        return None;
    }
    elements(array).map(|element| json::string(element).map(Into::into)).collect()
}

fn field(name: &str, property: &[u8]) -> Result<Field, Fault> {
    if json::kind(property) != Kind::Object {
        return Err(Fault::NotASchema);
    }
    let schema = View::of(property).ok_or(Fault::Repeated)?;
    if schema.iter().any(|(name, _)| COMPOSED.contains(&&*name)) {
        return Err(Fault::Composed);
    }
    let kind = schema.get("type").ok_or(Fault::NoType)?;
    let kind = json::string(kind).ok_or(Fault::ManyTypes)?;
    let kind = kind_of(&kind, &schema)?;
    let mut field = Field::new(name, kind);
    field.title = schema.string("title").map(Into::into);
    field.description = schema.string("description").map(Into::into);
    if let Some(default) = schema.get("default") {
        judge::judge(&field.kind, default).map_err(|_| Fault::Default)?;
        field.default = Some(copied(default));
    }
    Ok(field)
}

fn kind_of(name: &str, schema: &View<'_>) -> Result<FieldKind, Fault> {
    let has = |keyword| schema.get(keyword).is_some();
    // `oneOf` is for strings and `anyOf` for what arrays hold; elsewhere they compose schemas.
    if has("anyOf") || (has("oneOf") && name != "string") {
        return Err(Fault::Composed);
    }
    if name != "string" && has("enum") {
        return Err(Fault::Options);
    }
    match name {
        "string" => {
            if let Some(titled) = schema.get("oneOf") {
                Ok(FieldKind::Choice { options: distinct(titled_options(titled)?)? })
            } else if let Some(values) = schema.get("enum") {
                let titles = schema.get("enumNames").and_then(strings).unwrap_or_default();
                Ok(FieldKind::Choice { options: options(values, titles)? })
            } else {
                Ok(FieldKind::Text {
                    min_length: count(schema, "minLength")?,
                    max_length: count(schema, "maxLength")?,
                    format: format(schema)?,
                })
            }
        }
        "number" | "integer" => Ok(FieldKind::Number {
            integer: name == "integer",
            minimum: bound(schema, "minimum")?,
            maximum: bound(schema, "maximum")?,
        }),
        "boolean" => Ok(FieldKind::Boolean),
        "array" => Ok(FieldKind::Choices {
            options: items(schema)?,
            min_items: count(schema, "minItems")?,
            max_items: count(schema, "maxItems")?,
            unique: schema.get("uniqueItems").and_then(boolean) == Some(true),
        }),
        "object" => Err(Fault::Nested),
        _ => Err(Fault::UnknownType),
    }
}

fn items(schema: &View<'_>) -> Result<Vec<Choice>, Fault> {
    let items = schema.object("items").ok_or(Fault::Nested)?;
    if let Some(titled) = items.get("anyOf") {
        return titled_options(titled);
    }
    let values = items.get("enum").ok_or(Fault::Nested)?;
    match items.get("type") {
        Some(kind) if json::string(kind).as_deref() != Some("string") => Err(Fault::Options),
        _ => options(values, Vec::new()),
    }
}

/// Values with the titles that there are for them; legacy lists may be of unequal length.
fn options(values: &[u8], titles: Vec<String>) -> Result<Vec<Choice>, Fault> {
    let values = strings(values).filter(|values| !values.is_empty()).ok_or(Fault::Options)?;
    let titles = titles.into_iter().map(Some).chain(core::iter::repeat(None));
    Ok(values.into_iter().zip(titles).map(|(value, title)| Choice { value, title }).collect())
}

fn titled_options(list: &[u8]) -> Result<Vec<Choice>, Fault> {
    if json::kind(list) != Kind::Array {
        return Err(Fault::Options);
    }
    let option = |option: &[u8]| {
        let option = View::of(option)?;
        Some(Choice::from((option.string("const")?, option.string("title")?)))
    };
    let options: Option<Vec<_>> = elements(list).map(option).collect();
    let options = options.ok_or(Fault::Untitled)?;
    if options.is_empty() { Err(Fault::Options) } else { Ok(options) }
}

fn distinct(options: Vec<Choice>) -> Result<Vec<Choice>, Fault> {
    let values: BTreeSet<&str> = options.iter().map(|option| option.value.as_str()).collect();
    if values.len() == options.len() { Ok(options) } else { Err(Fault::RepeatedOption) }
}

fn format(schema: &View<'_>) -> Result<Option<Format>, Fault> {
    let Some(format) = schema.get("format") else { return Ok(None) };
    let name = json::string(format).ok_or(Fault::UnknownFormat)?;
    let known = Format::ALL.into_iter().find(|format| format.as_str() == name);
    known.map(Some).ok_or(Fault::UnknownFormat)
}

fn count(schema: &View<'_>, keyword: &str) -> Result<Option<u64>, Fault> {
    let Some(value) = schema.get(keyword) else { return Ok(None) };
    let count = json::integer(value).and_then(|count| u64::try_from(count).ok());
    count.map(Some).ok_or(Fault::Limit)
}

fn bound(schema: &View<'_>, keyword: &str) -> Result<Option<f64>, Fault> {
    let Some(value) = schema.get(keyword) else { return Ok(None) };
    number(value).map(Some).ok_or(Fault::Limit)
}
