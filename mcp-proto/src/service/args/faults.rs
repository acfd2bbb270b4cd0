//! Everything that is wrong with arguments, in JSON's words: for a model that is to put it right at
//! once, and knows nothing of Rust.

use serde_json::{Map, Number, Value};

use crate::near::nearest;

/// How many faults are told.
const MOST: usize = 10;

/// How deep is looked, and how many parts of the arguments are looked at.
const MOST_DEPTH: usize = 32;
const MOST_PARTS: usize = 10_000;

/// How much of a value is shown, in characters.
const SHOWN: usize = 40;

/// The faults of arguments by their schema; none where the schema has nothing against them.
pub(super) fn of(schema: &Value, arguments: &Value) -> Vec<String> {
    let mut faults = Faults { root: schema, found: Vec::new(), parts: 0 };
    faults.look(schema, arguments, "", 0);
    faults.found
}

struct Faults<'a> {
    root: &'a Value,
    found: Vec<String>,
    parts: usize,
}

impl<'a> Faults<'a> {
    fn look(&mut self, schema: &'a Value, value: &Value, at: &str, depth: usize) {
        self.parts += 1;
        if self.found.len() >= MOST || depth > MOST_DEPTH || self.parts > MOST_PARTS {
            return;
        }
        let Value::Object(keywords) = schema else { return };
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            let target = reference.strip_prefix('#').and_then(|it| self.root.pointer(it));
            if let Some(target) = target {
                self.look(target, value, at, depth + 1);
            }
        }
        for schema in keywords.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.look(schema, value, at, depth + 1);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = keywords.get(keyword) {
                self.choose(branches, value, at, depth);
            }
        }
        if let Some(wanted) = wanted(keywords).filter(|wanted| !wanted.takes(value)) {
            return self.tell(at, format!("must be {wanted}, and is {}", shown(value)));
        }
        self.limits(keywords, value, at);
        match value {
            Value::Object(members) => self.members(keywords, members, at, depth),
            Value::Array(items) => {
                let Some(schema) = keywords.get("items") else { return };
                for (index, item) in items.iter().enumerate() {
                    self.look(schema, item, &format!("{at}[{index}]"), depth + 1);
                }
            }
            _ => {}
        }
    }

    fn members(
        &mut self,
        keywords: &'a Map<String, Value>,
        members: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) {
        let path =
            |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        let properties = keywords.get("properties").and_then(Value::as_object);
        let required = keywords.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                self.tell(&path(name), "is missing".into());
            }
        }
        for (name, value) in members {
            match properties.and_then(|it| it.get(name)) {
                Some(schema) => {
                    let may_lack = !required.into_iter().flatten().any(|it| it == name);
                    // What may be left out may be null as well.
                    if !(may_lack && value.is_null()) {
                        self.look(schema, value, &path(name), depth + 1);
                    }
                }
                None => match keywords.get("additionalProperties") {
                    Some(Value::Bool(false)) => {
                        let names = properties.into_iter().flat_map(|it| it.keys());
                        let known = names.map(String::as_str);
                        let hint = match nearest(name, known) {
                            Some(near) => format!("; did you mean `{near}`?"),
                            None => String::new(),
                        };
                        self.tell(&path(name), format!("is unknown{hint}"));
                    }
                    Some(schema) => self.look(schema, value, &path(name), depth + 1),
                    None => {}
                },
            }
        }
    }

    /// The faults of the branch that the value is most likely meant for.
    fn choose(&mut self, branches: &'a [Value], value: &Value, at: &str, depth: usize) {
        let mut least: Option<Vec<String>> = None;
        for branch in branches {
            let mut tried = Faults { root: self.root, found: Vec::new(), parts: self.parts };
            tried.look(branch, value, at, depth + 1);
            self.parts = tried.parts;
            if least.as_ref().is_none_or(|least| tried.found.len() < least.len()) {
                least = Some(tried.found);
            }
        }
        self.found.extend(least.unwrap_or_default());
        self.found.truncate(MOST);
    }

    fn limits(&mut self, keywords: &Map<String, Value>, value: &Value, at: &str) {
        let bound = |keyword: &str| keywords.get(keyword).and_then(Value::as_f64);
        let number = |keyword: &str| keywords.get(keyword).map(Value::to_string);
        let size = match value {
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or_default();
                for (keyword, fails, words) in [
                    ("minimum", bound("minimum").is_some_and(|it| number < it), "at least"),
                    ("maximum", bound("maximum").is_some_and(|it| number > it), "at most"),
                    (
                        "exclusiveMinimum",
                        bound("exclusiveMinimum").is_some_and(|it| number <= it),
                        "more than",
                    ),
                    (
                        "exclusiveMaximum",
                        bound("exclusiveMaximum").is_some_and(|it| number >= it),
                        "less than",
                    ),
                ] {
                    if let Some(limit) = self::limit(keywords, keyword).filter(|_| fails) {
                        self.tell(at, format!("must be {words} {limit}, and is {}", shown(value)));
                    }
                }
                return;
            }
            Value::String(text) => (text.chars().count(), "minLength", "maxLength", "characters"),
            Value::Array(items) => (items.len(), "minItems", "maxItems", "items"),
            Value::Object(members) => (members.len(), "minProperties", "maxProperties", "members"),
            Value::Null | Value::Bool(_) => return,
        };
        let (size, least, most, unit) = size;
        if bound(least).is_some_and(|it| (size as f64) < it) {
            let least = number(least).unwrap_or_default();
            self.tell(at, format!("must have at least {least} {unit}, and has {size}"));
        }
        if bound(most).is_some_and(|it| size as f64 > it) {
            let most = number(most).unwrap_or_default();
            self.tell(at, format!("must have at most {most} {unit}, and has {size}"));
        }
    }

    fn tell(&mut self, at: &str, fault: String) {
        if self.found.len() < MOST {
            self.found.push(if at.is_empty() { fault } else { format!("`{at}` {fault}") });
        }
    }
}

