use super::*;

fn scan_ok(src: &str) -> Message {
    scan(src.as_bytes(), &ScanLimits::default()).unwrap_or_else(|e| panic!("{src}: {e}"))
}

fn get<'a>(members: &Members, src: &'a str, name: &str) -> Option<&'a str> {
    members
        .get(src.as_bytes(), name)
        .map(|span| std::str::from_utf8(span.of(src.as_bytes())).unwrap())
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
