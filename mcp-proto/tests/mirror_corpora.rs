//! Annotated tool parameters and their headers against the vectors of the specification and the
//! official SDKs.

mod corpora;

use mcp_proto::model::mirror::{AnnotationFault, MirroredParam, check_mirrored, mirrored_params};
use serde_json::{Value, json};

#[test]
fn the_tool_schema_vectors() {
    // R26-HDR-09 to R26-HDR-12
    let Some(corpus) = corpora::load("mcp-headers.json") else { return };
    let rows = corpora::rows(&corpus, "tool_cases");
    for row in rows {
        let name = corpora::text(row, "name");
        let found = mirrored_params(row["inputSchema"].to_string().as_bytes());
        let constraint = found.as_ref().err().map(|invalid| match invalid.fault {
            AnnotationFault::Empty => "not-empty",
            AnnotationFault::NotAToken => "charset",
            AnnotationFault::Type => "primitive-only",
            AnnotationFault::Duplicate => "unique",
            AnnotationFault::Unreachable => "statically-reachable",
            other => panic!("{name}: {other:?}"),
        });
        assert_eq!(json!(constraint), row["constraint"], "{name}: {found:?}");
        assert_eq!(json!(found.is_ok()), row["accept"], "{name}");
        if let (Ok(found), Some(expected)) = (found, row["headers"].as_array()) {
            let pair = |param: &MirroredParam| {
                json!([param.path(), param.header().strip_prefix("Mcp-Param-")])
            };
            let mut pairs: Vec<_> = found.iter().map(pair).collect();
            let mut expected = expected.clone();
            // The order of members depends on how `serde_json` was built.
            pairs.sort_by_key(Value::to_string);
            expected.sort_by_key(Value::to_string);
            assert_eq!(pairs, expected, "{name}");
        }
    }
    corpora::report("mcp-headers.json, tool_cases", rows.len());
}

#[test]
fn the_server_vectors_about_parameters() {
    // R26-HDR-17 to R26-HDR-26. The rows without a schema are about the standard headers.
    let Some(corpus) = corpora::load("mcp-headers.json") else { return };
    let rows = corpora::rows(&corpus, "server_cases");
    let rows: Vec<_> = rows.iter().filter(|row| !row["inputSchema"].is_null()).collect();
    for row in &rows {
        let name = corpora::text(row, "name");
        let params = mirrored_params(row["inputSchema"].to_string().as_bytes()).expect(name);
        let arguments = row["params"]["arguments"].to_string();
        let headers: Vec<(&str, &str)> = corpora::rows(row, "headers")
            .iter()
            .map(|pair| (pair[0].as_str().expect("a name"), pair[1].as_str().expect("a value")))
            .collect();
        let checked = check_mirrored(&params, Some(arguments.as_bytes()), headers.as_slice());
        match corpora::text(row, "verdict") {
            "accept" => assert_eq!(checked, Ok(()), "{name}"),
            "reject" => assert!(checked.is_err(), "{name}"),
            verdict => assert_eq!(verdict, "either", "{name}"),
        }
    }
    corpora::report("mcp-headers.json, server_cases about parameters", rows.len());
}
