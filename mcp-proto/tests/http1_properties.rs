//! Properties of the HTTP/1.1 machines over generated and damaged traffic.
//!
//! Neither the splitting of the input nor the places where events and bytes are fetched change
//! what a machine sends and reports; time never runs out twice; nothing panics.

use core::time::Duration;
use mcp_proto::frame::http1::client::{self, Client, RequestLine};
use mcp_proto::frame::http1::server::{self, Server};
use mcp_proto::frame::http1::{BodyLength, Closing, Headers, Limits, Method, RequestHead, Version};
use mcp_proto::time::Instant;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Small enough that generated traffic meets each of them.
fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.head, limits.headers, limits.target) = (260, 6, 40);
    (limits.body, limits.trailers, limits.drain) = (64, 40, 32);
    limits
}

// ---- traffic ----

fn field() -> impl Strategy<Value = &'static str> {
    select(vec![
        "Accept: application/json, text/event-stream\r\n",
        "Expect: 100-continue\r\n",
        "Connection: close\r\n",
        "Connection: keep-alive\r\n",
        "X-Long: ........................................................................\r\n",
        "Content-Length: 3\r\n",
        "Transfer-Encoding: chunked\r\n",
    ])
}

/// A body and the field that frames it.
fn body() -> impl Strategy<Value = (String, String)> {
    let chunk = (select(vec!["", ";a", ";a=\"b;\"", " ;x=y"]), "[a-z]{1,24}");
    let trailer = select(vec!["", "", "", "X-T: 1\r\n", "Content-Length: 5\r\n"]);
    let chunked = (prop::collection::vec(chunk, 0..4), trailer).prop_map(|(chunks, trailer)| {
        let mut body = String::new();
        for (extension, data) in chunks {
            body += &format!("{:x}{extension}\r\n{data}\r\n", data.len());
        }
        ("Transfer-Encoding: chunked\r\n".to_owned(), body + "0\r\n" + trailer + "\r\n")
    });
    let sized =
        "[a-z]{0,70}".prop_map(|body| (format!("Content-Length: {}\r\n", body.len()), body));
    prop_oneof![2 => Just(Default::default()), 3 => sized, 3 => chunked]
}

fn request() -> impl Strategy<Value = String> {
    let method = select(vec!["GET", "POST", "POST", "HEAD", "OPTIONS", "DELETE", "PRI"]);
    let target = select(vec!["/", "/mcp?x=1", "*", "http://h:1/p"]);
    let version = prop_oneof![8 => Just("1.1"), 2 => Just("1.0"), 1 => Just("2.0")];
    let host = prop_oneof![9 => Just("Host: a\r\n"), 1 => Just("")];
    let fields = prop::collection::vec(field(), 0..2).prop_map(|fields| fields.concat());
    (method, target, version, host, fields, body()).prop_map(
        |(method, target, version, host, fields, (framing, body))| {
            format!("{method} {target} HTTP/{version}\r\n{host}{fields}{framing}\r\n{body}")
        },
    )
}

fn response() -> impl Strategy<Value = String> {
    let interim = prop_oneof![4 => Just(""), 1 => Just("HTTP/1.1 100 Continue\r\n\r\n")];
    let version = prop_oneof![8 => Just("1.1"), 2 => Just("1.0")];
    let status = select(vec!["200 OK", "202 Accepted", "204 No Content", "304 X", "404", "101 Y"]);
    let fields = prop::collection::vec(field(), 0..2).prop_map(|fields| fields.concat());
    (interim, version, status, fields, body()).prop_map(
        |(interim, version, status, fields, (framing, body))| {
            format!("{interim}HTTP/{version} {status}\r\n{fields}{framing}\r\n{body}")
        },
    )
}

