use serde_json::{Value, json};

use super::support::{
    adapter, answered, catalog, handshakes, json as text, modern, parsed, published, tool,
};
use crate::frame::envelope::{ProgressToken, RequestId};
use crate::model;
use crate::model::{
    Annotations, Completion, Content, Contents, Failure, FailureKind, LogLevel, LogMessage,
    Operation, Outcome, Progress, PromptMessage, PromptResult, ResourceResult, Role, ToolResult,
};
use crate::revision::{Adapter, Revision};

fn result(adapter: &Adapter, operation: Operation, outcome: impl Into<Outcome>) -> Value {
    let (status, mut response) = answered(&published(catalog()), adapter, operation, None, outcome);
    assert_eq!((status, &response["id"]), (200, &json!(1)));
    response["result"].take()
}

fn tool_result(adapter: &Adapter, outcome: ToolResult) -> Value {
    result(adapter, Operation::CallTool, outcome)
}

/// C14.
#[test]
fn a_tool_result_always_has_content() {
    for adapter in handshakes() {
        assert_eq!(tool_result(adapter, ToolResult::default()), json!({"content": []}));
        let failed = json!({"content": [{"type": "text", "text": "no"}], "isError": true});
        assert_eq!(tool_result(adapter, ToolResult::error("no")), failed);
    }
    let result = tool_result(modern(), ToolResult::default());
    assert_eq!(result["content"], json!([]));
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "demo");
    assert!(result.get("ttlMs").is_none(), "a call's result is not for caches");
}

