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
    type Row = (u16, Fields, &'static str, &'static str);
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
            "the server does not keep to the protocol: a body of status 202 without the answer (the call may have run)",
        ),
        (
            200,
            HTML,
            "<html>",
            "the server does not keep to the protocol: a body of type \"text/html\" with status 200 (the call may have run)",
        ),
        (
            200,
            &[("Content-Type", "text/plain; charset=utf-8")],
            r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
            "the server does not keep to the protocol: a body of type \"text/plain; charset=utf-8\" with status 200 (the call may have run)",
        ),
        (
            200,
            &[("Content-Type", "application/json-patch+json")],
            r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
            "the server does not keep to the protocol: a body of type \"application/json-patch+json\" with status 200 (the call may have run)",
        ),
        (
            202,
            &[("Content-Type", "text/plain")],
            "Accepted",
            "the server does not keep to the protocol: a body of type \"text/plain\" with status 202 (the call may have run)",
        ),
        (
            200,
            JSON,
            "nonsense",
            "the server does not keep to the protocol: a body of status 200 without the answer (the call may have run)",
        ),
        (
            200,
            JSON,
            r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
            "the server does not keep to the protocol: a body of status 200 without the answer (the call may have run)",
        ),
        (
            200,
            &[("Content-Type", "text/event-stream"), ("Content-Encoding", "gzip")],
            "",
            "the server does not keep to the protocol: a body in the coding \"gzip\", where `identity` was asked for (the call may have run)",
        ),
        (
            200,
            &[("Content-Type", "application/json"), ("Content-Encoding", "br")],
            "",
            "the server does not keep to the protocol: a body in the coding \"br\", where `identity` was asked for (the call may have run)",
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
fn a_list_is_followed_through_its_pages() {
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
    let one = http.call(Request::page(Operation::ListTools, Some("x".into())));
    let post = http.take();
    assert_eq!(body(&post)["params"]["cursor"], "x");
    http.result(&post, &page("", r#","nextCursor":"y""#));
    assert!(http.ended(one).unwrap().is_ok());
}

/// T-57, R24-PAGE-02: a cursor is followed whatever it is; a circle is not followed for ever.
#[test]
fn a_list_whose_cursor_repeats_is_what_came_of_it_with_a_warning() {
    type List = (Operation, &'static str, fn(&str) -> String);
    let lists: [List; 4] = [
        (Operation::ListTools, "tools", |name| {
            format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)
        }),
        (Operation::ListResources, "resources", |name| {
            format!(r#"{{"name":"{name}","uri":"a:{name}"}}"#)
        }),
        (Operation::ListResourceTemplates, "resourceTemplates", |name| {
            format!(r#"{{"name":"{name}","uriTemplate":"a:{{x}}{name}"}}"#)
        }),
        (Operation::ListPrompts, "prompts", |name| format!(r#"{{"name":"{name}"}}"#)),
    ];
    // Pages: an entry, and the cursor of the next one. Then what there is in the end.
    let circles: [(&[(&str, &str)], usize); 4] = [
        (&[("a", "x"), ("b", "x")], 2),
        (&[("a", "x"), ("b", "y"), ("c", "x")], 3),
        // Servers that do not know their own cursor begin again.
        (&[("a", ""), ("a", "")], 1),
        (&[("a", "1"), ("a", "1")], 1),
    ];
    for revision in Revision::ALL {
        for (operation, member, entry) in lists {
            for (pages, count) in circles {
                let mut http = match revision.adapter().has_handshake {
                    true => Http::legacy(revision),
                    false => Http::modern(),
                };
                let list = http.call(Request::list(operation));
                for (name, next) in pages {
                    let post = http.take();
                    let entry = entry(name);
                    let result = format!(
                        r#"{{"{member}":[{entry}],"nextCursor":"{next}","ttlMs":0,"cacheScope":"private"}}"#
                    );
                    http.result(&post, &result);
                }
                let what = format!("{revision:?} {operation:?} {pages:?}");
                let reply = http.ended(list).expect(&what).expect(&what);
                let found = match reply.value {
                    ReplyValue::Tools(list) => list.entries.len(),
                    ReplyValue::Resources(list) => list.entries.len(),
                    ReplyValue::Templates(list) => list.entries.len(),
                    ReplyValue::Prompts(list) => list.entries.len(),
                    other => panic!("{what}: {other:?}"),
                };
                assert_eq!(found, count, "{what}");
                assert_eq!(http.count(|event| matches!(event, Event::Warning(_))), 1, "{what}");
                assert!(http.take_all().is_empty(), "{what}");
            }
        }
    }
}

#[test]
fn what_a_server_does_not_know_how_to_list_it_has_none_of() {
    for revision in Revision::ALL {
        for operation in [
            Operation::ListTools,
            Operation::ListResources,
            Operation::ListResourceTemplates,
            Operation::ListPrompts,
        ] {
            for (code, is_empty) in [(-32601, true), (-32603, false), (-32602, false)] {
                let mut http = match revision.adapter().has_handshake {
                    true => Http::legacy(revision),
                    false => Http::modern(),
                };
                let all = http.call(Request::list(operation));
                let post = http.take();
                http.error(&post, 200, code);
                let ended = http.ended(all).unwrap();
                assert_eq!(ended.is_ok(), is_empty, "{revision:?} {operation:?} {code}");
            }
        }
    }
    let mut http = Http::modern();
    let call = http.call(tool_call());
    let post = http.take();
    http.error(&post, 404, -32601);
    assert!(http.ended(call).unwrap().is_err(), "a call is no list");
}

type Fields = &'static [(&'static str, &'static str)];

#[test]
fn a_refusal_answers_what_it_refuses_whatever_its_id() {
    let ids = [r#""server-error""#, "null", "99", r#""""#];
    for revision in Revision::ALL {
        for id in ids {
            for status in [400, 404, 409, 500] {
                let mut http = match revision.adapter().has_handshake {
                    true => Http::legacy(revision),
                    false => Http::modern(),
                };
                // A session that is gone is something else.
                if status == 404 && revision.adapter().has_handshake {
                    continue;
                }
                let call = http.call(tool_call());
                let post = http.take();
                let text = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"no"}}}}"#
                );
                http.respond(&post, status, JSON, text.as_bytes());
                let what = format!("{revision:?} {id} {status}");
                assert_eq!(http.error_of(call).server().expect(&what).code, -32600, "{what}");
                assert_eq!(http.count(|event| matches!(event, Event::Warning(_))), 0, "{what}");
            }
        }
    }
    // What is no refusal answers the request that it names.
    let mut http = Http::modern();
    let call = http.call(tool_call());
    let post = http.take();
    let text = r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32600,"message":"no"}}"#;
    http.respond(&post, 200, JSON, text.as_bytes());
    assert!(http.error_of(call).server().is_none());
}

#[test]
fn a_refused_probe_warns_of_nothing() {
    let text: Fields = &[("Content-Type", "text/plain")];
    let refusals: &[(u16, Fields, &str)] = &[
        (
            400,
            JSON,
            r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}"#,
        ),
        (400, text, "Bad Request: no valid session"),
        (400, JSON, "Invalid JSON"),
        (400, JSON, r#"{"error":"x"}"#),
        (404, HTML, "<html>"),
        (405, JSON, ""),
    ];
    for (status, headers, body) in refusals {
        let mut http = Http::new(config(Revision::ALL));
        let probe = http.take();
        http.respond(&probe, *status, headers, body.as_bytes());
        http.shake("s1", Revision::V2025_06_18);
        assert_eq!(http.count(|event| matches!(event, Event::Warning(_))), 0, "{status} {body}");
        assert_eq!(http.count(|event| matches!(event, Event::Connected(_))), 1);
    }
}

#[test]
fn a_403_that_does_not_want_a_scope_is_told_in_its_own_words() {
    let problem: Fields = &[("Content-Type", "application/problem+json")];
    let text: Fields = &[("Content-Type", "text/plain; charset=utf-8")];
    let scope: Fields = &[
        ("Content-Type", "application/json"),
        ("WWW-Authenticate", r#"Bearer error="insufficient_scope", scope="a""#),
    ];
    let rows: &[(u16, Fields, &str, &str)] = &[
        (
            403,
            JSON,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Host `h` is not allowed"}}"#,
            "the server answered with error -32600: Host `h` is not allowed",
        ),
        (
            403,
            text,
            "Origin not\u{1b}[2J allowed\r\n",
            "the server answered with status 403: Origin not\\u{1b}[2J allowed",
        ),
        (
            403,
            JSON,
            r#"{"error":"forbidden","error_description":"come from elsewhere"}"#,
            "the server answered with status 403: come from elsewhere",
        ),
        (403, problem, r#"{"detail":"closed"}"#, "the server answered with status 403: closed"),
        (403, HTML, "<html>", "the server answered with status 403"),
        (403, JSON, "{}", "the server answered with status 403"),
        (403, scope, "{}", "the server wants other credentials (status 403)"),
        (401, JSON, r#"{"message":"x"}"#, "the server wants other credentials (status 401)"),
        (429, text, "slow down", "the server answered with status 429: slow down"),
    ];
    for revision in Revision::ALL {
        for (status, headers, body, expected) in rows {
            let mut http = match revision.adapter().has_handshake {
                true => Http::legacy(revision),
                false => Http::modern(),
            };
            let call = http.call(tool_call());
            let post = http.take();
            http.respond(&post, *status, headers, body.as_bytes());
            let error = http.error_of(call);
            assert_eq!((error.to_string().as_str(), error.ran), (*expected, Ran::Never));
        }
    }
    let mut http = Http::modern();
    let call = http.call(tool_call());
    let post = http.take();
    http.respond(&post, 400, text, "x".repeat(5_000).as_bytes());
    assert!(http.error_of(call).to_string().len() < 300, "what is kept of it is bounded");
}

#[test]
fn a_call_may_have_run_is_said_only_where_nothing_answered() {
    for (code, said) in [(-32602, "Unknown tool"), (-32603, "boom"), (-32000, "x"), (7, "y")] {
        let mut http = Http::modern();
        let call = http.call(tool_call());
        let post = http.take();
        let id = &body(&post)["id"];
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{said}"}}}}"#
        );
        http.respond(&post, 200, JSON, text.as_bytes());
        let expected = format!("the server answered with error {code}: {said}");
        assert_eq!(http.error_of(call).to_string(), expected);
    }
    let mut http = Http::modern();
    let call = http.call(tool_call());
    let post = http.take();
    http.fail(&post);
    assert_eq!(http.error_of(call).to_string(), "reset (the call may have run)");
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

/// R26-META-02, R26-META-04.
#[test]
fn malformed_keys_of_metadata_are_refused_before_they_are_sent() {
    for revision in Revision::ALL {
        let mut http = match revision.adapter().has_handshake {
            true => Http::legacy(revision),
            false => Http::modern(),
        };
        for key in ["bad key!", "-x", "a..b/x", "x-"] {
            let meta = Json::parse(format!(r#"{{"{key}":1}}"#)).unwrap();
            let call = http.call(tool_call().with_meta(meta));
            let error = http.error_of(call);
            assert!(matches!(error.kind, ErrorKind::Misuse(_)), "{revision:?} {key}: {error}");
            assert_eq!(error.ran, Ran::Never);
            assert!(http.take_all().is_empty(), "{revision:?} {key}");
        }
        for key in ["traceparent", "com.example/x", "ui/y"] {
            let meta = Json::parse(format!(r#"{{"{key}":1}}"#)).unwrap();
            http.call(tool_call().with_meta(meta));
            assert_eq!(body(&http.take())["params"]["_meta"][key], 1, "{revision:?}");
        }
    }
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
