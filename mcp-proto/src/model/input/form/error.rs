//! Why a JSON Schema is no form.

use core::fmt;

/// A JSON Schema is no form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormError {
    /// The field that is at fault; `None` is the schema itself.
    pub field: Option<String>,
    /// What is wrong with it.
    pub kind: FormErrorKind,
}

/// What is wrong with a form's schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FormErrorKind {
    /// The schema is no object with `type: "object"` and `properties`.
    NotAForm,
    /// A member occurs twice.
    Repeated,
    /// A field's schema is no object.
    NotASchema,
    /// A field has no `type`.
    NoType,
    /// A field has several types, or `null`.
    ManyTypes,
    /// A field is an object, or an array of something else than options.
    Nested,
    /// A type that forms do not have.
    UnknownType,
    /// A keyword that composes or refers to schemas.
    Composed,
    /// A format that forms do not have.
    UnknownFormat,
    /// Options that are not strings, or none.
    Options,
    /// Options without titles in the form that is for titles.
    Untitled,
    /// An option of `oneOf` occurs twice: JSON Schema lets nobody choose it.
    RepeatedOption,
    /// A limit that is not the number which it must be.
    Limit,
    /// A default that does not fit its own field.
    Default,
    /// `required` is no list of strings.
    Required,
    /// `required` names a field that is not there.
    RequiredUnknown,
}

impl FormErrorKind {
    /// What is wrong, and how to write it instead.
    pub const fn fix(self) -> &'static str {
        match self {
            Self::NotAForm => {
                "a form is an object with `type: \"object\"` and an object `properties`"
            }
            Self::Repeated => "a member occurs twice; name each once",
            Self::NotASchema => "the schema of a field is an object with a `type`",
            Self::NoType => {
                "a `type` is missing; give `string`, `number`, `integer`, `boolean` or `array`"
            }
            Self::ManyTypes => {
                "a field has one type; to make it optional, leave it out of `required`"
            }
            Self::Nested => {
                "forms are flat; give each value a field of its own \
                 (an array may only hold options: `items.enum` or `items.anyOf`)"
            }
            Self::UnknownType => {
                "the type must be `string`, `number`, `integer`, `boolean`, or `array` of options"
            }
            Self::Composed => {
                "clients do not compose schemas; write the field out without `$ref`, `allOf`, \
                 `not`, `if`, `const` and the like"
            }
            Self::UnknownFormat => "the format must be `email`, `uri`, `date` or `date-time`",
            Self::Options => "options are a list of at least one string, and belong to strings",
            Self::Untitled => {
                "options with titles are objects of two strings, `const` and `title`; \
                 without titles, use `enum`"
            }
            Self::RepeatedOption => "an option of `oneOf` occurs twice; name each once",
            Self::Limit => {
                "lengths and counts are integers that are not negative, bounds are numbers"
            }
            Self::Default => "the default must itself fit the field",
            Self::Required => "`required` is a list of strings",
            Self::RequiredUnknown => "`required` names a field that `properties` does not have",
        }
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "form field `{field:.200}`: {}", self.kind.fix()),
            None => f.write_str(self.kind.fix()),
        }
    }
}

impl core::error::Error for FormError {}
