//! One field of a form.

use core::ops::RangeInclusive;

use super::super::Json;
use crate::frame::json::write_string;
use crate::frame::writer::Object;

/// A field of a form, required unless it is made [`optional`](Self::optional).
///
/// ```
/// use mcp_proto::model::{Field, Format};
///
/// Field::text("email").title("Your address").format(Format::Email).optional();
/// Field::integer("age").range(18.0, 120.0);
/// Field::choice("plan", ["free", "paid"]).default("free");
/// Field::choices("days", [("mon", "Monday"), ("tue", "Tuesday")]).count(1..=2);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// The member of the answer's content.
    pub name: String,
    /// What may be filled in.
    pub kind: FieldKind,
    /// An answer must have it.
    pub required: bool,
    /// The field's name for people.
    pub title: Option<String>,
    /// What it means.
    pub description: Option<String>,
    /// What the client fills in beforehand (R2511-ELIC-08).
    pub default: Option<Json>,
}

/// What may be filled into a field (R2511-ELIC-07).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldKind {
    /// A string.
    Text {
        /// The fewest characters.
        min_length: Option<u64>,
        /// The most characters.
        max_length: Option<u64>,
        /// What the string must be.
        format: Option<Format>,
    },
    /// A number.
    Number {
        /// Only integers.
        integer: bool,
        /// The least.
        minimum: Option<f64>,
        /// The greatest.
        maximum: Option<f64>,
    },
    /// Yes or no.
    Boolean,
    /// One of some strings.
    Choice {
        /// The strings.
        options: Vec<Choice>,
    },
    /// Several of some strings.
    Choices {
        /// The strings.
        options: Vec<Choice>,
        /// The fewest.
        min_items: Option<u64>,
        /// The most.
        max_items: Option<u64>,
        /// None of them twice.
        unique: bool,
    },
}

/// One option of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// What is answered.
    pub value: String,
    /// What people read in its place.
    pub title: Option<String>,
}

/// What a string must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// An e-mail address.
    Email,
    /// An absolute URI.
    Uri,
    /// A date as `2026-07-28`.
    Date,
    /// A date and time with an offset as `2026-07-28T12:00:00Z`.
    DateTime,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Email, Self::Uri, Self::Date, Self::DateTime];

    /// The format's name in JSON Schema.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }
}

impl From<&str> for Choice {
    fn from(value: &str) -> Self {
        Self { value: value.into(), title: None }
    }
}

impl From<String> for Choice {
    fn from(value: String) -> Self {
        Self { value, title: None }
    }
}

impl<V: Into<String>, T: Into<String>> From<(V, T)> for Choice {
    fn from((value, title): (V, T)) -> Self {
        Self { value: value.into(), title: Some(title.into()) }
    }
}

impl Field {
    /// A string.
    pub fn text(name: impl Into<String>) -> Self {
        Self::new(name, FieldKind::Text { min_length: None, max_length: None, format: None })
    }

    /// A number.
    pub fn number(name: impl Into<String>) -> Self {
        Self::new(name, FieldKind::Number { integer: false, minimum: None, maximum: None })
    }

    /// An integer.
    pub fn integer(name: impl Into<String>) -> Self {
        Self::new(name, FieldKind::Number { integer: true, minimum: None, maximum: None })
    }

    /// Yes or no.
    pub fn boolean(name: impl Into<String>) -> Self {
        Self::new(name, FieldKind::Boolean)
    }

    /// One of some strings.
    pub fn choice(
        name: impl Into<String>,
        options: impl IntoIterator<Item = impl Into<Choice>>,
    ) -> Self {
        let options = options.into_iter().map(Into::into).collect();
        Self::new(name, FieldKind::Choice { options })
    }

    /// Several of some strings.
    pub fn choices(
        name: impl Into<String>,
        options: impl IntoIterator<Item = impl Into<Choice>>,
    ) -> Self {
        let options = options.into_iter().map(Into::into).collect();
        let kind = FieldKind::Choices { options, min_items: None, max_items: None, unique: false };
        Self::new(name, kind)
    }

    pub(super) fn new(name: impl Into<String>, kind: FieldKind) -> Self {
        Self {
            name: name.into(),
            kind,
            required: true,
            title: None,
            description: None,
            default: None,
        }
    }

