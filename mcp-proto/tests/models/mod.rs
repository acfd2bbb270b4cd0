//! The normalized core from the JSON of the newest revision: what an application would have given
//! for an example to come out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_proto::frame::uri_template::UriTemplate;
use mcp_proto::model::{
    Annotations, Completion, Content, Contents, Icon, Json, Prompt, PromptArgument, PromptMessage,
    PromptResult, Resource, ResourceResult, ResourceTemplate, Role, Tool, ToolResult,
};
use serde_json::Value;

pub(crate) fn tool(value: &Value) -> Tool {
    let mut tool = Tool::new(text(value, "name"), json(&value["inputSchema"]));
    tool.title = optional(value, "title");
    tool.description = optional(value, "description");
    tool.output_schema = value.get("outputSchema").map(json);
    tool.icons = icons(value);
    tool
}

pub(crate) fn resource(value: &Value) -> Resource {
    let mut resource = Resource::new(text(value, "uri"), text(value, "name"));
    resource.title = optional(value, "title");
    resource.description = optional(value, "description");
    resource.mime_type = optional(value, "mimeType");
    resource.size = value["size"].as_u64();
    resource.annotations = annotations(value);
    resource.icons = icons(value);
    resource
}

pub(crate) fn template(value: &Value) -> ResourceTemplate {
    let template = UriTemplate::parse(&text(value, "uriTemplate")).expect("a template");
    let mut template = ResourceTemplate::new(template, text(value, "name"));
    template.title = optional(value, "title");
    template.description = optional(value, "description");
    template.mime_type = optional(value, "mimeType");
    template.icons = icons(value);
    template
}

pub(crate) fn prompt(value: &Value) -> Prompt {
    let mut prompt = Prompt::new(text(value, "name"));
    prompt.title = optional(value, "title");
    prompt.description = optional(value, "description");
    prompt.icons = icons(value);
    prompt.arguments = items(value, "arguments", |value| {
        let mut argument = PromptArgument::new(text(value, "name"));
        argument.description = optional(value, "description");
        argument.required = value["required"] == true;
        argument
    });
    prompt
}

pub(crate) fn tool_result(value: &Value) -> ToolResult {
    let mut result = ToolResult::new(items(value, "content", content));
    result.structured = value.get("structuredContent").map(json);
    result.is_error = value["isError"] == true;
    result
}

pub(crate) fn resource_result(value: &Value) -> ResourceResult {
    let mut result = ResourceResult::new(items(value, "contents", contents));
    result.cache.ttl_ms = value["ttlMs"].as_u64().unwrap_or_default();
    result
}

pub(crate) fn prompt_result(value: &Value) -> PromptResult {
    let mut result = PromptResult::new(items(value, "messages", |value| {
        let content = content(&value["content"]);
        match role(&value["role"]) {
            Role::User => PromptMessage::user(content),
            Role::Assistant => PromptMessage::assistant(content),
        }
    }));
    result.description = optional(value, "description");
    result
}

pub(crate) fn completion(value: &Value) -> Completion {
    let value = &value["completion"];
    let mut completion = Completion::new(items(value, "values", string));
    completion.total = value["total"].as_u64();
    completion.has_more = value["hasMore"] == true;
    completion
}

pub(crate) fn content(value: &Value) -> Content {
    let (annotations, meta) = (annotations(value), value.get("_meta").map(json));
    let data = || STANDARD.decode(text(value, "data")).expect("Base64").into();
    match value["type"].as_str() {
        Some("text") => Content::Text { text: text(value, "text"), annotations, meta },
        Some("image") => {
            Content::Image { data: data(), mime_type: text(value, "mimeType"), annotations, meta }
        }
        Some("audio") => {
            Content::Audio { data: data(), mime_type: text(value, "mimeType"), annotations, meta }
        }
        Some("resource") => {
            Content::Resource { contents: contents(&value["resource"]), annotations, meta }
        }
        Some("resource_link") => {
            let mut link = resource(value);
            link.meta = meta;
            Content::Link(link)
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn contents(value: &Value) -> Contents {
    let uri = text(value, "uri");
    let mut contents = match optional(value, "blob") {
        Some(blob) => Contents::blob(uri, STANDARD.decode(blob).expect("Base64")),
        None => Contents::text(uri, text(value, "text")),
    };
    contents.mime_type = optional(value, "mimeType");
    contents
}

pub(crate) fn json(value: &Value) -> Json {
    value.clone().into()
}

fn annotations(value: &Value) -> Option<Annotations> {
    let value = value.get("annotations")?;
    let mut annotations = Annotations::default();
    annotations.audience = items(value, "audience", role);
    annotations.priority = value["priority"].as_f64();
    annotations.last_modified = optional(value, "lastModified");
    Some(annotations)
}

fn icons(value: &Value) -> Vec<Icon> {
    items(value, "icons", |value| {
        let mut icon = Icon::new(text(value, "src"));
        icon.mime_type = optional(value, "mimeType");
        icon.sizes = items(value, "sizes", string);
        icon
    })
}

fn role(value: &Value) -> Role {
    if value == "user" { Role::User } else { Role::Assistant }
}

fn items<T>(value: &Value, name: &str, read: impl Fn(&Value) -> T) -> Vec<T> {
    value[name].as_array().into_iter().flatten().map(read).collect()
}

fn optional(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().map(str::to_owned)
}

fn text(value: &Value, name: &str) -> String {
    string(&value[name])
}

fn string(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}
