//! The pieces that work on validated values.

use std::borrow::Cow;

use super::*;

fn texts(src: &str, spans: impl IntoIterator<Item = Span>) -> Vec<&str> {
    let text = |span: Span| std::str::from_utf8(span.of(src.as_bytes())).unwrap();
    spans.into_iter().map(text).collect()
}

#[test]
fn elements_of_an_array() {
    for (src, expected) in [
        ("[]", &[][..]),
        (" [ ] ", &[]),
        ("[1]", &["1"]),
        (
            " [ {\"a\":[1,2]} ,[3,[4]], \"]\" ,null ] ",
            &["{\"a\":[1,2]}", "[3,[4]]", "\"]\"", "null"],
        ),
        ("{\"a\":1}", &[]),
        ("[1,,2]", &["1"]),
        ("[1 2]", &["1"]),
        ("", &[]),
    ] {
        assert_eq!(texts(src, elements(src.as_bytes())), expected, "{src}");
    }
}

#[test]
fn members_of_an_object() {
    let src = r#" {"a":1, "b" : [2] ,"\u0061":3 } "#;
    let found = members(src.as_bytes());
    assert_eq!(texts(src, found.iter().map(|member| member.value)), ["1", "[2]", "3"]);
    let names: Vec<_> = found.iter().map(|member| member.decoded_name(src.as_bytes())).collect();
    assert_eq!(names, ["a", "b", "a"]);
    assert_eq!(get(&found, src, "a"), Some("1"));
    let error = unique_members(src.as_bytes()).unwrap_err();
    assert_eq!((error.kind, error.at), (ScanErrorKind::Duplicate, src.rfind("\\u").unwrap()));
    assert_eq!(unique_members(b"{\"a\":1}").unwrap().len(), 1);
    assert!(members(b"[1]").is_empty() && members(b"").is_empty());
}

