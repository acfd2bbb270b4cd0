use super::*;
use crate::frame::http1::{BodyLength, Headers, Method, SendError};

const T0: Instant = Instant::from_millis(1_000);

fn server() -> Server {
    Server::new(T0, Limits::default())
}

fn fed(input: &str) -> Server {
    let mut server = server();
    assert_eq!(server.handle_input(T0, input.as_bytes()), input.len());
    server
}

/// What is sent since the last call.
fn sent(server: &mut Server) -> String {
    let mut out = Vec::new();
    server.transmit(&mut out);
    String::from_utf8(out).expect("responses in these tests are text")
}

/// One word per event.
fn events(server: &mut Server) -> Vec<String> {
    let word = |event| match event {
        Event::Head(head) => format!("{} {}", head.method_str(), head.path()),
        Event::Body(body) => String::from_utf8_lossy(&body).into_owned(),
        Event::End => "end".into(),
        Event::Refused(refusal) => refusal.status().to_string(),
        Event::Aborted(reason) => format!("{reason:?}"),
    };
    std::iter::from_fn(|| server.poll_event()).map(word).collect()
}

fn ok(server: &mut Server, body: &str) {
    let headers = [("Content-Type", "text/plain")];
    server.reply(T0, 200, headers, body.as_bytes()).expect("a request waits");
}

const POST: &str = "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn a_request_is_a_head_a_body_and_an_end() {
    let mut server = fed(POST);
    let Some(Event::Head(head)) = server.poll_event() else { panic!("no head") };
    assert_eq!((head.method(), head.path(), head.authority()), (Method::Post, "/mcp", Some("a")));
    assert_eq!(head.get("HOST"), Some(&b"a"[..]));
    assert_eq!(events(&mut server), ["hello", "end"]);
    ok(&mut server, "hi");
    assert_eq!(
        sent(&mut server),
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi"
    );
    assert_eq!(server.closing(), Closing::Open);
}

#[test]
fn what_is_sent_ahead_waits_for_the_response() {
    let mut server = fed(&format!("{POST}{GET}"));
    assert_eq!(events(&mut server), ["POST /mcp", "hello", "end"]);
    ok(&mut server, "1");
    assert_eq!(events(&mut server), ["GET /", "end"]);
    ok(&mut server, "2");
    assert_eq!(events(&mut server), [""; 0]);
}

// ---- refusals ----

fn refused(input: &str) -> Option<Refusal> {
    refused_by(Limits::default(), input)
}

fn refused_by(limits: Limits, input: &str) -> Option<Refusal> {
    let mut server = Server::new(T0, limits);
    server.handle_input(T0, input.as_bytes());
    std::iter::from_fn(|| server.poll_event()).find_map(|event| match event {
        Event::Refused(refusal) => Some(refusal),
        _ => None,
    })
}

