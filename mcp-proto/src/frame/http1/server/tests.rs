use super::*;
use crate::frame::http1::{Headers, Method};

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
