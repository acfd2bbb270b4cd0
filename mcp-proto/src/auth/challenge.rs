//! `WWW-Authenticate`: reading it as a client, writing it as a server (RFC 9110, section 11.6.1).

mod parse;

use core::fmt;

pub use parse::parse;

/// One challenge of a `WWW-Authenticate` field: a scheme, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    scheme: String,
    content: Content,
}

/// What follows a scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Params(Vec<(String, String)>),
    Token68(String),
}

impl Challenge {
    /// The scheme, in lower case.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Names, in lower case, and values of the parameters, in their order. No name occurs twice.
    pub fn params(&self) -> impl Iterator<Item = (&str, &str)> {
        let params = match &self.content {
            Content::Params(params) => params.as_slice(),
            Content::Token68(_) => &[],
        };
        params.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of the parameter `name`, which is to be given in lower case.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params().find_map(|(own, value)| (own == name).then_some(value))
    }

    /// What some schemes have instead of parameters.
    pub fn token68(&self) -> Option<&str> {
        match &self.content {
            Content::Params(_) => None,
            Content::Token68(text) => Some(text),
        }
    }
}

/// Why a field is no list of challenges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidChallenge {
    /// Not the grammar; the number is the first byte that does not fit.
    Syntax(usize),
    /// A parameter occurs twice in one challenge, so nobody can say which counts; the number is
    /// where the second begins.
    Duplicate(usize),
    /// A challenge has more than [`MAX_PARAMS`] parameters.
    TooManyParams,
}

impl fmt::Display for InvalidChallenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(at) => write!(f, "WWW-Authenticate is malformed at byte {at}"),
            Self::Duplicate(at) => write!(f, "WWW-Authenticate repeats a parameter at byte {at}"),
            Self::TooManyParams => f.write_str("a challenge has too many parameters"),
        }
    }
}

impl core::error::Error for InvalidChallenge {}

/// How many parameters a challenge may have; those in use have eight at most.
pub const MAX_PARAMS: usize = 32;

/// What a client takes from a `Bearer` challenge (RFC 6750, section 3; RFC 9728, section 5.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bearer {
    /// Where the resource's metadata are: an `http` or `https` URL, as it was sent. It is the
    /// peer's word: whoever fetches it checks where it leads (C106).
    pub resource_metadata: Option<String>,
    /// The scopes that would do, separated by spaces (R2511-AFLOW-09).
    pub scope: Option<String>,
    /// Why the token was refused: `invalid_token`, `insufficient_scope`, `invalid_request`.
    pub error: Option<String>,
    /// The same for a developer.
    pub error_description: Option<String>,
}

impl Bearer {
    /// The first `Bearer` challenge of a response's `WWW-Authenticate` fields (R2506-AUTH-15).
    /// A field that is not well-formed is passed over, like one of another scheme: the
    /// well-known URI remains (R2511-AUTH-16).
    pub fn find<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        let challenges = fields.into_iter().filter_map(|field| parse(field).ok()).flatten();
        let challenge = { challenges }.find(|challenge| challenge.scheme() == "bearer")?;
        let param = |name| challenge.param(name).map(str::to_owned);
        Some(Self {
            resource_metadata: param("resource_metadata").filter(|url| is_http_url(url)),
            scope: param("scope"),
            error: param("error"),
            error_description: param("error_description"),
        })
    }
}

/// Whether the text can be the URL of a document: `http` or `https`, a host without user
/// information, and only visible ASCII.
fn is_http_url(text: &str) -> bool {
    super::resource::split(text).is_some_and(|parts| !parts.authority.contains('@'))
}

/// A `Bearer` challenge with these parameters, of which there is at least one. Values are quoted:
/// `"` and `\` are escaped, and a control or a character outside ASCII becomes `?`, so no value
/// can end the field or begin another parameter.
pub(super) fn bearer(params: &[(&str, &str)]) -> String {
    let mut field = String::from("Bearer");
    for (index, (name, value)) in params.iter().enumerate() {
        field.push_str(if index == 0 { " " } else { ", " });
        field.push_str(name);
        field.push_str("=\"");
        for character in value.chars() {
            match character {
                '"' | '\\' => field.extend(['\\', character]),
                ' '..='~' => field.push(character),
                _ => field.push('?'),
            }
        }
        field.push('"');
    }
    field
}

#[cfg(test)]
mod tests;
