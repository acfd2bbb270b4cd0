use super::*;

fn id(text: &str) -> RequestId {
    RequestId::from_json(text.as_bytes()).expect("an id")
}

#[test]
fn a_request_that_cannot_be_read_has_its_id_all_the_same() {
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"\ud800"}}"#, "1"),
        (r#"{"params":{"x":1e400},"method":"m","id":"a\"b"}"#, r#""a\"b""#),
        (r#"{"jsonrpc":"2.0","method":"m","params":{"id":9,"x":NaN},"id" : -3 }"#, "-3"),
        (r#"{"id":5,"method":"m","params":[[[[{"a":"#, "5"),
        (r#"{"id":5,"method":"m","params":{"text":"},\"id\":6"#, "5"),
        ("\u{feff} {\"\\u0069d\":7,\"method\":null", "7"),
        (r#"{"id":8,"x":1,"x":2}"#, "8"),
    ];
    for (text, expected) in cases {
        let outline = Outline::of(text.as_bytes());
        assert_eq!(outline.request_id(), Some(&id(expected)), "{text}");
        assert_eq!((outline.response_id(), outline.is_response()), (None, false), "{text}");
    }
}

#[test]
fn a_response_is_known_by_its_members_and_never_has_an_id_to_answer() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"x":"\udc00"}}"#,
        r#"{"error":{"code":-32700},"id":1}"#,
        r#"{"jsonrpc":"1.0","id":1,"result":null,"error":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","data":"AAAA"#,
    ] {
        let outline = Outline::of(text.as_bytes());
        assert!(outline.is_response(), "{text}");
        assert_eq!((outline.response_id(), outline.request_id()), (Some(&id("1")), None), "{text}");
    }
    let unrelated = Outline::of(br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}"#);
    assert!(unrelated.is_response() && unrelated.response_id().is_none());
}

#[test]
fn what_is_unclear_has_no_id() {
    let long = format!(r#"{{"id":"{}","method":"m"}}"#, "x".repeat(TOKEN));
    let digits = format!(r#"{{"id":{},"method":"m"}}"#, "7".repeat(5_000));
    for text in [
        r#"{"id":1,"id":1,"method":"m"}"#,
        r#"{"id":{"id":1},"method":"m"}"#,
        r#"{"id":[],"method":"m"}"#,
        r#"{"id":1.5,"method":"m"}"#,
        r#"{"id":true,"method":"m"}"#,
        r#"{"id":1"#,
        r#"{"id":12,"par"#,
        r#"{"ID":1,"method":"m"}"#,
        r#"[{"id":1,"method":"m"}]"#,
        r#"log {"id":1,"method":"m"}"#,
        "",
        "{",
        &long,
        &digits,
    ] {
        let outline = Outline::of(text.as_bytes());
        assert_eq!((outline.request_id(), outline.response_id()), (None, None), "{text}");
    }
}

#[test]
fn how_a_text_is_cut_changes_nothing() {
    let text = r#"{"jsonrpc":"2.0","params":{"a":"\\\"}","b":[{}]},"id":"\u00e9","method":"m"}"#;
    let whole = Outline::of(text.as_bytes());
    assert_eq!(whole.request_id(), Some(&id("\"é\"")));
    for size in 1..9 {
        let mut outline = Outline::default();
        text.as_bytes().chunks(size).for_each(|piece| outline.read(piece));
        assert_eq!(outline, whole, "pieces of {size}");
    }
}

#[test]
fn little_is_held_of_a_text_without_end() {
    let mut outline = Outline::default();
    outline.read(br#"{"method":"m","params":""#);
    (0..1_000).for_each(|_| outline.read(&[b'x'; 4096]));
    assert!(!outline.is_settled() && outline.token.capacity() <= 2 * TOKEN);
    outline.read(br#"","id":1"#);
    assert!(!outline.is_settled(), "the id may go on");
    outline.read(b"2,");
    assert!(outline.is_settled());
    assert_eq!(outline.request_id(), Some(&id("12")));
    let mut name = Outline::default();
    name.read(b"{\"");
    (0..1_000).for_each(|_| name.read(&[b'x'; 4096]));
    assert!(name.token.capacity() <= 2 * TOKEN + 2);
}

#[test]
fn elements_are_told_apart_by_brackets() {
    let text = br#" [{"id":1,"x":"],"},{"id":2,"x":[1,"\ud800"]} ,{"id":3"#;
    let ids: Vec<_> = rough_elements(text, 10)
        .into_iter()
        .filter_map(|element| Outline::of(element).request_id().cloned())
        .collect();
    assert_eq!(ids, [id("1"), id("2")]);
    assert_eq!(rough_elements(text, 1).len(), 1);
    assert_eq!(rough_elements(b"}}],,[1]", 9), [b"1"]);
}