/// Replaces, inserts or removes a byte here and there.
fn damaged(text: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<u8>> {
    let byte = select(b"\r\n\t :;,0f\x00\x7f\xffG".to_vec());
    let damage = prop::collection::vec((any::<Index>(), 0..3, byte), 0..3);
    let damage = prop_oneof![1 => Just(Vec::new()), 1 => damage];
    (text, damage).prop_map(|(text, damage)| {
        let mut bytes = text.into_bytes();
        for (at, how, byte) in damage {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        bytes
    })
}

fn requests() -> impl Strategy<Value = Vec<u8>> {
    damaged(prop::collection::vec(request(), 1..4).prop_map(|requests| requests.concat()))
}

/// How input is cut up and when output is fetched.
#[derive(Clone, Debug)]
struct Schedule {
    pieces: Vec<usize>,
    /// Fetch bytes after this many pieces.
    transmit_every: usize,
    /// Fetch events after this many pieces, or when nothing more is taken.
    poll_every: usize,
}

impl Schedule {
    fn whole() -> Self {
        Self { pieces: vec![usize::MAX], transmit_every: 1, poll_every: 1 }
    }

    fn bytewise() -> Self {
        Self { pieces: vec![1], transmit_every: 1, poll_every: 1 }
    }
}

fn schedule() -> impl Strategy<Value = Schedule> {
    (prop::collection::vec(1..90usize, 1..8), 1..6usize, 1..6usize).prop_map(
        |(pieces, transmit_every, poll_every)| Schedule { pieces, transmit_every, poll_every },
    )
}

// ---- the server ----

/// What a connection came to: events in words, bytes sent, whether it goes on.
type Outcome = (Vec<String>, Vec<u8>, bool);

/// An application that answers by what the head says, each request in its own way.
#[derive(Default)]
struct Application {
    log: Vec<String>,
    answered: usize,
    is_head: bool,
    refuses_to_continue: bool,
}

impl Application {
    fn poll(&mut self, now: Instant, server: &mut Server) {
        while let Some(event) = server.poll_event() {
            match event {
                server::Event::Head(head) => {
                    self.log.push(format!("{head:?} {:?}", head.authority()));
                    self.is_head = head.method() == Method::Head;
                    if head.expects_continue() && !self.refuses_to_continue {
                        server.send_continue();
                    }
                    if is_answered_early(&head) {
                        self.answer(now, server);
                    }
                }
                server::Event::Body(body) => {
                    self.log.push(format!("body {:?}", String::from_utf8_lossy(&body)));
                }
                server::Event::End => {
                    self.log.push("end".into());
                    self.answer(now, server);
                }
                server::Event::Refused(refusal) => {
                    self.log.push(refusal.to_string());
                    server.refuse(now, &refusal).expect("a refusal waits for its answer");
                }
                other => self.log.push(format!("{other:?}")),
            }
        }
    }

    fn answer(&mut self, now: Instant, server: &mut Server) {
        self.answered += 1;
        let headers = [("X-Answer", self.answered.to_string())];
        match self.answered % 4 {
            0 => server.reply(now, 204, headers, b"").expect("no body"),
            1 => server.reply(now, 200, headers, b"sized").expect("sized"),
            2 => {
                server.respond(200, headers, BodyLength::Stream).expect("a stream");
                server.write_body(b"first ").expect("a piece");
                server.write_body(b"second").expect("a piece");
                server.finish(now).expect("complete");
            }
            _ => {
                server.respond(404, headers, BodyLength::Sized(4)).expect("sized");
                server.write_body(b"no").expect("half");
                if !self.is_head {
                    server.finish(now).expect_err("half is missing");
                }
                server.write_body(b"pe").expect("the rest");
                server.finish(now).expect("complete");
            }
        }
    }
}

/// Only where the body is short and its length known: an answer to another request closes the
/// connection or not by whether the request was complete.
fn is_answered_early(head: &RequestHead) -> bool {
    let length = head.get("content-length").and_then(|length| std::str::from_utf8(length).ok());
    let is_short = length.and_then(|length| length.parse().ok()).is_some_and(|n: u64| n <= 32);
    head.method() == Method::Delete && is_short
}

fn serve(input: &[u8], schedule: &Schedule, refuses_to_continue: bool) -> Outcome {
    let now = Instant::from_millis(5);
    let mut server = Server::new(now, limits());
    let mut application = Application { refuses_to_continue, ..Application::default() };
    let mut sent = Vec::new();
    let (mut rest, mut step) = (input, 0);
    while !rest.is_empty() {
        let piece = schedule.pieces[step % schedule.pieces.len()].min(rest.len());
        let taken = server.handle_input(now, &rest[..piece]);
        assert!(taken == piece || !server.wants_input(), "left input while wanting it");
        rest = &rest[taken..];
        step += 1;
        if step % schedule.poll_every == 0 || taken < piece {
            application.poll(now, &mut server);
        }
        if step % schedule.transmit_every == 0 {
            server.transmit(&mut sent);
        }
    }
    application.poll(now, &mut server);
    server.transmit(&mut sent);
    (application.log, sent, server.closing() == Closing::Open)
}

// ---- the client ----

fn receive(input: &[u8], schedule: &Schedule, method: &str) -> Outcome {
    let now = Instant::from_millis(5);
    let mut client = Client::new(now, limits());
    let mut sent = Vec::new();
    let line = RequestLine { method, target: "/mcp", host: "a" };
    client.send(line, [("Accept", "*/*")], b"ask").expect("a new connection takes a request");
    let (mut log, mut body) = (Vec::new(), Vec::new());
    let mut poll = |client: &mut Client| {
        while let Some(event) = client.poll_event() {
            match event {
                client::Event::Body(piece) => body.extend_from_slice(&piece),
                client::Event::Head(head) => log.push(format!("{head:?}")),
                end => log.push(format!("{:?} {end:?}", String::from_utf8_lossy(&body))),
            }
        }
    };
    let (mut rest, mut step) = (input, 0);
    while !rest.is_empty() {
        let piece = schedule.pieces[step % schedule.pieces.len()].min(rest.len());
        let taken = client.handle_input(now, &rest[..piece]);
        assert!(taken == piece || !client.wants_input(), "left input while wanting it");
        rest = &rest[taken..];
        step += 1;
        if step % schedule.poll_every == 0 || taken < piece {
            poll(&mut client);
        }
        if step % schedule.transmit_every == 0 {
            client.transmit(&mut sent);
        }
    }
    poll(&mut client);
    let goes_on = client.closing() == Closing::Open;
    client.handle_eof(now);
    poll(&mut client);
    client.transmit(&mut sent);
    (log, sent, goes_on)
}

// ---- time ----

/// Anything that can be done to a machine.
#[derive(Clone, Debug)]
enum Step {
    Input(Vec<u8>),
    Wait(u64),
    Timeout,
    Act(u8),
    Eof,
    Closed,
}

fn steps(input: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => input.prop_map(Step::Input),
        3 => (0..80_000u64).prop_map(Step::Wait),
        6 => Just(Step::Timeout),
        8 => any::<u8>().prop_map(Step::Act),
        1 => Just(Step::Eof),
        1 => Just(Step::Closed),
    ];
    prop::collection::vec(step, 1..24)
}

fn timed_limits() -> impl Strategy<Value = Limits> {
    let wait = || {
        select(vec![
            Duration::ZERO,
            Duration::from_micros(1),
            Duration::from_millis(50),
            Duration::from_secs(60),
            Duration::MAX,
        ])
    };
    (wait(), wait(), wait(), wait(), wait()).prop_map(|(head, body, idle, release, linger)| {
        let mut limits = limits();
        (limits.head_time, limits.body_time, limits.idle_time) = (head, body, idle);
        (limits.release_time, limits.linger_time) = (release, linger);
        limits
    })
}

fn act(server: &mut Server, now: Instant, action: u8) {
    let none = [("", ""); 0];
    let _ = match action % 10 {
        0 => server.respond(200, none, BodyLength::Stream),
        1 => server.write_body(b"abc"),
        2 => server.finish(now),
        3 => server.reply(now, 200, none, b"abc"),
        4 => server.respond(200, none, BodyLength::Sized(3)),
        5 => server.respond(200, [("Bad\r\n", "x")], BodyLength::None),
        6 if action > 200 => {
            server.abort(now);
            Ok(())
        }
        6 if action < 20 => {
            server.close(now);
            Ok(())
        }
        7 => {
            server.send_continue();
            Ok(())
        }
        _ => {
            server.transmit(&mut Vec::new());
            while server.poll_event().is_some() {}
            Ok(())
        }
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn splitting_and_draining_change_nothing_for_a_server(
        input in requests(),
        schedule in schedule(),
        refuses_to_continue in any::<bool>(),
    ) {
        let whole = serve(&input, &Schedule::whole(), refuses_to_continue);
        prop_assert_eq!(&whole, &serve(&input, &Schedule::bytewise(), refuses_to_continue));
        prop_assert_eq!(&whole, &serve(&input, &schedule, refuses_to_continue));
    }

    #[test]
    fn splitting_and_draining_change_nothing_for_a_client(
        input in damaged(response()),
        schedule in schedule(),
        method in select(vec!["GET", "POST", "HEAD"]),
    ) {
        let whole = receive(&input, &Schedule::whole(), method);
        prop_assert_eq!(&whole, &receive(&input, &Schedule::bytewise(), method));
        prop_assert_eq!(&whole, &receive(&input, &schedule, method));
    }

    #[test]
    fn a_server_never_waits_for_the_past(
        limits in timed_limits(),
        steps in steps(requests()),
    ) {
        let mut now = Instant::from_millis(1);
        let mut server = Server::new(now, limits);
        for step in steps {
            match step {
                Step::Input(bytes) => {
                    let taken = server.handle_input(now, &bytes);
                    prop_assert!(taken == bytes.len() || !server.wants_input());
                }
                Step::Wait(millis) => now = now + Duration::from_millis(millis),
                Step::Timeout => {
                    server.handle_timeout(now);
                    prop_assert!(server.poll_timeout().is_none_or(|at| at > now));
                }
                Step::Act(action) => act(&mut server, now, action),
                Step::Eof => server.handle_eof(now),
                Step::Closed => server.handle_closed(now),
            }
            if server.closing() == Closing::Closed {
                prop_assert_eq!(server.poll_timeout(), None);
            }
        }
    }

    #[test]
    fn a_client_never_waits_for_the_past(
        limits in timed_limits(),
        steps in steps(damaged(response())),
    ) {
        let mut now = Instant::from_millis(1);
        let mut client = Client::new(now, limits);
        for step in steps {
            match step {
                Step::Input(bytes) => {
                    let taken = client.handle_input(now, &bytes);
                    prop_assert!(taken == bytes.len() || !client.wants_input());
                }
                Step::Wait(millis) => now = now + Duration::from_millis(millis),
                Step::Timeout => {
                    client.handle_timeout(now);
                    prop_assert!(client.poll_timeout().is_none_or(|at| at > now));
                }
                Step::Act(action) => {
                    let line = RequestLine { method: "POST", target: "/", host: "a" };
                    let _ = match action % 5 {
                        0 => client.request(line, [("", ""); 0], BodyLength::Stream),
                        1 => client.write_body(b"abc"),
                        2 => client.finish(),
                        3 => client.send(line, [("A", "b")], b"abc"),
                        _ => {
                            while client.poll_event().is_some() {}
                            client.transmit(&mut Vec::new());
                            Ok(())
                        }
                    };
                }
                Step::Eof => client.handle_eof(now),
                Step::Closed => client.handle_closed(now),
            }
        }
    }

    #[test]
    fn arbitrary_bytes_panic_nowhere(input in prop::collection::vec(any::<u8>(), 0..200)) {
        let whole = serve(&input, &Schedule::whole(), false);
        prop_assert_eq!(&whole, &serve(&input, &Schedule::bytewise(), false));
        receive(&input, &Schedule::whole(), "GET");
    }

    /// What the server sends, the client reads back: the two agree on framing.
    #[test]
    fn a_client_reads_what_a_server_sends(
        body in prop::collection::vec(any::<u8>(), 0..300),
        cut in any::<Index>(),
        streamed in any::<bool>(),
        version in select(vec![Version::Http10, Version::Http11]),
        schedule in schedule(),
    ) {
        let now = Instant::ZERO;
        let mut server = Server::new(now, Limits::default());
        let (number, host) = match version {
            Version::Http10 => ("1.0", ""),
            Version::Http11 => ("1.1", "Host: a\r\n"),
        };
        let request = format!("GET / HTTP/{number}\r\n{host}\r\n");
        server.handle_input(now, request.as_bytes());
        let length = match streamed {
            true => BodyLength::Stream,
            false => BodyLength::Sized(body.len() as u64),
        };
        server.respond(200, [("", ""); 0], length).expect("a request waits");
        let (first, second) = body.split_at(cut.index(body.len() + 1));
        server.write_body(first).expect("a piece");
        server.write_body(second).expect("a piece");
        server.finish(now).expect("complete");
        let mut sent = Vec::new();
        server.transmit(&mut sent);
        let (log, ..) = receive(&sent, &schedule, "GET");
        let expected = format!("{:?} End", String::from_utf8_lossy(&body));
        prop_assert_eq!(log.last(), Some(&expected));
    }
}
