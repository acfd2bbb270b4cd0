//! The schemas that types derive, in the words of forms.

use std::borrow::Cow;

use crate::frame::json::{self, Kind, write_string};
use crate::frame::writer::Object;
use crate::model::Json;
use crate::model::input::Format;
use crate::model::view::{View, elements};

/// How many definitions may refer to each other before a value.
const REFERENCES: usize = 8;

pub(super) fn rewritten(schema: &Json) -> Json {
    let Some(root) = View::of(schema.as_bytes()) else { return schema.clone() };
    let definitions = root.object("$defs");
    let mut out = Vec::new();
    let mut object = Object::begin(&mut out);
    for (name, value) in root.iter().filter(|(name, _)| name != "$defs") {
        match View::of(value).filter(|_| name == "properties") {
            Some(properties) => {
                object.object("properties", |object| {
                    for (name, property) in properties.iter() {
                        let members = members(property, definitions.as_ref(), REFERENCES);
                        write(&members, definitions.as_ref(), object.value(&name), "oneOf");
                    }
                });
            }
            None => json::compact(value, object.value(&name)),
        }
    }
    object.end();
    Json::scanned(out.into())
}

type Members<'a> = Vec<(Cow<'a, str>, &'a [u8])>;

/// The members of a schema, with those of what it refers to in place. Its own come first.
fn members<'a>(schema: &'a [u8], definitions: Option<&View<'a>>, references: usize) -> Members<'a> {
    let Some(view) = View::of(schema) else { return Vec::new() };
    let referred = |value: &'a [u8]| {
        let name = json::string(value)?;
        definitions?.get(name.strip_prefix("#/$defs/")?)
    };
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for (name, value) in view.iter() {
        let other = match &*name {
            "$ref" => referred(value),
            "anyOf" | "allOf" => only(value),
            _ => None,
        };
        match other.filter(|_| references > 0) {
            Some(other) => others.extend(members(other, definitions, references - 1)),
            None => own.push((name, value)),
        }
    }
    for (name, value) in others {
        if !own.iter().any(|(known, _)| *known == name) {
            own.push((name, value));
        }
    }
    own
}

/// The only alternative that is not `null`.
fn only(alternatives: &[u8]) -> Option<&[u8]> {
    let is_null = |schema: &[u8]| {
        View::of(schema).is_some_and(|view| view.string("type").as_deref() == Some("null"))
    };
    let mut others = elements(alternatives).filter(|schema| !is_null(schema));
    let only = others.next()?;
    others.next().is_none().then_some(only)
}

/// Appends one field's schema; `titles` is where options with titles go.
fn write(
    members: &Members<'_>,
    definitions: Option<&View<'_>>,
    out: &mut Vec<u8>,
    titles: &'static str,
) {
    let mut object = Object::begin(out);
    let has = |name: &str| members.iter().any(|(known, _)| known == name);
    if !has("type") && (has("oneOf") || has("const")) && titles == "oneOf" {
        object.string("type", "string");
    }
    for (name, value) in members {
        match &**name {
            "type" => write_type(value, object.value("type")),
            "default" if json::kind(value) == Kind::Null => {}
            "format" if !known_format(value) => {}
            "enum" => {
                let values = elements(value).filter(|value| json::kind(value) != Kind::Null);
                object.array("enum", values, json::compact);
            }
            "const" => {
                object.array("enum", [value], |value, out| json::compact(value, out));
            }
            "oneOf" => write_variants(value, &mut object, titles),
            "items" => {
                let items = self::members(value, definitions, REFERENCES);
                write(&items, definitions, object.value("items"), "anyOf");
            }
            _ => json::compact(value, object.value(name)),
        }
    }
    object.end();
}

/// A type beside `null` is that type.
fn write_type(value: &[u8], out: &mut Vec<u8>) {
    let mut types = elements(value).filter(|kind| json::string(kind).as_deref() != Some("null"));
    match (types.next(), types.next()) {
        (Some(only), None) => out.extend_from_slice(only),
        _ => json::compact(value, out),
    }
}

fn known_format(value: &[u8]) -> bool {
    json::string(value).is_some_and(|name| Format::ALL.iter().any(|known| known.as_str() == name))
}

/// Variants as options. What is said about one of them is its title.
fn write_variants(variants: &[u8], object: &mut Object<'_>, titles: &'static str) {
    let mut options = Vec::new();
    for variant in elements(variants) {
        let Some(view) = View::of(variant) else { continue };
        let values = view.get("const").into_iter();
        let values = values.chain(view.get("enum").into_iter().flat_map(elements));
        let title = view.string("title").or_else(|| view.string("description"));
        let before = options.len();
        options.extend(values.filter_map(|value| Some((json::string(value)?, title.clone()))));
        if options.len() == before {
            // It is more than a name, so it is no option; the form will be refused for it.
            return json::compact(variants, object.value("oneOf"));
        }
    }
    if options.iter().all(|(_, title)| title.is_none()) {
        object.array("enum", options, |(value, _), out| write_string(out, &value));
    } else {
        object.array(titles, options, |(value, title), out| {
            let mut object = Object::begin(out);
            object.string("const", &value).string("title", title.as_ref().unwrap_or(&value));
            object.end();
        });
    }
}