#[test]
fn a_refusal_is_rendered_and_closes_the_connection() {
    let mut server = fed("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let Some(Event::Refused(refusal)) = server.poll_event() else { panic!("accepted") };
    assert_eq!(refusal, Refusal::Malformed("the Host field is missing"));
    server.refuse(T0, &refusal).expect("a refusal waits");
    assert_eq!(
        sent(&mut server),
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: 25\r\nConnection: close\r\n\r\nthe Host field is missing"
    );
    assert_eq!(server.closing(), Closing::Linger(T0 + Duration::from_secs(2)));
    assert_eq!(events(&mut server), [""; 0]);
    assert_eq!(server.respond(200, NONE, BodyLength::None), Err(SendError::Gone));
}

const NONE: [(&str, &str); 0] = [];

#[test]
fn each_kind_of_refusal_has_its_status() {
    let post = |fields: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n");
    for (input, status) in [
        (post("Content-Length: 1\r\nContent-Length: 1\r\n"), 400),
        (post("Content-Length: 1, 1\r\n"), 400),
        (post("Content-Length: +1\r\n"), 400),
        (post("Content-Length: \r\n"), 400),
        (post("Content-Length: 99999999999999999999999\r\n"), 413),
        (post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400),
        (post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400),
        (post("Transfer-Encoding: chunked, gzip\r\n"), 400),
        (post("Transfer-Encoding: , chunked\r\n"), 400),
        (post("Transfer-Encoding: gzip, chunked\r\n"), 501),
        (post("Host: a\r\n"), 400),
        (post("X : y\r\n"), 400),
        (post("X: a\r\n b\r\n"), 400),
        (post("X: a\nY: b\r\n"), 400),
        (post("X: a\rb\r\n"), 400),
        (post("X: \0\r\n"), 400),
        (post("Expect: 200-ok\r\n"), 417),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n".into(), 400),
        ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n".into(), 400),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n".into(), 400),
        ("GET / HTTP/1.1\r\nHost: a:b\r\n\r\n".into(), 400),
        ("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n".into(), 400),
        ("GET * HTTP/1.1\r\nHost: a\r\n\r\n".into(), 400),
        ("GET mcp HTTP/1.1\r\nHost: a\r\n\r\n".into(), 400),
        ("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n".into(), 400),
        ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n".into(), 400),
        ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n".into(), 501),
        ("GET / HTTP/1.2\r\nHost: a\r\n\r\n".into(), 505),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(), 505),
        ("GET /\r\n\r\n".into(), 400),
        ("\x16\x03\x01".into(), 400),
    ] {
        assert_eq!(refused(&input).map(|r| r.status()), Some(status), "{input:?}");
    }
}

#[test]
fn what_looks_odd_but_is_clear_is_accepted() {
    for input in [
        "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nhOST:a:80\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://b:1?q HTTP/1.1\r\nHost: a\r\n\r\n",
        "M-SEARCH /~%20!$&'()*+,;=:@?/? HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade\r\nX:\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 000\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",
    ] {
        let events = events(&mut fed(input));
        assert_eq!(events.last().map(String::as_str), Some("end"), "{input:?}: {events:?}");
    }
}

#[test]
fn an_absolute_target_names_the_authority() {
    let mut server = fed("GET http://b:1/x?q HTTP/1.1\r\nHost: a\r\n\r\n");
    let Some(Event::Head(head)) = server.poll_event() else { panic!("no head") };
    assert_eq!(head.authority(), Some("b:1"));
    assert_eq!((head.path(), head.target().query()), ("/x", Some("q")));
}

// ---- limits: what fits passes, one more is refused ----

#[test]
fn the_head_limit_applies() {
    let mut limits = Limits { head: GET.len(), ..Limits::default() };
    assert_eq!(refused_by(limits, GET), None);
    limits.head -= 1;
    assert_eq!(refused_by(limits, GET), Some(Refusal::HeadTooLarge));
    let endless = "GET /".to_owned() + &"a".repeat(limits.head);
    assert_eq!(refused_by(limits, &endless), Some(Refusal::TargetTooLong));
}

#[test]
fn the_limits_of_target_and_fields_apply() {
    let limits = Limits { target: 3, headers: 2, ..Limits::default() };
    let request = |target: &str, fields: &str| {
        refused_by(limits, &format!("GET {target} HTTP/1.1\r\nHost: a\r\n{fields}\r\n"))
    };
    assert_eq!(request("/aa", "A: b\r\n"), None);
    assert_eq!(request("/aaa", ""), Some(Refusal::TargetTooLong));
    assert_eq!(request("/", "A: b\r\nB: c\r\n"), Some(Refusal::HeadTooLarge));
}

#[test]
fn the_body_limit_applies_to_both_framings() {
    let limits = Limits { body: 4, ..Limits::default() };
    let sized = |n: usize| format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {n}\r\n\r\n");
    let chunked = |chunks: &str| {
        format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}")
    };
    assert_eq!(refused_by(limits, &sized(4)), None);
    assert_eq!(refused_by(limits, &sized(5)), Some(Refusal::BodyTooLarge));
    assert_eq!(refused_by(limits, &chunked("2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n")), None);
    // Before any of the data that is too much.
    let too_large = chunked("2\r\nab\r\n3\r\n");
    assert_eq!(refused_by(limits, &too_large), Some(Refusal::BodyTooLarge));
    let overflow = chunked("fffffffffffffffff\r\n");
    assert!(matches!(refused_by(limits, &overflow), Some(Refusal::Malformed(_))));
}

