//! Mirrored header values against the vectors of the specification and the official SDKs.

mod corpora;

use mcp_proto::frame::header_value::{Scalar, decode};
use serde_json::Value;

#[test]
fn encoding() {
    // R26-HDR-14 to R26-HDR-16
    let Some(corpus) = corpora::load("mcp-headers.json") else { return };
    let rows = corpora::rows(&corpus, "encode_cases");
    for row in rows {
        let header = header(&row["value"].to_string());
        let expected = row["expect"].as_array().expect("values");
        assert!(expected.contains(&header), "{}: {header}", row["value"]);
    }
    corpora::report("mcp-headers.json, encode_cases", rows.len());
}

#[test]
fn arguments() {
    // R26-HDR-10, R26-HDR-23
    let Some(corpus) = corpora::load("mcp-headers.json") else { return };
    let rows = corpora::rows(&corpus, "argument_cases");
    for row in rows {
        let argument = corpora::text(row, "argument_json");
        assert_eq!(header(argument), row["header"], "{argument}");
    }
    corpora::report("mcp-headers.json, argument_cases", rows.len());
}

#[test]
fn decoding() {
    // R26-HDR-17, R26-HDR-20
    let Some(corpus) = corpora::load("mcp-headers.json") else { return };
    let rows = corpora::rows(&corpus, "decode_cases");
    for row in rows {
        let value = corpora::text(row, "header");
        let decoded = decode(value.as_bytes());
        match corpora::text(row, "expect") {
            "accept" => {
                assert_eq!(decoded.expect(value), corpora::text(row, "decodes_to"), "{value}")
            }
            "reject" => assert!(decoded.is_err(), "{value}: {decoded:?}"),
            verdict => assert_eq!(verdict, "either", "{value}"),
        }
    }
    corpora::report("mcp-headers.json, decode_cases", rows.len());
}

/// The header for an argument, or null for none.
fn header(argument: &str) -> Value {
    Scalar::from_json(argument.as_bytes()).map(|scalar| scalar.to_header().into_owned()).into()
}
