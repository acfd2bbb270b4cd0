//! JSON text that stores are known to spoil, and names that are no identifiers.

use bytes::Bytes;

pub(super) fn values() -> Vec<Bytes> {
    let odd = [
        "{}",
        "[]",
        "null",
        "\"\"",
        r#"{"nul":"\u0000","lone":"\ud800","quote":"\"'`;--","percent":"%s%%","slash":"\\\\"}"#,
        "{\"text\":\"Zażółć 漢字 👩‍👩‍👧 \u{7f}\u{feff}\"}",
        "{ \"b\" : 1.0 ,\t\"a\":1e400, \"a\":2 }",
        "123456789012345678901234567890.000",
    ];
    let mut all: Vec<_> = odd.map(|text| Bytes::from_static(text.as_bytes())).into();
    all.push(mebibyte());
    all
}

/// A string of one MiB.
pub(super) fn mebibyte() -> Bytes {
    let mut text = vec![b'x'; 1024 * 1024];
    if let [first, .., last] = text.as_mut_slice() {
        (*first, *last) = (b'"', b'"');
    }
    text.into()
}

pub(super) fn names() -> Vec<String> {
    let mut names: Vec<_> = [
        "a b",
        "a:b/c%2Fd",
        "'; DROP TABLE mcp_sessions; --",
        "*?[x]{y}",
        "漢字 👩‍👩‍👧",
        "\\",
        "Aa",
        "aA",
    ]
    .map(str::to_owned)
    .into();
    names.push("n".repeat(1024));
    names
}
