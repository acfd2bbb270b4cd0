//! What a server's process holds, whatever is sent to it: each bound is driven to its end many times
//! over, by clients without a token.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;

use crate::http::{connect, post, response};
use crate::on_both_drivers;
use crate::process::{Server, call};

on_both_drivers! {
    sessions_of_clients_that_say_much_of_themselves_are_bounded
    results_on_streams_are_bounded
    results_that_nobody_reads_are_bounded
    requests_that_never_end_are_bounded
    a_bound_that_is_larger_is_seen_to_hold_more
}

/// What the small server of these tests holds of each kind.
const BOUND: usize = 8 << 20;

/// More than its process may grow by: the bound, and what an allocator makes of it. What is sent is
/// ten times as much and more.
const MOST: usize = 5 * BOUND;

/// The resident memory of a process, in bytes.
fn resident(server: &Server) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).expect("linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a size");
    let kib: usize = line.split_whitespace().nth(1).and_then(|it| it.parse().ok()).expect("a size");
    kib << 10
}

/// Runs `attack` on a small server: it grows by less than it may, and serves on.
fn bounded(program: &str, attack: impl FnOnce(&str)) {
    let grown = grown(program, &["--small", "--connections", "500"], attack);
    assert!(grown < MOST, "it grew by {} KiB", grown >> 10);
}

/// By how much a server grows.
fn grown(program: &str, arguments: &[&str], attack: impl FnOnce(&str)) -> usize {
    let (server, listening) = Server::on_http_with(
        program,
        arguments,
        &[
            // What is given back reaches the system, and so what is measured.
            ("MALLOC_MMAP_THRESHOLD_", "131072"),
            ("MALLOC_TRIM_THRESHOLD_", "131072"),
        ],
    );
    let before = resident(&server);
    attack(&listening.address);
    let grown = resident(&server).saturating_sub(before);
    let mut stream = connect(&listening.address);
    stream.write_all(post("", "add", &call(1, "add", r#"{"a":2,"b":40}"#)).as_bytes()).unwrap();
    let (head, body) = response(&mut BufReader::new(stream));
    assert!(head.starts_with("HTTP/1.1 200") && body.contains("42"), "{head}{body}");
    grown
}

/// Sends a message and reads the response to it.
fn exchange(reader: &mut BufReader<TcpStream>, headers: &str, message: &str) -> (String, String) {
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{headers}\r\n{message}",
        message.len()
    );
    reader.get_mut().write_all(request.as_bytes()).unwrap();
    response(reader)
}

fn hello(more: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{{"experimental":{{"x":{{"y":"{}"}}}}}},"clientInfo":{{"name":"n","version":"1"}}}}}}"#,
        "x".repeat(more)
    )
}

/// The headers that name a new session.
fn session(reader: &mut BufReader<TcpStream>) -> String {
    let (head, _) = exchange(reader, "", &hello(0));
    let line = head.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:"));
    format!("{}\r\nMCP-Protocol-Version: 2025-11-25\r\n", line.expect("a session").trim())
}

fn open_sessions(address: &str) {
    let mut reader = BufReader::new(connect(address));
    for n in 0..1_500 {
        let (head, body) = exchange(&mut reader, "", &hello(64_000));
        assert!(head.starts_with("HTTP/1.1 200"), "{n}: {head}{body}");
    }
}

/// So what is measured here is what the others bound.
fn a_bound_that_is_larger_is_seen_to_hold_more(program: &str) {
    let grown = grown(program, &[], open_sessions);
    assert!(grown > MOST, "it grew by {} KiB", grown >> 10);
}

fn sessions_of_clients_that_say_much_of_themselves_are_bounded(program: &str) {
    bounded(program, |address| {
        open_sessions(address);
        let mut reader = BufReader::new(connect(address));
        for more in [70_000, 1 << 20, 3 << 20] {
            let (_, body) = exchange(&mut reader, "", &hello(more));
            assert!(body.contains("-32602"), "{body:.200}");
        }
    });
}

fn results_on_streams_are_bounded(program: &str) {
    bounded(program, |address| {
        let mut reader = BufReader::new(connect(address));
        let session = session(&mut reader);
        for id in 10..110 {
            // It takes a stream alone, so the answer goes through the stream's log.
            let call = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"big","arguments":{{"bytes":1000000}}}}}}"#
            );
            let request = format!(
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                 Accept: text/event-stream\r\nContent-Length: {}\r\n{session}Connection: close\r\n\r\n{call}",
                call.len()
            );
            let mut stream = connect(address);
            stream.write_all(request.as_bytes()).unwrap();
            let mut reply = Vec::new();
            stream.read_to_end(&mut reply).unwrap();
            assert!(reply.len() > 1_000_000, "{}", String::from_utf8_lossy(&reply));
        }
    });
}

fn results_that_nobody_reads_are_bounded(program: &str) {
    bounded(program, |address| {
        let deaf: Vec<_> = (0..100)
            .map(|id| {
                let mut stream = connect(address);
                let call = call(id, "big", r#"{"bytes":4000000}"#);
                stream.write_all(post("", "big", &call).as_bytes()).unwrap();
                // The answer has begun: the rest waits for its reader.
                let mut first = [0; 1];
                let _ = stream.read(&mut first);
                stream
            })
            .collect();
        drop(deaf);
    });
}

fn requests_that_never_end_are_bounded(program: &str) {
    bounded(program, |address| {
        let filler = vec![b' '; 1_000_000];
        let endless: Vec<_> = (0..100)
            .map(|_| {
                let mut stream = connect(address);
                let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\
                            Content-Type: application/json\r\nAccept: application/json\r\n\r\n";
                stream.write_all(head.as_bytes()).unwrap();
                // It may have been given up by then.
                let _ = stream.write_all(&filler);
                stream
            })
            .collect();
        drop(endless);
    });
}
