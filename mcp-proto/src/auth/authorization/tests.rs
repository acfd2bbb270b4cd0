use super::*;
use crate::auth::challenge::{Bearer, parse};

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn authorization(resource: &str) -> Authorization {
    Authorization::builder(resource).build().expect(resource)
}

#[test]
fn the_resource_is_published_as_configured_but_for_one_slash() {
    // C101, T-79; RFC 9728, section 3.1
    const ROOT: &str = "/.well-known/oauth-protected-resource";
    for (configured, resource, path, url) in [
        ("https://h", "https://h", "", "https://h{}"),
        ("https://h/", "https://h", "", "https://h{}"),
        ("https://h/mcp", "https://h/mcp", "/mcp", "https://h{}/mcp"),
        ("https://h/mcp/", "https://h/mcp", "/mcp", "https://h{}/mcp"),
        ("https://h/mcp//", "https://h/mcp/", "/mcp/", "https://h{}/mcp/"),
        ("HTTPS://H:443/Mcp", "HTTPS://H:443/Mcp", "/Mcp", "HTTPS://H:443{}/Mcp"),
        ("https://h/%6Dcp", "https://h/%6Dcp", "/%6Dcp", "https://h{}/%6Dcp"),
        ("https://h/mcp?x=1", "https://h/mcp?x=1", "/mcp", "https://h{}/mcp?x=1"),
        ("https://h/?x=/", "https://h/?x=/", "", "https://h{}?x=/"),
        ("http://[::1]:8080/a/b", "http://[::1]:8080/a/b", "/a/b", "http://[::1]:8080{}/a/b"),
    ] {
        let authorization = authorization(configured);
        assert_eq!(authorization.resource(), resource);
        assert_eq!(authorization.metadata_path(), format!("{ROOT}{path}"), "{configured}");
        assert_eq!(authorization.metadata_url(), url.replace("{}", ROOT), "{configured}");
    }
}

#[test]
fn an_audience_has_two_spellings_and_no_third() {
    // C101, R2506-ATOK-04
    for configured in ["https://h/mcp", "https://h/mcp/"] {
        for (audience, meant) in [
            ("https://h/mcp", true),
            ("https://h/mcp/", true),
            ("https://h/mcp//", false),
            ("https://h/mc", false),
            ("https://h/mcp/x", false),
            ("https://h", false),
            ("https://h.evil/mcp", false),
            ("HTTPS://h/mcp", false),
            ("https://h:443/mcp", false),
            ("", false),
        ] {
            assert_eq!(authorization(configured).is_audience(audience), meant, "{audience}");
        }
    }
}

