//! Whatever a `WWW-Authenticate` field holds, what is read of it survives being written again, and
//! a bearer token is one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_proto::auth::bearer;
use mcp_proto::auth::challenge::{Bearer, Challenge, parse};

/// The challenge as a field, every value in quotes.
fn write(challenge: &Challenge) -> String {
    if let Some(token68) = challenge.token68() {
        return format!("{} {token68}", challenge.scheme());
    }
    let quoted = |value: &str| value.replace('\\', r"\\").replace('"', "\\\"");
    let params = challenge.params().map(|(name, value)| format!("{name}=\"{}\"", quoted(value)));
    format!("{} {}", challenge.scheme(), params.collect::<Vec<_>>().join(" , "))
}

fuzz_target!(|field: &[u8]| {
    if let Ok(challenges) = parse(field) {
        let again = challenges.iter().map(write).collect::<Vec<_>>().join(",, ");
        assert_eq!(parse(again.as_bytes()), Ok(challenges), "{again}");
        assert_eq!(Bearer::find([again.as_bytes()]), Bearer::find([field]));
    }
    if let Ok(token) = bearer([field]) {
        assert!(!token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()));
    }
});
