//! Every default bound is applied: what is within it passes, one more (or one instant later) does
//! not. Sizes of heads, bodies, lines, batches and nesting are rows of the table of bad inputs.

mod fixture;

use core::time::Duration;
use std::cell::Cell;
use std::rc::Rc;

use fixture::{Peer, Wire, application, builder};
use mcp_proto::model::Call;
use mcp_proto::revision::Revision;
use mcp_proto::server::{Connection, Limits, Machine, Stdio};
use mcp_proto::testing::{Faults, Script, Store, World};
use mcp_proto::time::Instant;

type Application = Box<dyn FnMut(&Call) -> Script>;

const MODERN: Revision = Revision::V2026_07_28;
const TICK: Duration = Duration::from_micros(1);

fn http() -> World<Connection, Application> {
    World::new(Connection::new(builder().build(), Instant::ZERO), Box::new(application))
}

/// A server on lines, and how many calls it started.
fn stdio() -> (World<Stdio, Application>, Rc<Cell<usize>>) {
    let started = Rc::new(Cell::new(0));
    let counter = started.clone();
    let count = move |call: &Call| {
        counter.set(counter.get() + 1);
        application(call)
    };
    (World::new(Stdio::new(builder().build(), Instant::ZERO), Box::new(count)), started)
}

fn call(peer: &mut Peer, tool: &str) -> Vec<u8> {
    let request = peer.request("tools/call", &format!("\"name\":\"{tool}\""));
    peer.frame(&request)
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("text")
}

#[test]
fn as_many_calls_run_as_may_and_the_next_is_parked() {
    let (mut world, started) = stdio();
    let mut peer = Peer::new(MODERN, Wire::Stdio);
    let most = Limits::default().in_flight;
    for _ in 0..=most {
        world.send(&call(&mut peer, "hang"));
    }
    world.run();
    assert_eq!(started.get(), most);
    // A cancellation makes room, and was read behind the parked call.
    world.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n");
    world.run();
    assert_eq!(started.get(), most + 1);
}

