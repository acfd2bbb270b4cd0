//! What is printed: for people, or as JSON for programs.

use mcp_driver_tokio::client::{ListenEvent, Server, ToolReply};
use mcp_driver_tokio::model::{
    Body, Change, Content, Contents, Json, PromptResult, ResourceResult, Tool,
};
use serde_json::{Value, json};

pub(crate) struct Show {
    pub(crate) json: bool,
}

impl Show {
    pub(crate) fn tools(&self, tools: &[Tool]) {
        for tool in tools {
            let description = tool.description.as_deref().unwrap_or_default();
            if self.json {
                let schema = value(Some(&tool.input_schema));
                let name = &tool.name;
                println!(
                    "{}",
                    json!({ "name": name, "description": description, "inputSchema": schema })
                );
            } else {
                println!("{}  {}", tool.name, description.lines().next().unwrap_or_default());
            }
        }
    }

    pub(crate) fn tool_reply(&self, reply: &ToolReply) {
        if self.json {
            println!("{}", reply.raw());
        } else {
            reply.content.iter().for_each(content);
        }
    }

    pub(crate) fn contents(&self, result: &ResourceResult) {
        for contents in &result.contents {
            if self.json {
                println!("{}", as_value(contents));
            } else {
                body(contents);
            }
        }
    }

    pub(crate) fn prompt(&self, result: &PromptResult) {
        for message in &result.messages {
            let role = format!("{:?}", message.role).to_lowercase();
            if self.json {
                println!("{}", json!({ "role": role, "text": text(&message.content) }));
            } else {
                println!("{role}:");
                content(&message.content);
            }
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
            (true, uri) => println!("{}", json!({ "event": kind, "uri": uri })),
            (false, Some(uri)) => println!("{kind} {uri}"),
            (false, None) => println!("{kind}"),
        }
    }

    pub(crate) fn pong(&self) {
        println!("{}", if self.json { "{}" } else { "it is alive" });
    }

    pub(crate) fn server(&self, server: &Server) {
        let description = &server.description;
        let info = description.server.as_ref();
        let (name, version) = info.map_or(("?", "?"), |it| (&*it.name, &*it.version));
        let revision = server.adapter.version;
        let capabilities = value(description.declared.as_ref());
        let instructions = description.instructions.as_deref();
        if self.json {
            let server = json!({ "name": name, "version": version });
            println!(
                "{}",
                json!({ "revision": revision, "server": server, "capabilities": capabilities,
                    "instructions": instructions })
            );
        } else {
            println!("{name} {version}, speaking {revision}\ncapabilities: {capabilities}");
            if let Some(instructions) = instructions {
                println!("\n{instructions}");
            }
        }
    }
}

fn value(json: Option<&Json>) -> Value {
    json.and_then(|json| json.decode().ok()).unwrap_or_default()
}

fn as_value(contents: &Contents) -> Value {
    let (uri, mime_type) = (&contents.uri, &contents.mime_type);
    match &contents.body {
        Body::Text(text) => json!({ "uri": uri, "mimeType": mime_type, "text": text }),
        Body::Blob(bytes) => json!({ "uri": uri, "mimeType": mime_type, "bytes": bytes.len() }),
    }
}

fn body(contents: &Contents) {
    match &contents.body {
        Body::Text(text) => println!("{text}"),
        Body::Blob(bytes) => println!("[{} bytes: {}]", bytes.len(), contents.uri),
    }
}

fn content(content: &Content) {
    println!("{}", text(content));
}

fn text(content: &Content) -> String {
    match content {
        Content::Text { text, .. } => text.clone(),
        Content::Image { data, mime_type, .. } | Content::Audio { data, mime_type, .. } => {
            format!("[{mime_type}, {} bytes]", data.len())
        }
        Content::Resource { contents, .. } => match &contents.body {
            Body::Text(text) => text.clone(),
            Body::Blob(bytes) => format!("[{} bytes: {}]", bytes.len(), contents.uri),
        },
        _ => "[a link]".into(),
    }
}
