//! The protocol's own keys of `_meta` (R26-META-16).

pub(super) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(super) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(super) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub(super) const PROGRESS_TOKEN: &str = "progressToken";
pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// What a key of `_meta` is to an application that wants to use it (R26-META-02 to R26-META-04).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetaKey {
    /// It may be used.
    Free,
    /// The protocol and its extensions have it.
    Reserved,
    /// It is written by who sends the message.
    Written,
    /// It is no key: it has an empty or malformed label, or a malformed name.
    Malformed,
}

/// The members that a message's sender writes itself.
const WRITTEN: [&str; 7] =
    [VERSION, CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROGRESS_TOKEN, SERVER_INFO, SUBSCRIPTION];

impl MetaKey {
    pub(crate) fn of(key: &str) -> Self {
        if WRITTEN.contains(&key) {
            return Self::Written;
        }
        let (prefix, name) = match key.rsplit_once('/') {
            Some((prefix, name)) => (Some(prefix), name),
            None => (None, key),
        };
        let is_name = name.is_empty() && prefix.is_some() || is_bounded(name, b"-_.", false);
        let is_prefix = prefix
            .is_none_or(|prefix| prefix.split('.').all(|label| is_bounded(label, b"-", true)));
        if !is_name || !is_prefix {
            return Self::Malformed;
        }
        let second = prefix.and_then(|prefix| prefix.split('.').nth(1));
        match second {
            Some("modelcontextprotocol" | "mcp") => Self::Reserved,
            _ => Self::Free,
        }
    }
}

/// Letters, digits and `inside`, where neither end is one of `inside`.
fn is_bounded(text: &str, inside: &[u8], begins_with_letter: bool) -> bool {
    let (Some(first), Some(last)) = (text.bytes().next(), text.bytes().last()) else {
        return false;
    };
    let begins = match begins_with_letter {
        true => first.is_ascii_alphabetic(),
        false => first.is_ascii_alphanumeric(),
    };
    begins
        && last.is_ascii_alphanumeric()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || inside.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart_by_what_an_application_may_do_with_them() {
        let rows: [(MetaKey, &[&str]); 4] = [
            (
                MetaKey::Free,
                &["a", "traceparent", "a.b-c_d", "com.example/x", "ui/x", "a1.b-2/", "9"],
            ),
            (
                MetaKey::Reserved,
                &["io.modelcontextprotocol/related-task", "dev.mcp/x", "com.mcp.tools/y"],
            ),
            (MetaKey::Written, &["progressToken", "io.modelcontextprotocol/serverInfo"]),
            (
                MetaKey::Malformed,
                &[
                    "", "bad key!", "-x", "x-", "_x", "1.a/x", "a..b/x", "-a/x", "a-/x", "a/b/c",
                    "é", "/x",
                ],
            ),
        ];
        for (expected, keys) in rows {
            for key in keys {
                assert_eq!(MetaKey::of(key), expected, "{key}");
            }
        }
    }
}