#[test]
fn a_call_beyond_those_that_may_be_parked_is_refused_and_input_goes_on() {
    let limits = Limits::default();
    // By their number, and by their bytes.
    for (most, size) in [(limits.parked, 0), (4, limits.message / 4)] {
        let (mut world, started) = stdio();
        let peer = Peer::new(MODERN, Wire::Stdio);
        let filler = format!(r#""name":"hang","arguments":{{"x":"{}"}}"#, "x".repeat(size));
        let call = |id: usize| {
            let text = peer.request_as(&id.to_string(), "tools/call", &filler, "");
            let mut line = text.into_bytes();
            line.push(b'\n');
            line
        };
        let all = limits.in_flight + most;
        (0..=all).for_each(|id| world.send(&call(id)));
        world.run();
        assert_eq!(started.get(), limits.in_flight);
        let said = text(world.take_sent());
        let last = format!(r#""id":{all},"error":{{"code":-32603,"message":"busy"#);
        assert!(said.contains(&last), "{said}");
        assert_eq!(said.lines().count(), if size == 0 { 1 } else { 2 }, "{said}");
        assert!(world.machine().wants_input());
        // What ends makes room for what waits.
        world.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n");
        world.run();
        assert_eq!(started.get(), limits.in_flight + 1);
        // The end of the input ends them all (R26-STDIO-16).
        world.send_eof();
        world.run_for(limits.eof_grace);
        assert!(world.is_closed());
    }
}

#[test]
fn output_for_a_reader_that_stalls_is_bounded() {
    let (mut world, _) = stdio();
    let mut peer = Peer::new(MODERN, Wire::Stdio);
    world.set_reading(false);
    let request = peer.request("tools/list", "");
    let list = peer.frame(&request);
    while world.machine().wants_input() {
        world.send(&list);
        world.run();
    }
    world.set_reading(true);
    world.run();
    let sent = world.take_sent();
    let most = Limits::default().queued_bytes;
    let reply = sent.iter().position(|&it| it == b'\n').expect("a line") + 1;
    assert!(sent.len() >= most && sent.len() - reply < most, "{} of {most}", sent.len());
    assert!(world.machine().wants_input());
}

#[test]
fn a_reply_is_undecided_so_long_and_a_stream_silent_so_long() {
    let mut world = http();
    let limits = Limits::default();
    world.send(&call(&mut Peer::new(MODERN, Wire::Http), "hang"));
    for (pause, said) in [
        (limits.undecided, "text/event-stream"),
        (limits.heartbeat, ":\n"),
        (limits.heartbeat, ":\n"),
    ] {
        world.run_for(pause - TICK);
        assert!(world.take_sent().is_empty());
        world.run_for(TICK);
        assert!(text(world.take_sent()).contains(said));
    }
}

#[test]
fn calls_get_their_grace_after_the_end_of_the_input() {
    let (mut world, _) = stdio();
    world.send(&call(&mut Peer::new(MODERN, Wire::Stdio), "hang"));
    world.send_eof();
    world.run_for(Limits::default().eof_grace - TICK);
    assert!(world.cancelled().next().is_none() && !world.is_closed());
    world.run_for(TICK);
    assert!(world.cancelled().next().is_some() && world.is_closed());
}

/// What a new connection says to `frame` at some time, and the store afterwards.
fn say(store: Store, after: Duration, frame: &[u8]) -> (String, Store) {
    let connection = Connection::new(builder().build(), Instant::ZERO + after);
    let mut world = World::new(connection, application).with_store(store);
    world.run_for(after);
    world.send(frame);
    world.run();
    (text(world.take_sent()), world.into_store())
}

#[test]
fn a_session_lives_so_long_without_a_request() {
    let ttl = Limits::default().session_ttl;
    let mut peer = Peer::new(Revision::V2025_06_18, Wire::Http);
    let hello = peer.hello();
    let store = Store::new(0, Faults::default());
    let (reply, mut store) = say(store, Duration::ZERO, &peer.frame(&hello));
    let session = reply.split_once("Mcp-Session-Id: ").and_then(|(_, it)| it.split_once('\r'));
    peer.session = session.map(|(session, _)| session.to_owned());
    let mut now = Duration::ZERO;
    for (pause, status) in [(ttl - TICK, "200"), (ttl - TICK, "200"), (ttl, "404")] {
        now += pause;
        let ping = peer.request("ping", "");
        let reply;
        (reply, store) = say(store, now, &peer.frame(&ping));
        assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "after {pause:?}: {reply}");
    }
}

#[test]
fn a_head_a_body_and_an_idle_connection_have_their_time() {
    let limits = Limits::default().http;
    let mut peer = Peer::new(MODERN, Wire::Http);
    let request = peer.request("tools/list", "");
    let frame = peer.frame(&request);
    for (first, time) in
        [(20, limits.head_time), (frame.len() - 1, limits.body_time), (0, limits.idle_time)]
    {
        let (begun, rest) = frame.split_at(first);
        let mut world = http();
        world.send(begun);
        world.run_for(time - TICK);
        world.send(rest);
        world.run();
        assert!(text(world.take_sent()).starts_with("HTTP/1.1 200"), "{first} bytes in time");
        let mut world = http();
        world.send(begun);
        world.run_for(time);
        let sent = text(world.take_sent());
        assert!(sent.starts_with("HTTP/1.1 408") || (first == 0 && world.is_closed()), "{sent}");
    }
}

#[test]
fn a_target_has_its_length() {
    let most = Limits::default().http.target;
    for (length, status) in [(most, "405"), (most + 1, "414")] {
        let mut world = http();
        let query = "x".repeat(length - "/mcp?".len());
        world.send(format!("PUT /mcp?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
        world.run();
        let sent = text(world.take_sent());
        assert!(sent.starts_with(&format!("HTTP/1.1 {status}")), "{length}: {sent}");
    }
}

/// How long a body takes to be answered, or its connection to end, that comes in such pieces, one
/// after each pause.
fn answered_after(head: &str, piece: &[u8], pause: Duration, pieces: usize) -> (String, Duration) {
    let mut world = http();
    world.send(head.as_bytes());
    for _ in 0..pieces {
        if world.run_until_sent(pause) {
            break;
        }
        world.send(piece);
    }
    world.run_until_sent(Duration::from_secs(100));
    (text(world.take_sent()), world.now().saturating_since(Instant::ZERO))
}

#[test]
fn a_body_that_drips_is_refused_and_one_that_keeps_up_is_read() {
    const SEC: fn(u64) -> Duration = Duration::from_secs;
    let post = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Accept: application/json, text/event-stream\r\n";
    let sized = format!("{post}Content-Length: 1000000\r\n\r\n");
    let chunked = format!("{post}Transfer-Encoding: chunked\r\n\r\n");
    for (head, drop) in
        [(&sized, &b" "[..]), (&chunked, b"1\r\n \r\n"), (&chunked, b"1;x=y\r\n \r\n")]
    {
        for pause in [SEC(25), SEC(3), Duration::from_millis(100)] {
            let (sent, after) = answered_after(head, drop, pause, 2_000);
            assert!(sent.starts_with("HTTP/1.1 408"), "{pause:?}: {sent}");
            assert!((SEC(29)..SEC(40)).contains(&after), "{pause:?}: {after:?}");
        }
    }
    // A million bytes at 5,000 a second, and what they say is no JSON.
    let mut chunk = b"1388\r\n".to_vec();
    chunk.extend([b' '; 5_000]);
    chunk.extend(b"\r\n");
    for (head, piece, pieces) in [(&sized, &[b' '; 5_000][..], 200), (&chunked, &chunk, 210)] {
        let (sent, after) = answered_after(head, piece, SEC(1), pieces);
        let expected = if pieces == 200 { "400" } else { "408" };
        assert!(sent.starts_with(&format!("HTTP/1.1 {expected}")), "{sent}");
        assert!(after > SEC(195), "{after:?}");
    }
}

#[test]
fn what_is_thrown_away_has_its_time_however_it_comes() {
    let limits = Limits::default().http;
    for (target, headers) in [("/other", "Host: localhost"), ("/mcp", "Host: evil.example")] {
        for pause in [Duration::from_millis(10), Duration::from_secs(1), Duration::from_secs(4)] {
            let mut world = http();
            world.send(
                format!("POST {target} HTTP/1.1\r\n{headers}\r\nContent-Length: 60000\r\n\r\n")
                    .as_bytes(),
            );
            let mut passed = Duration::ZERO;
            while passed < Duration::from_secs(20) && !world.is_closed() {
                world.send(b"x");
                world.run_for(pause);
                passed += pause;
            }
            let most = limits.drain_time + limits.linger_time + pause;
            assert!(world.is_closed() && passed <= most, "{target} {pause:?}: {passed:?}");
        }
    }
}

#[test]
fn a_body_that_nobody_wants_is_drained_up_to_its_bound() {
    let most = Limits::default().http.drain;
    for (length, goes_on) in [(most, true), (most + 1, false)] {
        let mut world = http();
        let head =
            format!("POST /other HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
        world.send(head.as_bytes());
        world.run();
        assert!(text(world.take_sent()).starts_with("HTTP/1.1 404"));
        world.send(&vec![b'x'; length as usize]);
        let mut peer = Peer::new(MODERN, Wire::Http);
        world.send(&call(&mut peer, "test_simple_text"));
        world.run();
        assert_eq!(text(world.take_sent()).starts_with("HTTP/1.1 200"), goes_on, "{length}");
    }
}
