//! Whether a string is what its format says. Strict for dates; else as far as a mistake is certain.

use super::Format;

pub(super) fn fits(format: Format, text: &str) -> bool {
    match format {
        Format::Email => email(text),
        Format::Uri => uri(text),
        Format::Date => date(text.as_bytes()).is_some_and(<[u8]>::is_empty),
        Format::DateTime => date_time(text.as_bytes()).is_some(),
    }
}

/// Something before the last `@`, and something after it, without spaces.
fn email(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    text.rsplit_once('@').is_some_and(|(local, domain)| {
        // A quoted local part may hold spaces (RFC 5321, section 4.1.2).
        let quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
        (quoted || plain(local)) && plain(domain)
    })
}

/// A scheme (RFC 3986, section 3.1), and no white space.
pub(super) fn uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(letters)
        && !rest.is_empty()
        && !rest.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// What follows a full date (RFC 3339, section 5.6).
fn date(text: &[u8]) -> Option<&[u8]> {
    let (year, text) = digits(text, 4)?;
    let (month, text) = digits(text.strip_prefix(b"-")?, 2)?;
    let (day, text) = digits(text.strip_prefix(b"-")?, 2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day).then_some(text)
}

/// A date and a time with an offset.
fn date_time(text: &[u8]) -> Option<()> {
    let text = date(text)?;
    let (b'T' | b't' | b' ', text) = text.split_first()? else { return None };
    let (hour, text) = digits(text, 2)?;
    let (minute, text) = digits(text.strip_prefix(b":")?, 2)?;
    let (second, text) = digits(text.strip_prefix(b":")?, 2)?;
    let text = match text.strip_prefix(b".") {
        Some(fraction) => {
            let count = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            fraction.get(count..).filter(|_| count > 0)?
        }
        None => text,
    };
    (hour < 24 && minute < 60 && second <= 60 && offset(text)?).then_some(())
}

fn offset(text: &[u8]) -> Option<bool> {
    match text {
        b"Z" | b"z" => Some(true),
        [b'+' | b'-', rest @ ..] => {
            let (hour, rest) = digits(rest, 2)?;
            let (minute, rest) = digits(rest.strip_prefix(b":")?, 2)?;
            Some(hour < 24 && minute < 60 && rest.is_empty())
        }
        _ => None,
    }
}

/// A number of exactly `count` digits, and what follows it.
fn digits(text: &[u8], count: usize) -> Option<(u32, &[u8])> {
    let (number, rest) = text.split_at_checked(count)?;
    let digit = |byte: &u8| char::from(*byte).to_digit(10);
    let value = number.iter().try_fold(0, |value, byte| Some(value * 10 + digit(byte)?))?;
    Some((value, rest))
}
