//! Text of a peer, for terminals and logs.

use core::fmt::{self, Write as _};

/// Shows text as `Display`, with what could act on a terminal, break a log's line or reorder what
/// is read written as `\u{1b}`: control characters of C0 and C1, line and paragraph separators,
/// marks of direction, and marks that have no width.
///
/// ```
/// use mcp_proto::Printable;
///
/// assert_eq!(Printable("a\u{1b}[2Jb\r\n").to_string(), "a\\u{1b}[2Jb\\r\\n");
/// assert_eq!(Printable("höchst 🙂").to_string(), "höchst 🙂");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self.0, f, |character| !acts(character))
    }
}

/// Shows text as [`Printable`] does, but for line breaks (LF, or CR LF as LF) and tabs.
///
/// ```
/// use mcp_proto::PrintableLines;
///
/// assert_eq!(PrintableLines("a\r\n\tb\u{7}\rc").to_string(), "a\n\tb\\u{7}\\rc");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintableLines<'a>(pub &'a str);

impl fmt::Display for PrintableLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |character| matches!(character, '\n' | '\t') || !acts(character);
        let mut pieces = self.0.split("\r\n");
        write(pieces.next().unwrap_or_default(), f, is_plain)?;
        for piece in pieces {
            f.write_char('\n')?;
            write(piece, f, is_plain)?;
        }
        Ok(())
    }
}

fn write(text: &str, f: &mut fmt::Formatter<'_>, is_plain: fn(char) -> bool) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(|character| !is_plain(character)) {
        let (plain, acting) = rest.split_at(at);
        f.write_str(plain)?;
        let mut characters = acting.chars();
        if let Some(character) = characters.next() {
            write!(f, "{}", character.escape_default())?;
        }
        rest = characters.as_str();
    }
    f.write_str(rest)
}

/// Whether the character does something else than to be seen.
fn acts(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_escaped_and_the_rest_is_as_it_was() {
        for (text, expected) in [
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("a\r\nb", "a\\r\\nb"),
            ("\u{202e}gnp.exe\u{202c}", "\\u{202e}gnp.exe\\u{202c}"),
            ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
            ("one\u{2028}two\u{2029}", "one\\u{2028}two\\u{2029}"),
            ("\u{0}\u{8}\u{7f}", "\\u{0}\\u{8}\\u{7f}"),
            ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
            ("tag\u{e0041}", "tag\\u{e0041}"),
            (
                "\\n stays, as do é, 漢字, 🙂 and \"quotes\"",
                "\\n stays, as do é, 漢字, 🙂 and \"quotes\"",
            ),
            ("", ""),
        ] {
            assert_eq!(Printable(text).to_string(), expected);
        }
    }

    #[test]
    fn lines_and_tabs_may_stay_and_a_lone_carriage_return_may_not() {
        for (text, expected) in [
            ("a\nb\r\n\n", "a\nb\n\n"),
            ("a\rb", "a\\rb"),
            ("a\r", "a\\r"),
            ("\ta\u{1b}\n\u{85}", "\ta\\u{1b}\n\\u{85}"),
        ] {
            assert_eq!(PrintableLines(text).to_string(), expected);
        }
    }
}
