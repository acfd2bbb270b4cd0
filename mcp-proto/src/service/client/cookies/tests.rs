use std::sync::Mutex;

use futures_util::FutureExt;
use futures_util::stream::Empty;

use super::jar::MOST;
use super::*;

const HTTPS: Site<'static> = Site { is_secure: true, host: "mcp.example.com", path: "/a/mcp" };
const HTTP: Site<'static> = Site { is_secure: false, ..HTTPS };

const NOW: Duration = Duration::from_secs(1_700_000_000);

/// What is sent to `to` once `from` has set these.
fn kept(from: &Site<'_>, set: &[&str], to: &Site<'_>) -> Option<String> {
    let mut jar = Jar::default();
    set.iter().for_each(|field| jar.set(from, field.as_bytes(), NOW));
    jar.cookies(to, NOW)
}

#[test]
fn the_cookies_of_balancers_come_back() {
    for (set, sent) in [
        (
            &[
                "AWSALB=a/b+c==; Expires=Wed, 09 Jun 2100 10:18:14 GMT; Path=/",
                "AWSALBCORS=a/b+c==; Expires=Wed, 09 Jun 2100 10:18:14 GMT; Path=/; SameSite=None; Secure",
            ][..],
            Some("AWSALB=a/b+c==; AWSALBCORS=a/b+c=="),
        ),
        (&["SERVERID=s1; path=/"], Some("SERVERID=s1")),
        (&["GCLB=\"8f1c\"; Max-Age=86400; Path=/; HttpOnly"], Some("GCLB=\"8f1c\"")),
        (
            &[
                "ARRAffinity=f0;Path=/;HttpOnly;Domain=mcp.example.com",
                "ARRAffinitySameSite=f0;Path=/;HttpOnly;SameSite=None;Secure;Domain=mcp.example.com",
            ],
            Some("ARRAffinity=f0; ARRAffinitySameSite=f0"),
        ),
        (&["BIGipServer~p=1.2.0; path=/; Httponly; Secure"], Some("BIGipServer~p=1.2.0")),
        (
            &["route=1700.2|x; Expires=Thu, 16-Nov-23 22:13:20 GMT; Max-Age=172800; Path=/"],
            Some("route=1700.2|x"),
        ),
        (&["a=1", "b=2; path=/", "a=3"], Some("a=3; b=2")),
        (&["flag="], Some("flag=")),
    ] {
        assert_eq!(kept(&HTTPS, set, &HTTPS).as_deref(), sent, "{set:?}");
    }
}

#[test]
fn what_is_no_cookie_of_this_site_is_ignored() {
    for field in [
        "",
        "=",
        "=x",
        "novalue",
        "a=1; Domain=example.org",
        "a=1; Domain=xmcp.example.com",
        "a=1; Domain=deep.mcp.example.com",
        "a=\u{1}",
        "a=h\u{e9}",
        "__Host-a=1; Path=/",
        "__Secure-a=1",
        "__Host-a=1; Secure; Path=/b",
        "__host-a=1; Secure; Path=/; Domain=mcp.example.com",
        "a=1; Max-Age=0",
        "a=1; Max-Age=-5",
        "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
    ] {
        assert_eq!(kept(&HTTPS, &[field], &HTTPS), None, "{field:?}");
    }
    let long = format!("a={}", "x".repeat(4 * 1024));
    assert_eq!(kept(&HTTPS, &[&long], &HTTPS), None);
    assert!(kept(&HTTPS, &[&long[..4_000]], &HTTPS).is_some());
    let mut jar = Jar::default();
    jar.set(&HTTPS, b"a=\xff", NOW);
    assert_eq!(jar.cookies(&HTTPS, NOW), None);
    // A parent's domain, a port, an address that ends alike.
    assert!(kept(&HTTPS, &["a=1; Domain=.Example.COM"], &HTTPS).is_some());
    let address = Site { host: "10.0.0.1", ..HTTPS };
    assert!(kept(&address, &["a=1; Domain=10.0.0.1"], &address).is_some());
    assert_eq!(kept(&address, &["a=1; Domain=0.0.1"], &address), None);
}

#[test]
fn what_is_secure_is_neither_set_nor_sent_without_tls() {
    assert_eq!(kept(&HTTP, &["a=1; Secure"], &HTTPS), None);
    assert_eq!(kept(&HTTPS, &["a=1; Secure"], &HTTP), None);
    assert_eq!(kept(&HTTPS, &["a=1; secure", "b=2"], &HTTP).as_deref(), Some("b=2"));
    assert!(kept(&HTTPS, &["__Host-a=1; Secure; Path=/"], &HTTPS).is_some());
}

#[test]
fn a_cookie_goes_to_its_path_and_below() {
    let at = |path| Site { path, ..HTTPS };
    for (set, path, is_sent) in [
        ("a=1", "/a/mcp", true),
        ("a=1", "/a/other", true),
        ("a=1", "/a", true),
        ("a=1", "/ab", false),
        ("a=1", "/", false),
        ("a=1; Path=/a/mcp", "/a/mcp/x", true),
        ("a=1; Path=/a/mcp", "/a/mcps", false),
        ("a=1; Path=/a/", "/a/x", true),
        ("a=1; Path=relative", "/a/x", true),
        ("a=1; Path=/", "/x", true),
    ] {
        assert_eq!(kept(&HTTPS, &[set], &at(path)).is_some(), is_sent, "{set} {path}");
    }
    let set = ["a=1; Path=/", "b=2; Path=/a/mcp", "c=3; Path=/a"];
    assert_eq!(kept(&HTTPS, &set, &HTTPS).as_deref(), Some("b=2; c=3; a=1"));
}

