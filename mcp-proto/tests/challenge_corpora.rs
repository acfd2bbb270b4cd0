//! `WWW-Authenticate` against the vectors of other libraries and of the specifications.

mod corpora;

use mcp_proto::auth::challenge::{Bearer, Challenge, parse};
use serde_json::{Value, json};

#[test]
fn challenges() {
    let Some(corpus) = corpora::load("www-authenticate.json") else { return };
    let rows = corpora::rows(&corpus, "cases");
    for row in rows {
        let id = corpora::text(row, "id");
        let read: Result<Vec<_>, _> = fields(row).iter().map(|field| parse(field)).collect();
        let read = read.map(|lists| lists.iter().flatten().map(value).collect::<Value>());
        match corpora::text(row, "expect") {
            "accept" => assert_eq!(read.as_ref(), Ok(&row["challenges"]), "{id}"),
            "reject" => assert!(read.is_err(), "{id}: {read:?}"),
            // Where recipients differ, what is read must still be what stands there.
            "either" if read.is_ok() => assert_eq!(read.as_ref(), Ok(&row["challenges"]), "{id}"),
            verdict => assert_eq!(verdict, "either", "{id}"),
        }
    }
    corpora::report("www-authenticate.json, cases", rows.len());
}

#[test]
fn bearer() {
    // R2506-AUTH-15, R2511-AFLOW-09
    let Some(corpus) = corpora::load("www-authenticate.json") else { return };
    let rows = corpora::rows(&corpus, "bearer_cases");
    for row in rows {
        let fields = fields(row);
        let found = Bearer::find(fields.iter().map(Vec::as_slice)).unwrap_or_default();
        let found = [
            ("resource_metadata", found.resource_metadata),
            ("scope", found.scope),
            ("error", found.error),
            ("error_description", found.error_description),
        ];
        let found = found.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let found: Value =
            found.map(|(name, value)| (name.to_owned(), Value::String(value))).collect();
        assert_eq!(found, row["expect"], "{}", corpora::text(row, "id"));
    }
    corpora::report("www-authenticate.json, bearer_cases", rows.len());
}

/// A row's field lines, whose characters stand for octets.
fn fields(row: &Value) -> Vec<Vec<u8>> {
    let lines = row["field_lines"].as_array().expect("lines").iter();
    let octets = |line: &str| line.chars().map(|c| u8::try_from(c).expect("an octet")).collect();
    lines.map(|line| octets(line.as_str().expect("a string"))).collect()
}

/// A challenge as the corpus writes it.
fn value(challenge: &Challenge) -> Value {
    let params: Vec<_> = challenge.params().map(|(name, value)| json!([name, value])).collect();
    let mut value = json!({ "scheme": challenge.scheme(), "params": params });
    if let Some(token68) = challenge.token68() {
        value["token68"] = token68.into();
    }
    value
}
