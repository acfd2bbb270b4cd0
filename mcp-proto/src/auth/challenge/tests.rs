use proptest::prelude::*;

use super::*;

#[test]
fn what_is_written_is_read_back() {
    let value = r#"say "hi" \o/ a, b=c; Bearer x="y""#;
    let field = bearer(&[("realm", value), ("scope", "")]);
    let [challenge] = &parse(field.as_bytes()).expect(&field)[..] else { panic!("{field}") };
    assert_eq!(challenge.scheme(), "bearer");
    assert_eq!(challenge.params().collect::<Vec<_>>(), [("realm", value), ("scope", "")]);
}

#[test]
fn nothing_that_ends_a_field_can_be_written() {
    let field = bearer(&[("realm", "a\r\nSet-Cookie: x\0\u{7f}\u{e9}")]);
    assert_eq!(field, "Bearer realm=\"a??Set-Cookie: x???\"");
}

#[test]
fn errors_say_where() {
    for (field, error) in [
        ("Bearer a=\"", InvalidChallenge::Syntax(10)),
        ("Bearer a=b c=d", InvalidChallenge::Syntax(11)),
        ("Bearer, a=b", InvalidChallenge::Syntax(8)),
        ("Bearer a=b, A=c", InvalidChallenge::Duplicate(12)),
        ("Bearer a=\"\r\"", InvalidChallenge::Syntax(10)),
        ("Bearer a=\"\r\n\"", InvalidChallenge::Syntax(10)),
    ] {
        assert_eq!(parse(field.as_bytes()), Err(error), "{field:?}");
    }
}

#[test]
fn a_challenge_has_a_bounded_number_of_parameters() {
    let field = |count: usize| {
        let params: Vec<_> = (0..count).map(|index| format!("p{index}=x")).collect();
        format!("Bearer {}", params.join(","))
    };
    assert_eq!(parse(field(MAX_PARAMS).as_bytes()).expect("fits")[0].params().count(), MAX_PARAMS);
    assert_eq!(parse(field(MAX_PARAMS + 1).as_bytes()), Err(InvalidChallenge::TooManyParams));
}

#[test]
fn values_outside_ascii_are_utf_8_or_latin_1() {
    for (field, value) in [(&b"B a=\"\xc3\xa9\""[..], "\u{e9}"), (b"B a=\"\xe9\"", "\u{e9}")] {
        assert_eq!(parse(field).expect("valid")[0].param("a"), Some(value));
    }
}

#[test]
fn one_broken_field_does_not_hide_another() {
    // R2506-AUTH-15
    let fields: [&[u8]; 3] = [b"Basic realm=\"x", b"Negotiate", b"Bearer scope=a"];
    assert_eq!(Bearer::find(fields).and_then(|it| it.scope).as_deref(), Some("a"));
    assert_eq!(Bearer::find([&b"Negotiate"[..]]), None);
}

#[test]
fn metadata_are_named_by_an_absolute_http_url_or_not_at_all() {
    // C106
    for (url, taken) in [
        ("https://h/x?y=1", true),
        ("http://127.0.0.1:8080/", true),
        ("invalid-url", false),
        ("/relative", false),
        ("javascript:alert(1)", false),
        ("file:///etc/passwd", false),
        ("https://user:pass@h/", false),
        ("https://h/ x", false),
    ] {
        let field = bearer(&[("resource_metadata", url)]);
        let found = Bearer::find([field.as_bytes()]).expect("bearer").resource_metadata;
        assert_eq!(found.is_some(), taken, "{url}");
    }
}

proptest! {
    #[test]
    fn any_printable_value_survives_the_round_trip(value in "[ -~]*", other in "[ -~]*") {
        let field = bearer(&[("a", &value), ("b", &other)]);
        let read = parse(field.as_bytes()).unwrap();
        prop_assert_eq!(read.len(), 1);
        prop_assert_eq!(read[0].param("a"), Some(value.as_str()));
        prop_assert_eq!(read[0].param("b"), Some(other.as_str()));
    }

    #[test]
    fn no_field_makes_the_reader_panic(field in proptest::collection::vec(
        prop_oneof![Just(b'"'), Just(b','), Just(b'='), Just(b' '), Just(b'\\'), Just(b'a'),
            Just(b'\r'), Just(b'\n'), any::<u8>()], 0..60)) {
        let _ = parse(&field);
    }
}
