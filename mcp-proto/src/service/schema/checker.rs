//! Checking values against a schema, with bounded work: schemas and values may be a peer's.

mod steps;

use jsonschema::PatternOptions;
use serde_json::Value;

use self::steps::Steps;
use crate::model::Json;

/// How far one pattern may go back and forth over one text.
const BACKTRACKS: usize = 10_000;

/// A schema that was read once, and checks any number of values.
pub(crate) struct Checker {
    schema: Value,
    compiled: jsonschema::Validator,
}

impl Checker {
    /// The checker of a schema. References that lead out of it are never followed (R26-JSCH-06).
    ///
    /// # Errors
    /// Why it is no schema.
    pub(crate) fn of(schema: &Json) -> Result<Self, String> {
        let schema = super::parse(schema)?;
        let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS);
        let options = jsonschema::options().with_pattern_options(patterns);
        let compiled = options.build(&schema).map_err(|error| error.to_string())?;
        Ok(Self { schema, compiled })
    }

    /// Checks a value.
    ///
    /// # Errors
    /// What does not fit, and where; or that to find out takes too many steps.
    pub(crate) fn check(&self, value: &Json) -> Result<(), String> {
        let value: Value = value.decode().map_err(|error| error.to_string())?;
        Steps::of(&self.schema).count(&value)?;
        self.compiled.validate(&value).map_err(|error| match error.instance_path().as_str() {
            "" => error.to_string(),
            path => format!("`{path}`: {error}"),
        })
    }
}

#[cfg(test)]
mod tests;
