use super::*;
use crate::frame::http1::Headers;

struct Request {
    host: Option<&'static str>,
    origin: Option<&'static str>,
}

impl Headers for Request {
    fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        let value = if name == "origin" { self.origin } else { None };
        value.map(str::as_bytes).into_iter()
    }
}

impl HttpRequest for Request {
    fn method(&self) -> &str {
        "POST"
    }
    fn path(&self) -> &str {
        "/mcp"
    }
    fn query(&self) -> Option<&str> {
        None
    }
    fn authority(&self) -> Option<&str> {
        self.host
    }
}

fn check(gate: &Gate, host: &'static str, origin: Option<&'static str>) -> Result<(), Refused> {
    gate.check(&Request { host: Some(host), origin })
}

#[test]
fn by_default_only_loopback_names_on_any_port_are_answered() {
    // C44
    let gate = Gate::default();
    for host in [
        "localhost",
        "LOCALHOST:8080",
        "127.0.0.1",
        "127.0.0.1:9",
        "127.8.8.8:80",
        "[::1]:8080",
        "[::1]",
    ] {
        assert_eq!(check(&gate, host, None), Ok(()), "{host}");
    }
    for host in [
        "evil.example",
        "0.0.0.0",
        "localhost.",
        "localhost.evil.com",
        "127.0.0.1.evil.com",
        "user@localhost",
        "localhost:80:80",
        "localhost:x",
        "localhost:999999",
        "[::1",
        "[::1]x",
        "",
        "192.168.0.1",
    ] {
        assert_eq!(check(&gate, host, None), Err(Refused::Host), "{host}");
    }
    assert_eq!(gate.check(&Request { host: None, origin: None }), Err(Refused::Host));
}

#[test]
fn an_origin_is_let_in_only_when_it_is_listed_or_the_allowed_host_itself() {
    // R2511-HTTP-02
    let gate = Gate::default().allow_origin("https://*.app.example").unwrap();
    for origin in ["http://localhost:8080", "https://a.app.example"] {
        assert_eq!(check(&gate, "localhost:8080", Some(origin)), Ok(()), "{origin}");
    }
    for origin in [
        "null",
        "http://localhost:5173",
        "https://localhost:80",
        "https://evil.example",
        "https://app.example",
        "https://a.b.app.example",
        "https://a.app.example:8443",
        "http://a.app.example",
        "vscode-webview://x",
        "http://localhost:8080/",
        "",
    ] {
        assert_eq!(check(&gate, "localhost:8080", Some(origin)), Err(Refused::Origin), "{origin}");
    }
}

#[test]
fn a_rebound_name_passes_neither_by_host_nor_by_origin() {
    let origin = Some("http://evil.example");
    assert_eq!(check(&Gate::default(), "evil.example", origin), Err(Refused::Host));
    assert_eq!(check(&Gate::default().any_host(), "evil.example", origin), Err(Refused::Origin));
    let trusting = Gate::default().any_host().trust_proxy_origin_validation();
    assert_eq!(check(&trusting, "evil.example", origin), Ok(()));
}

#[test]
fn origins_are_left_to_a_proxy_and_hosts_are_not() {
    let gate = Gate::default().allow_host("mcp.example");
    let trusting = gate.clone().trust_proxy_origin_validation();
    for origin in ["https://evil.example", "null", "", "http://localhost:5173", "not an origin"] {
        for host in ["localhost:8080", "mcp.example"] {
            assert_eq!(check(&gate, host, Some(origin)), Err(Refused::Origin), "{host} {origin}");
            assert_eq!(check(&trusting, host, Some(origin)), Ok(()), "{host} {origin}");
        }
        let refused = check(&trusting, "evil.example", Some(origin));
        assert_eq!(refused, Err(Refused::Host), "{origin}");
        // It lets them in, and does not list them: they get no CORS headers.
        assert!(!trusting.lists(origin.as_bytes()), "{origin}");
    }
}

#[test]
fn named_hosts_are_answered_besides_loopback_ones() {
    let gate = Gate::default().allow_host("MCP.example");
    for (host, expected) in [
        ("mcp.example", Ok(())),
        ("mcp.example:443", Ok(())),
        ("localhost", Ok(())),
        ("other.example", Err(Refused::Host)),
    ] {
        assert_eq!(check(&gate, host, None), expected, "{host}");
    }
    assert_eq!(check(&gate, "mcp.example", Some("https://mcp.example")), Ok(()));
}

#[test]
fn origins_with_ports_and_wildcards_are_matched_by_label() {
    let gate = Gate::default().allow_origin("http://localhost:*").unwrap();
    let gate = gate.allow_origin("https://a.example:8443").unwrap();
    for (origin, listed) in [
        ("http://localhost:5173", true),
        ("http://localhost", true),
        ("https://localhost:1", false),
        ("https://a.example:8443", true),
        ("https://a.example", false),
    ] {
        assert_eq!(gate.lists(origin.as_bytes()), listed, "{origin}");
    }
    for bad in ["localhost", "http://", "://x", "http://a/b", "http://u@h"] {
        assert!(Gate::default().allow_origin(bad).is_err(), "{bad}");
    }
}
