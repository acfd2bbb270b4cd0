//! Every kind of message that a server writes, in every revision, against the schema of that
//! revision.

mod corpora;

use std::sync::Arc;

use bytes::Bytes;
use jsonschema::Validator;
use mcp_proto::frame::envelope::{ProgressToken, RequestId};
use mcp_proto::frame::uri_template::UriTemplate;
use mcp_proto::model::{
    Annotations, CacheHint, CacheScope, Call, Catalog, Completion, Content, Contents, Failure,
    FailureKind, Icon, Implementation, Json, LogLevel, LogMessage, Operation, Outcome, Progress,
    Prompt, PromptArgument, PromptMessage, PromptResult, Resource, ResourceResult,
    ResourceTemplate, Role, Tool, ToolResult, Value as Given,
};
use mcp_proto::revision::{
    Adapter, AdapterSet, Context, Decoded, Incoming, Published, ReadLimits, Revision, Selection,
    Transport, read,
};
use serde_json::{Value, json};

#[test]
fn everything_that_is_written_fits_the_schema_of_its_revision() {
    for revision in Revision::ALL {
        let Some(schema) = corpora::load(&format!("schemas/{revision}.json")) else { return };
        let mut check = Check { schema, adapter: revision.adapter(), checked: 0 };
        for catalog in [rich(), bare()] {
            let published = Published::new(Arc::new(catalog), &AdapterSet::default());
            check.descriptions(&published);
            check.results(&published);
        }
        check.failures();
        check.notifications();
        corpora::report(&format!("schemas/{revision}.json, messages"), check.checked);
    }
}

/// A schema that refuses nothing would prove nothing.
#[test]
fn the_schemas_refuse_what_is_missing() {
    for revision in Revision::ALL {
        let Some(schema) = corpora::load(&format!("schemas/{revision}.json")) else { return };
        let check = Check { schema, adapter: revision.adapter(), checked: 0 };
        assert!(!check.validator("CallToolResult").is_valid(&json!({"isError": true})));
        assert!(!check.validator("ListToolsResult").is_valid(&json!({"tools": [{"name": "x"}]})));
    }
}

struct Check {
    schema: Value,
    adapter: &'static Adapter,
    checked: usize,
}

impl Check {
    /// A validator of one definition, in the schema's own dialect.
    fn validator(&self, definition: &str) -> Validator {
        let place = if self.schema.get("$defs").is_some() { "$defs" } else { "definitions" };
        assert!(!self.schema[place][definition].is_null(), "{definition}");
        let mut schema = self.schema.clone();
        schema["$ref"] = json!(format!("#/{place}/{definition}"));
        jsonschema::validator_for(&schema).expect("a valid schema")
    }

    fn defines(&self, definition: &str) -> bool {
        ["$defs", "definitions"].iter().any(|place| !self.schema[place][definition].is_null())
    }

