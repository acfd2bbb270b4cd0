//! An answer to everything that can be answered, and to nothing else.

use core::time::Duration;

use mcp_proto::revision::Revision;
use mcp_proto::server::{Bound, Event, Limits, Machine, Notice, Output, Stdio};
use mcp_proto::time::Instant;
use serde_json::json;

use crate::fixture::builder;
use crate::{Talk, errors, everywhere, small};

/// Lines that other programs print, or one message over several lines.
const NO_MESSAGES: [&str; 14] = [
    "log line 1",
    "[INFO] server started",
    "[2026-07-28 10:00:00] {\"level\":30}",
    "{",
    "  \"jsonrpc\": \"2.0\",",
    "  \"id\": 1,",
    "  \"method\": \"ping\"",
    "}",
    "\"text\"",
    "42",
    "null",
    "{level: info, msg: \"x\"}",
    "{\"level\":30,\"msg\":\"half",
    "\u{1b}[31mred\u{1b}[0m",
];

#[test]
fn what_is_no_json_is_never_answered() {
    // R24-STDIO-04, T-33
    for (place, mut talk) in everywhere() {
        for line in NO_MESSAGES {
            assert_eq!(talk.says(line), "", "{place}: {line}");
        }
        for number in 0..300 {
            assert_eq!(talk.says(&format!("log line {number}")), "", "{place}");
        }
        let binary = [&[0xff, 0xfe, b'{', 0, 0x80][..], b"\n"].concat();
        assert_eq!(talk.says_bytes(&binary), "", "{place}");
        assert!(talk.is_alive() || talk.peer.adapter().has_handshake, "{place}");
    }
}

