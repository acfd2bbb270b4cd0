//! The examples of the specification's newest schema: requests are decoded, and what a server
//! writes comes out as they show it when an application gives what they hold.

mod corpora;
mod models;

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use mcp_proto::frame::envelope::{ProgressToken, RequestId};
use mcp_proto::model::{
    CacheHint, CacheScope, Call, Catalog, ClientCapabilities, Content, Failure, FailureKind,
    Implementation, LogLevel, LogMessage, Operation, Outcome, Progress, Prompt, Resource,
    ResourceTemplate, Tool, ToolResult,
};
use mcp_proto::revision::{
    Adapter, AdapterSet, Context, Decoded, Incoming, Preamble, Published, ReadLimits, Revision,
    Selection, Transport, read,
};
use serde_json::{Value, json};

#[test]
fn the_examples() {
    let folder = corpora::folder().join("mcp-examples");
    if !folder.is_dir() {
        println!("corpora absent ({}): mcp-examples not run", folder.display());
        return;
    }
    let (mut ran, mut elsewhere) = (0, 0);
    for kind in entries(folder) {
        for path in entries(kind.clone()) {
            let name = kind.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
            let text = std::fs::read(&path).expect("a file");
            let example: Value = serde_json::from_slice(&text).expect("JSON");
            match check(&name, &example) {
                Some(()) => ran += 1,
                None => elsewhere += 1,
            }
        }
    }
    println!("{elsewhere} examples are of what a server neither reads nor writes here");
    corpora::report("mcp-examples", ran);
}

/// Runs one example; `None` where its kind is no part of this.
fn check(kind: &str, example: &Value) -> Option<()> {
    match kind {
        "CancelledNotification" => cancelled(example.clone()),
        "CancelledNotificationParams" => cancelled(
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": example}),
        ),
        "ProgressNotification" => progress(&example["params"]),
        "ProgressNotificationParams" => progress(example),
        "LoggingMessageNotification" => log(&example["params"]),
        "LoggingMessageNotificationParams" => log(example),
        "ClientCapabilities" => capabilities(example),
        "CallToolRequestParams" => decoded(&wrapped("tools/call", example)),
        "CompleteRequestParams" => decoded(&wrapped("completion/complete", example)),
        "GetPromptRequestParams" => decoded(&wrapped("prompts/get", example)),
        "PaginatedRequestParams" => decoded(&wrapped("tools/list", example)),
        "CallToolRequest"
        | "CompleteRequest"
        | "DiscoverRequest"
        | "GetPromptRequest"
        | "ListPromptsRequest"
        | "ListResourceTemplatesRequest"
        | "ListResourcesRequest"
        | "ListToolsRequest"
        | "ReadResourceRequest"
        | "SubscriptionsListenRequest" => decoded(example),
        "TextContent" | "ImageContent" | "AudioContent" | "EmbeddedResource" | "ResourceLink" => {
            let given = ToolResult::new([models::content(example)]);
            let result = outcome(Operation::CallTool, given.into());
            assert_eq!(&result["content"][0], example);
        }
        "TextResourceContents" | "BlobResourceContents" => {
            let given = ToolResult::new([Content::resource(models::contents(example))]);
            let result = outcome(Operation::CallTool, given.into());
            assert_eq!(&result["content"][0]["resource"], example);
        }
        "Tool" => same(listed(Operation::ListTools, "tools", example), example),
        "Resource" => same(listed(Operation::ListResources, "resources", example), example),
        "ParseError" => error(FailureKind::Parse, example),
        "MethodNotFoundError" => error(FailureKind::UnknownMethod, example),
        "InvalidParamsError" => error(FailureKind::InvalidParams, example),
        "InternalError" => error(FailureKind::Internal, example),
        "HeaderMismatchError" => error(FailureKind::HeaderMismatch, &example["error"]),
        "UnsupportedProtocolVersionError" => {
            error(FailureKind::UnsupportedVersion, &example["error"]);
        }
        "MissingRequiredClientCapabilityError" => {
            error(FailureKind::MissingRequiredCapability, &example["error"]);
        }
        _ => {
            let (kind, result) = match kind.strip_suffix("Response") {
                Some(kind) => (kind, &example["result"]),
                None => (kind, example),
            };
            return self::result(kind, result);
        }
    }
    Some(())
}