fn limit<'a>(keywords: &'a Map<String, Value>, keyword: &str) -> Option<&'a Number> {
    match keywords.get(keyword) {
        Some(Value::Number(number)) => Some(number),
        _ => None,
    }
}

/// What kind of value is wanted, or which.
enum Wanted<'a> {
    Types(Vec<&'a str>),
    OneOf(&'a [Value]),
    Just(&'a Value),
}

fn wanted(keywords: &Map<String, Value>) -> Option<Wanted<'_>> {
    if let Some(only) = keywords.get("const") {
        return Some(Wanted::Just(only));
    }
    match (keywords.get("enum"), keywords.get("type")) {
        (Some(Value::Array(values)), _) => Some(Wanted::OneOf(values)),
        (_, Some(Value::String(kind))) => Some(Wanted::Types(vec![kind])),
        (_, Some(Value::Array(kinds))) => {
            Some(Wanted::Types(kinds.iter().filter_map(Value::as_str).collect()))
        }
        _ => None,
    }
}

impl Wanted<'_> {
    fn takes(&self, value: &Value) -> bool {
        match self {
            Self::Types(kinds) => kinds.iter().any(|kind| match (*kind, value) {
                ("integer", Value::Number(number)) => {
                    number.is_i64()
                        || number.is_u64()
                        || number.as_f64().is_some_and(|it| it.fract() == 0.0)
                }
                ("number", Value::Number(_))
                | ("string", Value::String(_))
                | ("boolean", Value::Bool(_))
                | ("array", Value::Array(_))
                | ("object", Value::Object(_))
                | ("null", Value::Null) => true,
                _ => false,
            }),
            Self::OneOf(values) => values.contains(value),
            Self::Just(only) => *only == value,
        }
    }
}

impl core::fmt::Display for Wanted<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let article = |kind: &str| match kind {
            "integer" => "an integer",
            "array" => "an array",
            "object" => "an object",
            "number" => "a number",
            "string" => "a string",
            "boolean" => "true or false",
            _ => "null",
        };
        match self {
            Self::Types(kinds) => {
                let kinds: Vec<_> = kinds.iter().map(|kind| article(kind)).collect();
                f.write_str(&kinds.join(" or "))
            }
            Self::OneOf(values) => {
                let shown: Vec<_> = values.iter().take(20).map(shown_whole).collect();
                let more = if values.len() > 20 { ", .." } else { "" };
                write!(f, "one of {}{more}", shown.join(", "))
            }
            Self::Just(only) => f.write_str(&shown_whole(only)),
        }
    }
}

fn shown_whole(value: &Value) -> String {
    value.to_string()
}

/// A value in short.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
        Value::Null => "null".into(),
        Value::String(text) if text.chars().count() > SHOWN => {
            let short: String = text.chars().take(SHOWN).collect();
            format!("the string {}..", Value::from(short))
        }
        Value::String(_) => format!("the string {value}"),
        other => other.to_string(),
    }
}
