use super::*;

fn text(text: &'static str) -> Value {
    Value::Bytes(Bytes::from_static(text.as_bytes()))
}

#[test]
fn keys_of_sessions_and_topics_never_meet() {
    let layout = Layout::new("app:");
    assert_eq!(layout.session("ns/7f"), "app:session:ns/7f");
    assert_eq!(layout.topic("ns/changes"), "app:topic:ns/changes");
    assert_eq!(layout.channel(), "app:news");
}

#[test]
fn every_script_says_what_it_takes() {
    for script in Script::ALL {
        assert!(script.text().starts_with("-- KEYS: "), "{script:?}");
    }
}

#[test]
fn values_become_records() {
    let value = Value::Array(vec![text("{}"), text("17")]);
    let record_ = Record { data: Bytes::from_static(b"{}"), version: 17 };
    assert_eq!(record(value), Ok(Some(record_)));
    assert_eq!(record(Value::Nil), Ok(None));
    assert_eq!(record(Value::Array(vec![text("{}")])), Err(BadValue));
    assert_eq!(record(Value::Array(vec![text("{}"), text("x")])), Err(BadValue));
}

#[test]
fn values_become_what_was_found() {
    let kept = Value::Array(vec![text("6"), text("{}"), text("7"), text("[]")]);
    let known = Value::Array(vec![text("5"), text("7"), text("99"), kept]);
    let absent = Value::Array(vec![text("0"), text("0"), text("99"), Value::Array(vec![])]);
    let messages = vec![(6, Bytes::from_static(b"{}")), (7, Bytes::from_static(b"[]"))];
    let expected = vec![
        Found { extent: Extent::Known { first: 5, last: 7 }, messages },
        Found { extent: Extent::Absent { ceiling: 99 }, messages: Vec::new() },
    ];
    assert_eq!(found(Value::Array(vec![known, absent])), Ok(expected));
    assert_eq!(found(Value::Array(vec![Value::Array(vec![text("1")])])), Err(BadValue));
    assert_eq!(found(Value::Integer(1)), Err(BadValue));
}
