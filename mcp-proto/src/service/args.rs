//! Arguments to values, and errors that say which argument was wrong.

mod faults;

use core::fmt;

use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::model::json_decode;
use crate::model::{Call, Failure, FailureKind, Json, texts};

/// The arguments of a tool with that schema. What does not fit is for the model to put right, all of
/// it at once (R26-TOOL-06).
pub(crate) fn of_tool<T: DeserializeOwned>(
    call: &Call,
    schema: Option<&Json>,
) -> Result<T, Failure> {
    let text = call.arguments().map_or(&b"{}"[..], Json::as_bytes);
    json_decode(text).map_err(|_| {
        let tool = call.target().unwrap_or_default();
        let failure = |why: &str| {
            let message = format!("invalid arguments for the tool `{tool}`: {why}");
            Failure::new(FailureKind::InvalidArguments, message)
        };
        if let Some(faults) = schema.and_then(|schema| by_schema(schema, text)) {
            return failure(&faults);
        }
        // The schema has nothing against it. What failed is decoded again, with a memory for where.
        let mut decoder = serde_json::Deserializer::from_slice(text);
        let message = match serde_path_to_error::deserialize::<_, T>(&mut decoder) {
            Ok(_) => "they could not be read".to_owned(),
            Err(error) => {
                let (path, error) = (error.path().to_string(), error.into_inner().to_string());
                // The position means nothing to who wrote a value, not a text.
                let error = plain(error.split(" at line ").next().unwrap_or_default());
                if path == "." { error } else { format!("`{path}`: {error}") }
            }
        };
        failure(&message)
    })
}

/// Everything that a schema has against arguments; `None` where that is nothing.
pub(crate) fn by_schema(schema: &Json, arguments: &[u8]) -> Option<String> {
    let arguments = serde_json::from_slice(arguments).ok()?;
    let faults = faults::of(&schema.decode().ok()?, &arguments);
    (!faults.is_empty()).then(|| faults.join("; "))
}

/// An error of `serde`'s in JSON's words.
fn plain(error: &str) -> String {
    const WORDS: [(&str, &str); 18] = [
        ("expected u8", "expected an integer from 0 to 255"),
        ("expected u16", "expected an integer from 0 to 65535"),
        ("expected u32", "expected an integer from 0 to 4294967295"),
        ("expected u64", "expected an integer, not negative"),
        ("expected u128", "expected an integer, not negative"),
        ("expected usize", "expected an integer, not negative"),
        ("expected i8", "expected an integer from -128 to 127"),
        ("expected i16", "expected an integer from -32768 to 32767"),
        ("expected i32", "expected an integer from -2147483648 to 2147483647"),
        ("expected i64", "expected an integer"),
        ("expected i128", "expected an integer"),
        ("expected isize", "expected an integer"),
        ("expected f32", "expected a number"),
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected an array"),
        ("expected a map", "expected an object"),
        ("floating point `", "the number `"),
        ("missing field `", "missing member `"),
    ];
    let found = WORDS.iter().find(|(rust, _)| match error.find(rust) {
        Some(at) => {
            !error[at + rust.len()..].starts_with(|next: char| next.is_ascii_alphanumeric())
        }
        None => false,
    });
    let mut plain = error.to_owned();
    for (rust, json) in WORDS.iter().filter(|(rust, _)| rust.ends_with('`')).chain(found) {
        plain = plain.replace(rust, json);
    }
    plain
}

/// The parameters of an extension's method.
pub(crate) fn of_method<T: DeserializeOwned>(call: &Call) -> Result<T, Failure> {
    let text = call.params().map_or(&b"{}"[..], Json::as_bytes);
    json_decode(text).map_err(|error| {
        let message = format!("invalid parameters: {error}");
        Failure::new(FailureKind::InvalidParams, message)
    })
}

/// The arguments of a prompt: an object of strings (R24-PRMT-03).
pub(crate) fn of_prompt<T: DeserializeOwned>(call: &Call) -> Result<T, Failure> {
    of_strings("argument", &strings(call)?)
}

/// The variables of a resource template.
pub(crate) fn of_variables<T: DeserializeOwned>(
    variables: &[(String, String)],
) -> Result<T, Failure> {
    of_strings("variable", variables)
}

/// The arguments of a prompt as text, unescaped; what is null is not there.
pub(crate) fn strings(call: &Call) -> Result<Vec<(String, String)>, Failure> {
    let object = call.arguments().map_or(&b"{}"[..], Json::as_bytes);
    texts(object).map_err(|name| {
        let message = format!("the argument `{name}` of a prompt must be a string");
        Failure::new(FailureKind::InvalidParams, message)
    })
}

fn of_strings<T: DeserializeOwned>(what: &str, pairs: &[(String, String)]) -> Result<T, Failure> {
    let pairs = pairs.iter().map(|(name, value)| (name.as_str(), Argument { name, value }));
    T::deserialize(MapDeserializer::new(pairs)).map_err(|error: Misfit| {
        Failure::new(FailureKind::InvalidParams, format!("invalid {what}s: {error}"))
    })
}

/// A string that stands for a value of any type that can be written in one word.
struct Argument<'a> {
    name: &'a str,
    value: &'a str,
}

impl Argument<'_> {
    fn misfit(&self, wanted: &str) -> Misfit {
        Misfit(format!("`{}` is `{}`, where {wanted} is wanted", self.name, self.value))
    }
}

impl<'a, 'de> IntoDeserializer<'de, Misfit> for Argument<'a> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $wanted:literal)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            match self.value.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => Err(self.misfit($wanted)),
            }
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Argument<'_> {
    type Error = Misfit;

    parsed! {
        deserialize_bool visit_bool "`true` or `false`"
        deserialize_i8 visit_i8 "an integer"
        deserialize_i16 visit_i16 "an integer"
        deserialize_i32 visit_i32 "an integer"
        deserialize_i64 visit_i64 "an integer"
        deserialize_i128 visit_i128 "an integer"
        deserialize_u8 visit_u8 "a small integer, not negative,"
        deserialize_u16 visit_u16 "a small integer, not negative,"
        deserialize_u32 visit_u32 "an integer, not negative,"
        deserialize_u64 visit_u64 "an integer, not negative,"
        deserialize_u128 visit_u128 "an integer, not negative,"
        deserialize_f32 visit_f32 "a number"
        deserialize_f64 visit_f64 "a number"
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let named = self.name;
        visitor.visit_str(self.value).map_err(|Misfit(error)| Misfit(format!("`{named}`: {error}")))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        if !variants.contains(&self.value) {
            return Err(self.misfit(&format!("one of {}", variants.join(", "))));
        }
        visitor.visit_enum(self.value.into_deserializer())
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// Why strings do not make a value.
#[derive(Debug)]
struct Misfit(String);

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Misfit {}

impl de::Error for Misfit {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

#[cfg(test)]
mod tests;
