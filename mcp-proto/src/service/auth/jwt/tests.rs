use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};

use super::*;

const ISSUER: &str = "https://login.example.com";
const RESOURCE: &str = "https://mcp.example.com/mcp";

/// The public half of the Ed25519 key whose seed is `[7; 32]`.
const ED25519: &str = "-----BEGIN PUBLIC KEY-----\n\
    MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=\n\
    -----END PUBLIC KEY-----\n";
const ED25519_JWK: &str =
    r#"{"kty":"OKP","crv":"Ed25519","kid":"ed","x":"6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw"}"#;

fn signer() -> EncodingKey {
    // RFC 8410, section 7: a PKCS #8 header, and the seed.
    let mut der = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20".to_vec();
    der.extend([7; 32]);
    EncodingKey::from_ed_der(&der)
}

fn token_with(claims: &Value, change: impl FnOnce(&mut Header)) -> String {
    let mut header = Header::new(Algorithm::EdDSA);
    change(&mut header);
    encode(&header, claims, &signer()).expect("a token")
}

fn token(claims: &Value) -> String {
    token_with(claims, |_| ())
}

/// Good claims with some members changed; null removes one.
fn claims(changes: Value) -> Value {
    let mut claims = json!({ "iss": ISSUER, "aud": RESOURCE, "sub": "ada", "exp": 1_000 });
    for (name, value) in changes.as_object().expect("an object") {
        match value {
            Value::Null => drop(claims.as_object_mut().expect("an object").remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

fn verifier() -> JwtVerifier {
    JwtVerifier::new(ISSUER, RESOURCE).pem(JwtAlgorithm::EdDsa, None, ED25519).expect("a key")
}

fn verified(verifier: &JwtVerifier, token: &str) -> Result<Principal, VerifyError> {
    match verifier.verify(token) {
        Verification::Done(answer) => answer,
        Verification::Later(_) => panic!("nothing to wait for"),
    }
}

fn is_good(claims: &Value) -> bool {
    verified(&verifier(), &token(claims)).is_ok()
}

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors.json")).expect("JSON")
}

#[test]
fn a_token_tells_who_and_what_and_until_when() {
    let token = token(&claims(json!({
        "client_id": "inspector",
        "nbf": 10,
        "exp": 1_000.9,
        "scope": "files:read  files:write",
        "scp": ["admin"],
        "email": "ada@example.com",
    })));
    let principal = verified(&verifier(), &token).expect("good");
    assert_eq!(principal.subject_id(), Some("ada"));
    assert_eq!(principal.client_id(), Some("inspector"));
    assert_eq!(principal.issuer(), Some(ISSUER));
    assert_eq!(principal.expiry(), Some(1_000));
    assert!(principal.missing(["files:read", "files:write", "admin"]).is_empty());
    let claims: Value = principal.claims().decode().expect("an object");
    assert_eq!(claims["email"], "ada@example.com");
    let [begun, over] = [9, 1_000].map(core::time::Duration::from_secs);
    let zero = core::time::Duration::ZERO;
    assert!(!principal.is_valid_at(begun, zero) && !principal.is_valid_at(over, zero));
}

#[test]
fn issuer_audience_and_expiry_must_be_there_and_right() {
    // R2506-ATOK-03, R2506-ATOK-04, C101, T-79
    for (changes, good) in [
        (json!({}), true),
        (json!({ "aud": "https://mcp.example.com/mcp/" }), true),
        (json!({ "aud": ["https://other", RESOURCE] }), true),
        (json!({ "aud": null }), false),
        (json!({ "aud": [] }), false),
        (json!({ "aud": "" }), false),
        (json!({ "aud": "https://mcp.example.com" }), false),
        (json!({ "aud": "https://mcp.example.com/mcp//" }), false),
        (json!({ "aud": "https://mcp.example.com/mc" }), false),
        (json!({ "aud": "HTTPS://mcp.example.com/mcp" }), false),
        (json!({ "aud": 7 }), false),
        (json!({ "iss": null }), false),
        (json!({ "iss": "https://login.example.com/" }), false),
        (json!({ "iss": [ISSUER] }), false),
        (json!({ "exp": null }), false),
        (json!({ "exp": "1000" }), false),
        (json!({ "sub": null }), false),
        (json!({ "sub": "" }), false),
        (json!({ "sub": 7 }), false),
        (json!({ "sub": null, "client_id": "c" }), true),
        (json!({ "sub": null, "azp": "c" }), true),
        (json!({ "nbf": "soon" }), false),
        (json!({ "scope": 7 }), false),
    ] {
        assert_eq!(is_good(&claims(changes.clone())), good, "{changes}");
    }
}

#[test]
fn other_kinds_of_token_are_no_access_tokens() {
    // RFC 8725, section 3.11; RFC 9068, section 4
    let strict = verifier().at_jwt_only();
    for (typ, good, strictly_good) in [
        (None, true, false),
        (Some("JWT"), true, false),
        (Some("jwt"), true, false),
        (Some("application/jwt"), true, false),
        (Some("at+jwt"), true, true),
        (Some("AT+JWT"), true, true),
        (Some("application/at+jwt"), true, true),
        (Some("Application/AT+jwt"), true, true),
        (Some("dpop+jwt"), false, false),
        (Some("logout+jwt"), false, false),
        (Some("id_token+jwt"), false, false),
        (Some("application/secevent+jwt"), false, false),
        (Some("text/at+jwt"), false, false),
        (Some("at+jwt "), false, false),
        (Some(""), false, false),
    ] {
        let token = token_with(&claims(json!({})), |it| it.typ = typ.map(str::to_owned));
        assert_eq!(verified(&verifier(), &token).is_ok(), good, "{typ:?}");
        assert_eq!(verified(&strict, &token).is_ok(), strictly_good, "{typ:?}");
    }
}

#[test]
fn a_token_that_is_bound_to_a_key_is_no_bearer_token() {
    // RFC 7800, section 3; RFC 8705, section 3.1; RFC 9449, section 6.1
    for (changes, good) in [
        (json!({ "cnf": { "jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I" } }), false),
        (json!({ "cnf": { "x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2" } }), false),
        (json!({ "cnf": { "jwk": { "kty": "OKP" } } }), false),
        (json!({ "cnf": {} }), false),
        (json!({ "cnf": "?" }), false),
        (json!({ "conf": {} }), true),
    ] {
        assert_eq!(is_good(&claims(changes.clone())), good, "{changes}");
    }
}

#[test]
fn an_audience_given_with_a_slash_is_the_same() {
    let verifier = JwtVerifier::new(ISSUER, "https://mcp.example.com/mcp/");
    let verifier = verifier.pem(JwtAlgorithm::EdDsa, None, ED25519).expect("a key");
    assert!(verified(&verifier, &token(&claims(json!({})))).is_ok());
}

#[test]
fn what_was_not_signed_by_a_known_key_is_refused() {
    let good = token(&claims(json!({})));
    let (message, signature) = good.rsplit_once('.').expect("a signature");
    let (header, payload) = message.split_once('.').expect("a payload");
    let other = token(&claims(json!({ "sub": "eve" })));
    let stolen = other.split('.').nth(1).expect("a payload");
    let none = "eyJhbGciOiJub25lIn0"; // {"alg":"none"}
    let shared = "eyJhbGciOiJIUzI1NiJ9"; // {"alg":"HS256"}
    for token in [
        String::new(),
        "opaque".to_owned(),
        "..".to_owned(),
        message.to_owned(),
        format!("{message}."),
        format!("{message}.{}", &signature[1..]),
        format!("{header}.{stolen}.{signature}"),
        format!("{none}.{payload}."),
        format!("{none}.{payload}.{signature}"),
        format!("{shared}.{payload}.{signature}"),
        format!("{good}.x"),
    ] {
        assert_eq!(verified(&verifier(), &token), Err(VerifyError::Invalid), "{token}");
    }
    let nobody = JwtVerifier::new(ISSUER, RESOURCE);
    assert_eq!(verified(&nobody, &good), Err(VerifyError::Invalid));
}

#[test]
fn a_key_verifies_its_own_algorithm_only() {
    let vectors = vectors();
    let rsa = vectors["pem"]["rsa"].as_str().expect("a key");
    let ec = vectors["pem"]["ec"].as_str().expect("a key");
    for (name, algorithm, pem) in [
        ("RS256", JwtAlgorithm::Rs256, rsa),
        ("PS256", JwtAlgorithm::Ps256, rsa),
        ("ES256", JwtAlgorithm::Es256, ec),
    ] {
        let verifier = JwtVerifier::new(ISSUER, RESOURCE).pem(algorithm, None, pem).expect(name);
        for (signed, token) in vectors["tokens"].as_object().expect("tokens") {
            let answer = verified(&verifier, token.as_str().expect("a token"));
            assert_eq!(answer.is_ok(), signed == name, "{signed} by {name}");
        }
    }
}

#[test]
fn a_key_set_is_taken_as_far_as_it_is_known() {
    let vectors = vectors();
    let mut set = vectors["jwks"].clone();
    let keys = set["keys"].as_array_mut().expect("keys");
    keys.insert(0, json!({ "kty": "future", "kid": "x" }));
    keys.insert(0, json!({ "kty": "oct", "k": "c2VjcmV0", "alg": "HS256" }));
    keys.insert(0, json!("no key"));
    let verifier = JwtVerifier::new(ISSUER, RESOURCE).jwks(&set.to_string()).expect("keys");
    assert_eq!(verifier.keys.len(), 2);
    for (name, known) in [("RS256", true), ("ES256", true), ("PS256", false)] {
        let token = vectors["tokens"][name].as_str().expect("a token");
        assert_eq!(verified(&verifier, token).is_ok(), known, "{name}");
    }
}

#[test]
fn key_sets_without_a_usable_key_are_refused() {
    for (set, error) in [
        ("", InvalidKey::NotASet),
        ("[]", InvalidKey::NotASet),
        (r#"{"keys":{}}"#, InvalidKey::NotASet),
        (r#"{"keys":[]}"#, InvalidKey::NoneUsable),
        (r#"{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}"#, InvalidKey::NoneUsable),
        (r#"{"keys":[{"kty":"RSA","use":"enc","n":"AQAB","e":"AQAB"}]}"#, InvalidKey::NoneUsable),
        (
            r#"{"keys":[{"kty":"EC","crv":"P-256","alg":"RS256","x":"AA","y":"AA"}]}"#,
            InvalidKey::NoneUsable,
        ),
    ] {
        assert_eq!(JwtVerifier::new(ISSUER, RESOURCE).jwks(set).unwrap_err(), error, "{set}");
    }
    let pem = JwtVerifier::new(ISSUER, RESOURCE).pem(JwtAlgorithm::Rs256, None, ED25519);
    assert_eq!(pem.unwrap_err(), InvalidKey::NotPem);
}

#[test]
fn a_token_that_names_a_key_is_verified_by_that_one() {
    let set = format!(r#"{{"keys":[{ED25519_JWK}]}}"#);
    let named = JwtVerifier::new(ISSUER, RESOURCE).jwks(&set).expect("a key");
    for (verifier, kid, good) in [
        (&named, Some("ed"), true),
        (&named, None, true),
        (&named, Some("other"), false),
        (&verifier(), Some("other"), true),
    ] {
        let token = token_with(&claims(json!({})), |header| header.kid = kid.map(str::to_owned));
        assert_eq!(verified(verifier, &token).is_ok(), good, "{kid:?}");
    }
}

#[test]
fn debug_shows_no_key() {
    let shown = format!("{:?}", verifier());
    assert!(shown.contains(ISSUER) && !shown.contains("ea4a6c63"), "{shown}");
}
