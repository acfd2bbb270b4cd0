//! HTTP, as bytes on a socket.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;

use crate::on_both_drivers;
use crate::process::{PATIENCE, Server, call};

on_both_drivers! {
    a_reply_is_one_write_and_the_connection_lives_on
    requests_in_one_write_are_answered_in_order
    the_head_of_a_stream_comes_with_its_first_event
    a_slow_reader_gets_all_and_holds_up_nobody
    a_handler_can_ask_who_is_calling
    connections_beyond_the_limit_wait_their_turn
    a_shutdown_lets_calls_end_and_then_ends
    a_shutdown_cuts_off_who_takes_too_long
    a_bad_request_is_told_so_and_the_connection_closes
    http_sse_answers_on_its_stream
    only_loopback_names_are_answered_and_the_log_says_so
    running_out_of_files_is_waited_out
    a_shutdown_ends_streams_that_only_listen
}

/// A call of a tool over HTTP/1.1, with `more` headers.
pub(crate) fn post(more: &str, tool: &str, body: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {}\r\n{more}\r\n{body}",
        body.len()
    )
}

fn add(id: usize) -> String {
    post("", "add", &call(id, "add", r#"{"a":2,"b":40}"#))
}

fn a_reply_is_one_write_and_the_connection_lives_on(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let mut stream = connect(&listening.address);
    for id in 0..3 {
        stream.write_all(add(id).as_bytes()).unwrap();
        let mut reply = [0; 4096];
        let read = stream.read(&mut reply).unwrap();
        let reply = String::from_utf8_lossy(&reply[..read]);
        assert!(reply.starts_with("HTTP/1.1 200 OK\r\n"), "{reply}");
        assert!(reply.contains(&format!(r#""id":{id}"#)) && reply.ends_with("}}"), "{reply}");
    }
}

fn requests_in_one_write_are_answered_in_order(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let mut stream = connect(&listening.address);
    let requests: String = (0..20).map(add).collect();
    stream.write_all(requests.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    for id in 0..20 {
        let (head, body) = response(&mut reader);
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(body.contains(&format!(r#""id":{id},"#)), "{body}");
    }
}

fn the_head_of_a_stream_comes_with_its_first_event(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let mut stream = connect(&listening.address);
    stream.write_all(post("", "talk", &call(1, "talk", "{}")).as_bytes()).unwrap();
    let mut reply = [0; 4096];
    let read = stream.read(&mut reply).unwrap();
    let reply = String::from_utf8_lossy(&reply[..read]);
    let (head, events) = reply.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("text/event-stream"), "{head}");
    assert!(events.contains(":") && events.contains("\n\n"), "{reply}");
}

fn a_slow_reader_gets_all_and_holds_up_nobody(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let mut slow = connect(&listening.address);
    let request = post("", "big", &call(1, "big", r#"{"bytes":10000000}"#));
    slow.write_all(request.as_bytes()).unwrap();
    let mut slow = BufReader::with_capacity(1024, slow);
    let mut first = [0; 17];
    slow.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200 OK\r\n");

    // While the large reply waits for its reader, others are answered.
    let mut other = connect(&listening.address);
    other.write_all(add(2).as_bytes()).unwrap();
    assert!(response(&mut BufReader::new(other)).1.contains(r#""id":2"#));

    let (_, body) = response(&mut slow);
    assert!(body.len() > 10_000_000 && body.ends_with('}'), "{} bytes", body.len());
}

fn a_handler_can_ask_who_is_calling(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let mut stream = connect(&listening.address);
    let own = stream.local_addr().unwrap().to_string();
    stream.write_all(post("", "whoami", &call(1, "whoami", "{}")).as_bytes()).unwrap();
    let (_, body) = response(&mut BufReader::new(stream));
    assert!(body.contains(&own), "{body}");
}

fn connections_beyond_the_limit_wait_their_turn(program: &str) {
    let (_server, listening) = Server::on_http(program, &["--connections", "1"]);
    let mut first = connect(&listening.address);
    first.write_all(add(1).as_bytes()).unwrap();
    let mut first = BufReader::new(first);
    assert!(response(&mut first).1.contains(r#""id":1"#));
    // The system takes the second connection and its request; the server does not yet.
    let mut second = connect(&listening.address);
    second.write_all(add(2).as_bytes()).unwrap();
    second.set_nonblocking(true).unwrap();
    for id in 3..50 {
        first.get_mut().write_all(add(id).as_bytes()).unwrap();
        assert!(response(&mut first).1.contains(&format!(r#""id":{id}"#)));
    }
    assert_eq!(second.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::WouldBlock);
    second.set_nonblocking(false).unwrap();
    drop(first);
    assert!(response(&mut BufReader::new(second)).1.contains(r#""id":2"#));
}

fn a_shutdown_lets_calls_end_and_then_ends(program: &str) {
    let (mut server, mut listening) = Server::on_http(program, &[]);
    let mut idle = connect(&listening.address);
    let mut busy = connect(&listening.address);
    // What was answered was accepted; then the connection is idle, or busy with a call that the
    // server read with the end of the same bytes.
    for (stream, request) in [(&mut idle, String::new()), (&mut busy, nap(2, 300))] {
        stream.write_all((add(1) + &request).as_bytes()).unwrap();
    }
    let (mut idle, mut busy) = (BufReader::new(idle), BufReader::new(busy));
    for stream in [&mut idle, &mut busy] {
        assert!(response(stream).1.contains(r#""id":1"#));
    }
    listening.shut_down();
    assert!(response(&mut busy).1.contains("slept"));
    assert_eq!(busy.read(&mut [0; 1]).unwrap(), 0, "closed after its call");
    assert_eq!(idle.read(&mut [0; 1]).unwrap(), 0, "closed at once");
    assert_eq!(listening.log(), "over\n");
    assert!(server.wait().success());
    assert!(TcpStream::connect(&listening.address).is_err());
}

fn a_shutdown_cuts_off_who_takes_too_long(program: &str) {
    let (mut server, mut listening) = Server::on_http(program, &["--grace-ms", "50"]);
    let mut busy = connect(&listening.address);
    busy.write_all((add(1) + &nap(2, 3_600_000)).as_bytes()).unwrap();
    let mut busy = BufReader::new(busy);
    assert!(response(&mut busy).1.contains(r#""id":1"#));
    listening.shut_down();
    assert!(matches!(busy.read(&mut [0; 1]), Ok(0) | Err(_)), "no reply");
    assert_eq!(
        listening.log(),
        "connections were cut off: their calls did not end in time\nover\n"
    );
    assert!(server.wait().success());
}

fn a_bad_request_is_told_so_and_the_connection_closes(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let mut stream = connect(&listening.address);
    stream.write_all(b"NONSENSE\r\n\r\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
}

/// C44.
fn only_loopback_names_are_answered_and_the_log_says_so(program: &str) {
    let (_server, mut listening) = Server::on_http(program, &["--address", "0.0.0.0:0"]);
    let address = listening.address.replace("0.0.0.0", "127.0.0.1");
    for (host, status) in [("localhost", "200"), ("127.0.0.1:1", "200"), ("evil.example", "403")] {
        let request = add(1).replace("Host: localhost", &format!("Host: {host}"));
        let mut stream = connect(&address);
        stream.write_all(request.as_bytes()).unwrap();
        let (head, _) = response(&mut BufReader::new(stream));
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {head}");
    }
    listening.shut_down();
    assert!(listening.log().contains("allow_host"));
}

fn running_out_of_files_is_waited_out(program: &str) {
    let (_server, mut listening) = Server::with_files(program, 32);
    let crowd: Vec<TcpStream> = (0..40).map(|_| connect(&listening.address)).collect();
    assert!(listening.log_line().contains("trying again"));
    drop(crowd);
    let mut stream = connect(&listening.address);
    stream.write_all(add(1).as_bytes()).unwrap();
    assert!(response(&mut BufReader::new(stream)).1.contains(r#""id":1"#));
}

/// R26-SUBS-10: a request that listens gets its result, older streams the advice to come back.
fn a_shutdown_ends_streams_that_only_listen(program: &str) {
    let (_server, mut listening) = Server::on_http(program, &[]);
    let streams = listeners(&listening.address);
    listening.shut_down();
    assert_each_ends_in_its_way(streams);
    assert_eq!(listening.log(), "over\n");
}

/// Streams that listen: of HTTP+SSE, of a session, and by a request.
pub(crate) fn listeners(address: &str) -> [BufReader<TcpStream>; 3] {
    const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let mut greeter = connect(address);
    let hello = HELLO.len();
    greeter
        .write_all(
            format!(
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                 Accept: application/json\r\nContent-Length: {hello}\r\n\r\n{HELLO}"
            )
            .as_bytes(),
        )
        .unwrap();
    let (head, _) = response(&mut BufReader::new(greeter));
    let session = head.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id"));
    let get = |path: &str, more: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{more}\r\n")
    };
    let filter = r#"{"notifications":{"toolsListChanged":true}"#;
    let listen = call(1, "", "{}").replace("tools/call", "subscriptions/listen");
    let listen = listen.replace(r#"{"name":"","arguments":{}"#, filter);
    let listen = post("", "", &listen).replace("tools/call", "subscriptions/listen");
    [
        (get("/sse", ""), "data: "),
        (get("/mcp", &format!("{}\r\n", session.expect("a session"))), "id: "),
        (listen.replace("Mcp-Name: \r\n", ""), "acknowledged"),
    ]
    .map(|(request, begun)| {
        let mut stream = connect(address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut text = String::new();
        while !text.contains(begun) {
            assert!(stream.read_line(&mut text).unwrap() > 0, "{text}");
        }
        stream
    })
}

pub(crate) fn assert_each_ends_in_its_way(streams: [BufReader<TcpStream>; 3]) {
    // The stream of HTTP+SSE cannot be taken up again.
    let said = [("retry", false), ("retry: 1000", true), (r#""id":1,"result":"#, true)];
    for (mut stream, (last, is_said)) in streams.into_iter().zip(said) {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).unwrap();
        assert_eq!(rest.contains(last), is_said, "{rest}");
        assert!(rest.ends_with("0\r\n\r\n"), "to its end: {rest}");
    }
}

/// R24-SSE-01, R24-SSE-02, R24-SSE-04: what is posted is answered on the stream, over another connection.
fn http_sse_answers_on_its_stream(program: &str) {
    let (_server, listening) = Server::on_http(program, &[]);
    let mut stream = connect(&listening.address);
    stream
        .write_all(b"GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        .unwrap();
    let mut events = BufReader::new(stream).lines().map(Result::unwrap);
    let mut data = || events.find_map(|line| line.strip_prefix("data: ").map(str::to_owned));
    let endpoint = data().unwrap();
    assert!(endpoint.starts_with("/messages"), "{endpoint}");

    let mut poster = connect(&listening.address);
    let client = r#"{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;
    for (method, params) in [("initialize", client), ("ping", "{}")] {
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":"{method}","method":"{method}","params":{params}}}"#);
        let request = format!(
            "POST {endpoint} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        poster.write_all(request.as_bytes()).unwrap();
        let reply = data().unwrap();
        assert!(
            reply.contains(&format!(r#""id":"{method}""#)) && reply.contains("result"),
            "{reply}"
        );
    }
}

fn nap(id: usize, ms: u64) -> String {
    post("", "sleep", &call(id, "sleep", &format!(r#"{{"ms":{ms}}}"#)))
}

pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// One response with a length: its head, and its body.
pub(crate) fn response(reader: &mut impl Read) -> (String, String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        reader.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let lower = head.to_ascii_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}
