//! URI templates (RFC 6570): what names the resources of a server by pattern (C95).
//!
//! URIs are opaque text here: nothing is normalised (a [`Catalog`](crate::model::Catalog) does that), and a template matches exactly what it could
//! have been expanded to, with two liberties that hand-written URIs need (see
//! [`UriTemplate::matches`]).
//!
//! ```
//! use mcp_proto::frame::uri_template::{UriTemplate, Value};
//!
//! let template = UriTemplate::parse("db://{table}/rows{?limit}")?;
//! let uri = template.expand(|name| match name {
//!     "table" => Some(Value::from("air ports")),
//!     _ => None,
//! })?;
//! assert_eq!(uri, "db://air%20ports/rows");
//! let matched = template.matches("db://air%20ports/rows?limit=5").expect("a match");
//! assert_eq!(matched, [("table", "air ports".to_owned()), ("limit", "5".to_owned())]);
//! assert_eq!(template.matches("db://%2e%2e/rows"), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod expand;
mod matching;
mod parse;

use std::fmt;

pub use expand::{ExpandError, Value};
pub use matching::MAX_URI;
pub use parse::{MAX_TEMPLATE, MAX_VARIABLES};

/// A parsed template, all four levels of RFC 6570.
#[derive(Debug, Clone)]
pub struct UriTemplate {
    source: String,
    parts: Vec<Part>,
    /// The variables whose values may have encoded slashes.
    slashes: Vec<String>,
    program: Result<matching::Program, TemplateError>,
}

impl UriTemplate {
    /// Parses a template of at most [`MAX_TEMPLATE`] bytes with at most [`MAX_VARIABLES`].
    ///
    /// # Errors
    /// [`TemplateError`], with the place, for what RFC 6570 does not allow.
    pub fn parse(template: &str) -> Result<Self, TemplateError> {
        let parts = parse::parse(template)?;
        let program = matching::Program::compile(&parts, &[]);
        Ok(Self { source: template.to_owned(), parts, slashes: Vec::new(), program })
    }

    /// The same template, where the values of these variables may have slashes that are encoded:
    /// `{id}` takes `a%2Fb` then, and gives `a/b`.
    ///
    /// By default no such URI matches, though the template expands to it: a handler that makes a
    /// path of the value would be led out of its folder by a slash that nobody saw in the URI. A
    /// segment `..` matches nothing in any case, so what is left is one folder more: have it so
    /// where the value is a key, or its path is checked. `{+id}` takes slashes that are not encoded.
    #[must_use]
    pub fn with_encoded_slashes<S: Into<String>>(
        mut self,
        variables: impl IntoIterator<Item = S>,
    ) -> Self {
        self.slashes.extend(variables.into_iter().map(Into::into));
        self.program = matching::Program::compile(&self.parts, &self.slashes);
        self
    }

    /// Whether [`matches`](Self::matches) can ever say yes: to be checked once, where a template
    /// is declared for reading resources.
    ///
    /// # Errors
    /// [`TemplateErrorKind::Unmatchable`], with the place, for a variable with a modifier of
    /// level 4 (`{var:3}`, `{list*}`): its values cannot be told from a URI.
    pub fn check_matchable(&self) -> Result<(), TemplateError> {
        self.program.as_ref().map(|_| ()).map_err(|error| *error)
    }

    /// The URI for the values that `lookup` knows; a variable without one leaves nothing.
    ///
    /// # Errors
    /// [`ExpandError`] where a prefix modifier meets a list or pairs.
    pub fn expand<'v>(
        &self,
        lookup: impl Fn(&str) -> Option<Value<'v>>,
    ) -> Result<String, ExpandError> {
        expand::expand(&self.parts, lookup)
    }

    /// The variables of a URI that this template describes, each decoded once, in the order of
    /// the template; `None` where it describes another URI.
    ///
    /// - `{var}`, `{.var}`, `{/var}` and `{;var}` never reach over `/`, `?` or `#`, encoded `/`
    ///   included unless [`with_encoded_slashes`](Self::with_encoded_slashes) says otherwise; `{+var}` and `{#var}` take everything but an encoded `/`; `{?var}` and
    ///   `{&var}` end at `&` or `#`.
    /// - No escape: a URI or value with a segment `..`, encoded or not, matches nothing, nor does
    ///   invalid percent-encoding, encoded text that is not UTF-8, or more than [`MAX_URI`] bytes.
    /// - `{?var}`, `{&var}` and `{;var}` may each be missing; other variables have at least one
    ///   character. A variable that occurs twice has one value.
    /// - Two liberties: characters that an expansion would have encoded may stand as they are
    ///   (`users://{name}` takes `users://jo@x.org`), and hexadecimal digits in values may be of
    ///   either case. Where several readings are possible, earlier variables take the most, but a
    ///   variable ends where parameters that stand right after it begin (`{+path}{?rev}`).
    ///
    /// Time and memory grow with the length of the URI times that of the template, whatever the
    /// two are (CVE-2026-0621).
    pub fn matches(&self, uri: &str) -> Option<Vec<(&str, String)>> {
        self.program.as_ref().ok()?.run(&self.parts, uri)
    }

    /// The template whose expansions are the normal forms of this one's, as far as its own text
    /// decides that: `None` where it is that template itself.
    pub(crate) fn normal(&self) -> Option<Self> {
        let mut text = String::with_capacity(self.source.len());
        let mut rest = self.source.as_str();
        let mut is_normal = true;
        loop {
            let (literal, more) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
            // Only the first piece has a scheme and a host, which an expression may go on with.
            let normal = match text.is_empty() && literal.splitn(4, '/').count() == 4 {
                true => crate::model::normal_uri(literal),
                false => crate::model::normal_text(literal),
            };
            is_normal &= normal == literal;
            text.push_str(&normal);
            let (expression, after) = more.split_at(more.find('}').map_or(more.len(), |at| at + 1));
            text.push_str(expression);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        if is_normal {
            return None;
        }
        Self::parse(&text).ok().map(|normal| normal.with_encoded_slashes(self.slashes.clone()))
    }

    /// The names of the variables, in the order of the template, as often as they occur.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        variables(&self.parts).map(|variable| variable.name.as_str())
    }

    /// The template as it was given.
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