fn result(kind: &str, example: &Value) -> Option<()> {
    let given = match kind {
        "CallToolResult" => outcome(Operation::CallTool, models::tool_result(example).into()),
        "ReadResourceResult" => {
            outcome(Operation::ReadResource, models::resource_result(example).into())
        }
        "GetPromptResult" => outcome(Operation::GetPrompt, models::prompt_result(example).into()),
        "CompleteResult" => outcome(Operation::Complete, models::completion(example).into()),
        "ListToolsResult" => list(Operation::ListTools, "tools", example),
        "ListResourcesResult" => list(Operation::ListResources, "resources", example),
        "ListResourceTemplatesResult" => {
            list(Operation::ListResourceTemplates, "resourceTemplates", example)
        }
        "ListPromptsResult" => list(Operation::ListPrompts, "prompts", example),
        "DiscoverResult" => discovered(example),
        _ => return None,
    };
    same(given, example);
    Some(())
}

/// The newest revision, whose examples these are.
fn adapter() -> &'static Adapter {
    Revision::V2026_07_28.adapter()
}

fn message(value: &Value) -> Preamble {
    match read(Bytes::from(value.to_string()), &ReadLimits::default()) {
        Ok(Incoming::One(message)) => message,
        other => panic!("{other:?}"),
    }
}

fn call(request: &Value) -> Call {
    let (set, message) = (AdapterSet::default(), message(request));
    match set.select(&message, &Context::new(Transport::Stdio)) {
        Selection::Adapter(selected) => assert_eq!(selected, adapter()),
        other => panic!("{request}: {other:?}"),
    }
    match adapter().decode(&message, None) {
        Decoded::Call(call) => call,
        other => panic!("{request}: {other:?}"),
    }
}

fn decoded(request: &Value) {
    let (call, params) = (call(request), &request["params"]);
    assert_ne!(call.operation(), Operation::Extension, "{request}");
    assert_eq!(request["method"], call.method());
    assert_eq!(
        serde_json::from_slice::<Value>(call.id().expect("an id").as_json()).expect("JSON"),
        request["id"]
    );
    let target = params["name"].as_str().or(params["uri"].as_str());
    assert_eq!(call.target(), target);
    let arguments = call.arguments().map(|json| json.decode::<Value>().expect("JSON"));
    assert_eq!(arguments.as_ref(), params.get("arguments"));
    let token = call.progress_token().map(|token| token.to_string());
    assert_eq!(token, params["_meta"].get("progressToken").map(Value::to_string));
    let info = call.client().implementation();
    let name = params["_meta"]["io.modelcontextprotocol/clientInfo"]["name"].as_str();
    assert_eq!(info.as_ref().map(|info| info.name.as_str()), name);
    if let Some(completing) = call.completing() {
        assert_eq!(params["argument"]["value"], completing.value);
    }
}

