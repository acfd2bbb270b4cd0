//! The schema of a form: flat, and restricted to what every client can show.

mod derived;
mod error;
mod project;
mod read;

pub use error::{FormError, FormErrorKind};

use super::{BadAnswer, Field, InputFields, Misfit, Unaskable, judge};
use crate::frame::json::{self, write_string};
use crate::frame::writer::Object;
use crate::model::Json;
use crate::model::view::View;

/// The schema of a form: an object of fields that are strings, numbers, booleans, or options
/// (R2506-ELIC-07, R2511-ELIC-07).
///
/// The text is kept as it was given: unknown members and the order of everything survive (C97). A
/// keyword that nobody may rely on here, such as `pattern` (T-69), is passed on and not judged.
#[derive(Clone, Debug)]
pub struct FormSchema {
    text: Json,
    fields: Vec<Field>,
    closed: bool,
}

/// Two schemas are equal when their texts are.
impl PartialEq for FormSchema {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// A form without fields: all that can be said is yes or no.
impl Default for FormSchema {
    fn default() -> Self {
        Self::new([])
    }
}

impl FormSchema {
    /// A form of these fields. Of two with one name the later one counts.
    pub fn new(fields: impl IntoIterator<Item = Field>) -> Self {
        let mut unique: Vec<Field> = Vec::new();
        for field in fields {
            match unique.iter_mut().find(|known| known.name == field.name) {
                Some(known) => *known = field,
                None => unique.push(field),
            }
        }
        Self { text: Self::written(&unique), fields: unique, closed: false }
    }

    /// Checks and takes a JSON Schema.
    ///
    /// # Errors
    /// Where it is not such a form; the error names the field and tells the fix.
    pub fn from_json(schema: Json) -> Result<Self, FormError> {
        read::read(schema)
    }

    /// Takes the JSON Schema that a type derives, written as a form where it says the same in
    /// other words: definitions are put in place, `null` beside a type is dropped (the field is
    /// optional), so are formats that forms do not have, and variants become options. The order
    /// stays.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json), for what is no form in any words.
    pub fn from_type_schema(schema: &Json) -> Result<Self, FormError> {
        Self::from_json(derived::rewritten(schema))
    }

    /// The same form with one more field, written anew from its fields.
    pub(super) fn with(mut self, field: Field) -> Self {
        self.fields.push(field);
        Self::new(self.fields)
    }

    /// The schema's text.
    pub fn as_json(&self) -> &Json {
        &self.text
    }

    /// The fields, in the order of the text.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The content of an answer that leaves every default as it is (R2511-ELIC-08).
    pub fn defaults(&self) -> Json {
        let mut out = Vec::new();
        let mut object = Object::begin(&mut out);
        for field in &self.fields {
            object.raw_if(&field.name, field.default.as_ref().map(Json::as_bytes));
        }
        object.end();
        Json::scanned(out.into())
    }

    /// Judges the content of an accepted answer (R2506-ELIC-11); `None` is an answer without one,
    /// which fits where no field is required (C97). Members that were not asked for are let through
    /// unless the schema has `additionalProperties: false`.
    ///
    /// # Errors
    /// The first field that does not fit.
    pub fn judge(&self, content: Option<&Json>) -> Result<(), BadAnswer> {
        self.fits(content.map(Json::as_bytes))
    }

    /// As [`judge`](Self::judge), of a validated text.
    pub(in crate::model) fn fits(&self, content: Option<&[u8]>) -> Result<(), BadAnswer> {
        let misfit = |name: &str, why| BadAnswer::Field { name: name.into(), why };
        let view = View::of(content.unwrap_or(b"{}")).ok_or(BadAnswer::NotAnObject)?;
        for field in &self.fields {
            match view.get(&field.name) {
                Some(value) => {
                    judge::judge(&field.kind, value).map_err(|why| misfit(&field.name, why))?;
                }
                None if field.required => return Err(misfit(&field.name, Misfit::Missing)),
                None => {}
            }
        }
        let asked = |name: &str| self.fields.iter().any(|field| field.name == name);
        match view.iter().find(|(name, _)| self.closed && !asked(name)) {
            Some((name, _)) => Err(misfit(&name, Misfit::Unasked)),
            None => Ok(()),
        }
    }

    /// Whether a revision can show the form, and the form is one.
    pub(super) fn check(&self, fields: &InputFields) -> Result<(), Unaskable> {
        // Forms made of fields can have options without strings, or defaults that do not fit.
        read::read(self.text.clone()).map_err(Unaskable::Form)?;
        project::check(self, fields)
    }

    /// Appends the schema as a revision can say it.
    pub(super) fn write(&self, fields: &InputFields, out: &mut Vec<u8>) {
        project::write(self, fields, out);
    }

    fn written(fields: &[Field]) -> Json {
        let mut out = Vec::new();
        let mut object = Object::begin(&mut out);
        object.string("type", "object");
        object.object("properties", |properties| {
            for field in fields {
                field.write(properties.value(&field.name));
            }
        });
        if fields.iter().any(|field| field.required) {
            let required = fields.iter().filter(|field| field.required);
            object.array("required", required, |field, out| write_string(out, &field.name));
        }
        object.end();
        Json::scanned(out.into())
    }
}

impl From<&FormSchema> for Json {
    fn from(schema: &FormSchema) -> Self {
        schema.text.clone()
    }
}

/// Whether a form's property is the schema of a boolean.
fn is_boolean(property: &View<'_>) -> bool {
    property.get("type").and_then(json::string).is_some_and(|kind| kind == "boolean")
}
