//! How many steps it takes at most to check a value against a schema.
//!
//! A validator looks at a value once for each subschema that applies to it, and a subschema that
//! several others refer to is applied for each of them. So a few lines can ask for more steps than
//! there is time. They are counted before they are made: each subschema and each part of the value
//! is looked at once, however often the two meet.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The most steps that are made.
const MOST: u64 = 1_000_000;

/// How many pairs of a subschema and a part of the value are looked at to count them.
const MOST_PAIRS: usize = 100_000;

/// How deeply subschemas may lead to each other.
const MOST_DEPTH: usize = 256;

/// Counts the steps of one check.
pub(super) struct Steps<'a> {
    root: &'a Value,
    /// By where they are in memory, which is what they are: neither moves meanwhile.
    counted: HashMap<(*const Value, *const Value), Count>,
    named: Option<Named<'a>>,
}

/// The subschemas that have a name of their own.
type Named<'a> = HashMap<&'a str, Vec<&'a Value>>;

#[derive(Clone, Copy)]
enum Count {
    /// It leads to itself.
    UnderWay,
    Known(u64),
}

impl<'a> Steps<'a> {
    pub(super) fn of(root: &'a Value) -> Self {
        Self { root, counted: HashMap::new(), named: None }
    }

    /// Whether a check takes no more steps than are made.
    ///
    /// # Errors
    /// That it takes too many.
    pub(super) fn count(mut self, value: &'a Value) -> Result<(), String> {
        match self.steps(self.root, value, 0)? {
            steps if steps <= MOST => Ok(()),
            _ => Err(format!("to check the value takes more than {MOST} steps")),
        }
    }

    fn steps(&mut self, schema: &'a Value, value: &'a Value, depth: usize) -> Result<u64, String> {
        let Value::Object(keywords) = schema else { return Ok(1) };
        let pair = (core::ptr::from_ref(schema), core::ptr::from_ref(value));
        match self.counted.get(&pair) {
            Some(Count::Known(steps)) => return Ok(*steps),
            Some(Count::UnderWay) => return Err("the schema refers to itself without end".into()),
            None => {}
        }
        if depth > MOST_DEPTH {
            return Err(format!("the schema nests more than {MOST_DEPTH} levels deep"));
        }
        if self.counted.len() >= MOST_PAIRS {
            return Err(format!("the schema and the value have more than {MOST_PAIRS} parts"));
        }
        self.counted.insert(pair, Count::UnderWay);
        let (mut here, mut below) = (1 + keywords.len() as u64, 0_u64);
        for (keyword, argument) in keywords {
            let (in_place, inside) = self.applied(keywords, keyword, argument, value, depth + 1)?;
            here = here.saturating_add(in_place);
            below = below.saturating_add(inside);
        }
        // What was evaluated is found out by evaluating it once more.
        let again = ["unevaluatedProperties", "unevaluatedItems"];
        if again.iter().any(|keyword| keywords.contains_key(*keyword)) {
            here = here.saturating_mul(2);
            below = below.saturating_mul(2);
        }
        let steps = here.saturating_add(below);
        self.counted.insert(pair, Count::Known(steps));
        Ok(steps)
    }

    /// The steps of what a keyword applies to the value itself, and to what is inside of it.
    fn applied(
        &mut self,
        keywords: &'a Map<String, Value>,
        keyword: &'a str,
        argument: &'a Value,
        value: &'a Value,
        depth: usize,
    ) -> Result<(u64, u64), String> {
        let (mut here, mut inside) = (0_u64, 0_u64);
        match (keyword, argument, value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference), _) => {
                for target in self.resolve(reference) {
                    here = here.saturating_add(self.steps(target, value, depth)?);
                }
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(all), _) => {
                for schema in all {
                    here = here.saturating_add(self.steps(schema, value, depth)?);
                }
            }
            ("not" | "if" | "then" | "else", schema, _) => {
                here = self.steps(schema, value, depth)?;
            }
            ("dependentSchemas" | "dependencies", Value::Object(all), _) => {
                for schema in all.values() {
                    here = here.saturating_add(self.steps(schema, value, depth)?);
                }
            }
            ("properties", Value::Object(all), Value::Object(members)) => {
                for (name, schema) in all {
                    if let Some(member) = members.get(name) {
                        inside = inside.saturating_add(self.steps(schema, member, depth)?);
                    }
                }
            }
            ("patternProperties", Value::Object(all), Value::Object(members)) => {
                for schema in all.values() {
                    for member in members.values() {
                        inside = inside.saturating_add(self.steps(schema, member, depth)?);
                    }
                }
            }
            ("additionalProperties" | "unevaluatedProperties", schema, Value::Object(members)) => {
                let known = keywords.get("properties").and_then(Value::as_object);
                let is_known = |name: &String| known.is_some_and(|it| it.contains_key(name));
                for (_, member) in members.iter().filter(|(name, _)| !is_known(name)) {
                    inside = inside.saturating_add(self.steps(schema, member, depth)?);
                }
            }
            ("propertyNames", _, Value::Object(members)) => inside = members.len() as u64,
            ("prefixItems" | "items", Value::Array(all), Value::Array(items)) => {
                for (schema, item) in all.iter().zip(items) {
                    inside = inside.saturating_add(self.steps(schema, item, depth)?);
                }
            }
            (
                "items" | "additionalItems" | "unevaluatedItems" | "contains",
                schema,
                Value::Array(items),
            ) => {
                for item in items {
                    inside = inside.saturating_add(self.steps(schema, item, depth)?);
                }
            }
            ("enum", Value::Array(all), _) => here = all.len() as u64,
            ("uniqueItems", _, Value::Array(items)) => here = items.len() as u64,
            _ => {}
        }
        Ok((here, inside))
    }

    /// What a reference may lead to. Where it leads out of the schema it is not followed.
    fn resolve(&mut self, reference: &str) -> Vec<&'a Value> {
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let root = self.root;
        let base = match resource {
            "" => vec![root],
            resource => self.named().get(resource).cloned().unwrap_or_default(),
        };
        match fragment {
            "" => base,
            pointer if pointer.starts_with('/') => {
                let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
                base.into_iter().filter_map(|base| base.pointer(&pointer)).collect()
            }
            anchor => self.named().get(anchor).cloned().unwrap_or_default(),
        }
    }

    fn named(&mut self) -> &Named<'a> {
        let root = self.root;
        self.named.get_or_insert_with(|| {
            let mut named = Named::new();
            name_all(root, &mut named, 0);
            named
        })
    }
}

fn name_all<'a>(schema: &'a Value, named: &mut Named<'a>, depth: usize) {
    if depth > MOST_DEPTH {
        return;
    }
    if let Value::Object(keywords) = schema {
        for keyword in ["$id", "$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(name)) = keywords.get(keyword) {
                named.entry(name.trim_end_matches('#')).or_default().push(schema);
            }
        }
    }
    let parts: Box<dyn Iterator<Item = &Value>> = match schema {
        Value::Object(members) => Box::new(members.values()),
        Value::Array(items) => Box::new(items.iter()),
        _ => return,
    };
    parts.for_each(|part| name_all(part, named, depth + 1));
}
