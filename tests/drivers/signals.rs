//! What the examples do when they are told to end.

use std::io::{BufRead, Read, Write};
use std::process::Stdio;

use crate::examples::send;
use crate::process::{Server, call, example};

/// One of everything, on each driver.
const EVERYTHING: [&str; 2] = ["everything", "everything-async-std"];

const SIGNALS: [&str; 2] = ["TERM", "INT"];

#[test]
fn over_http_a_signal_lets_the_call_end_and_then_the_process() {
    for (name, signal) in EVERYTHING.into_iter().flat_map(|name| SIGNALS.map(|it| (name, it))) {
        let (mut server, listening) = Server::example(name, &["--listen", "127.0.0.1:0"]);
        let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
                       Mcp-Name: test_tool_with_progress\r\n";
        let body = call(1, "test_tool_with_progress", "{}");
        let headers = format!(
            "{headers}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n",
            body.len()
        );
        let mut reply = send("POST", &listening.address, &headers, &body);
        let mut text = String::new();
        while !text.contains("notifications/progress") {
            assert!(reply.read_line(&mut text).expect("an event") > 0, "{name}: {text}");
        }
        server.signal(signal);
        reply.read_to_string(&mut text).expect("UTF-8");
        assert!(text.contains(r#""result":"#), "{name}, {signal}: {text}");
        assert_eq!(server.wait().code(), Some(0), "{name}, {signal}");
    }
}

#[test]
fn on_stdio_a_signal_lets_the_call_end_and_then_the_process() {
    for (name, signal) in EVERYTHING.into_iter().flat_map(|name| SIGNALS.map(|it| (name, it))) {
        let program = example(name);
        let program = program.to_str().expect("a path in UTF-8");
        let mut server = Server::on_stdio(program, &[], Stdio::piped(), Stdio::piped());
        let (mut stdin, mut stdout) = (server.stdin(), server.stdout());
        writeln!(stdin, "{}", call(1, "test_tool_with_progress", "{}")).expect("it reads");
        let mut text = String::new();
        stdout.read_line(&mut text).expect("a line");
        assert!(text.contains("notifications/progress"), "{name}: {text}");
        server.signal(signal);
        // The input stays open: it is the signal that ends the process.
        stdout.read_to_string(&mut text).expect("UTF-8");
        assert!(text.contains(r#""result":"#), "{name}, {signal}: {text}");
        assert_eq!(server.wait().code(), Some(0), "{name}, {signal}");
        drop(stdin);
    }
}

#[test]
fn every_example_on_a_runtime_ends_in_order_at_sigterm() {
    for name in ["own_store", "with_axum", "with_hyper", "with_smol"] {
        let (mut server, _listening) = Server::example(name, &["127.0.0.1:0"]);
        server.signal("TERM");
        assert_eq!(server.wait().code(), Some(0), "{name}");
    }
}