    /// The field may be left out.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// The field's name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What the field means.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// What the client fills in beforehand.
    #[must_use]
    pub fn default(mut self, value: impl Into<serde_json::Value>) -> Self {
        self.default = Some(Json::from(value.into()));
        self
    }

    /// How many characters a string has. Fields of other types have no length.
    #[must_use]
    pub fn length(mut self, range: RangeInclusive<u64>) -> Self {
        if let FieldKind::Text { min_length, max_length, .. } = &mut self.kind {
            (*min_length, *max_length) = (Some(*range.start()), Some(*range.end()));
        }
        self
    }

    /// What a string must be. Fields of other types have no format.
    #[must_use]
    pub fn format(mut self, what: Format) -> Self {
        if let FieldKind::Text { format, .. } = &mut self.kind {
            *format = Some(what);
        }
        self
    }

    /// Between what a number is. A bound that is not finite bounds nothing, and fields of other
    /// types have no bounds.
    #[must_use]
    pub fn range(mut self, least: f64, greatest: f64) -> Self {
        if let FieldKind::Number { minimum, maximum, .. } = &mut self.kind {
            let bound = |value: f64| Some(value).filter(|value| value.is_finite());
            (*minimum, *maximum) = (bound(least), bound(greatest));
        }
        self
    }

    /// How many options are chosen. Fields of other types have no count.
    #[must_use]
    pub fn count(mut self, range: RangeInclusive<u64>) -> Self {
        if let FieldKind::Choices { min_items, max_items, .. } = &mut self.kind {
            (*min_items, *max_items) = (Some(*range.start()), Some(*range.end()));
        }
        self
    }

    /// Appends the field's schema.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut object = Object::begin(out);
        let number_if = |object: &mut Object<'_>, name, value: Option<u64>| {
            if let Some(value) = value {
                object.number(name, value);
            }
        };
        object.string("type", self.kind.json_type());
        object.string_if("title", self.title.as_deref());
        object.string_if("description", self.description.as_deref());
        match &self.kind {
            FieldKind::Text { min_length, max_length, format } => {
                number_if(&mut object, "minLength", *min_length);
                number_if(&mut object, "maxLength", *max_length);
                object.string_if("format", format.map(Format::as_str));
            }
            FieldKind::Number { minimum, maximum, .. } => {
                for (name, bound) in [("minimum", minimum), ("maximum", maximum)] {
                    if let Some(bound) = bound {
                        object.float(name, *bound);
                    }
                }
            }
            FieldKind::Boolean => {}
            FieldKind::Choice { options } => write_options(&mut object, options, "oneOf"),
            FieldKind::Choices { options, min_items, max_items, unique } => {
                number_if(&mut object, "minItems", *min_items);
                number_if(&mut object, "maxItems", *max_items);
                if *unique {
                    object.boolean("uniqueItems", true);
                }
                object.object("items", |items| {
                    if !titled(options) {
                        items.string("type", "string");
                    }
                    write_options(items, options, "anyOf");
                });
            }
        }
        object.raw_if("default", self.default.as_ref().map(Json::as_bytes));
        object.end();
    }
}

impl FieldKind {
    /// The type in JSON Schema.
    pub(super) const fn json_type(&self) -> &'static str {
        match self {
            Self::Text { .. } | Self::Choice { .. } => "string",
            Self::Number { integer: true, .. } => "integer",
            Self::Number { integer: false, .. } => "number",
            Self::Boolean => "boolean",
            Self::Choices { .. } => "array",
        }
    }
}

/// Options with titles are spelled as such as soon as one of them has one.
fn titled(options: &[Choice]) -> bool {
    options.iter().any(|option| option.title.is_some())
}

fn write_options(object: &mut Object<'_>, options: &[Choice], titles: &str) {
    if titled(options) {
        object.array(titles, options, |option, out| {
            let mut object = Object::begin(out);
            object.string("const", &option.value);
            object.string("title", option.title.as_deref().unwrap_or(&option.value));
            object.end();
        });
    } else {
        object.array("enum", options, |option, out| write_string(out, &option.value));
    }
}