#[test]
fn the_limit_of_extensions_and_trailers_applies() {
    let limits = Limits { trailers: 8, ..Limits::default() };
    let with = |trailer: &str| {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        refused_by(limits, &format!("{head}0\r\n{trailer}\r\n"))
    };
    assert_eq!(with("A: b\r\n"), None);
    assert!(with("A: bbbbbb\r\n").is_some());
    assert!(with("00000000000\r\n").is_some());
}

#[test]
fn what_is_read_ahead_is_bounded() {
    let limits = Limits { head: 64, ..Limits::default() };
    let mut server = Server::new(T0, limits);
    server.handle_input(T0, GET.as_bytes());
    assert!(server.wants_input());
    assert_eq!(server.handle_input(T0, &[b'G'; 100]), 64);
    assert!(!server.wants_input());
    assert_eq!(server.handle_input(T0, b"more"), 0);
}

// ---- bodies ----

#[test]
fn chunks_arrive_as_one_body_without_trailers() {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut server = fed(&format!("{head}3;x=\"y\\\"\"\r\nabc\r\n2\r\nde\r\n0\r\nHost: b\r\n\r\n"));
    assert_eq!(events(&mut server), ["POST /", "abcde", "end"]);
    for broken in ["3\r\nabcd\r\n", "g\r\n", "3 \r\n", "3;\r\n", "3\nabc", "0\r\nA b\r\n", "-1\r\n"]
    {
        let refusal = refused(&format!("{head}{broken}"));
        assert!(matches!(refusal, Some(Refusal::Malformed(_))), "{broken:?}: {refusal:?}");
    }
}

#[test]
fn a_client_that_waits_is_told_to_continue() {
    let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-Continue\r\n\r\n";
    let mut server = fed(head);
    assert_eq!(events(&mut server), ["POST /"]);
    server.send_continue();
    server.send_continue();
    assert_eq!(sent(&mut server), "HTTP/1.1 100 Continue\r\n\r\n");
    server.handle_input(T0, b"hi");
    ok(&mut server, "x");
    assert!(!sent(&mut server).contains("close"));

    // Answered without: nobody knows whether the body will come.
    let mut server = fed(&format!("{head}hi"));
    ok(&mut server, "x");
    assert!(sent(&mut server).contains("Connection: close"));
    assert!(matches!(server.closing(), Closing::Linger(_)));
}

#[test]
fn a_short_body_of_an_answered_request_is_skipped() {
    let mut server = fed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nGET ");
    assert_eq!(events(&mut server), ["POST /"]);
    ok(&mut server, "no");
    assert!(!sent(&mut server).contains("close"));
    server.handle_input(T0, format!("/ HTT{GET}").as_bytes());
    assert_eq!(events(&mut server), ["GET /", "end"]);
}

#[test]
fn a_long_body_of_an_answered_request_ends_the_connection() {
    let mut server = fed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nx");
    ok(&mut server, "no");
    assert!(sent(&mut server).contains("Connection: close"));
    assert!(matches!(server.closing(), Closing::Linger(_)));
    assert_eq!(server.handle_input(T0, GET.as_bytes()), GET.len());
    assert_eq!(events(&mut server), [""; 0]);
    server.handle_eof(T0);
    assert_eq!(server.closing(), Closing::Closed);
}

// ---- responses ----