/// C92, T-59, R2506-TOOL-13, R2506-TOOL-14, R26-TOOL-13.
#[test]
fn a_structured_value_is_shown_where_it_can_be_and_has_a_text_everywhere() {
    let shown = |value: &str| {
        Revision::ALL.map(|revision| {
            let result = tool_result(revision.adapter(), ToolResult::structured(text(value)));
            assert_eq!(result["content"], json!([{"type": "text", "text": value}]));
            result.get("structuredContent").is_some()
        })
    };
    assert_eq!(shown(r#"{"a":1}"#), [false, false, true, true, true]);
    for value in ["[1,2]", "null", "3", r#""x""#] {
        assert_eq!(shown(value), [false, false, false, false, true], "{value}");
    }
    let mut own = ToolResult::structured(text("[1]"));
    own.content = vec![Content::text("one")];
    assert_eq!(tool_result(modern(), own.clone())["content"][0]["text"], "one");
    assert_eq!(tool_result(adapter("2025-06-18"), own)["content"][0]["text"], "one");
}

/// The schema and the value go together: who is not told the one is not sent the other.
#[test]
fn a_value_is_left_out_with_the_schema_that_cannot_be_told() {
    let mut catalog = catalog();
    let mut either = tool("t");
    either.output_schema = Some(text(r#"{"type":["object","array"]}"#));
    catalog.insert_tool(either);
    let published = published(catalog);
    let has = |adapter: &Adapter| {
        let outcome = ToolResult::structured(text("{}"));
        let response = answered(&published, adapter, Operation::CallTool, Some("t"), outcome).1;
        response["result"].get("structuredContent").is_some()
    };
    assert!(!has(adapter("2025-11-25")) && has(modern()));
}

/// R2511-TOOL-06: the model must see what was wrong with its arguments.
#[test]
fn wrong_arguments_of_a_tool_are_a_result() {
    let failure = || Failure::new(FailureKind::InvalidArguments, "`a` is missing");
    for adapter in Revision::ALL.map(Revision::adapter) {
        let result = result(adapter, Operation::CallTool, failure());
        assert_eq!(
            (&result["isError"], &result["content"][0]["text"]),
            (&json!(true), &json!("`a` is missing"))
        );
        let (status, response) =
            answered(&published(catalog()), adapter, Operation::GetPrompt, None, failure());
        assert_eq!((status, &response["error"]["code"]), (200, &json!(-32602)));
    }
}

#[test]
fn failures_are_errors_with_the_revision_s_code_and_status() {
    let failure =
        Failure::new(FailureKind::ResourceNotFound, "none").with_data(text("{\n\"uri\": \"a:b\"}"));
    let mut out = Vec::new();
    let status =
        adapter("2025-11-25").write_failure(&mut out, Some(&RequestId::from("x")), &failure);
    assert_eq!(status, 200);
    assert_eq!(out, br#"{"jsonrpc":"2.0","id":"x","error":{"code":-32002,"message":"none","data":{"uri":"a:b"}}}"#);
    // C05: null is never written.
    for adapter in Revision::ALL.map(Revision::adapter) {
        let mut out = Vec::new();
        let failure = Failure::new(FailureKind::Parse, "no JSON");
        assert_eq!(adapter.write_failure(&mut out, None, &failure), 400);
        assert_eq!(out, br#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no JSON"}}"#);
    }
}

/// R24-CMPL-04, C107.
#[test]
fn a_completion_has_at_most_a_hundred_values_and_says_how_many_there_are() {
    let completed = |completion: Completion| {
        let shown = result(modern(), Operation::Complete, completion)["completion"].take();
        let count = shown["values"].as_array().unwrap().len();
        (count, shown["total"].as_u64(), shown["hasMore"].as_bool())
    };
    let values = |count: usize| Completion::new((0..count).map(|index| index.to_string()));
    assert_eq!(completed(values(0)), (0, None, None));
    assert_eq!(completed(values(100)), (100, None, None));
    assert_eq!(completed(values(101)), (100, Some(101), Some(true)));
    assert_eq!(completed(values(1000)), (100, Some(1000), Some(true)));
    let mut more = values(150);
    more.total = Some(150);
    assert_eq!(completed(more), (100, Some(150), Some(true)));
    let mut some = values(3);
    some.has_more = true;
    assert_eq!(completed(some.clone()), (3, None, Some(true)));
    (some.has_more, some.total) = (false, Some(3));
    assert_eq!(completed(some), (3, Some(3), Some(false)));
}

/// R2503-CONT-01, R2506-CONT-05: what a revision lacks becomes text.
#[test]
fn content_is_turned_into_text_where_a_revision_lacks_it() {
    let hints = Annotations {
        audience: vec![Role::User],
        priority: Some(0.5),
        last_modified: Some("2025-01-01T00:00:00Z".into()),
    };
    let audio = Content::Audio {
        data: b"abc".as_slice().into(),
        mime_type: "audio/wav".into(),
        annotations: Some(hints),
        meta: Some(text(r#"{"k":1}"#)),
    };
    let mut link = model::Resource::new("a:b", "name");
    link.description = Some("what".into());
    let shown = |version| {
        let given = ToolResult::new([audio.clone(), Content::Link(link.clone())]);
        tool_result(adapter(version), given)["content"].take()
    };
    let old = shown("2024-11-05");
    assert_eq!(
        old[0],
        json!({"type": "text", "text": "[audio/wav, 3 bytes]", "annotations": {"audience": ["user"], "priority": 0.5}})
    );
    assert_eq!(old[1], json!({"type": "text", "text": "name: a:b (what)"}));
    assert_eq!(shown("2025-03-26")[0]["data"], "YWJj");
    let new = shown("2025-06-18");
    assert_eq!(new[0]["annotations"]["lastModified"], "2025-01-01T00:00:00Z");
    assert_eq!(new[0]["_meta"], json!({"k": 1}));
    assert_eq!(
        new[1],
        json!({"type": "resource_link", "uri": "a:b", "name": "name", "description": "what"})
    );
}

/// R26-CACHE-01, R24-RSRC-14, R24-PRMT-04.
#[test]
fn resources_and_prompts_have_their_results() {
    let read = || {
        let mut read = ResourceResult::new([
            Contents::text("a:b", "line\nbreak").with_mime_type("text/plain"),
            Contents::blob("a:c", b"\xff\xfe".as_slice()),
        ]);
        read.cache.ttl_ms = 7;
        read
    };
    let contents = json!([
        {"uri": "a:b", "mimeType": "text/plain", "text": "line\nbreak"},
        {"uri": "a:c", "blob": "//4="},
    ]);
    for adapter in handshakes() {
        assert_eq!(result(adapter, Operation::ReadResource, read()), json!({"contents": contents}));
    }
    let new = result(modern(), Operation::ReadResource, read());
    assert_eq!(
        (&new["contents"], &new["ttlMs"], &new["cacheScope"]),
        (&contents, &json!(7), &json!("private"))
    );

    let prompt = PromptResult::new([PromptMessage::user("hi"), PromptMessage::assistant("ho")]);
    let got = result(adapter("2024-11-05"), Operation::GetPrompt, prompt);
    assert_eq!(
        got,
        json!({"messages": [
            {"role": "user", "content": {"type": "text", "text": "hi"}},
            {"role": "assistant", "content": {"type": "text", "text": "ho"}},
        ]})
    );
}

#[test]
fn own_metadata_stays_and_the_server_is_added_to_it() {
    let with = |meta: &str| {
        let mut given = ToolResult::text("x");
        given.meta = Some(text(meta));
        (
            tool_result(modern(), given.clone())["_meta"].take(),
            tool_result(adapter("2024-11-05"), given)["_meta"].take(),
        )
    };
    let info = json!({"name": "demo", "version": "1.0"});
    let (new, old) = with(r#"{"k":1}"#);
    assert_eq!(new, json!({"k": 1, "io.modelcontextprotocol/serverInfo": info}));
    assert_eq!(old, json!({"k": 1}));
    // What a gateway passes on has the name of another server, which is not told as this one's.
    for other in [r#"{"name":"me","version":"2"}"#, "null", "[]", r#""x""#] {
        let meta = format!(r#"{{"io.modelcontextprotocol/serverInfo":{other},"k":1}}"#);
        let (new, old) = with(&meta);
        assert_eq!(new, json!({"k": 1, "io.modelcontextprotocol/serverInfo": info}));
        assert_eq!(old, json!({"k": 1}), "{other}");
    }
    // What is no object is no metadata.
    assert_eq!(with("[]"), (json!({"io.modelcontextprotocol/serverInfo": info}), Value::Null));
}

#[test]
fn a_raw_result_is_kept_and_completed() {
    let raw = |text: &str| {
        Outcome::Value(model::Value::Raw(model::Json::parse(text.to_owned()).unwrap()))
    };
    let given = || raw(r#"{"contents":[],"_meta":{"k":1},"x":{"y":[1]}}"#);
    let old = result(adapter("2025-11-25"), Operation::ReadResource, given());
    assert_eq!(old, json!({"contents": [], "x": {"y": [1]}, "_meta": {"k": 1}}));
    let new = result(modern(), Operation::ReadResource, given());
    assert_eq!((&new["resultType"], &new["ttlMs"]), (&json!("complete"), &json!(0)));
    assert_eq!(new["_meta"]["k"], 1);
    let own = raw(r#"{"resultType":"task","ttlMs":3,"cacheScope":"public"}"#);
    let own = result(modern(), Operation::ReadResource, own);
    assert_eq!(
        (&own["resultType"], &own["ttlMs"], &own["cacheScope"]),
        (&json!("task"), &json!(3), &json!("public"))
    );
}

/// R24-STDIO-02: lines frame messages, so no value brings a line break along.
#[test]
fn a_response_is_one_line_whatever_the_application_passes_on() {
    let spread = || crate::model::Json::scanned("{\n \"a\" :\r\n [1, \"b \\n c\"] }".into());
    let mut given = ToolResult::structured(spread());
    given.meta = Some(spread());
    let result = tool_result(modern(), given);
    assert_eq!(result["structuredContent"], json!({"a": [1, "b \n c"]}));
    let mut out = Vec::new();
    modern().write_log(&mut out, &LogMessage::new(LogLevel::Info, spread()));
    assert_eq!(parsed(&out)["params"]["data"]["a"][0], 1);
}

/// C16, R24-PROG-02, R2503-PROG-07, R24-LOG-09.
#[test]
fn progress_and_logs_are_notifications() {
    let mut progress = Progress::new(0.5);
    progress.total = Some(f64::NAN);
    progress.message = Some("half".into());
    let written = |version| {
        let mut out = Vec::new();
        adapter(version).write_progress(&mut out, &ProgressToken::from("t"), &progress);
        String::from_utf8(out).unwrap()
    };
    let begin = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.5"#;
    assert_eq!(written("2024-11-05"), format!("{begin}}}}}"));
    assert_eq!(written("2025-03-26"), format!("{begin},\"message\":\"half\"}}}}"));
    let mut message = LogMessage::new(LogLevel::Error, text(r#""x""#));
    message.logger = Some("db".into());
    let mut out = Vec::new();
    modern().write_log(&mut out, &message);
    assert_eq!(out, br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":"db","data":"x"}}"#);
}

#[test]
fn an_empty_result_is_as_empty_as_the_revision_allows() {
    let written = |adapter: &Adapter| {
        let mut out = Vec::new();
        assert_eq!(adapter.write_empty(&mut out, &published(catalog()), &RequestId::from(9)), 200);
        String::from_utf8(out).unwrap()
    };
    for adapter in handshakes() {
        assert_eq!(written(adapter), r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    }
    assert!(written(modern()).contains(r#""result":{"resultType":"complete","_meta":"#));
}
