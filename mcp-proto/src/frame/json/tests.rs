use serde_json::Value;

use super::*;

mod against_serde;
mod pieces;

fn scan_ok(src: &str) -> Message {
    scan(src.as_bytes(), &ScanLimits::default()).unwrap_or_else(|e| panic!("{src}: {e}"))
}

fn refused(src: impl AsRef<[u8]>) -> ScanError {
    let src = src.as_ref();
    match scan(src, &ScanLimits::default()) {
        Err(error) => error,
        Ok(_) => panic!("accepted: {}", String::from_utf8_lossy(src)),
    }
}

fn get<'a>(members: &Members, src: &'a str, name: &str) -> Option<&'a str> {
    members
        .get(src.as_bytes(), name)
        .and_then(|span| std::str::from_utf8(span.of(src.as_bytes())).ok())
}

/// `depth` arrays in one another.
fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

#[test]
fn finds_the_members_of_envelope_params_and_meta() {
    let src = r#" {"jsonrpc":"2.0" , "id": 7,"method":"tools/call",
        "params" : {"name":"x","arguments":{"_meta":1},"_meta":{"progressToken": "t" }} } "#;
    let message = scan_ok(src);
    assert_eq!(message.root, Kind::Object);
    assert_eq!(get(&message.envelope, src, "id"), Some("7"));
    assert_eq!(get(&message.envelope, src, "method"), Some("\"tools/call\""));
    let params = message.params.unwrap();
    assert_eq!(get(&params, src, "arguments"), Some("{\"_meta\":1}"));
    assert_eq!(get(&message.meta.unwrap(), src, "progressToken"), Some("\"t\""));
    assert_eq!(message.result, None);
}

#[test]
fn finds_the_members_of_results_and_errors() {
    let src = r#"{"result":{"content":[],"_meta":{"a":1}},"error":{"code":1,"data":[{}]}}"#;
    let message = scan_ok(src);
    assert_eq!(get(&message.result.unwrap(), src, "content"), Some("[]"));
    assert_eq!(get(&message.result_meta.unwrap(), src, "a"), Some("1"));
    assert_eq!(get(&message.error.unwrap(), src, "data"), Some("[{}]"));
}

#[test]
fn only_objects_have_members() {
    for (src, root) in [
        ("[{\"id\":1}]", Kind::Array),
        (" \"id\" ", Kind::String),
        ("-1", Kind::Number),
        ("true", Kind::True),
        ("false", Kind::False),
        ("null", Kind::Null),
    ] {
        assert_eq!(scan_ok(src), Message { root, ..Message::default() }, "{src}");
    }
    let src = r#"{"params":[1],"result":"x","error":null,"_meta":{"a":1}}"#;
    let message = scan_ok(src);
    assert_eq!(message.envelope.len(), 4);
    assert_eq!((message.params, message.meta), (None, None));
    assert_eq!((message.result, message.error), (None, None));
}

#[test]
fn refusals_say_what_and_where() {
    use ScanErrorKind::*;
    let table: [(&[u8], ScanErrorKind, usize); 22] = [
        (b"", Empty, 0),
        (b" \n", Empty, 2),
        (b"{} x", Trailing, 3),
        (b"{}{}", Trailing, 2),
        (b"{\"a\":1", Syntax, 6),
        (b"{\"a\" 1}", Syntax, 5),
        (b"{a:1}", Syntax, 1),
        (b"{\"a\":1,}", Syntax, 7),
        (b"[1 2]", Syntax, 3),
        (b"[1}", Syntax, 2),
        (b"[01]", Syntax, 1),
        (b"[1.]", Syntax, 1),
        (b"[tru]", Syntax, 1),
        (b"[\"\\x\"]", Syntax, 2),
        (b"[\"\\u12g4\"]", Syntax, 2),
        (b"[\"a\nb\"]", Syntax, 3),
        (b"\xef\xbb\xbf{}", Syntax, 0),
        (b"[\"ab\xff\"]", Utf8, 4),
        (b"[\"\\ud800\"]", LoneSurrogate, 2),
        (b"[\"\\ud800\\u0041\"]", LoneSurrogate, 2),
        (b"{\"\\udc00\":1}", LoneSurrogate, 2),
        (b"[1e999]", Number, 1),
    ];
    for (src, kind, at) in table {
        let error = refused(src);
        assert_eq!((error.kind, error.at), (kind, at), "{}", String::from_utf8_lossy(src));
        assert!(error.is_parse_error());
    }
}

#[test]
fn control_characters_are_refused_wherever_they_stand() {
    for control in 0..=0x1f {
        for before in 0..20 {
            let src = [b"[\"", &b"a".repeat(before)[..], &[control], b"12345678\"]"].concat();
            let error = refused(src);
            assert_eq!((error.kind, error.at), (ScanErrorKind::Syntax, before + 2), "{control:x}");
        }
    }
}

/// C17.
#[test]
fn half_a_surrogate_pair_is_refused() {
    for (first, second, accepted) in [
        ("d800", "dc00", true),
        ("dbff", "dfff", true),
        ("d800", "dbff", false),
        ("d800", "e000", false),
        ("d800", "0041", false),
        ("dc00", "dc00", false),
        ("dfff", "d800", false),
    ] {
        let src = format!("[\"\\u{first}\\u{second}\"]");
        match accepted {
            true => drop(scan_ok(&src)),
            false => assert_eq!(refused(&src).kind, ScanErrorKind::LoneSurrogate, "{src}"),
        }
    }
}