#[test]
fn head_is_answered_with_the_head_alone() {
    let mut server = fed("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    ok(&mut server, "body");
    assert!(sent(&mut server).ends_with("Content-Length: 4\r\n\r\n"));
}

#[test]
fn a_stream_is_chunked_or_ends_with_the_connection() {
    let mut server = fed(GET);
    server.respond(200, NONE, BodyLength::Stream).expect("a request waits");
    server.write_body(b"hello world, sixteen").expect("a piece");
    server.write_body(b"").expect("nothing");
    server.finish(T0).expect("complete");
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
                   14\r\nhello world, sixteen\r\n0\r\n\r\n";
    assert_eq!(sent(&mut server), chunked);

    let mut server = fed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    server.respond(200, NONE, BodyLength::Stream).expect("a request waits");
    server.write_body(b"hello").expect("a piece");
    server.finish(T0).expect("complete");
    assert_eq!(sent(&mut server), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello");
    assert_ne!(server.closing(), Closing::Open);
}

#[test]
fn the_connection_stays_as_the_version_and_the_client_say() {
    for (request, stays, field) in [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", true, ""),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n",
            false,
            "Connection: close\r\n",
        ),
        ("GET / HTTP/1.0\r\n\r\n", false, "Connection: close\r\n"),
        ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true, "Connection: keep-alive\r\n"),
    ] {
        let mut server = fed(request);
        server.reply(T0, 204, NONE, b"").expect("a request waits");
        assert_eq!(sent(&mut server), format!("HTTP/1.1 204 No Content\r\n{field}\r\n"));
        assert_eq!(server.closing() == Closing::Open, stays, "{request:?}");
    }
}

#[test]
fn a_response_cannot_be_split_or_framed_by_its_fields() {
    let mut server = fed(GET);
    for field in [
        ("X", "a\r\nSet-Cookie: b"),
        ("X\r\nY", "a"),
        ("", "a"),
        ("Content-Length", "5"),
        ("transfer-encoding", "chunked"),
        ("Connection", "close"),
    ] {
        assert_eq!(server.reply(T0, 200, [field], b""), Err(SendError::Field), "{field:?}");
    }
    assert_eq!(server.reply(T0, 100, NONE, b""), Err(SendError::FirstLine));
    assert_eq!(server.write_body(b"x"), Err(SendError::OutOfTurn));
    assert_eq!(sent(&mut server), "");
    server.respond(200, NONE, BodyLength::Sized(2)).expect("still its turn");
    assert_eq!(server.write_body(b"abc"), Err(SendError::Length));
    assert_eq!(server.finish(T0), Err(SendError::Length));
    server.abort(T0);
    assert!(matches!(server.closing(), Closing::Linger(_)));
}

#[test]
fn a_request_that_breaks_behind_the_start_of_its_response_is_reported() {
    let mut server = fed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    server.respond(200, NONE, BodyLength::Sized(2)).expect("a request waits");
    server.handle_input(T0, b"x");
    assert_eq!(events(&mut server), ["POST /", "400"]);
    assert_eq!(server.reply(T0, 400, NONE, b""), Err(SendError::OutOfTurn));
    server.write_body(b"ok").expect("it goes on");
    server.finish(T0).expect("complete");
    assert!(sent(&mut server).ends_with("Connection: close\r\n\r\nok"));
    assert!(matches!(server.closing(), Closing::Linger(_)));
}

// ---- leaving ----

#[test]
fn a_client_that_leaves_aborts_its_exchange() {
    let mut server = fed(GET);
    assert_eq!(events(&mut server), ["GET /", "end"]);
    server.handle_eof(T0);
    assert_eq!(events(&mut server), ["PeerClosed"]);
    assert!(server.peer_closed());
    assert_eq!(server.reply(T0, 200, NONE, b"late"), Err(SendError::Gone));
    assert_eq!((sent(&mut server).as_str(), server.closing()), ("", Closing::AfterFlush));

    let mut server = fed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel");
    server.handle_closed(T0);
    // What came before it is not lost, whenever it is fetched.
    assert_eq!(events(&mut server), ["POST /", "ConnectionLost"]);
    assert_eq!(server.closing(), Closing::Closed);
}

#[test]
fn leaving_between_requests_is_no_event() {
    let mut server = fed(GET);
    ok(&mut server, "x");
    server.handle_eof(T0);
    assert_eq!(events(&mut server), [""; 0]);
    assert_eq!(server.closing(), Closing::AfterFlush);
    assert!(sent(&mut server).ends_with('x'));
}

