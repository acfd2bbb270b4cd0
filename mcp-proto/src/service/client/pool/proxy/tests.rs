use super::*;

fn proxies(variables: &[(&str, &str)]) -> Proxies {
    let variable = |name: &str| {
        let found = variables.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| OsString::from(value))
    };
    Proxies::new(Told::Environment, variable)
}

/// The proxy of a URL's origin.
fn of(proxies: &Proxies, url: &str) -> Result<Option<String>, String> {
    let url = Url::parse(url).unwrap();
    let origin = Origin::new(url.is_secure(), url.host(), url.port());
    Ok(proxies.of(&origin)?.map(|proxy| proxy.to_string()))
}

#[test]
fn the_environment_names_a_proxy_for_each_scheme() {
    let (plain, secure) = ("http://mcp.example/", "https://mcp.example/");
    for (variables, http, https) in [
        (&[][..], None, None),
        (&[("http_proxy", "http://p")], Some("http://p:80"), None),
        (&[("HTTP_PROXY", "http://p:3128/")], Some("http://p:3128"), None),
        (&[("https_proxy", "p:3128")], None, Some("http://p:3128")),
        (&[("HTTPS_PROXY", "https://p")], None, Some("https://p:443")),
        (&[("ALL_PROXY", "http://[::2]:1")], Some("http://[::2]:1"), Some("http://[::2]:1")),
        // Lower case comes first, what is empty is not there, and what is special goes first.
        (&[("https_proxy", "a"), ("HTTPS_PROXY", "b")], None, Some("http://a:80")),
        (&[("https_proxy", ""), ("HTTPS_PROXY", "b")], None, Some("http://b:80")),
        (&[("https_proxy", "a"), ("all_proxy", "b")], Some("http://b:80"), Some("http://a:80")),
    ] {
        let proxies = proxies(variables);
        assert_eq!(of(&proxies, plain).unwrap().as_deref(), http, "{variables:?}");
        assert_eq!(of(&proxies, secure).unwrap().as_deref(), https, "{variables:?}");
    }
}

#[test]
fn a_header_of_a_request_names_no_proxy_of_a_cgi_program() {
    let cgi = proxies(&[
        ("REQUEST_METHOD", "GET"),
        ("HTTP_PROXY", "http://evil"),
        ("HTTPS_PROXY", "http://p"),
    ]);
    assert_eq!(of(&cgi, "http://mcp.example/"), Ok(None));
    assert_eq!(of(&cgi, "https://mcp.example/"), Ok(Some("http://p:80".into())));
}

#[test]
fn exceptions_are_names_addresses_and_networks() {
    for (except, covered, others) in [
        (
            "example.com",
            &["example.com", "a.example.com", "example.com:8080"][..],
            &["anexample.com", "com"][..],
        ),
        (".example.com", &["example.com", "a.b.example.com"], &["example.org"]),
        ("*.example.com", &["a.example.com"], &["example.org"]),
        ("EXAMPLE.com.", &["example.com"], &["example.org"]),
        ("example.com:8080", &["a.example.com:8080"], &["example.com"]),
        ("10.0.0.1", &["10.0.0.1"], &["10.0.0.2", "10.0.0.1.example.com"]),
        ("10.0.0.1:81", &["10.0.0.1:81"], &["10.0.0.1"]),
        ("10.1.0.0/16", &["10.1.2.3"], &["10.2.0.0", "mcp.example"]),
        ("0.0.0.0/0", &["10.1.2.3"], &["[fd00::1]", "mcp.example"]),
        ("fd00::/8", &["[fd12::1]"], &["[fe80::1]", "10.0.0.1"]),
        ("[fd00::1]:81", &["[fd00::1]:81"], &["[fd00::1]"]),
        ("fd00::1", &["[fd00::1]"], &["[fd00::2]"]),
        (
            "a.example, b.example c.example",
            &["a.example", "b.example", "c.example"],
            &["d.example"],
        ),
        ("*", &["mcp.example", "10.0.0.1"], &[]),
        ("", &[], &["mcp.example"]),
        ("10.0.0.0/x,mcp.example:port", &[], &["10.0.0.1", "mcp.example"]),
    ] {
        let proxies = proxies(&[("all_proxy", "p"), ("no_proxy", except)]);
        for host in covered {
            assert_eq!(of(&proxies, &format!("http://{host}/")), Ok(None), "{except}: {host}");
        }
        for host in others {
            let proxy = of(&proxies, &format!("http://{host}/")).unwrap();
            assert!(proxy.is_some(), "{except}: {host}");
        }
    }
}

#[test]
fn this_machine_is_reached_directly_unless_that_is_said_expressly() {
    let environment = proxies(&[("all_proxy", "p")]);
    let expressly = Proxies::new(Told::Always("p".parse().unwrap()), |_| None);
    let never = Proxies::new(Told::Never, |_| Some("p".into()));
    for host in ["localhost", "a.localhost", "127.0.0.1", "127.8.0.1:81", "[::1]"] {
        let url = format!("https://{host}/");
        assert_eq!(of(&environment, &url), Ok(None), "{host}");
        assert_eq!(of(&expressly, &url), Ok(Some("http://p:80".into())), "{host}");
    }
    assert_eq!(of(&never, "https://mcp.example/"), Ok(None));
}

#[test]
fn what_is_no_proxy_is_an_error_and_no_way_around_it() {
    for value in ["socks5://user:hush@p:1080", "http://:hush@", "http://user:hush@p:port"] {
        let proxies = proxies(&[("all_proxy", value)]);
        let error = of(&proxies, "https://mcp.example/").unwrap_err();
        assert!(error.contains("`all_proxy`") && !error.contains("hush"), "{error}");
        assert_eq!(of(&proxies, "https://localhost/"), Ok(None));
    }
}

#[test]
fn a_name_and_a_password_are_decoded_and_not_shown() {
    let proxy: Proxy = "http://us%40er:p%3Ass:w@p:3128".parse().unwrap();
    let value = proxy.authorization.as_ref().unwrap();
    let encoded = value.to_str().unwrap().strip_prefix("Basic ").unwrap();
    assert_eq!(BASE64_STANDARD.decode(encoded).unwrap(), b"us@er:p:ss:w");
    assert!(value.is_sensitive());
    assert_eq!(format!("{proxy} {proxy:?}"), "http://p:3128 http://p:3128");
    assert_eq!("http://p".parse::<Proxy>().unwrap().authorization, None);
}