/// C79, R2503-RPC-22.
#[test]
fn invalid_utf8_is_refused_wherever_it_stands() {
    for bad in
        [&b"\xff"[..], b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\xbf\xbf\xbf", b"\xe2\x82", b"\x80"]
    {
        for before in 0..20 {
            let src = [b"{\"x\":\"", &b"a".repeat(before)[..], bad, b"\"}"].concat();
            assert_eq!(refused(src).kind, ScanErrorKind::Utf8, "{bad:x?} after {before}");
        }
    }
    scan_ok("{\"\u{e9}\u{20ac}\u{1f600}\u{7f}\":\"\u{2028}\"}");
}

/// C10: duplicates at the levels that the protocol reads.
#[test]
fn duplicates_are_refused_where_the_protocol_reads_members() {
    for (src, second) in [
        (r#"{"a":1,"a":2}"#, r#""a":2"#),
        (r#"{"a":1,"\u0061":2}"#, r#""\u"#),
        (r#"{"":1,"":2}"#, r#""":2"#),
        (r#"{"params":{"name":1,"x":{},"n\u0061me":2}}"#, r#""n\u"#),
        (r#"{"params":{"_meta":{"a":1,"a":2}}}"#, r#""a":2"#),
        (r#"{"params":{"_meta":{}},"params":{}}"#, r#""params":{}}"#),
        (r#"{"params":{"_meta":{},"_meta":{}}}"#, r#""_meta":{}}}"#),
        (r#"{"result":{"a":1,"a":2}}"#, r#""a":2"#),
        (r#"{"result":{"_meta":{"a":1,"a":2}}}"#, r#""a":2"#),
        (r#"{"error":{"code":1,"code":2}}"#, r#""code":2"#),
    ] {
        let error = refused(src);
        assert_eq!(error.kind, ScanErrorKind::Duplicate, "{src}");
        assert_eq!(error.at, src.find(second).unwrap() + 1, "{src}");
        assert!(!error.is_parse_error());
    }
    for src in [
        r#"{"params":{"arguments":{"a":1,"a":2}}}"#,
        r#"{"_meta":{"a":1,"a":2}}"#,
        r#"{"params":{"name":"safe","Name":"secret","arguments":{},"Arguments":{"a":1}}}"#,
        r#"{"method":1,"method\u0000":2,"Method":3,"params":{},"param\u017f":{}}"#,
        r#"[{"a":1,"a":2}]"#,
    ] {
        scan_ok(src);
    }
}

/// A peer chooses how many members there are.
#[test]
fn duplicates_are_found_among_many_members() {
    let names = |count: usize| (0..count).map(|i| format!("\"n{i}\":0")).collect::<Vec<_>>();
    for count in [1, 6, 11, 12, 13, 5000] {
        let mut members = names(count);
        scan_ok(&format!("{{\"params\":{{{}}}}}", members.join(",")));
        for repeated in ["\"n0\":1", "\"\\u006e0\":1"] {
            members.push(repeated.to_owned());
            let src = format!("{{\"params\":{{{}}}}}", members.join(","));
            let error = refused(&src);
            assert_eq!(error.kind, ScanErrorKind::Duplicate);
            assert_eq!(error.at, src.rfind(repeated).unwrap() + 1);
            members.pop();
        }
    }
    let twice = [names(20), names(20)].concat().join(",");
    let first_repeat = twice.rfind("n0").unwrap() + 1;
    assert_eq!(refused(format!("{{{twice}}}")).at, first_repeat);
}

#[test]
fn the_nesting_limit_passes_and_one_more_is_refused() {
    let objects = |depth| "{\"a\":".repeat(depth - 1) + "{}" + &"}".repeat(depth - 1);
    let meta = |depth| format!("{{\"params\":{{\"_meta\":{{\"a\":{}}}}}}}", nested(depth - 3));
    let shapes: [&dyn Fn(usize) -> String; 3] = [&nested, &objects, &meta];
    for limit in [4, 127, 128, 129, 1000] {
        let limits = ScanLimits::depth(limit);
        for shape in shapes {
            assert!(scan(shape(limit).as_bytes(), &limits).is_ok(), "{limit}");
            let error = scan(shape(limit + 1).as_bytes(), &limits).unwrap_err();
            assert_eq!(error.kind, ScanErrorKind::Depth, "{limit}");
        }
    }
    assert!(scan(b"1", &ScanLimits::depth(0)).is_ok());
}

/// At the default limit, one deeper than `serde_json`'s, decoding still starts inside.
#[test]
fn what_lies_in_the_envelope_is_never_too_deep_for_serde() {
    let src = format!("{{\"params\":{}}}", nested(127));
    let params = scan_ok(&src).envelope.get(src.as_bytes(), "params").unwrap();
    assert!(serde_json::from_slice::<Value>(params.of(src.as_bytes())).is_ok());
}

#[test]
fn hostile_nesting_is_refused_without_recursion() {
    for open in ["[", "{\"a\":", "{\"params\":", "[{\"a\":["] {
        assert_eq!(refused(open.repeat(1 << 20)).kind, ScanErrorKind::Depth);
        let unlimited = scan(open.repeat(1 << 17).as_bytes(), &ScanLimits::depth(usize::MAX));
        assert_eq!(unlimited.unwrap_err().kind, ScanErrorKind::Syntax);
    }
}

#[test]
fn errors_say_who_erred() {
    assert_eq!(refused("[1e999]").to_string(), "the peer sent a number out of range (byte 1)");
}
