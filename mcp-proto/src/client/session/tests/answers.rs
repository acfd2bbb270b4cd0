use super::*;
use crate::client::Ran;
use crate::model::{FailureKind, Operation, ReplyValue};

#[test]
fn an_error_is_read_at_any_status() {
    // C61
    for (status, code, ran) in [
        (200, -32602, Ran::Maybe),
        (400, -32022, Ran::Never),
        (404, -32601, Ran::Never),
        (500, -32603, Ran::Maybe),
    ] {
        let mut http = Http::modern();
        let call = http.call(tool_call());
        let post = http.take();
        http.error(&post, status, code);
        let error = http.error_of(call);
        assert_eq!(error.server().unwrap().code, code, "{status}");
        assert_eq!(error.ran, ran, "{status}");
        assert!(!http.session.is_closed());
    }
    // C05: an error without an id is about the request that it answers.
    for id in ["", r#""id":null,"#] {
        let mut http = Http::modern();
        let call = http.call(tool_call());
        let post = http.take();
        let text = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"x"}}}}"#);
        http.respond(&post, 400, JSON, text.as_bytes());
        assert_eq!(http.error_of(call).server().unwrap().code, -32700);
    }
}

#[test]
fn what_is_no_answer_fails_its_call_and_no_other() {
    type Row = (u16, &'static [(&'static str, &'static str)], &'static str, &'static str);
    let rows: &[Row] = &[
        (502, HTML, "<html>", "the server answered with status 502 (the call may have run)"),
        (404, HTML, "<html>", "the server answered with status 404"),
        (429, &[("Retry-After", "3")], "", "the server answered with status 429"),
        (
            302,
            &[("Location", "http://evil/")],
            "",
            "the server redirects to \"http://evil/\" (status 302): another origin; connect to that URL, if you trust it",
        ),
        (401, JSON, "{}", "the server wants other credentials (status 401)"),
        (
            202,
            &[],
            "",
            "the server does not keep to the protocol: a response without the answer (the call may have run)",
        ),
        (
            200,
            HTML,
            "<html>",
            "the server does not keep to the protocol: a response without the answer (the call may have run)",
        ),
        (
            200,
            JSON,
            "nonsense",
            "the server does not keep to the protocol: a response without the answer (the call may have run)",
        ),
        (
            200,
            JSON,
            r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
            "the server does not keep to the protocol: a response without the answer (the call may have run)",
        ),
        (
            200,
            &[("Content-Type", "text/event-stream"), ("Content-Encoding", "gzip")],
            "",
            "the server does not keep to the protocol: an encoding that nobody asked for (the call may have run)",
        ),
    ];
    for (status, headers, text, expected) in rows {
        let mut http = Http::modern();
        let call = http.call(tool_call());
        let post = http.take();
        let other = http.call(tool_call());
        let other_post = http.take();
        http.respond(&post, *status, headers, text.as_bytes());
        assert_eq!(http.error_of(call).to_string(), *expected);
        http.result(&other_post, DONE);
        assert!(http.ended(other).unwrap().is_ok());
    }
}

#[test]
fn a_result_is_read_as_what_was_asked() {
    // C13, C14, R26-RPC-24, R26-RPC-25
    let rows = [
        (Revision::V2026_07_28, r#"{"requestState":"s","resultType":"input_required"}"#, "asks"),
        (
            Revision::V2026_07_28,
            r#"{"resultType":"input_required"}"#,
            "the result asks where nothing can be asked",
        ),
        (
            Revision::V2026_07_28,
            r#"{"resultType":"odd","content":[]}"#,
            "the result is of an unknown type",
        ),
        (Revision::V2026_07_28, r#"{"content":[]}"#, "ok"),
        (Revision::V2026_07_28, r#"{"structuredContent":{}}"#, "the result has no valid `content`"),
        (Revision::V2025_06_18, r#"{"structuredContent":{"a":1}}"#, "ok"),
        (Revision::V2025_06_18, r#"{"content":null}"#, "ok"),
        (
            Revision::V2025_06_18,
            r#"{"requestState":"s"}"#,
            "the result is that of something else: `requestState`",
        ),
        (Revision::V2025_06_18, r#"[]"#, "the result is no object"),
    ];
    for (revision, result, expected) in rows {
        let mut http = match revision {
            Revision::V2026_07_28 => Http::modern(),
            revision => Http::legacy(revision),
        };
        let call = http.call(tool_call());
        let post = http.take();
        http.result(&post, result);
        let found = match http.ended(call) {
            None => "asks".to_owned(),
            Some(Ok(_)) => "ok".to_owned(),
            Some(Err(error)) => error.kind.to_string(),
        };
        assert_eq!(found, expected, "{revision:?} {result}");
    }
}

#[test]
fn a_bad_entry_is_left_out_and_the_rest_survives() {
    // C14, C28, R26-HDR-12
    let mut http = Http::modern();
    let list = http.call(Request::list(Operation::ListTools));
    let post = http.take();
    let schema = |header: &str| {
        format!(
            r#"{{"type":"object","properties":{{"a":{{"type":"string","x-mcp-header":{header}}}}}}}"#
        )
    };
    let tool = |name: &str, header: &str| {
        format!(r#"{{"name":"{name}","inputSchema":{}}}"#, schema(header))
    };
    let tools = [
        "null".to_owned(),
        tool("good", "\"Region\""),
        tool("empty", "\"\""),
        tool("space", "\"A B\""),
        tool("number", "5"),
        r#"{"name":"no-schema"}"#.to_owned(),
    ];
    http.result(
        &post,
        &format!(r#"{{"tools":[{}],"ttlMs":0,"cacheScope":"private"}}"#, tools.join(",")),
    );
    let ReplyValue::Tools(listed) = http.ended(list).unwrap().unwrap().value else { panic!() };
    assert_eq!(listed.entries.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["good"]);
    assert!(http.count(|event| matches!(event, Event::Warning(_))) >= 5);
}

#[test]
fn a_list_is_followed_through_its_pages_and_not_in_circles() {
    // R24-PAGE-02, T-57
    let page = |tools: &str, next: &str| {
        format!(r#"{{"tools":[{tools}]{next},"ttlMs":0,"cacheScope":"private"}}"#)
    };
    let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    let mut http = Http::modern();
    let list = http.call(Request::list(Operation::ListTools));
    for (own, next) in [("a", r#","nextCursor":"""#), ("b", r#","nextCursor":"x""#), ("c", "")] {
        let post = http.take();
        http.result(&post, &page(&tool(own), next));
    }
    let ReplyValue::Tools(listed) = http.ended(list).unwrap().unwrap().value else { panic!() };
    assert_eq!(listed.entries.len(), 3);
    let list = http.call(Request::list(Operation::ListTools));
    for _ in 0..2 {
        let post = http.take();
        http.result(&post, &page("", r#","nextCursor":"again""#));
    }
    assert_eq!(http.error_of(list).kind, ErrorKind::RepeatingCursor);
    assert!(http.take_all().is_empty());
    let one = http.call(Request::page(Operation::ListTools, Some("x".into())));
    let post = http.take();
    assert_eq!(body(&post)["params"]["cursor"], "x");
    http.result(&post, &page("", r#","nextCursor":"y""#));
    assert!(http.ended(one).unwrap().is_ok());
}

const TOOLS: &str = r#"{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"},"n":{"type":"object","properties":{"d":{"type":"integer","x-mcp-header":"Deep"}}}}}}],"ttlMs":0,"cacheScope":"private"}"#;

#[test]
fn a_tool_s_parameters_are_repeated_in_headers_once_they_are_known() {
    // R26-HDR-08, R26-HDR-13 to R26-HDR-15, R26-HDR-23
    let mut http = Http::modern();
    http.call(Request::list(Operation::ListTools));
    let post = http.take();
    http.result(&post, TOOLS);
    for (arguments, region, deep) in [
        (r#"{"r":"eu","n":{"d":42.0}}"#, Some("eu"), Some("42")),
        (r#"{"r":"ü\n"}"#, Some("=?base64?w7wK?="), None),
        (r#"{"r":"","n":{"d":null}}"#, Some(""), None),
        (r#"{"r":null}"#, None, None),
    ] {
        http.call(Request::call_tool("t", json(arguments)));
        let post = http.take();
        assert_eq!(header(&post, "Mcp-Param-Region"), region, "{arguments}");
        assert_eq!(header(&post, "Mcp-Param-Deep"), deep, "{arguments}");
    }
}

#[test]
fn an_argument_that_its_header_cannot_say_is_refused_before_it_is_sent() {
    // R26-HDR-10, R26-HDR-24: the server would have to refuse it.
    let refused = [
        (r#"{"n":{"d":9007199254740992}}"#, "Mcp-Param-Deep"),
        (r#"{"n":{"d":-9007199254740992}}"#, "Mcp-Param-Deep"),
        (r#"{"n":{"d":1e40}}"#, "Mcp-Param-Deep"),
        (r#"{"n":{"d":0.5}}"#, "Mcp-Param-Deep"),
        (r#"{"n":{"d":[1]}}"#, "Mcp-Param-Deep"),
        (r#"{"r":{"x":1},"n":{"d":1}}"#, "Mcp-Param-Region"),
    ];
    let mut http = Http::modern();
    http.call(Request::list(Operation::ListTools));
    let post = http.take();
    http.result(&post, TOOLS);
    for (arguments, expected) in refused {
        let call = http.call(Request::call_tool("t", json(arguments)));
        let error = http.error_of(call);
        let ErrorKind::Unmirrored { header } = &error.kind else { panic!("{arguments}: {error}") };
        assert_eq!((header.as_str(), error.ran), (expected, Ran::Never), "{arguments}");
        assert!(http.take_all().is_empty(), "{arguments}");
    }
    for arguments in [r#"{"n":{"d":9007199254740991}}"#, r#"{"n":{"d":null}}"#, r#"{"n":null}"#] {
        http.call(Request::call_tool("t", json(arguments)));
        http.take();
    }
    // What is learned only once the server misses a header is refused alike.
    let mut http = Http::modern();
    let call = http.call(Request::call_tool("t", json(refused[0].0)));
    let first = http.take();
    http.error(&first, 400, -32020);
    let list = http.take();
    http.result(&list, TOOLS);
    assert!(matches!(http.error_of(call).kind, ErrorKind::Unmirrored { .. }));
    // Revisions that mirror nothing send it.
    for revision in Revision::ALL.into_iter().filter(|it| !it.adapter().mirrors_headers) {
        let mut http = Http::legacy(revision);
        http.call(Request::list(Operation::ListTools));
        let post = http.take();
        http.result(&post, TOOLS);
        for (arguments, _) in refused {
            http.call(Request::call_tool("t", json(arguments)));
            http.take();
        }
    }
}

#[test]
fn a_byte_order_mark_before_an_answer_is_ignored() {
    // RFC 8259, 8.1
    let answer = |post: &Open| {
        format!("\u{feff}{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{DONE}}}", body(post)["id"])
    };
    for revision in Revision::ALL {
        for as_events in [false, true] {
            let mut http = match revision.adapter().has_handshake {
                true => Http::legacy(revision),
                false => Http::modern(),
            };
            let call = http.call(tool_call());
            let post = http.take();
            match as_events {
                false => http.respond(&post, 200, JSON, answer(&post).as_bytes()),
                true => {
                    let events = format!("\u{feff}{}", event(None, &answer(&post)));
                    http.respond(&post, 200, EVENTS, events.as_bytes());
                }
            }
            assert!(http.ended(call).unwrap().is_ok(), "{revision:?}, events: {as_events}");
        }
    }
}

#[test]
fn a_header_mismatch_has_the_tools_listed_anew_once() {
    // R26-HDR-21: what was refused did not run.
    let mut http = Http::modern();
    let call = http.call(Request::call_tool("t", json(r#"{"r":"eu"}"#)));
    let first = http.take();
    assert_eq!(header(&first, "Mcp-Param-Region"), None);
    http.error(&first, 400, -32020);
    let list = http.take();
    assert_eq!(body(&list)["method"], "tools/list");
    http.result(&list, TOOLS);
    let again = http.take();
    assert_eq!(header(&again, "Mcp-Param-Region"), Some("eu"));
    assert_ne!(body(&again)["id"], body(&first)["id"]);
    http.error(&again, 400, -32020);
    let error = http.error_of(call);
    assert!(matches!(error.kind, ErrorKind::Server { meaning: FailureKind::HeaderMismatch, .. }));
    assert_eq!(error.ran, Ran::Never);
    assert!(http.take_all().is_empty());
}

#[test]
fn cancelling_is_done_in_the_revision_s_way() {
    // R26-HTTP-17, R2503-HTTP-17
    let mut http = Http::modern();
    let call = http.call(tool_call());
    let post = http.take();
    http.session.cancel(http.now, call);
    assert!(http.take_all().is_empty());
    assert_eq!(http.closed, [post.exchange]);
    assert_eq!(http.error_of(call).kind, ErrorKind::Cancelled);

    let mut http = Http::legacy(Revision::V2025_11_25);
    let call = http.call(tool_call());
    let post = http.take();
    http.session.cancel(http.now, call);
    let note = http.take();
    assert_eq!(body(&note)["method"], "notifications/cancelled");
    assert_eq!(body(&note)["params"]["requestId"], body(&post)["id"]);
    assert_eq!(http.closed, [post.exchange]);
    assert_eq!(http.error_of(call).kind, ErrorKind::Cancelled);
}

#[test]
fn a_call_bears_so_much_silence_and_progress_is_none() {
    // R2503-TIME-01 to R2503-TIME-04
    let mut http = Http::legacy(Revision::V2025_11_25);
    let patience = Duration::from_secs(10);
    let call = http.call(tool_call().with_patience(patience).with_progress());
    let post = http.take();
    let id = body(&post)["id"].clone();
    http.head(&post, 200, EVENTS);
    for step in 1..=5 {
        http.pass(Duration::from_secs(9));
        let note = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{step}}}}}"#
        );
        http.feed(&post, &event(None, &note));
    }
    assert!(http.ended(call).is_none());
    assert_eq!(http.count(|event| matches!(event, Event::Progress(..))), 5);
    http.pass(Duration::from_secs(11));
    let error = http.error_of(call);
    assert_eq!((error.kind, error.ran), (ErrorKind::TimedOut, Ran::Maybe));
    assert_eq!(body(&http.take())["method"], "notifications/cancelled");
}

#[test]
fn lists_are_kept_as_long_as_the_server_says() {
    // R26-CACHE-03, R26-CACHE-04, R26-CACHE-06, R26-CACHE-08, R26-CACHE-10
    let mut config = config([Revision::V2026_07_28]);
    config.cache = true;
    let mut http = Http::modern_with(config);
    let tools = |ttl: i64| format!(r#"{{"tools":[],"ttlMs":{ttl},"cacheScope":"private"}}"#);
    let asks = |http: &mut Http, ttl: i64| {
        let list = http.call(Request::list(Operation::ListTools));
        let asked = http.take_all();
        if let [post] = &asked[..] {
            http.result(post, &tools(ttl));
        }
        assert!(http.ended(list).unwrap().is_ok());
        asked.len() == 1
    };
    assert!(asks(&mut http, 60_000) && !asks(&mut http, 0));
    http.pass(Duration::from_secs(61));
    assert!(asks(&mut http, -5) && asks(&mut http, 60_000) && !asks(&mut http, 0));
    http.session.forget_private();
    assert!(asks(&mut http, 60_000) && !asks(&mut http, 0));
    // Another request is another key.
    http.call(Request::list(Operation::ListPrompts));
    assert_eq!(http.take_all().len(), 1);
}

#[test]
fn a_call_with_a_deadline_ends_by_it_whatever_progress_it_makes() {
    // R2503-TIME-04
    let mut http = Http::legacy(Revision::V2025_11_25);
    let call = http.call(tool_call().with_deadline(Duration::from_secs(30)).with_progress());
    let post = http.take();
    let id = body(&post)["id"].clone();
    http.head(&post, 200, EVENTS);
    for step in 1..=3 {
        http.pass(Duration::from_secs(9));
        let note = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{step}}}}}"#
        );
        http.feed(&post, &event(None, &note));
    }
    assert!(http.ended(call).is_none());
    http.pass(Duration::from_secs(4));
    let error = http.error_of(call);
    assert_eq!((error.kind, error.ran), (ErrorKind::TimedOut, Ran::Maybe));
    assert_eq!(body(&http.take())["method"], "notifications/cancelled");
}