/// Two programs that answer each other's errors must not go on for ever.
#[test]
fn a_peer_that_answers_whatever_it_hears_is_not_answered_for_ever() {
    let parse_error =
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#;
    let without_id = r#"{"error":{"code":-32700,"message":"Parse error"},"id":null}"#;
    for answer in
        ["what?", parse_error, without_id, "{}", "[]", "[1]", r#"{"id":1.5,"method":"x"}"#]
    {
        for (place, mut talk) in everywhere() {
            let (mut rounds, mut line) = (0, "hello".to_owned());
            while rounds < 20 {
                let said = talk.says(&line);
                if said.is_empty() && rounds > 0 {
                    break;
                }
                (rounds, line) = (rounds + 1, answer.to_owned());
            }
            assert!(rounds <= 2, "{place}: {rounds} rounds of {answer}");
        }
    }
}

#[test]
fn an_error_without_id_comes_once_in_a_second_where_the_revision_has_it() {
    // R2511-RPC-12
    for revision in Revision::ALL {
        let mut talk = Talk::begun(revision);
        let can = talk.peer.adapter().error_without_id;
        for line in ["{}", "[]", "[1]", r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#] {
            assert_eq!(!talk.says(line).is_empty(), can, "{revision}: {line}");
            assert_eq!(talk.says(line), "", "{revision}: {line}");
            talk.world.run_for(Duration::from_secs(1));
        }
    }
}

#[test]
fn a_response_is_never_answered_whatever_else_is_wrong_with_it() {
    // R24-RPC-05: its id is one of ours.
    let responses = [
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
        r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
        r#"{"id":1,"error":{"code":-32700,"message":"Parse error"}}"#,
        r#"{"error":{"code":-32700,"message":"Parse error"},"id":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":"E_FAIL"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":"\ud800"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":1e400}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":1,"result":1}"#,
        r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#,
        r#"[{"jsonrpc":"1.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"notifications/x"}]"#,
    ];
    for (place, mut talk) in everywhere() {
        for line in responses {
            assert_eq!(talk.says(line), "", "{place}: {line}");
        }
    }
}

#[test]
fn every_request_of_a_batch_is_answered_where_the_revision_has_none() {
    let two =
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let mixed = r#"[{"jsonrpc":"2.0","method":"notifications/x"},7,{"jsonrpc":"1.0","id":"a","method":"ping"}]"#;
    let broken = r#"[{"jsonrpc":"2.0","id":3,"method":"ping"},{"id":4,"method":"x","x":"\ud800"}]"#;
    let cut_off = r#"[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":6,"met"#;
    for (place, mut talk) in everywhere() {
        let batches = talk.peer.adapter().allows_batch && place.ends_with("begun");
        let both = |a, b, code| vec![(json!(a), code), (json!(b), code)];
        if !batches {
            assert_eq!(errors(&talk.says(two)), both(1, 2, -32600), "{place}");
            assert_eq!(errors(&talk.says(mixed)), [(json!("a"), -32600)], "{place}");
        } else {
            assert_eq!(talk.says(two).matches("\"result\"").count(), 2, "{place}");
            assert_eq!(errors(&talk.says(mixed)), [(json!("a"), -32600)], "{place}");
        }
        // R24-RPC-14: nothing of a text that is no JSON is done.
        assert_eq!(errors(&talk.says(broken)), both(3, 4, -32700), "{place}");
        assert_eq!(errors(&talk.says(cut_off)), [(json!(5), -32700)], "{place}");
        let many: Vec<_> = (0..101).map(|id| format!(r#"{{"id":{id},"method":"ping"}}"#)).collect();
        let refused = errors(&talk.says(&format!("[{}]", many.join(","))));
        assert_eq!(refused.len(), 101, "{place}");
    }
}

#[test]
fn a_request_that_cannot_be_read_is_refused_under_its_id() {
    let deep = format!(r#","params":{}{}"#, "[".repeat(200), "]".repeat(200));
    let cases = [
        (r#","params":{"x":"\ud800"}"#, -32700),
        (r#","params":{"x":"\udc00\ud800"}"#, -32700),
        (r#","params":{"x":1e400}"#, -32700),
        (r#","params":{"x":NaN}"#, -32700),
        (r#","params":{"x":'y'}"#, -32700),
        (r#","params":{"x":1},"params":{"x":2}"#, -32600),
        (&deep, -32600),
    ];
    for (rest, code) in cases {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"it","method":"tools/call"{rest}}}"#);
        for (place, mut talk) in everywhere() {
            assert_eq!(errors(&talk.says(&text)), [(json!("it"), code)], "{place}: {text}");
            assert!(talk.is_alive() || talk.peer.adapter().has_handshake, "{place}");
        }
        for revision in Revision::ALL {
            let mut talk = Talk::over_http(revision);
            let said = talk.posts(&text);
            assert!(said.starts_with("HTTP/1.1 400 "), "{revision}: {said}");
            let body = said.split_once("\r\n\r\n").expect("a body").1;
            assert_eq!(errors(body), [(json!("it"), code)], "{revision}: {text}");
        }
    }
}

#[test]
fn a_line_that_is_too_long_is_refused_under_its_id_at_once() {
    // C77
    let filler = "x".repeat(2_000);
    let first =
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"x":"{filler}"#);
    let last = format!(
        r#"{{"method":"tools/call","params":{{"x":"{filler}"}},"jsonrpc":"2.0","id":"z"}}"#
    );
    let unnamed = format!(r#"{{"id":null,"method":"tools/call","params":{{"x":"{filler}"}}}}"#);
    let response = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"x":"{filler}"}}}}"#);
    for revision in Revision::ALL {
        let mut talk = Talk::new(revision, small(1_000));
        talk.begin();
        // The line goes on, and its answer is there.
        let said = talk.says_bytes(first.as_bytes());
        assert_eq!(errors(&said), [(json!(7), -32600)], "{revision}");
        assert_eq!(talk.says("\"}}"), "", "{revision}");
        assert_eq!(errors(&talk.says(&last)), [(json!("z"), -32600)], "{revision}");
        for skipped in [&unnamed, &response, &filler] {
            assert_eq!(talk.says(skipped), "", "{revision}: {skipped}");
        }
        assert!(talk.is_alive(), "{revision}");
        // The last line, without an end.
        assert_eq!(talk.says_bytes(last.trim_end_matches('}').as_bytes()), "", "{revision}");
        talk.world.send_eof();
        talk.world.run();
        assert_eq!(talk.world.take_sent(), b"", "{revision}: its id is not sure");
    }
}

/// Ids are told apart by their members, not by where they happen to stand.
#[test]
fn an_id_within_parameters_is_nobody_to_answer() {
    for (place, mut talk) in everywhere() {
        let text = r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"id":1,"x":"\ud800"}}"#;
        assert_eq!(talk.says(text), "", "{place}");
    }
}

#[test]
fn what_is_skipped_is_told_to_the_operator_once_in_a_second() {
    let mut machine = Stdio::new(builder().build(), Instant::ZERO);
    let mut notices_at = |ms, input: &str| -> Vec<String> {
        assert_eq!(machine.handle_input(Instant::from_millis(ms), input.as_bytes()), input.len());
        let outputs = std::iter::from_fn(|| machine.poll_output());
        let notices = outputs.map(|output| match output {
            Output::Event(Event::Notice(notice)) => notice.to_string(),
            other => panic!("{other:?}"),
        });
        notices.collect()
    };
    let once = notices_at(0, &"log line\n".repeat(300));
    assert_eq!(once, ["input was skipped: a line that is no message"]);
    assert_eq!(notices_at(999, "{\n}\n\n"), [""; 0]);
    let later = notices_at(1_000, r#"{"id":1,"result":{}}"#);
    assert_eq!(later, [""; 0], "the line goes on");
    let later = notices_at(1_000, "\n");
    let said = "input was skipped: jsonrpc must be \"2.0\" (and 301 more since the last notice)";
    assert_eq!(later, [said]);
}

#[test]
fn a_bound_that_is_reached_is_told_to_the_operator() {
    let mut limits = Limits::default();
    (limits.message, limits.in_flight, limits.parked) = (10_000, 1, 1);
    let call = |id: u32| {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let params = format!(r#"{{"name":"hang","_meta":{meta}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    let calls = [call(1), call(2), call(3)].join("\n");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","y":"{}"}}"#, "z".repeat(10_000));
    for (input, bound, setting) in [
        (&*"[".repeat(200), Bound::Depth, "`Limits::depth`"),
        (&*format!("[{}]", [ping; 101].join(",")), Bound::Batch, "`Limits::batch`"),
        (&*long, Bound::Message, "`Limits::message`"),
        (&*calls, Bound::Parked, "`Limits::parked`"),
    ] {
        let mut machine = Stdio::new(builder().limits(limits).build(), Instant::ZERO);
        machine.handle_input(Instant::ZERO, format!("{input}\n").as_bytes());
        let outputs = std::iter::from_fn(|| machine.poll_output());
        let notices: Vec<_> = outputs
            .filter_map(|output| match output {
                Output::Event(Event::Notice(Notice::Bound(bound))) => Some(bound),
                _ => None,
            })
            .collect();
        assert_eq!(notices, [bound], "{setting}");
        assert!(bound.to_string().contains(setting), "{bound}");
    }
}
