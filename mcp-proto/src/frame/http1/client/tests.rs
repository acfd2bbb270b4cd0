use super::*;
use core::time::Duration;

const T0: Instant = Instant::from_millis(1_000);
const NONE: [(&str, &str); 0] = [];

fn line(method: &str) -> RequestLine<'_> {
    RequestLine { method, target: "/mcp", host: "a:1" }
}

/// A connection with a request under way.
fn asking(method: &str) -> Client {
    let mut client = Client::new(T0, Limits::default());
    client.send(line(method), NONE, b"").expect("a new connection takes a request");
    client
}

/// What the server says and then hears of it, in words; adjacent pieces of the body are joined.
fn heard(client: &mut Client, input: &str) -> Vec<String> {
    assert_eq!(client.handle_input(T0, input.as_bytes()), input.len());
    events(client)
}

fn events(client: &mut Client) -> Vec<String> {
    let word = |event| match event {
        Event::Head(head) => head.status().to_string(),
        Event::Body(piece) => String::from_utf8_lossy(&piece).into_owned(),
        Event::End => "end".into(),
        Event::Failed(failure) => format!("{failure:?}"),
    };
    std::iter::from_fn(|| client.poll_event()).map(word).collect()
}

fn sent(client: &mut Client) -> String {
    let mut out = Vec::new();
    client.transmit(&mut out);
    String::from_utf8(out).expect("requests in these tests are text")
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn an_exchange_follows_the_other_on_one_connection() {
    let mut client = Client::new(T0, Limits::default());
    for _ in 0..2 {
        assert!(client.can_request());
        client.send(line("POST"), [("Accept", "*/*")], b"hi").expect("its turn");
        assert_eq!(
            sent(&mut client),
            "POST /mcp HTTP/1.1\r\nHost: a:1\r\nAccept: */*\r\nContent-Length: 2\r\n\r\nhi"
        );
        assert_eq!(client.send(line("GET"), NONE, b""), Err(SendError::OutOfTurn));
        assert_eq!(heard(&mut client, OK), ["200", "ok", "end"]);
    }
}

#[test]
fn a_proxy_is_asked_for_a_whole_url_or_for_a_tunnel() {
    let ask = |method, target| {
        let mut client = Client::new(T0, Limits::default());
        let asked = client.send(RequestLine { method, target, host: "a:1" }, NONE, b"");
        asked.map(|()| sent(&mut client))
    };
    let whole = "GET http://a:1/mcp HTTP/1.1\r\nHost: a:1\r\n\r\n";
    assert_eq!(ask("GET", "http://a:1/mcp").as_deref(), Ok(whole));
    let tunnel = "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n";
    assert_eq!(ask("CONNECT", "a:1").as_deref(), Ok(tunnel));
    for (method, target) in [("GET", "a:1"), ("CONNECT", "/mcp"), ("CONNECT", "a:1 b")] {
        assert_eq!(ask(method, target), Err(SendError::FirstLine), "{method} {target}");
    }
}

#[test]
fn a_body_of_unknown_length_is_chunked() {
    let mut client = Client::new(T0, Limits::default());
    client.request(line("POST"), NONE, BodyLength::Stream).expect("its turn");
    client.write_body(b"abc").expect("a piece");
    client.finish().expect("complete");
    assert!(sent(&mut client).ends_with("chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
    assert_eq!(client.write_body(b"x"), Err(SendError::OutOfTurn));
}

#[test]
fn a_request_cannot_be_split_by_its_parts() {
    let mut client = Client::new(T0, Limits::default());
    for (method, target, host) in [
        ("GET /", "/", "a"),
        ("", "/", "a"),
        ("GET", "/ HTTP/1.1\r\nX: y", "a"),
        ("GET", "mcp", "a"),
        ("GET", "/", "a\r\nX: y"),
        ("GET", "/", ""),
    ] {
        let line = RequestLine { method, target, host };
        assert_eq!(client.send(line, NONE, b""), Err(SendError::FirstLine), "{line:?}");
    }
    assert_eq!(client.send(line("GET"), [("A", "b\nc")], b""), Err(SendError::Field));
    assert_eq!(sent(&mut client), "");
    assert!(client.can_request());
}

#[test]
fn bodies_end_as_their_framing_says() {
    for (method, response, expected) in [
        ("GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", &["200", "end"][..]),
        (
            "GET",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x\r\nbc\r\n0\r\nT: u\r\n\r\n",
            &["200", "abc", "end"],
        ),
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", &["200", "end"]),
        ("GET", "HTTP/1.1 204 No Content\r\n\r\n", &["204", "end"]),
        ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", &["304", "end"]),
        (
            "GET",
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 404 X\r\nContent-Length: 1\r\n\r\nx",
            &["404", "x", "end"],
        ),
    ] {
        let mut client = asking(method);
        assert_eq!(heard(&mut client, response), expected, "{response:?}");
        assert!(client.can_request(), "{response:?}");
    }
}

#[test]
fn a_body_without_a_length_ends_with_the_connection() {
    let mut client = asking("GET");
    assert_eq!(heard(&mut client, "HTTP/1.1 200 OK\r\n\r\nab"), ["200", "ab"]);
    client.handle_eof(T0);
    assert_eq!(events(&mut client), ["end"]);
    assert_eq!(client.closing(), Closing::AfterFlush);
    // A reset is not an end.
    let mut client = asking("GET");
    assert_eq!(heard(&mut client, "HTTP/1.1 200 OK\r\n\r\nab"), ["200", "ab"]);
    client.handle_closed(T0);
    assert_eq!(events(&mut client), ["ConnectionLost"]);
}

#[test]
fn a_truncated_response_is_none() {
    for (received, failure) in [
        ("", "NoResponse"),
        ("HTTP/1.1 20", "Truncated"),
        ("HTTP/1.1 100 Continue\r\n\r\n", "Truncated"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "Truncated"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "Truncated"),
    ] {
        let mut client = asking("GET");
        heard(&mut client, received);
        client.handle_eof(T0);
        assert_eq!(events(&mut client), [failure], "{received:?}");
        assert_eq!(client.send(line("GET"), NONE, b""), Err(SendError::Gone));
    }
}

#[test]
fn an_ambiguous_response_fails_and_ends_the_connection() {
    for response in [
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA : b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
        "HTTP/1.1 200 OK\nA: b\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 099 X\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "220 smtp ready\r\n\r\n",
    ] {
        let mut client = asking("GET");
        let heard = heard(&mut client, response);
        assert!(heard.last().is_some_and(|e| e.starts_with("Malformed")), "{response:?} {heard:?}");
        assert_eq!(client.closing(), Closing::AfterFlush);
    }
    let mut client = asking("GET");
    let endless = "HTTP/1.1 100 Continue\r\n\r\n".repeat(17);
    assert!(heard(&mut client, &endless)[0].starts_with("Malformed"));
    let mut client = asking("GET");
    assert_eq!(
        heard(&mut client, &format!("HTTP/1.1 200 {}", "a".repeat(16_384))),
        ["HeadTooLarge"]
    );
}

#[test]
fn what_nobody_asked_for_ends_the_connection() {
    let mut client = asking("GET");
    assert_eq!(heard(&mut client, &OK.repeat(2)), ["200", "ok", "end"]);
    assert!(!client.can_request());
    let mut client = Client::new(T0, Limits::default());
    assert_eq!(heard(&mut client, OK), [""; 0]);
    assert_eq!(client.closing(), Closing::AfterFlush);
}

#[test]
fn the_connection_stays_unless_the_server_closes_it() {
    for (response, stays) in [
        ("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", true),
        ("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", false),
        ("HTTP/1.0 202 Accepted\r\nContent-Length: 0\r\n\r\n", false),
        ("HTTP/1.0 202 Accepted\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n", true),
    ] {
        let mut client = asking("GET");
        assert_eq!(heard(&mut client, response), ["202", "end"]);
        assert_eq!(client.can_request(), stays, "{response:?}");
    }
}

#[test]
fn an_early_response_ends_the_connection() {
    let mut client = Client::new(T0, Limits::default());
    client.request(line("POST"), NONE, BodyLength::Sized(10)).expect("its turn");
    assert_eq!(heard(&mut client, OK), ["200", "ok", "end"]);
    assert_eq!(client.write_body(b"x"), Err(SendError::Gone));
    assert_eq!(client.closing(), Closing::AfterFlush);
}

#[test]
fn reading_pauses_while_the_body_is_not_fetched() {
    let mut client = asking("GET");
    heard(&mut client, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    assert_eq!(client.handle_input(T0, &[b'x'; 100_000]), PENDING);
    assert!(!client.wants_input());
    assert!(matches!(client.poll_event(), Some(Event::Body(piece)) if piece.len() == PENDING));
    assert!(client.wants_input());
}

#[test]
fn an_idle_connection_closes_by_itself_and_a_waiting_one_does_not() {
    let mut client = asking("GET");
    assert_eq!(client.poll_timeout(), None);
    heard(&mut client, OK);
    let (release, close) = (T0 + Duration::from_secs(1), T0 + Duration::from_secs(75));
    assert_eq!(client.poll_timeout(), Some(release));
    client.handle_timeout(release);
    assert_eq!(client.input.capacity() + client.body.capacity(), 0);
    assert_eq!(client.poll_timeout(), Some(close));
    client.handle_timeout(close);
    assert_eq!(client.closing(), Closing::AfterFlush);
    assert_eq!(events(&mut client), [""; 0]);
}
