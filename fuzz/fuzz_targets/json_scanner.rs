//! What the scanner accepts, `serde_json` accepts; what it refuses, `serde_json` refuses too, but
//! for the documented stricter points.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_proto::frame::json::{self, ScanErrorKind, ScanLimits};
use serde_json::Value;

/// The deepest nesting that `serde_json` reads.
const DEPTH: usize = 127;

fuzz_target!(|src: &[u8]| {
    let theirs = serde_json::from_slice::<Value>(src);
    match json::scan(src, &ScanLimits::depth(DEPTH)) {
        Ok(message) => {
            let value = theirs.expect("accepted here, refused by serde_json");
            for member in message.envelope.iter() {
                let name = member.decoded_name(src);
                let found: Value =
                    serde_json::from_slice(member.value.of(src)).expect("a range is a value");
                assert_eq!(value.get(&*name), Some(&found));
            }
            let mut compact = Vec::new();
            json::compact(src, &mut compact);
            assert_eq!(serde_json::from_slice::<Value>(&compact).ok(), Some(value));
            let once = canonical(src);
            assert_eq!(canonical(&compact), once);
            assert_eq!(canonical(&once), once);
        }
        Err(error) if error.kind == ScanErrorKind::Duplicate => {
            assert!(theirs.is_ok(), "a duplicate is reported for JSON only");
        }
        Err(error) => assert!(theirs.is_err(), "{error}, but serde_json accepts"),
    }
});

fn canonical(src: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    json::canonical(src, &ScanLimits::default(), &mut out).expect("JSON");
    out
}
