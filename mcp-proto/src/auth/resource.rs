//! URLs, kept as their text: nothing here is normalised (C101, T-79).

/// The pieces of an `http` or `https` URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    /// Scheme, `://` and authority.
    pub(super) origin: &'a str,
    pub(super) authority: &'a str,
    /// Empty, or from the first slash on.
    pub(super) path: &'a str,
    /// Empty, or from the question mark on.
    pub(super) query: &'a str,
}

/// Cuts an absolute `http` or `https` URL without a fragment into its pieces. `None` where it is
/// none, or has characters that no URI has (RFC 3986, section 2).
pub(super) fn split(url: &str) -> Option<Parts<'_>> {
    let legal = |byte: u8| matches!(byte, b'!'..=b'~') && !b"\"#<>\\^`{|}".contains(&byte);
    let (scheme, rest) = url.split_once("://").filter(|_| url.bytes().all(legal))?;
    let known = ["http", "https"].iter().any(|own| scheme.eq_ignore_ascii_case(own));
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at_checked(end)?;
    let (path, query) = rest.split_at_checked(rest.find('?').unwrap_or(rest.len()))?;
    let origin = url.get(..url.len() - rest.len())?;
    (known && !authority.is_empty()).then_some(Parts { origin, authority, path, query })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_cut_and_never_changed() {
        for (url, pieces) in [
            ("https://h", ("https://h", "h", "", "")),
            ("https://h/", ("https://h", "h", "/", "")),
            ("HTTPS://H:443/mcp", ("HTTPS://H:443", "H:443", "/mcp", "")),
            ("https://h?x=1", ("https://h", "h", "", "?x=1")),
            (
                "http://[::1]:8080/a/b?x=/y?z",
                ("http://[::1]:8080", "[::1]:8080", "/a/b", "?x=/y?z"),
            ),
        ] {
            let Parts { origin, authority, path, query } = split(url).expect(url);
            assert_eq!((origin, authority, path, query), pieces, "{url}");
        }
    }

    #[test]
    fn what_is_no_http_url_is_refused() {
        for text in [
            "",
            "mcp",
            "/mcp",
            "https:",
            "https://",
            "https:///mcp",
            "https:/h",
            "ftp://h",
            "javascript:alert(1)",
            "https://h/#f",
            "https://h/ x",
            "https://h/\"",
            "https://h/\u{e9}",
            "https://h/\r\n",
            "https://x/$(calc)\\",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
    }
}
