//! URI templates against the test suite of RFC 6570.

mod corpora;

use std::borrow::Cow;

use mcp_proto::frame::uri_template::{UriTemplate, Value};
use serde_json::Value as Json;

#[test]
fn the_suites_of_rfc_6570() {
    let Some(corpus) = corpora::load("uri-template.json") else { return };
    let mut ran = 0;
    for (suite, groups) in corpus["suites"].as_object().expect("suites") {
        for (group, cases) in groups.as_object().expect("groups") {
            for case in corpora::rows(cases, "testcases") {
                let template = case[0].as_str().expect("a template");
                let expanded = expand(template, &cases["variables"]);
                let expected = &case[1];
                let passed = match &expanded {
                    Some(uri) => match expected {
                        Json::String(expected) => uri == expected,
                        Json::Array(any) => any.iter().any(|one| one == uri),
                        _ => false,
                    },
                    None => expected == &Json::Bool(false),
                };
                assert!(passed, "{suite}, {group}: {template} gave {expanded:?}, not {expected}");
                ran += 1;
            }
        }
    }
    corpora::report("uri-template.json", ran);
}

fn expand(template: &str, variables: &Json) -> Option<String> {
    UriTemplate::parse(template).ok()?.expand(|name| value(variables.get(name)?)).ok()
}

fn value(json: &Json) -> Option<Value<'_>> {
    match json {
        Json::Null => None,
        Json::Array(items) => Some(Value::List(items.iter().map(text).collect())),
        Json::Object(pairs) => {
            let pairs = pairs.iter().map(|(key, value)| (Cow::Borrowed(key.as_str()), text(value)));
            Some(Value::Pairs(pairs.collect()))
        }
        scalar => Some(Value::Text(text(scalar))),
    }
}

fn text(json: &Json) -> Cow<'_, str> {
    match json {
        Json::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}
