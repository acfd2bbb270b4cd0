//! Text to parts.

use super::{Modifier, OPERATORS, Part, TemplateError, TemplateErrorKind, Variable};

/// The longest template, in bytes.
pub const MAX_TEMPLATE: usize = 8 * 1024;

/// The most variables in one template.
pub const MAX_VARIABLES: usize = 128;

pub(super) fn parse(template: &str) -> Result<Vec<Part>, TemplateError> {
    if template.len() > MAX_TEMPLATE {
        return Err(TemplateError { kind: TemplateErrorKind::TooLong, at: MAX_TEMPLATE });
    }
    let mut parts = Vec::new();
    let mut rest = Text { text: template, at: 0 };
    while !rest.text.is_empty() {
        let (literal, after) = rest.split_at(rest.text.find('{').unwrap_or(rest.text.len()));
        if !literal.text.is_empty() {
            parts.push(Part::Literal(encode_literal(literal)?));
        }
        rest = after;
        if rest.text.is_empty() {
            break;
        }
        let end = rest.text.find('}').ok_or(rest.error(TemplateErrorKind::Brace))?;
        let (expression, after) = rest.split_at(end);
        parts.push(parse_expression(expression.skip(1))?);
        rest = after.skip(1);
    }
    if let Some(extra) = super::variables(&parts).nth(MAX_VARIABLES) {
        return Err(TemplateError { kind: TemplateErrorKind::TooManyVariables, at: extra.at });
    }
    Ok(parts)
}

/// A piece of the template that knows its place.
#[derive(Clone, Copy)]
struct Text<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Text<'a> {
    fn split_at(self, middle: usize) -> (Self, Self) {
        let (before, after) = self.text.split_at(middle);
        (Self { text: before, ..self }, Self { text: after, at: self.at + middle })
    }

    /// Without its first `bytes`, which the caller has just found there.
    fn skip(self, bytes: usize) -> Self {
        self.split_at(bytes).1
    }

    fn error(self, kind: TemplateErrorKind) -> TemplateError {
        TemplateError { kind, at: self.at }
    }

    fn bytes(self) -> &'a [u8] {
        self.text.as_bytes()
    }
}

/// The literals of RFC 6570, 2.1, and the apostrophe, which its own examples use.
fn encode_literal(literal: Text<'_>) -> Result<String, TemplateError> {
    let mut encoded = String::with_capacity(literal.text.len());
    for (index, character) in literal.text.char_indices() {
        let here = literal.skip(index);
        match character {
            '}' => return Err(here.error(TemplateErrorKind::Brace)),
            '%' if percent_encoded(here.bytes()).is_none() => {
                return Err(here.error(TemplateErrorKind::Literal));
            }
            ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|' => {
                return Err(here.error(TemplateErrorKind::Literal));
            }
            _ if character.is_control() => return Err(here.error(TemplateErrorKind::Literal)),
            _ if character.is_ascii() => encoded.push(character),
            _ => {
                let mut bytes = [0; 4];
                let bytes = character.encode_utf8(&mut bytes).as_bytes();
                encoded.extend(percent_encoding::percent_encode(
                    bytes,
                    percent_encoding::NON_ALPHANUMERIC,
                ));
            }
        }
    }
    Ok(encoded)
}

fn parse_expression(expression: Text<'_>) -> Result<Part, TemplateError> {
    let symbol = expression.text.chars().next();
    if matches!(symbol, Some('=' | ',' | '!' | '@' | '|')) {
        return Err(expression.error(TemplateErrorKind::Operator));
    }
    let [simple, with_symbol @ ..] = &OPERATORS;
    let operator = with_symbol.iter().find(|operator| operator.symbol == symbol);
    let mut rest = if operator.is_some() { expression.skip(1) } else { expression };
    let mut variables = Vec::new();
    loop {
        let (variable, after) = rest.split_at(rest.text.find(',').unwrap_or(rest.text.len()));
        variables.push(parse_variable(variable)?);
        if after.text.is_empty() {
            return Ok(Part::Expression { operator: operator.unwrap_or(simple), variables });
        }
        rest = after.skip(1);
    }
}

fn parse_variable(variable: Text<'_>) -> Result<Variable, TemplateError> {
    let (name, modifier) = match variable.text.find(':') {
        Some(colon) => {
            let (name, length) = variable.split_at(colon);
            (name, Modifier::Prefix(prefix(length.skip(1))?))
        }
        None => match variable.text.strip_suffix('*') {
            Some(name) => (Text { text: name, ..variable }, Modifier::Explode),
            None => (variable, Modifier::None),
        },
    };
    if !is_name(name.bytes()) {
        return Err(name.error(TemplateErrorKind::Name));
    }
    Ok(Variable { name: name.text.to_owned(), modifier, at: variable.at })
}

/// `1` to `9999`, without leading zeros.
fn prefix(length: Text<'_>) -> Result<usize, TemplateError> {
    let digits = length.bytes();
    let valid = digits.iter().all(u8::is_ascii_digit) && digits.first() != Some(&b'0');
    match length.text.parse() {
        Ok(length @ 1..=9999) if valid => Ok(length),
        _ => Err(length.error(TemplateErrorKind::Prefix)),
    }
}

/// Dots may stand between characters of a name, not elsewhere.
fn is_name(name: &[u8]) -> bool {
    name.split(|byte| *byte == b'.').all(|mut piece| {
        let mut empty = true;
        while let Some((first, rest)) = piece.split_first() {
            piece = match first {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => rest,
                b'%' if percent_encoded(piece).is_some() => rest.get(2..).unwrap_or_default(),
                _ => return false,
            };
            empty = false;
        }
        !empty
    })
}

/// The byte that the `%XX` at the start stands for.
pub(super) fn percent_encoded(text: &[u8]) -> Option<u8> {
    let &[b'%', high, low, ..] = text else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}
