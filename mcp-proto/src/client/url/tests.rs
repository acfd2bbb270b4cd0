use super::{InvalidUrl, Url};

#[test]
fn an_endpoint_is_found_from_where_its_stream_is() {
    // C56
    let base = Url::parse("https://h/a/b/sse?key=k").unwrap();
    for (reference, target) in [
        ("/messages?sid=1", "/messages?sid=1"),
        ("messages?sid=1", "/a/b/messages?sid=1"),
        ("?sid=1", "/a/b/sse?sid=1"),
        ("", "/a/b/sse"),
        ("./x", "/a/b/x"),
        ("../x/./y/..", "/a/x/"),
        ("../../../x", "/x"),
        ("HTTPS://H:443/x", "/x"),
        ("//h/x#f", "/x"),
        ("x:y", "?"),
    ] {
        let joined = base.join(reference);
        match target {
            "?" => assert!(joined.is_err(), "{reference}"),
            target => assert_eq!(joined.unwrap().target(), target, "{reference}"),
        }
    }
    for foreign in
        ["http://h/x", "https://evil/x", "//evil/x", "https://h:8443/", "https://h.evil/"]
    {
        assert_eq!(base.join(foreign), Err(InvalidUrl::Foreign), "{foreign}");
    }
    for bad in ["javascript:alert(1)", "/a b", "https://u@h/x", "/a\r\nb"] {
        assert!(base.join(bad).is_err(), "{bad}");
    }
}

#[test]
fn urls_are_taken_apart_and_put_together_again() {
    for (text, host, port, target) in [
        ("http://Localhost", "localhost", 80, "/"),
        ("http://localhost:8080/mcp#x", "localhost", 8080, "/mcp"),
        ("https://[::1]:9/?q", "[::1]", 9, "/?q"),
        ("https://h?q", "h", 443, "/?q"),
    ] {
        let url = Url::parse(text).unwrap();
        assert_eq!((url.host(), url.port(), url.target()), (host, port, target), "{text}");
        assert_eq!(Url::parse(&url.to_string()).unwrap(), url);
    }
    for bad in ["", "h/x", "ftp://h", "http://", "http://h:99999", "http://u:p@h/", "http://h/ü"] {
        assert!(Url::parse(bad).is_err(), "{bad}");
    }
}
