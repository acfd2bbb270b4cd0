//! Fields to challenges, by the grammar of RFC 9110, section 11.

use std::borrow::Cow;

use super::{Challenge, Content, InvalidChallenge, MAX_PARAMS};
use crate::auth::bearer::is_token68_char;
use crate::frame::header_value::is_tchar;

/// The challenges of one `WWW-Authenticate` field, in their order.
///
/// Strict but for what recipients must take: empty list elements, white space around `=`, values
/// with and without quotes, and lines that were folded. Octets outside ASCII in a quoted value
/// are UTF-8, or else Latin-1. Linear in the field's length.
///
/// # Errors
/// Where the field does not follow the grammar, and [`InvalidChallenge::Duplicate`] where a
/// challenge names a parameter twice.
pub fn parse(field: &[u8]) -> Result<Vec<Challenge>, InvalidChallenge> {
    let field = unfold(field);
    let mut reader = Reader { bytes: &field, at: 0 };
    let mut challenges: Vec<Challenge> = Vec::new();
    loop {
        reader.skip_separators();
        if reader.is_at_end() {
            return Ok(challenges);
        }
        let start = reader.at;
        let name = reader.token()?;
        // Where a list element may go on the last challenge or begin a new one, `=` decides.
        match (reader.equals(), challenges.last_mut()) {
            (true, Some(Challenge { content: Content::Params(params), .. }))
                if !params.is_empty() =>
            {
                let value = reader.value()?;
                push(params, name, value, start)?;
            }
            (true, _) => return Err(InvalidChallenge::Syntax(start)),
            (false, _) => challenges.push(reader.challenge(name)?),
        }
        reader.end_element()?;
    }
}

/// The field with every obsolete line folding as a space (RFC 9112, section 5.2).
fn unfold(field: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\r', field).is_none() {
        return Cow::Borrowed(field);
    }
    let mut text = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if let (b'\r', Some(folded)) = (byte, after.strip_prefix(b"\n"))
            && matches!(folded.first(), Some(b' ' | b'\t'))
        {
            // The white space that follows stands for itself; a tab is a space here.
            text.push(b' ');
            rest = folded.get(1..).unwrap_or_default();
        } else {
            text.push(byte);
        }
    }
    Cow::Owned(text)
}

fn push(
    params: &mut Vec<(String, String)>,
    name: String,
    value: String,
    start: usize,
) -> Result<(), InvalidChallenge> {
    if params.len() == MAX_PARAMS {
        return Err(InvalidChallenge::TooManyParams);
    }
    if params.iter().any(|(own, _)| *own == name) {
        return Err(InvalidChallenge::Duplicate(start));
    }
    params.push((name, value));
    Ok(())
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// Takes bytes as long as they fit.
    fn take(&mut self, fits: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| !fits(byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn skip_white_space(&mut self) {
        self.take(|byte| matches!(byte, b' ' | b'\t'));
    }

    fn skip_separators(&mut self) {
        self.take(|byte| matches!(byte, b' ' | b'\t' | b','));
    }

    /// `1*tchar`, in lower case.
    fn token(&mut self) -> Result<String, InvalidChallenge> {
        let token = self.take(is_tchar);
        if token.is_empty() {
            return Err(InvalidChallenge::Syntax(self.at));
        }
        Ok(text(token.to_ascii_lowercase()))
    }

    /// Takes `BWS "=" BWS`, or nothing.
    fn equals(&mut self) -> bool {
        let start = self.at;
        self.skip_white_space();
        if self.peek() != Some(b'=') {
            self.at = start;
            return false;
        }
        self.at += 1;
        self.skip_white_space();
        true
    }

    /// `token / quoted-string`.
    fn value(&mut self) -> Result<String, InvalidChallenge> {
        if self.peek() == Some(b'"') {
            return self.quoted();
        }
        let value = self.take(is_tchar);
        if value.is_empty() {
            Err(InvalidChallenge::Syntax(self.at))
        } else {
            Ok(text(value.into()))
        }
    }

    fn quoted(&mut self) -> Result<String, InvalidChallenge> {
        self.at += 1;
        let mut value = Vec::new();
        loop {
            value.extend_from_slice(self.take(|byte| is_text(byte) && !b"\"\\".contains(&byte)));
            let at = self.at;
            self.at += 1;
            match (self.bytes.get(at), self.bytes.get(at + 1)) {
                (Some(b'"'), _) => return Ok(text(value)),
                (Some(b'\\'), Some(&escaped)) if is_text(escaped) => {
                    value.push(escaped);
                    self.at += 1;
                }
                _ => return Err(InvalidChallenge::Syntax(at)),
            }
        }
    }

    /// What follows a scheme: `[ 1*SP ( token68 / #auth-param ) ]`, as far as its first element.
    fn challenge(&mut self, scheme: String) -> Result<Challenge, InvalidChallenge> {
        let spaces = self.take(|byte| byte == b' ');
        let mut params = Vec::new();
        if !spaces.is_empty() {
            if let Some(token68) = self.token68() {
                return Ok(Challenge { scheme, content: Content::Token68(token68) });
            }
            // `#auth-param` may begin with empty elements: `Basic , realm="x"`.
            let first = self.at;
            self.skip_separators();
            let start = self.at;
            match self.token() {
                Ok(name) if self.equals() => {
                    let value = self.value()?;
                    push(&mut params, name, value, start)?;
                }
                _ => self.at = first,
            }
        }
        Ok(Challenge { scheme, content: Content::Params(params) })
    }

    /// `token68`, if that is what stands up to the next comma.
    fn token68(&mut self) -> Option<String> {
        let start = self.at;
        let body = self.take(is_token68_char);
        let padding = self.take(|byte| byte == b'=');
        let token = [body, padding].concat();
        self.skip_white_space();
        if !body.is_empty() && matches!(self.peek(), None | Some(b',')) {
            return Some(text(token));
        }
        self.at = start;
        None
    }

    /// White space, and then a comma or the end.
    fn end_element(&mut self) -> Result<(), InvalidChallenge> {
        self.skip_white_space();
        match self.peek() {
            None | Some(b',') => Ok(()),
            Some(_) => Err(InvalidChallenge::Syntax(self.at)),
        }
    }
}

/// UTF-8, or else Latin-1, in which every byte is a character.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect())
}

/// `HTAB / SP / VCHAR / obs-text`
fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}