    fn fits(&mut self, definition: &str, value: &Value) {
        let validator = self.validator(definition);
        let errors: Vec<_> = validator.iter_errors(value).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{} {definition}: {errors:?}\n{value:#}", self.adapter.version);
        self.checked += 1;
    }

    /// A whole response, whose result is of that definition.
    fn response(&mut self, definition: &str, out: &[u8]) {
        let response = line(out);
        let envelope = ["JSONRPCResultResponse", "JSONRPCResponse"];
        let envelope = envelope.into_iter().find(|it| self.defines(it)).expect("a response");
        self.fits(envelope, &response);
        self.fits("ServerResult", &response["result"]);
        self.fits(definition, &response["result"]);
    }

    fn descriptions(&mut self, published: &Published) {
        let adapter = self.adapter;
        let definition = if adapter.has_handshake { "InitializeResult" } else { "DiscoverResult" };
        let mut out = Vec::new();
        let call = call(adapter, Operation::Describe);
        published.write_description(adapter, &call, &mut out).expect("a request");
        self.response(definition, &out);

        for (operation, definition) in [
            (Operation::ListTools, "ListToolsResult"),
            (Operation::ListResources, "ListResourcesResult"),
            (Operation::ListResourceTemplates, "ListResourceTemplatesResult"),
            (Operation::ListPrompts, "ListPromptsResult"),
        ] {
            let mut out = Vec::new();
            let call = self::call(adapter, operation);
            match published.write_listing(adapter, &call, &mut out) {
                Ok(()) => self.response(definition, &out),
                Err(failure) => assert_eq!(failure.kind, FailureKind::UnknownMethod),
            }
        }
    }

    fn results(&mut self, published: &Published) {
        let id = RequestId::from("an id");
        let (adapter, mut out) = (self.adapter, Vec::new());
        if adapter.method_for(Operation::Ping).is_some() {
            adapter.write_empty(&mut out, published, &id);
            self.response("EmptyResult", &out);
        }
        for (operation, definition, outcome) in outcomes() {
            out.clear();
            let tool = published.tool(adapter, "full");
            let status = adapter.write_outcome(&mut out, published, &id, operation, tool, &outcome);
            assert_eq!(status, 200);
            self.response(definition, &out);
        }
    }

    fn failures(&mut self) {
        let error = ["JSONRPCErrorResponse", "JSONRPCError"];
        let error = error.into_iter().find(|it| self.defines(it)).expect("an error");
        let id = RequestId::from(7);
        for kind in FailureKind::ALL.into_iter().chain([FailureKind::Custom(3)]) {
            let (definition, data) = match kind {
                FailureKind::UnsupportedVersion => (
                    "UnsupportedProtocolVersionError",
                    json!({"supported": ["2026-07-28"], "requested": "x"}),
                ),
                FailureKind::MissingRequiredCapability | FailureKind::InputUnsupported => (
                    "MissingRequiredClientCapabilityError",
                    json!({"requiredCapabilities": {"sampling": {}}}),
                ),
                FailureKind::HeaderMismatch => ("HeaderMismatchError", Value::Null),
                _ => (error, json!([1])),
            };
            let mut out = Vec::new();
            let failure = Failure::new(kind, "what went wrong").with_data(data.into());
            self.adapter.write_failure(&mut out, Some(&id), &failure);
            self.fits(error, &line(&out));
            if self.defines(definition) {
                self.fits(definition, &line(&out));
            }
        }
        if self.adapter.error_without_id {
            let mut out = Vec::new();
            let failure = Failure::new(FailureKind::Parse, "no JSON");
            self.adapter.write_failure(&mut out, None, &failure);
            self.fits(error, &line(&out));
        }
        // What selection itself refuses.
        let set = AdapterSet::default();
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        let message = message(text.to_owned());
        if let Selection::Refused { adapter, failure } =
            set.select(&message, &Context::new(Transport::Stdio))
            && adapter == self.adapter
        {
            let mut out = Vec::new();
            adapter.write_failure(&mut out, message.id(), &failure);
            self.fits("UnsupportedProtocolVersionError", &line(&out));
        }
    }

    fn notifications(&mut self) {
        let mut progress = Progress::new(0.5);
        for token in [ProgressToken::from("t"), ProgressToken::from(3)] {
            let mut out = Vec::new();
            self.adapter.write_progress(&mut out, &token, &progress);
            self.fits("ProgressNotification", &line(&out));
            self.fits("ServerNotification", &line(&out));
            progress.total = Some(100.0);
            progress.message = Some("half \"way\"".into());
        }
        for level in LogLevel::ALL {
            let mut message = LogMessage::new(level, json!({"a": [1]}).into());
            message.logger = Some("db".into());
            let mut out = Vec::new();
            self.adapter.write_log(&mut out, &message);
            self.fits("LoggingMessageNotification", &line(&out));
        }
    }
}

fn line(out: &[u8]) -> Value {
    assert!(!out.contains(&b'\n'), "R24-STDIO-02");
    serde_json::from_slice(out).expect("JSON")
}

fn message(text: String) -> mcp_proto::revision::Preamble {
    match read(Bytes::from(text), &ReadLimits::default()) {
        Ok(Incoming::One(message)) => message,
        other => panic!("{other:?}"),
    }
}

fn call(adapter: &Adapter, operation: Operation) -> Call {
    let request = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": adapter.method_for(operation),
        "params": {
            "protocolVersion": adapter.version,
            "capabilities": {},
            "clientInfo": {},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": adapter.version,
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    match adapter.decode(&message(request.to_string()), None) {
        Decoded::Call(call) => call,
        other => panic!("{other:?}"),
    }
}

fn text(value: Value) -> Json {
    value.into()
}

fn icon() -> Icon {
    let mut icon = Icon::new("https://example.com/i.png");
    icon.mime_type = Some("image/png".into());
    icon.sizes = vec!["48x48".into()];
    icon.theme = Some("dark".into());
    icon
}

fn annotations() -> Option<Annotations> {
    let mut annotations = Annotations::default();
    annotations.audience = vec![Role::User, Role::Assistant];
    annotations.priority = Some(1.0);
    annotations.last_modified = Some("2025-01-12T15:00:58Z".into());
    Some(annotations)
}

fn bare() -> Catalog {
    let mut catalog = Catalog::new(Implementation::new("bare", "0"));
    catalog.insert_tool(Tool::new("bare", text(json!(true))));
    catalog
}

fn rich() -> Catalog {
    let meta = || Some(text(json!({"example.com/k": 1})));
    let mut server = Implementation::new("rich", "1");
    server.title = Some("Rich".into());
    server.description = Some("All there is.".into());
    server.website_url = Some("https://example.com".into());
    server.icons = vec![icon()];
    let mut catalog = Catalog::new(server);
    catalog.instructions = Some("Use it.".into());
    catalog.cache = CacheHint { ttl_ms: 60_000, scope: CacheScope::Public };
    catalog.page_size = 1;
    catalog.features.completions = true;
    catalog.features.logging = true;
    catalog.features.extensions = vec![("com.example/x".into(), text(json!({})))];

    for (name, output) in [("full", json!({"type": "object"})), ("list", json!({"type": "array"}))]
    {
        let schema =
            json!({"properties": {"any": true, "x": {"type": "string", "x-mcp-header": "X"}}});
        let mut tool = Tool::new(name, text(schema));
        tool.title = Some("Full".into());
        tool.description = Some("Does it.".into());
        tool.output_schema = Some(text(output));
        tool.hints.title = Some("Hint".into());
        tool.hints.read_only = Some(true);
        tool.hints.open_world = Some(false);
        tool.icons = vec![icon()];
        tool.meta = meta();
        catalog.insert_tool(tool);
    }

    let mut resource = Resource::new("file:///a", "a");
    resource.title = Some("A".into());
    resource.description = Some("A file.".into());
    resource.mime_type = Some("text/plain".into());
    resource.size = Some(3);
    resource.annotations = annotations();
    resource.icons = vec![icon()];
    resource.meta = meta();
    catalog.insert_resource(resource);

    let template = UriTemplate::parse("file:///{name}").expect("a template");
    let mut template = ResourceTemplate::new(template, "t");
    template.title = Some("T".into());
    template.annotations = annotations();
    template.icons = vec![icon()];
    template.meta = meta();
    catalog.insert_template(template);

    let mut prompt = Prompt::new("p");
    let mut argument = PromptArgument::new("a");
    argument.title = Some("A".into());
    argument.required = true;
    prompt.title = Some("P".into());
    prompt.arguments = vec![argument, PromptArgument::new("b")];
    prompt.icons = vec![icon()];
    prompt.meta = meta();
    catalog.insert_prompt(prompt);
    catalog
}

fn every_content() -> Vec<Content> {
    let meta = || Some(text(json!({"k": 1})));
    let bytes = || Bytes::from_static(&[0, 255, 1]);
    let mut link = Resource::new("file:///a", "a");
    link.title = Some("A".into());
    link.size = Some(3);
    link.annotations = annotations();
    link.icons = vec![icon()];
    link.meta = meta();
    let mut contents = Contents::text("file:///a", "abc").with_mime_type("text/plain");
    contents.meta = meta();
    vec![
        Content::text("plain"),
        Content::Text { text: "\u{1F600}\n".into(), annotations: annotations(), meta: meta() },
        Content::Image {
            data: bytes(),
            mime_type: "image/png".into(),
            annotations: annotations(),
            meta: meta(),
        },
        Content::Audio {
            data: bytes(),
            mime_type: "audio/wav".into(),
            annotations: annotations(),
            meta: meta(),
        },
        Content::Resource { contents, annotations: annotations(), meta: meta() },
        Content::resource(Contents::blob("file:///b", bytes())),
        Content::Link(link),
    ]
}

/// An operation, what its result is called, and what an application gave.
fn outcomes() -> Vec<(Operation, &'static str, Outcome)> {
    let tool = |result: ToolResult| (Operation::CallTool, "CallToolResult", result.into());
    let mut everything = ToolResult::new(every_content());
    everything.structured = Some(text(json!({"a": 1})));
    everything.meta = Some(text(json!({"k": 1})));
    let mut cached = ResourceResult::new([
        Contents::text("a:b", "x").with_mime_type("text/plain"),
        Contents::blob("a:b", "x".as_bytes()),
    ]);
    cached.cache = CacheHint { ttl_ms: 1, scope: CacheScope::Public };
    let messages: Vec<_> = every_content().into_iter().map(PromptMessage::user).collect();
    let mut prompt = PromptResult::new(messages);
    prompt.description = Some("What it is for.".into());
    let raw = Given::Raw(text(json!({"contents": []})));
    let wrong = Failure::new(FailureKind::InvalidArguments, "`a` is missing");
    vec![
        tool(ToolResult::default()),
        tool(ToolResult::error("no")),
        tool(ToolResult::structured(text(json!({"a": 1})))),
        tool(ToolResult::structured(text(json!([1, 2])))),
        tool(ToolResult::structured(text(Value::Null))),
        tool(everything),
        (Operation::CallTool, "CallToolResult", wrong.into()),
        (Operation::ReadResource, "ReadResourceResult", cached.into()),
        (Operation::ReadResource, "ReadResourceResult", raw.into()),
        (Operation::GetPrompt, "GetPromptResult", prompt.into()),
        (Operation::GetPrompt, "GetPromptResult", PromptResult::default().into()),
        (Operation::Complete, "CompleteResult", Completion::default().into()),
        (
            Operation::Complete,
            "CompleteResult",
            Completion::new((0..150).map(|it| it.to_string())).into(),
        ),
    ]
}