/// The parameters in a request, with the metadata that every request needs.
fn wrapped(method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    if params.get("_meta").is_none() {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": adapter().version,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn cancelled(notification: Value) {
    let Decoded::Cancelled { request, reason } = adapter().decode(&message(&notification), None)
    else {
        panic!("{notification}")
    };
    assert_eq!(notification["params"]["requestId"].to_string(), request.to_string());
    assert_eq!(notification["params"]["reason"].as_str(), reason.as_deref());
}

fn progress(params: &Value) {
    let token = params["progressToken"].to_string();
    let token = ProgressToken::from_json(token.as_bytes()).expect("a token");
    let mut progress = Progress::new(params["progress"].as_f64().expect("a number"));
    progress.total = params["total"].as_f64();
    progress.message = params["message"].as_str().map(str::to_owned);
    let mut out = Vec::new();
    adapter().write_progress(&mut out, &token, &progress);
    assert_eq!(&parsed(&out)["params"], params);
}

fn log(params: &Value) {
    let level = LogLevel::from_name(params["level"].as_str().expect("a level"));
    let mut message = LogMessage::new(level.expect("a level"), models::json(&params["data"]));
    message.logger = params["logger"].as_str().map(str::to_owned);
    let mut out = Vec::new();
    adapter().write_log(&mut out, &message);
    assert_eq!(&parsed(&out)["params"], params);
}

fn capabilities(example: &Value) {
    let read = ClientCapabilities::read(example.to_string().as_bytes());
    let has = |pointer: &str| example.pointer(pointer).is_some();
    assert_eq!(read.elicitation_form, has("/elicitation"), "T-68: no example has only the other");
    assert_eq!(read.elicitation_url, has("/elicitation/url"));
    assert_eq!(read.sampling, has("/sampling"));
    assert_eq!(read.sampling_tools, has("/sampling/tools"));
    assert_eq!(read.sampling_context, has("/sampling/context"));
    assert_eq!(read.roots, has("/roots"));
}

fn error(kind: FailureKind, example: &Value) {
    let mut failure = Failure::new(kind, example["message"].as_str().expect("text").to_owned());
    failure.data = example.get("data").map(models::json);
    let mut out = Vec::new();
    adapter().write_failure(&mut out, Some(&RequestId::from(1)), &failure);
    assert_eq!(&parsed(&out)["error"], example);
}

fn publish(catalog: Catalog) -> Published {
    Published::new(Arc::new(catalog), &AdapterSet::default())
}

fn catalog() -> Catalog {
    Catalog::new(Implementation::new("ExampleServer", "1.0.0"))
}

fn outcome(operation: Operation, outcome: Outcome) -> Value {
    let (published, id, mut out) = (publish(catalog()), RequestId::from(1), Vec::new());
    adapter().write_outcome(&mut out, &published, &id, operation, None, &outcome);
    parsed(&out)["result"].take()
}

/// One declaration, as its list shows it.
fn listed(operation: Operation, member: &str, example: &Value) -> Value {
    list(operation, member, &json!({ member: [example] }))[member][0].take()
}

/// A list of what the example lists; where that says that there is more, there is more.
fn list(operation: Operation, member: &str, example: &Value) -> Value {
    let mut catalog = catalog();
    let more = example.get("nextCursor").is_some();
    catalog.cache = hint(example);
    for entry in example[member].as_array().expect("a list") {
        catalog.page_size += usize::from(more);
        match operation {
            Operation::ListTools => drop(catalog.insert_tool(models::tool(entry))),
            Operation::ListResources => drop(catalog.insert_resource(models::resource(entry))),
            Operation::ListPrompts => drop(catalog.insert_prompt(models::prompt(entry))),
            _ => drop(catalog.insert_template(models::template(entry))),
        }
    }
    if more {
        let template = "zzz:{more}".to_owned();
        catalog.insert_tool(Tool::new("zzz", models::json(&json!({}))));
        catalog.insert_resource(Resource::new("zzz:more", "more"));
        catalog.insert_prompt(Prompt::new("zzz"));
        let template = models::template(&json!({"uriTemplate": template, "name": "more"}));
        let _: Option<ResourceTemplate> = catalog.insert_template(template);
    }
    let request = wrapped(adapter().method_for(operation).expect("a method"), &json!({}));
    let mut out = Vec::new();
    publish(catalog).write_listing(adapter(), &call(&request), &mut out).expect("a list");
    parsed(&out)["result"].take()
}

fn discovered(example: &Value) -> Value {
    let mut catalog = catalog();
    catalog.instructions = example["instructions"].as_str().map(str::to_owned);
    catalog.cache = hint(example);
    catalog.insert_tool(Tool::new("t", models::json(&json!({}))));
    catalog.insert_resource(Resource::new("a:b", "r"));
    let set = AdapterSet::of([Revision::V2026_07_28]).expect("a set");
    let request = wrapped("server/discover", &json!({}));
    let mut out = Vec::new();
    Published::new(Arc::new(catalog), &set)
        .write_description(adapter(), &call(&request), &mut out)
        .expect("a request");
    parsed(&out)["result"].take()
}

fn hint(example: &Value) -> CacheHint {
    let scope = match example["cacheScope"].as_str() {
        Some("public") => CacheScope::Public,
        _ => CacheScope::Private,
    };
    CacheHint { ttl_ms: example["ttlMs"].as_u64().unwrap_or_default(), scope }
}

/// Equal, but for what every result carries here and an example may leave out, for the text of a
/// cursor, and for an empty list of properties, which clients want to see (C89).
fn same(mut given: Value, example: &Value) {
    let mut example = example.clone();
    for member in ["ttlMs", "cacheScope", "_meta"] {
        if example.get(member).is_none() {
            given.as_object_mut().expect("an object").remove(member);
        }
    }
    if example.get("nextCursor").is_some() {
        assert!(given["nextCursor"].is_string());
        example["nextCursor"] = given["nextCursor"].clone();
    }
    if example.get("inputSchema").is_some_and(|schema| schema.get("properties").is_none()) {
        example["inputSchema"]["properties"] = json!({});
    }
    if example["isError"] == false {
        example.as_object_mut().expect("an object").remove("isError");
    }
    assert_eq!(given, example);
}

fn parsed(out: &[u8]) -> Value {
    assert!(!out.contains(&b'\n'), "one line");
    serde_json::from_slice(out).expect("JSON")
}

fn entries(folder: PathBuf) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}