/// C17: every legal escape is understood.
#[test]
fn strings_are_unescaped() {
    for (json, expected) in [
        (r#""""#, Some("")),
        (r#" "plain" "#, Some("plain")),
        (r#""AA\/\/""#, Some("AA//")),
        (r#""a\u0000b""#, Some("a\0b")),
        (r#""\"\\\b\f\n\r\t""#, Some("\"\\\u{8}\u{c}\n\r\t")),
        (r#""\ud83d\ude00\u00E9\u2028""#, Some("\u{1f600}\u{e9}\u{2028}")),
        ("\"\u{1f600}\"", Some("\u{1f600}")),
        (r#""\ud800""#, None),
        (r#""\ude00\ud83d""#, None),
        (r#""\u00""#, None),
        (r#""\""#, None),
        (r#"""#, None),
        (r#"a"#, None),
        (r#""a"b""#, None),
    ] {
        assert_eq!(string(json.as_bytes()).as_deref(), expected, "{json}");
    }
    assert!(matches!(string(b"\"plain\""), Some(Cow::Borrowed(_))));
}

#[test]
fn strings_are_written_with_the_escapes_that_must_be() {
    let mut out = b">".to_vec();
    write_string(&mut out, "a/\"\\\n\u{1}<&\u{2028}\u{7f}\u{e9}");
    assert_eq!(String::from_utf8(out).unwrap(), ">\"a/\\\"\\\\\\n\\u0001<&\u{2028}\u{7f}\u{e9}\"");
}

/// R26-HDR-26.
#[test]
fn integers_are_read_exactly_however_they_are_written() {
    let zeros = "0".repeat(400);
    let shifted = format!("42{zeros}e-400");
    let small = format!("0.{zeros}42e402");
    for (json, expected) in [
        ("42", Some(42)),
        ("42.0", Some(42)),
        ("4.2e1", Some(42)),
        ("4200e-2", Some(42)),
        ("0.42E+2", Some(42)),
        (&shifted, Some(42)),
        (&small, Some(42)),
        ("-42.00", Some(-42)),
        ("-0", Some(0)),
        ("0.0e99999999999999999999", Some(0)),
        ("9007199254740991", Some(9_007_199_254_740_991)),
        ("-9007199254740991", Some(-9_007_199_254_740_991)),
        ("9.007199254740991e15", Some(9_007_199_254_740_991)),
        ("9007199254740992", None),
        ("1e16", None),
        ("1e99999999999999999999", None),
        ("1e-99999999999999999999", None),
        ("42.5", None),
        ("4.25e1", None),
        ("042", None),
        ("+42", None),
        ("42x", None),
        ("\"42\"", None),
        ("", None),
        ("-", None),
    ] {
        assert_eq!(integer(json.as_bytes()), expected, "{json}");
    }
    assert!(is_integer(b"123123123123123123123123") && is_integer(b"-1.0") && is_integer(b"0"));
    assert!(!is_integer(b"1.5") && !is_integer(b"1e300") && !is_integer(b"true"));
}

/// R24-STDIO-02.
#[test]
fn compact_text_is_one_line_of_the_same_value() {
    let src = "\t{ \"a b\" : [ 1 ,\r\n \"\\\" \\\\\" , \"\u{e9} x\" ] ,\n\"c\":{ } }\n";
    let mut out = Vec::new();
    compact(src.as_bytes(), &mut out);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "{\"a b\":[1,\"\\\" \\\\\",\"\u{e9} x\"],\"c\":{}}"
    );
    for cut_short in ["\"abc", "\"abc\\", "[\"", " "] {
        compact(cut_short.as_bytes(), &mut Vec::new());
    }
}

#[test]
fn canonical_text_is_the_same_however_the_value_was_written() {
    let canonical = |src: &str| {
        let mut out = Vec::new();
        canonical(src.as_bytes(), &ScanLimits::default(), &mut out)?;
        Ok::<_, ScanError>(String::from_utf8(out).unwrap())
    };
    for src in [
        r#" {"b" : [1, 2.0e0, {"z":null,"y":0.5}], "a":"\u00e9\/\n" } "#,
        "{\"a\":\"\u{e9}/\\u000a\",\"b\":[1.0,2,{\"y\":0.5,\"z\":null}]}",
    ] {
        let expected = "{\"a\":\"\u{e9}/\\n\",\"b\":[1,2,{\"y\":0.5,\"z\":null}]}";
        assert_eq!(canonical(src).unwrap(), expected);
        assert_eq!(canonical(expected).unwrap(), expected);
    }
    for (src, expected) in [
        ("[]", "[]"),
        ("{ }", "{}"),
        ("-0", "0"),
        ("9007199254740993", "9007199254740993"),
        ("1.50", "1.50"),
        (r#"{"a":2,"b":0,"a":1}"#, r#"{"a":2,"a":1,"b":0}"#),
    ] {
        assert_eq!(canonical(src).as_deref(), Ok(expected));
    }
    for src in ["", "[1,]", "{} {}", "{\"a\"}", &nested(129)] {
        let mut out = Vec::new();
        assert!(super::canonical(src.as_bytes(), &ScanLimits::default(), &mut out).is_err());
        assert!(out.is_empty());
    }
    let deep = ScanLimits::depth(usize::MAX);
    let error = super::canonical(nested(1 << 20).as_bytes(), &deep, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind, ScanErrorKind::Depth);
}

#[test]
fn spans_never_reach_outside() {
    let span = Span { start: 2, end: 4 };
    assert_eq!(span.of(b"abcd"), b"cd");
    assert_eq!((span.of(b"abc"), span.len()), (&b""[..], 2));
    assert_eq!(Span { start: 4, end: 2 }.of(b"abcdef"), b"");
    assert!(Span { start: 4, end: 2 }.is_empty());
    assert_eq!(span.within(Span { start: 10, end: 20 }), Span { start: 12, end: 14 });
}

#[test]
fn integers_are_written_plainly_and_all_else_stays() {
    for (text, expected) in [
        ("2.0", Some("2")),
        ("1e2", Some("100")),
        ("-0", Some("0")),
        ("[1.50e1, 2.5, -3.0]", Some("[15, 2.5, -3]")),
        (
            r#"{"a":1E+1,"b":"2.0","c\\\"":"1e2\\","d":4.0}"#,
            Some(r#"{"a":10,"b":"2.0","c\\\"":"1e2\\","d":4}"#),
        ),
        ("[9007199254740993.0, 1e300]", None),
        (r#"{"a":-12,"b":"-0 1e2 2.0","c":[0,true,null]}"#, None),
        ("0.5", None),
    ] {
        let plain = with_plain_integers(text.as_bytes());
        let plain = plain.map(|plain| String::from_utf8(plain).expect("UTF-8"));
        assert_eq!(plain.as_deref(), expected, "{text}");
    }
}