#[test]
fn a_cookie_ends_with_its_time() {
    let after = |seconds| NOW + Duration::from_secs(seconds);
    for (set, lives) in [
        ("a=1; Max-Age=10", 10),
        ("a=1; Expires=Tue, 14 Nov 2023 22:13:30 GMT", 10),
        ("a=1; Max-Age=10; Expires=Wed, 09 Jun 2100 10:18:14 GMT", 10),
        ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=10", 10),
        ("a=1; Max-Age=soon; Max-Age=10", 10),
    ] {
        let mut jar = Jar::default();
        jar.set(&HTTPS, set.as_bytes(), NOW);
        assert!(jar.cookies(&HTTPS, after(lives - 1)).is_some(), "{set}");
        assert!(jar.cookies(&HTTPS, after(lives)).is_none(), "{set}");
    }
    for set in ["a=1", "a=1; Expires=never", "a=1; Max-Age=99999999999999999999999"] {
        let mut jar = Jar::default();
        jar.set(&HTTPS, set.as_bytes(), NOW);
        assert!(jar.cookies(&HTTPS, after(1 << 40)).is_some(), "{set}");
        // What is set again with a time that is over is gone.
        jar.set(&HTTPS, b"a=; Max-Age=0", NOW);
        assert!(jar.cookies(&HTTPS, NOW).is_none(), "{set}");
    }
}

#[test]
fn cookies_are_bounded_in_number_and_in_bytes() {
    let mut jar = Jar::default();
    for number in 0..10_000 {
        jar.set(&HTTPS, format!("c{number}=1; Path=/").as_bytes(), NOW);
    }
    let sent = jar.cookies(&HTTPS, NOW).unwrap();
    let names: Vec<_> = sent.split("; ").collect();
    assert_eq!((names.len(), names[0], names[MOST - 1]), (MOST, "c9950=1", "c9999=1"));
    let mut jar = Jar::default();
    for number in 0..100 {
        jar.set(&HTTPS, format!("c{number}={}", "x".repeat(4_000)).as_bytes(), NOW);
    }
    let sent = jar.cookies(&HTTPS, NOW).unwrap();
    assert!(sent.starts_with("c98=") && sent.len() <= 8 * 1024 + 4, "{}", sent.len());
}

/// A server that sets a cookie with each response, and what it is sent.
#[derive(Clone, Default)]
struct Sets(Arc<Mutex<Vec<Request<Bytes>>>>);

impl HttpCarrier for Sets {
    type Body = Empty<Result<Bytes, CarryError>>;

    fn send(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<Self::Body>, CarryError>> + Send + 'static {
        self.0.lock().unwrap().push(request);
        let response = Response::builder().header(SET_COOKIE, "a=secret; Path=/");
        core::future::ready(Ok(response.body(futures_util::stream::empty()).unwrap()))
    }
}

/// What was sent to the last of these places, and how it is shown.
fn sent_to(places: &[&str], given: Option<&'static str>) -> (Vec<String>, String) {
    let server = Sets::default();
    let origin = Url::parse("http://h:8080/mcp").unwrap();
    let cookies = Cookies::new(server.clone(), &origin, || NOW);
    for place in places {
        let mut request = Request::builder().uri(*place);
        if let Some(given) = given {
            request = request.header(COOKIE, given);
        }
        let request = request.body(Bytes::new()).unwrap();
        cookies.send(request).now_or_never().expect("it is ready").unwrap();
    }
    let heard = server.0.lock().unwrap();
    let last = heard.last().unwrap().headers();
    let values = last.get_all(COOKIE).iter().map(|it| it.to_str().unwrap().to_owned());
    (values.collect(), format!("{:?} {cookies:?}", last.get(COOKIE)))
}

#[test]
fn cookies_go_to_the_origin_of_the_server_alone_and_are_not_shown() {
    let own = "http://h:8080/mcp";
    assert_eq!(sent_to(&[own], None).0, Vec::<String>::new());
    let (sent, shown) = sent_to(&[own, own], None);
    assert_eq!(sent, ["a=secret"]);
    assert!(!shown.contains("secret"), "{shown}");
    // Those that the application gives stay, in one field.
    assert_eq!(sent_to(&[own, "http://H:8080/x?q=1"], Some("own=1")).0, ["own=1; a=secret"]);
    for other in ["http://h/mcp", "https://h:8080/mcp", "http://other:8080/mcp", "http://h.h:8080/"]
    {
        assert_eq!(sent_to(&[own, other], None).0, Vec::<String>::new(), "{other}");
        // Nor are theirs kept.
        assert_eq!(sent_to(&[other, own], None).0, Vec::<String>::new(), "{other}");
    }
}

#[test]
fn without_a_jar_nothing_is_kept() {
    let server = Sets::default();
    let none = Cookies::none(server.clone());
    for _ in 0..2 {
        let request = Request::builder().uri("http://h:8080/mcp").body(Bytes::new()).unwrap();
        none.send(request).now_or_never().expect("it is ready").unwrap();
    }
    assert!(server.0.lock().unwrap().iter().all(|it| !it.headers().contains_key(COOKIE)));
}
