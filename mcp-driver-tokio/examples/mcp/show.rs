//! What is printed: for people, or as JSON for programs.

use std::io::{IsTerminal, stdout};

use mcp_proto::PrintableLines;
use mcp_proto::model::{
    Body, Change, Content, Contents, Json, Prompt, PromptArgument, Reply, ReplyValue, Resource,
    ResourceTemplate, Tool,
};
use mcp_proto::service::client::{ListenEvent, Server};
use serde_json::{Value, json};

/// A line as `println!` has it. What a server says cannot act on a terminal; in a pipe or a file it
/// is as it came.
macro_rules! line {
    ($($words:tt)*) => {
        print_line(&format!($($words)*))
    };
}

pub(crate) struct Show {
    pub(crate) json: bool,
}

/// What a server offers.
#[derive(Default)]
pub(crate) struct Offers {
    pub(crate) tools: Vec<Tool>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
    pub(crate) prompts: Vec<Prompt>,
}

impl Show {
    pub(crate) fn tools(&self, tools: &[Tool]) {
        for tool in tools {
            let schema: Option<Value> = decoded(Some(&tool.input_schema));
            if self.json {
                let described = json!({
                    "name": tool.name, "title": tool.title, "description": tool.description,
                    "inputSchema": schema, "outputSchema": decoded(tool.output_schema.as_ref()),
                });
                line!("{}", said(described));
            } else {
                let parameters = schema.as_ref().map(parameters).unwrap_or_default();
                line!("{}{parameters}{}", tool.name, described(tool.description.as_ref()));
            }
        }
    }

    pub(crate) fn reply(&self, reply: &Reply) {
        if self.json {
            line!("{}", reply.raw);
            return;
        }
        match &reply.value {
            ReplyValue::Tool(result) => {
                result.content.iter().for_each(content);
                // What is for programs has a text beside it, or else is shown itself.
                if let (true, Some(structured)) = (result.content.is_empty(), &result.structured) {
                    line!("{structured}");
                }
            }
            ReplyValue::Resource(result) => {
                result.contents.iter().for_each(|contents| line!("{}", body(contents)));
            }
            ReplyValue::Prompt(result) => {
                for message in &result.messages {
                    line!("{}:", message.role.as_str());
                    content(&message.content);
                }
            }
            _ => line!("{}", reply.raw),
        }
    }

    pub(crate) fn heard(&self, event: &ListenEvent) {
        let (kind, uri) = match event {
            ListenEvent::Listening(_) => ("listening", None),
            ListenEvent::Changed(Change::Tools) => ("tools", None),
            ListenEvent::Changed(Change::Prompts) => ("prompts", None),
            ListenEvent::Changed(Change::Resources) => ("resources", None),
            ListenEvent::Changed(Change::Updated(uri)) => ("updated", Some(uri)),
            _ => ("missed", None),
        };
        match (self.json, uri) {
            (true, uri) => line!("{}", said(json!({ "event": kind, "uri": uri }))),
            (false, Some(uri)) => line!("{kind} {uri}"),
            (false, None) => line!("{kind}"),
        }
    }

    pub(crate) fn pong(&self) {
        line!("{}", if self.json { "{}" } else { "it is alive" });
    }

    pub(crate) fn server(&self, server: &Server, declared: Option<&Value>, offers: &Offers) {
        let description = &server.description;
        let info = description.server.as_ref();
        let (name, version) = info.map_or(("?", "?"), |it| (&*it.name, &*it.version));
        let revision = server.adapter.version;
        let Offers { tools, resources, templates, prompts } = offers;
        if self.json {
            let described = json!({
                "revision": revision, "server": { "name": name, "version": version },
                "capabilities": declared, "instructions": description.instructions,
                "tools": all(tools, |it| &it.name),
                "resources": all(resources, |it| &it.uri),
                "resourceTemplates": all(templates, |it| it.uri_template.as_str()),
                "prompts": all(prompts, |it| &it.name),
            });
            line!("{}", said(described));
            return;
        }
        line!("{name} {version}, speaking {revision}");
        if let Some(instructions) = &description.instructions {
            line!("\n{instructions}");
        }
        section("tools", tools, |it| it.name.clone());
        section("resources", resources, |it| format!("{}{}", it.uri, described(Some(&it.name))));
        section("resource templates", templates, |it| {
            format!("{}{}", it.uri_template.as_str(), described(Some(&it.name)))
        });
        section("prompts", prompts, |it| {
            let argument = |it: &PromptArgument| match it.required {
                true => format!(" {}=…", it.name),
                false => format!(" [{}=…]", it.name),
            };
            let arguments: String = it.arguments.iter().map(argument).collect();
            format!("{}{arguments}{}", it.name, described(it.description.as_ref()))
        });
        if let Some(declared) = declared {
            line!("\ncapabilities: {declared}");
        }
    }
}

fn print_line(line: &str) {
    match stdout().is_terminal() {
        true => println!("{}", PrintableLines(line)),
        false => println!("{line}"),
    }
}

fn all<T>(items: &[T], name: impl Fn(&T) -> &str) -> Vec<&str> {
    items.iter().map(name).collect()
}

fn section<T>(title: &str, items: &[T], line: impl Fn(&T) -> String) {
    if !items.is_empty() {
        line!("\n{title}:");
    }
    for item in items {
        line!("  {}", line(item));
    }
}

/// The first line of a description, set apart.
fn described(text: Option<&String>) -> String {
    let line = text.and_then(|text| text.trim().lines().next());
    line.map(|line| format!("  — {line}")).unwrap_or_default()
}

/// A tool's parameters, as they are typed; those that are required first.
fn parameters(schema: &Value) -> String {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|all| all.iter().any(|it| it == name))
    };
    let (mut needed, mut optional) = (String::new(), String::new());
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let kind = schema["type"].as_str().unwrap_or("…");
        match required(name) {
            true => needed += &format!(" {name}={kind}"),
            false => optional += &format!(" [{name}={kind}]"),
        }
    }
    needed + &optional
}

fn decoded(json: Option<&Json>) -> Option<Value> {
    json.and_then(|json| json.decode().ok())
}

/// An object without what is not said.
fn said(mut object: Value) -> Value {
    if let Value::Object(members) = &mut object {
        members.retain(|_, value| !value.is_null());
    }
    object
}

fn body(contents: &Contents) -> String {
    match &contents.body {
        Body::Text(text) => text.clone(),
        Body::Blob(bytes) => format!("[{} bytes: {}]", bytes.len(), contents.uri),
    }
}

fn content(content: &Content) {
    match content {
        Content::Text { text, .. } => line!("{text}"),
        Content::Image { data, mime_type, .. } | Content::Audio { data, mime_type, .. } => {
            line!("[{mime_type}, {} bytes]", data.len());
        }
        Content::Resource { contents, .. } => line!("{}", body(contents)),
        Content::Link(resource) => line!("[{}: {}]", resource.name, resource.uri),
        _ => line!("[something that this client cannot show]"),
    }
}