/// Why a template is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TemplateError {
    /// What is wrong.
    pub kind: TemplateErrorKind,
    /// Where, as a byte offset into the template.
    pub at: usize,
}

/// What is wrong with a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemplateErrorKind {
    /// A `{` without its `}`, or the reverse.
    Brace,
    /// A character that must be percent-encoded, or a `%` that encodes nothing.
    Literal,
    /// One of `= , ! @ |`, which RFC 6570 keeps for later.
    Operator,
    /// What stands for a name is none.
    Name,
    /// A prefix length outside 1 to 9999.
    Prefix,
    /// Longer than [`MAX_TEMPLATE`].
    TooLong,
    /// More variables than [`MAX_VARIABLES`].
    TooManyVariables,
    /// A modifier of level 4, whose values cannot be told from a URI.
    Unmatchable,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            TemplateErrorKind::Brace => "an unpaired brace",
            TemplateErrorKind::Literal => "a character that must be percent-encoded",
            TemplateErrorKind::Operator => "an operator that is reserved",
            TemplateErrorKind::Name => "an invalid variable name",
            TemplateErrorKind::Prefix => "a prefix length that is not 1 to 9999",
            TemplateErrorKind::TooLong => "more text than a template may have",
            TemplateErrorKind::TooManyVariables => "more variables than a template may have",
            TemplateErrorKind::Unmatchable => "a modifier that no URI can be matched against",
        };
        write!(f, "the URI template has {what} (byte {})", self.at)
    }
}

impl std::error::Error for TemplateError {}

/// A piece of a template.
#[derive(Debug, Clone)]
enum Part {
    /// Text as it stands in a URI: what is not ASCII is percent-encoded.
    Literal(String),
    Expression {
        operator: &'static Operator,
        variables: Vec<Variable>,
    },
}

#[derive(Debug, Clone)]
struct Variable {
    name: String,
    modifier: Modifier,
    /// Where it stands in the template.
    at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Modifier {
    None,
    /// So many characters of the value.
    Prefix(usize),
    Explode,
}

/// One row of the table in RFC 6570, appendix A, with what matching adds.
#[derive(Debug)]
struct Operator {
    symbol: Option<char>,
    /// What opens an expansion.
    first: &'static str,
    separator: &'static str,
    /// Values come with their names.
    named: bool,
    /// What follows the name of an empty value.
    if_empty: &'static str,
    /// Reserved characters and percent-encoded ones are copied as they are.
    reserved: bool,
    /// Matching: what a value cannot have as itself.
    stops: &'static [u8],
    /// Matching: whether a value can have an encoded `/`.
    encoded_slash: bool,
}

const SIMPLE: Operator = Operator {
    symbol: None,
    first: "",
    separator: ",",
    named: false,
    if_empty: "",
    reserved: false,
    stops: b"/?#",
    encoded_slash: false,
};

const QUERY: Operator = Operator {
    symbol: Some('?'),
    first: "?",
    separator: "&",
    named: true,
    if_empty: "=",
    reserved: false,
    stops: b"&#",
    encoded_slash: true,
};

const RESERVED: Operator = Operator { symbol: Some('+'), reserved: true, stops: b"", ..SIMPLE };

static OPERATORS: [Operator; 8] = [
    SIMPLE,
    RESERVED,
    Operator { symbol: Some('#'), first: "#", ..RESERVED },
    Operator { symbol: Some('.'), first: ".", separator: ".", ..SIMPLE },
    Operator { symbol: Some('/'), first: "/", separator: "/", ..SIMPLE },
    Operator {
        symbol: Some(';'),
        first: ";",
        separator: ";",
        named: true,
        stops: b"/?#;",
        ..SIMPLE
    },
    QUERY,
    Operator { symbol: Some('&'), first: "&", ..QUERY },
];

fn variables(parts: &[Part]) -> impl Iterator<Item = &Variable> {
    parts.iter().flat_map(|part| match part {
        Part::Literal(_) => &[],
        Part::Expression { variables, .. } => variables.as_slice(),
    })
}

#[cfg(test)]
mod tests;
