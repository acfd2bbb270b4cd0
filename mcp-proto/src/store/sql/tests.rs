use super::*;
use crate::store::{Extent, Found};

#[test]
fn every_statement_is_there_and_names_only_tables_with_the_prefix() {
    for dialect in [Dialect::Sqlite, Dialect::Postgres] {
        let plan = Plan::new(dialect, "app_mcp_").unwrap();
        let texts = plan.statements.iter().map(|(_, text)| text.clone()).chain(plan.schema());
        for text in texts {
            assert!(!text.contains('{') && !text.contains('}'), "unfilled: {text}");
            let words: Vec<_> = text.split_whitespace().collect();
            for pair in words.windows(2) {
                let named = matches!(pair[0], "INTO" | "UPDATE") && pair[1] != "SET";
                assert!(!named || pair[1].starts_with("app_mcp_"), "{text}");
            }
        }
    }
}

#[test]
fn a_prefix_that_could_be_more_than_a_name_is_refused() {
    for good in ["", "mcp_", "tenant7_", "_"] {
        assert!(Plan::new(Dialect::Sqlite, good).is_ok(), "{good:?}");
    }
    for bad in ["7_", "Mcp", "a b", "x; DROP TABLE y", "\"", "é", &"a".repeat(33)] {
        assert_eq!(Plan::new(Dialect::Postgres, bad), Err(BadPrefix), "{bad:?}");
    }
}

#[test]
fn durations_are_bounded_milliseconds() {
    assert_eq!(millis(Duration::from_millis(1_500)), 1_500);
    assert_eq!(millis(Duration::MAX), 3_162_240_000_000);
}

#[test]
fn rows_become_what_was_found() {
    let integer = Value::Integer;
    let message = || Value::Bytes(Bytes::from_static(b"{}"));
    let rows = vec![
        vec![integer(0), integer(5), integer(7), integer(99), integer(6), message()],
        vec![integer(0), integer(5), integer(7), integer(99), integer(7), message()],
        vec![integer(1), Value::Null, Value::Null, integer(99), Value::Null, Value::Null],
    ];
    let kept = [6, 7].map(|place| (place, Bytes::from_static(b"{}"))).to_vec();
    let expected = vec![
        Found { extent: Extent::Known { first: 5, last: 7 }, messages: kept },
        Found { extent: Extent::Absent { ceiling: 99 }, messages: Vec::new() },
    ];
    assert_eq!(found(2, rows.clone()), Ok(expected));
    assert_eq!(found(1, rows), Err(BadRow), "a row for a topic that nobody asked for");
    assert_eq!(found(1, vec![vec![integer(0)]]), Err(BadRow));
    assert_eq!(record(vec![message(), integer(-1), integer(0)]), Err(BadRow));
}

#[test]
fn topics_are_listed_as_json() {
    assert_eq!(listed([("a/\"b", 7), ("c", 0)].into_iter()), r#"[["a/\"b",7],["c",0]]"#);
}