#[test]
fn closing_waits_for_the_exchange_under_way() {
    let mut server = fed(GET);
    server.close(T0);
    assert_eq!(server.closing(), Closing::Open);
    ok(&mut server, "x");
    assert!(sent(&mut server).contains("Connection: close"));
    assert!(matches!(server.closing(), Closing::Linger(_)));
    let mut skipping = fed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n");
    ok(&mut skipping, "x");
    skipping.close(T0);
    skipping.handle_input(T0, format!("hi{GET}").as_bytes());
    assert_eq!(events(&mut skipping), [""; 0]);
    assert!(matches!(skipping.closing(), Closing::Linger(_)));
    let mut idle = self::server();
    idle.close(T0);
    assert_eq!(idle.closing(), Closing::AfterFlush);
}

// ---- time ----

/// Lets the deadlines pass until the machine waits for `end`, which must come.
fn timed_out(server: &mut Server, end: Instant) {
    while let Some(at) = server.poll_timeout().filter(|at| *at < end) {
        server.handle_timeout(at);
    }
    assert_eq!(server.poll_timeout(), Some(end));
    server.handle_timeout(end);
}

#[test]
fn a_head_has_ten_seconds_from_its_first_byte() {
    let mut server = server();
    let first = T0 + Duration::from_secs(59);
    server.handle_input(first, b"\r\nGET / ");
    server.handle_input(first + Duration::from_secs(9), b"HTTP");
    timed_out(&mut server, first + Duration::from_secs(10));
    assert_eq!(events(&mut server), ["408"]);
}

#[test]
fn a_body_has_to_keep_moving_and_to_keep_up() {
    const HEAD: &str = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n";
    let pause = Duration::from_secs(30);
    let later = T0 + Duration::from_secs(29);
    // What came has to be followed by more within a pause, and by enough.
    for (first, second, end) in [
        (0, 0, T0 + pause),
        (8_192, 0, T0 + pause),
        (8_192, 8_192, T0 + pause + Duration::from_secs(4)),
        (1, 1, T0 + pause + Duration::from_micros(488)),
        (500_000, 400_000, later + pause),
    ] {
        let mut server = fed(HEAD);
        server.handle_input(T0, &vec![b'x'; first]);
        if second > 0 {
            server.handle_input(later, &vec![b'x'; second]);
        }
        timed_out(&mut server, end);
        assert_eq!(events(&mut server), ["POST /", "408"], "{first} {second}");
    }
}

#[test]
fn an_idle_connection_holds_no_buffer_and_closes_silently() {
    let mut server = fed(POST);
    ok(&mut server, "x");
    sent(&mut server);
    events(&mut server);
    assert!(server.output.capacity() > 0 && server.events.capacity() > 0);
    let release = T0 + Duration::from_secs(1);
    assert_eq!(server.poll_timeout(), Some(release));
    server.handle_timeout(release);
    let buffers = server.input.capacity() + server.body.capacity() + server.output.capacity();
    assert_eq!((buffers, server.events.capacity()), (0, 0));
    let balancer_closes = T0 + Duration::from_secs(60);
    server.handle_timeout(balancer_closes);
    assert_eq!(server.closing(), Closing::Open);
    timed_out(&mut server, T0 + Duration::from_secs(75));
    assert_eq!((sent(&mut server).as_str(), server.closing()), ("", Closing::AfterFlush));
}

#[test]
fn a_running_exchange_has_no_deadline_and_a_lingering_connection_has() {
    let mut server = fed(GET);
    assert_eq!(server.poll_timeout(), None);
    server.abort(T0);
    timed_out(&mut server, T0 + Duration::from_secs(2));
    assert_eq!(server.closing(), Closing::Closed);
    assert_eq!(server.poll_timeout(), None);
}

#[test]
fn the_state_of_a_connection_is_small() {
    let size = size_of::<Server>();
    assert!(size <= 512, "{size} bytes");
}

#[test]
fn debug_output_shows_no_secrets() {
    let mut server =
        fed("POST /?t=secret HTTP/1.1\r\nHost: a\r\nX: secret\r\nContent-Length: 6\r\n\r\nsecret");
    let state = format!("{server:?}");
    let events: Vec<_> = std::iter::from_fn(|| server.poll_event()).collect();
    assert!(!format!("{state}{events:?}").contains("secret"), "{state}{events:?}");
}