#[test]
fn the_metadata_say_what_was_configured_and_nothing_else() {
    // R2506-AUTH-13
    let full = Authorization::builder("https://h/mcp")
        .authorization_server("https://login/")
        .authorization_server("https://Login")
        .scopes_supported(["b", "a"])
        .required_scopes(["a"])
        .resource_name("Files \"R\" Us")
        .documentation("https://h/docs")
        .build()
        .expect("valid");
    assert_eq!(
        full.metadata().as_str(),
        r#"{"resource":"https://h/mcp","authorization_servers":["https://login/","https://Login"],"scopes_supported":["a","b"],"bearer_methods_supported":["header"],"resource_name":"Files \"R\" Us","resource_documentation":"https://h/docs"}"#
    );
    let required = Authorization::builder("https://h").required_scopes(["a"]).build().expect("ok");
    assert!(required.metadata().as_str().contains(r#""scopes_supported":["a"]"#));
    assert_eq!(
        authorization("https://h").metadata().as_str(),
        r#"{"resource":"https://h","bearer_methods_supported":["header"]}"#
    );
}

#[test]
fn settings_that_cannot_be_published_are_refused() {
    for resource in
        ["", "/mcp", "h/mcp", "ftp://h", "https://h/#f", "https://h/\r\nX: y", "https://h/\""]
    {
        let refused = Authorization::builder(resource).build();
        assert_eq!(refused, Err(InvalidAuthorization::Url(resource.into())));
    }
    let builder = || Authorization::builder("https://h");
    for scope in ["", "a b", "a\"", "a\\", "\u{e9}", "a\n"] {
        let refused = Err(InvalidAuthorization::Scope(scope.into()));
        assert_eq!(builder().required_scopes([scope]).build(), refused);
        assert_eq!(builder().scopes_supported([scope]).build(), refused);
        assert_eq!(builder().scope_implies("a", [scope]).build(), refused);
        assert_eq!(builder().scope_implies(scope, ["a"]).build(), refused);
    }
    assert!(builder().authorization_server("login").build().is_err());
    assert!(builder().documentation("javascript:alert(1)").build().is_err());
}

#[test]
fn every_refusal_has_its_status_and_challenge() {
    // R2503-AUTH-07, R2503-AUTH-08, R2506-AUTH-14, R2511-AFLOW-08, R26-AFLOW-12
    let authorization = Authorization::builder("https://h/mcp")
        .required_scopes(["use", "a:b"])
        .build()
        .expect("ok");
    let needed = ["write", "read"].map(str::to_owned).into();
    for (refusal, status, error, scope) in [
        (Refusal::Missing, 401, None, "a:b use"),
        (Refusal::Malformed, 400, Some("invalid_request"), "a:b use"),
        (Refusal::Invalid, 401, Some("invalid_token"), "a:b use"),
        (Refusal::InsufficientScope(needed), 403, Some("insufficient_scope"), "read write"),
    ] {
        assert_eq!(refusal.status(), status);
        let field = authorization.challenge(&refusal).expect("a challenge");
        let read = Bearer::find([field.as_bytes()]).expect("bearer");
        assert_eq!(read.error.as_deref(), error, "{field}");
        assert_eq!(read.scope.as_deref(), Some(scope), "{field}");
        assert_eq!(read.resource_metadata.as_deref(), Some(authorization.metadata_url()));
        assert_eq!(read.error_description.is_some(), error.is_some());
    }
    assert_eq!(Refusal::Unavailable.status(), 503);
    assert_eq!(authorization.challenge(&Refusal::Unavailable), None);
}

#[test]
fn scopes_that_can_be_none_do_not_reach_the_wire() {
    let needed = ["a", "", "x\r\nSet-Cookie: y", "\"", "b"].map(str::to_owned).into();
    let field = authorization("https://h").challenge(&Refusal::InsufficientScope(needed));
    let field = field.expect("a challenge");
    assert_eq!(parse(field.as_bytes()).expect(&field)[0].param("scope"), Some("a b"));
}

#[test]
fn admission_looks_at_time_and_then_at_scopes() {
    let authorization =
        Authorization::builder("https://h").required_scopes(["read"]).build().expect("ok");
    let principal = Principal::subject("ada").expires_at(1_000);
    let refused = Err(Refusal::InsufficientScope(["read".to_owned()].into()));
    assert_eq!(authorization.admit(principal.clone(), at(1_029)), refused);
    assert_eq!(authorization.admit(principal.clone(), at(1_030)), Err(Refusal::Invalid));
    let principal = principal.with_scopes(["read"]);
    assert_eq!(authorization.admit(principal.clone(), at(1_029)), Ok(principal.clone()));
    assert_eq!(authorization.admit(principal.not_before(2_000), at(1_029)), Err(Refusal::Invalid));
}

#[test]
fn the_leeway_is_bounded() {
    let authorization =
        Authorization::builder("https://h").leeway(Duration::MAX).build().expect("ok");
    let principal = Principal::subject("ada").expires_at(1_000);
    assert!(authorization.admit(principal.clone(), at(1_299)).is_ok());
    assert_eq!(authorization.admit(principal, at(1_300)), Err(Refusal::Invalid));
}

#[test]
fn broad_scopes_bring_narrow_ones_along_in_circles_too() {
    // R26-AFLOW-14
    let authorization = Authorization::builder("https://h")
        .required_scopes(["read"])
        .scope_implies("admin", ["write"])
        .scope_implies("write", ["read"])
        .scope_implies("read", ["admin"])
        .build()
        .expect("ok");
    let admitted =
        authorization.admit(Principal::client("c").with_scopes(["admin"]), at(0)).expect("ok");
    assert!(admitted.missing(["admin", "write", "read"]).is_empty());
    assert!(authorization.admit(Principal::client("c").with_scopes(["other"]), at(0)).is_err());
}
