//! The `x-mcp-header` annotations of an input schema.

use std::collections::BTreeSet;
use std::fmt;

use super::{MirroredParam, MirroredType};
use crate::frame::header_value;
use crate::frame::json::{self, Kind, Members};

/// How deep schemas may nest, in JSON containers.
pub const MAX_DEPTH: usize = 128;

/// An annotation that makes its tool unusable over HTTP (R26-HDR-09 to R26-HDR-12, T-47).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidAnnotation {
    /// What is wrong.
    pub fault: AnnotationFault,
    /// Where: the keywords and names that lead there from the schema's root, with `/` between.
    pub at: String,
}

/// What is wrong with an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnnotationFault {
    /// It is an empty string.
    Empty,
    /// It is no HTTP token, or no string at all.
    NotAToken,
    /// The parameter's type is not exactly one of `string`, `integer`, `boolean`.
    Type,
    /// Another annotation has the same name, letter case aside.
    Duplicate,
    /// It cannot be reached from the root through `properties` alone.
    Unreachable,
    /// The schema nests deeper than [`MAX_DEPTH`].
    TooDeep,
}

impl fmt::Display for InvalidAnnotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.fault {
            AnnotationFault::Empty => "is empty",
            AnnotationFault::NotAToken => "is no HTTP token",
            AnnotationFault::Type => "is on a parameter that is no string, integer or boolean",
            AnnotationFault::Duplicate => "repeats the name of another",
            AnnotationFault::Unreachable => "is not on a property of the root or of its properties",
            AnnotationFault::TooDeep => "cannot be looked for: the schema nests too deep",
        };
        write!(f, "x-mcp-header at {:?} {what}", self.at)
    }
}

impl std::error::Error for InvalidAnnotation {}

/// The parameters that a tool's input schema has clients mirror, in the order of the text.
///
/// `schema` is validated JSON. References are not followed: an annotation behind one is
/// unreachable (R26-HDR-11).
///
/// # Errors
/// The first [`InvalidAnnotation`]. A client then leaves the tool out of its list (R26-HDR-12); a
/// server refuses the declaration.
pub fn mirrored_params(schema: &[u8]) -> Result<Vec<MirroredParam>, InvalidAnnotation> {
    let mut search = Search::default();
    search.value(schema, Reach::Properties)?;
    Ok(search.found)
}

const ANNOTATION: &str = "x-mcp-header";

/// How the schema at hand is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// From the root through `properties` alone.
    Properties,
    /// In some other way.
    Other,
}

/// What the value of a keyword holds.
enum Holds {
    /// Schemas by property name, which stay reachable.
    Properties,
    /// Schemas by some name.
    Named,
    /// Plain data, in which nothing is an annotation.
    Data,
    /// A schema, a list of them, or something that has none in it.
    Schemas,
}

fn holds(keyword: &str) -> Holds {
    match keyword {
        "properties" => Holds::Properties,
        "patternProperties" | "$defs" | "definitions" | "dependentSchemas" | "dependencies" => {
            Holds::Named
        }
        "default" | "const" | "enum" | "example" | "examples" => Holds::Data,
        _ => Holds::Schemas,
    }
}

#[derive(Default)]
struct Search {
    /// The keywords and names down to here.
    place: Vec<String>,
    /// The names of properties among them.
    path: Vec<String>,
    /// Names taken, in lower case.
    names: BTreeSet<String>,
    found: Vec<MirroredParam>,
}

impl Search {
    /// A schema, or a list of schemas.
    fn value(&mut self, value: &[u8], reach: Reach) -> Result<(), InvalidAnnotation> {
        match json::kind(value) {
            Kind::Object => self.schema(value, reach),
            Kind::Array => json::elements(value).try_for_each(|element| {
                self.below("[]", |search| search.value(element.of(value), Reach::Other))
            }),
            _ => Ok(()),
        }
    }

    fn schema(&mut self, schema: &[u8], reach: Reach) -> Result<(), InvalidAnnotation> {
        let members = json::members(schema);
        for member in members.iter() {
            let keyword = member.decoded_name(schema);
            let value = member.value.of(schema);
            if keyword == ANNOTATION {
                self.annotation(value, reach, schema, &members)?;
                continue;
            }
            self.below(&keyword, |search| match holds(&keyword) {
                Holds::Properties => search.named(value, reach),
                Holds::Named => search.named(value, Reach::Other),
                Holds::Data => Ok(()),
                Holds::Schemas => search.value(value, Reach::Other),
            })?;
        }
        Ok(())
    }

    /// Schemas by name.
    fn named(&mut self, schemas: &[u8], reach: Reach) -> Result<(), InvalidAnnotation> {
        for member in json::members(schemas).iter() {
            let name = member.decoded_name(schemas);
            self.path.push(name.clone().into_owned());
            self.below(&name, |search| search.value(member.value.of(schemas), reach))?;
            self.path.pop();
        }
        Ok(())
    }

    fn annotation(
        &mut self,
        value: &[u8],
        reach: Reach,
        schema: &[u8],
        members: &Members,
    ) -> Result<(), InvalidAnnotation> {
        if reach == Reach::Other || self.path.is_empty() {
            return Err(self.fault(AnnotationFault::Unreachable));
        }
        let name = json::string(value).ok_or(self.fault(AnnotationFault::NotAToken))?;
        if name.is_empty() {
            return Err(self.fault(AnnotationFault::Empty));
        }
        if !header_value::is_token(&name) {
            return Err(self.fault(AnnotationFault::NotAToken));
        }
        let declared = members.get(schema, "type").and_then(|span| json::string(span.of(schema)));
        let kind = match declared.as_deref() {
            Some("string") => MirroredType::String,
            Some("integer") => MirroredType::Integer,
            Some("boolean") => MirroredType::Boolean,
            _ => return Err(self.fault(AnnotationFault::Type)),
        };
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err(self.fault(AnnotationFault::Duplicate));
        }
        let header = format!("Mcp-Param-{name}");
        self.found.push(MirroredParam { header, path: self.path.clone(), kind });
        Ok(())
    }

    fn below(
        &mut self,
        name: &str,
        search: impl FnOnce(&mut Self) -> Result<(), InvalidAnnotation>,
    ) -> Result<(), InvalidAnnotation> {
        if self.place.len() == MAX_DEPTH {
            return Err(self.fault(AnnotationFault::TooDeep));
        }
        self.place.push(name.to_owned());
        search(self)?;
        self.place.pop();
        Ok(())
    }

    fn fault(&self, fault: AnnotationFault) -> InvalidAnnotation {
        InvalidAnnotation { fault, at: self.place.join("/") }
    }
}
