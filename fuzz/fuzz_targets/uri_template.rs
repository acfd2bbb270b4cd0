//! A template and a URI, on two lines: whatever they are, matching ends, and what matches has no
//! `..` segment and no encoded `/` where it may not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_proto::frame::uri_template::{UriTemplate, Value};

fuzz_target!(|text: &str| {
    let (template, uri) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(parsed) = UriTemplate::parse(template) else { return };
    let simple = !template.contains(['+', '#', '?', '&']);
    for (_, value) in parsed.matches(uri).into_iter().flatten() {
        assert!(value.split(['/', '\\']).all(|segment| segment != ".."), "{value}");
        assert!(!(simple && value.contains('/')), "{value}");
    }
    let expanded = parsed.expand(|_| Some(Value::from(uri))).expect("texts always expand");
    let _ = parsed.matches(&expanded);
});
