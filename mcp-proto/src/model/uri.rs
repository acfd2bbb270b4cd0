//! The normal form of URIs: two that differ in spelling alone have the same.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// The normal form of a URI (RFC 3986, sections 6.2.2 and 6.2.3): scheme and host in lower case;
/// percent-encoded where it has to be, with digits in upper case, and nowhere else; with the path `/`
/// where `http` and `https` have none. What is no URI is encoded all the same.
///
/// Segments of dots stay: who asks for `..` is not taken to have asked for something else.
///
/// ```
/// use mcp_proto::model::normal_uri;
///
/// assert_eq!(normal_uri("note://héllo/%c3%A9"), "note://h%C3%A9llo/%C3%A9");
/// assert_eq!(normal_uri("HTTP://Example.com"), "http://example.com/");
/// assert_eq!(normal_uri("a://b/%7Ec/../d"), "a://b/~c/../d");
/// ```
pub fn normal_uri(uri: &str) -> Cow<'_, str> {
    let (scheme, rest) = scheme(uri);
    let encoded = encode(rest);
    let authority = rest.strip_prefix("//").filter(|_| !scheme.is_empty());
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let lacks_path = is_web
        && authority
            .map(host)
            .is_some_and(|(_, host, rest)| !host.is_empty() && !rest.starts_with('/'));
    let is_lower = |text: &str| !text.bytes().any(|byte| byte.is_ascii_uppercase());
    let host_is_lower = authority.is_none_or(|it| is_lower(host(it).1));
    if let Cow::Borrowed(_) = encoded
        && !lacks_path
        && is_lower(scheme)
        && host_is_lower
    {
        return Cow::Borrowed(uri);
    }
    let mut normal = String::with_capacity(uri.len() + 1);
    if !scheme.is_empty() {
        normal.push_str(&scheme.to_ascii_lowercase());
        normal.push(':');
    }
    let Some(authority) = encoded.strip_prefix("//").filter(|_| !scheme.is_empty()) else {
        normal.push_str(&encoded);
        return Cow::Owned(normal);
    };
    let (user, host, rest) = host(authority);
    normal.push_str("//");
    normal.push_str(user);
    // Escapes in a name stay in upper case.
    let mut pieces = host.split('%');
    normal.extend(pieces.next().map(str::to_ascii_lowercase));
    for piece in pieces {
        let (digits, text) = piece.split_at_checked(2).unwrap_or((piece, ""));
        normal.push('%');
        normal.push_str(digits);
        normal.push_str(&text.to_ascii_lowercase());
    }
    if is_web && !host.is_empty() && !rest.starts_with('/') {
        normal.push('/');
    }
    normal.push_str(rest);
    Cow::Owned(normal)
}

/// What two spellings of one URI have in common.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one == other || normal_uri(one) == normal_uri(other)
}

/// The scheme, and what follows its colon; no scheme where there is none.
fn scheme(uri: &str) -> (&str, &str) {
    let is_scheme = |text: &str| {
        let mut bytes = text.bytes();
        bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    match uri.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme, rest),
        _ => ("", uri),
    }
}

/// The parts of what follows `//`: with its `@` who asks, the host with its port, and the rest.
fn host(authority: &str) -> (&str, &str, &str) {
    let end = authority.find(['/', '?', '#']).unwrap_or(authority.len());
    let (authority, rest) = authority.split_at(end);
    let host = authority.rfind('@').map_or(0, |at| at + 1);
    let (user, host) = authority.split_at(host);
    (user, host, rest)
}

/// The normal form of a piece of a URI, of which nothing else is known.
pub(crate) fn normal_text(text: &str) -> Cow<'_, str> {
    encode(text)
}

/// Encodes what has to be encoded, and nothing else.
fn encode(text: &str) -> Cow<'_, str> {
    let needs = |byte: u8| !(byte.is_ascii_graphic()) || b"<>\"{}|\\^`".contains(&byte);
    if !text.bytes().any(|byte| needs(byte) || byte == b'%') {
        return Cow::Borrowed(text);
    }
    let mut encoded = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let escape = rest
            .get(..3)
            .filter(|it| first == '%' && it.bytes().skip(1).all(|byte| byte.is_ascii_hexdigit()));
        if let Some(escape) = escape {
            let byte = percent_decode_str(escape).next().unwrap_or_default();
            match byte {
                // A dot may be one of those that are left alone.
                b'-' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                    encoded.push(char::from(byte));
                }
                _ => encoded.push_str(&escape.to_ascii_uppercase()),
            }
            rest = rest.get(3..).unwrap_or_default();
            continue;
        }
        let mut bytes = [0; 4];
        for &byte in first.encode_utf8(&mut bytes).as_bytes() {
            match needs(byte) {
                true => encoded.push_str(percent_encoding::percent_encode_byte(byte)),
                false => encoded.push(char::from(byte)),
            }
        }
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
    }
    match encoded == text {
        true => Cow::Borrowed(text),
        false => Cow::Owned(encoded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_one_uri_have_one_normal_form() {
        for (normal, spellings) in [
            ("note://h%C3%A9llo", &["note://héllo", "NOTE://h%c3%A9llo", "note://H%C3%a9LLO"][..]),
            ("http://example.com/", &["http://example.com", "HTTP://EXAMPLE.com/"]),
            ("https://u:P@example.com:1/?q#F", &["https://u:P@Example.com:1?q#F"]),
            ("http://a/#f", &["http://a#f", "http://A/#f"]),
            (
                "file:///docs/caf%C3%A9/A.txt",
                &["file:///docs/café/A.txt", "FILE:///docs/caf%c3%a9/%41.txt"],
            ),
            ("item://a%2Fb", &["item://a%2fb", "ITEM://A%2fb"]),
            ("urn:Isbn:1%20x", &["URN:Isbn:1 x", "urn:Isbn:1%20x"]),
            ("a://b/100%25/%7B%7D", &["a://b/100%25/{}", "a://b/100%25/%7b%7d"]),
            ("a://b/../%2E%2E/c", &["a://b/../%2e%2e/c"]),
            ("a://b/50%/%zz", &["a://b/50%/%zz"]),
            ("no scheme".replace(' ', "%20").as_str(), &["no scheme"]),
            ("a:", &["A:"]),
            ("http:", &["HTTP:"]),
            ("http://", &["HTTP://"]),
        ] {
            assert_eq!(normal_uri(normal), normal, "it is its own normal form");
            for spelling in spellings {
                assert_eq!(normal_uri(spelling), normal, "{spelling}");
                assert!(is_same(spelling, normal));
            }
        }
        for (one, other) in [
            ("note://a", "note://b"),
            ("note://a/B", "note://a/b"),
            ("item://a%2Fb", "item://a/b"),
            ("note://a", "note://a/"),
            ("http://a/b", "http://a/b/"),
            ("http://a?q", "http://a"),
        ] {
            assert!(!is_same(one, other), "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn the_normal_form_is_its_own_and_takes_any_text(text in "[a-cA-Z:/?#@%0-9.é {}-]{0,24}") {
            let normal = normal_uri(&text).into_owned();
            prop_assert_eq!(&normal_uri(&normal), &normal, "{}", text);
            prop_assert!(normal.len() <= 3 * text.len() + 1);
        }
    }
}
