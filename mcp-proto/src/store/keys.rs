//! How keys and topics are composed: what belongs to one namespace is never another's.

use core::fmt::Write as _;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stands for itself in a key. All else is percent-encoded, the separator `/` included, so
/// different parts never give equal keys, and every key is visible ASCII.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The key of a record in the session store: `namespace/key`, both percent-encoded.
///
/// ```
/// use mcp_proto::store::scoped;
///
/// assert_eq!(scoped("acme", "7f3a"), "acme/7f3a");
/// assert_eq!(scoped("acme/eu", "7f3a"), "acme%2Feu/7f3a");
/// ```
pub fn scoped(namespace: &str, key: &str) -> String {
    join(namespace, [key])
}

/// A topic of the hub: `namespace/kind`, or `namespace/kind/name`, all percent-encoded.
///
/// ```
/// use mcp_proto::store::topic;
///
/// assert_eq!(topic("acme", "changes", None), "acme/changes");
/// assert_eq!(topic("acme", "stream", Some("7f3a")), "acme/stream/7f3a");
/// ```
pub fn topic(namespace: &str, kind: &str, name: Option<&str>) -> String {
    join(namespace, core::iter::once(kind).chain(name))
}

fn join<'a>(namespace: &str, parts: impl IntoIterator<Item = &'a str>) -> String {
    // Room for the usual key: a kind, and an id of 43 characters.
    let mut key = String::with_capacity(namespace.len() + 64);
    key.extend(utf8_percent_encode(namespace, ENCODED));
    for part in parts {
        // Writing to a string cannot fail.
        let _ = write!(key, "/{}", utf8_percent_encode(part, ENCODED));
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Short strings of what could confuse: separators, escapes, controls, other scripts.
    fn part() -> impl Strategy<Value = String> {
        proptest::collection::vec(
            prop::sample::select(vec!["/", "%", "2F", "a", "\0", "é", "."]),
            0..4,
        )
        .prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn different_parts_never_give_equal_keys(
            one in (part(), part(), prop::option::of(part())),
            other in (part(), part(), prop::option::of(part())),
        ) {
            let key = |(namespace, kind, name): &(String, String, Option<String>)| {
                topic(namespace, kind, name.as_deref())
            };
            prop_assert_eq!(one == other, key(&one) == key(&other));
            let same = (&one.0, &one.1) == (&other.0, &other.1);
            prop_assert_eq!(same, scoped(&one.0, &one.1) == scoped(&other.0, &other.1));
            prop_assert!(key(&one).bytes().all(|byte| byte.is_ascii_graphic()));
        }
    }
}
