//! Tools, resources, templates, prompts, and the server itself.

use super::content::{self, annotations, icons, meta};
use super::{schema, write_json};
use crate::frame::writer::Object;
use crate::model::{
    Implementation, InArguments, Json, Prompt, Resource, ResourceTemplate, Tool, ToolHints,
};
use crate::revision::{Adapter, Fields, Structured};

/// Appends a tool's declaration.
pub(in crate::revision) fn write_tool(adapter: &Adapter, tool: &Tool, out: &mut Vec<u8>) {
    let fields = &adapter.fields;
    let mut object = Object::begin(out);
    object.string("name", &tool.name);
    object.string_if("title", tool.title.as_deref().filter(|_| fields.title));
    object.string_if("description", tool.description.as_deref());
    if tool.asks && adapter.asks_in_arguments() {
        let mut own = Vec::new();
        schema::write_input(fields, &tool.input_schema, &mut own);
        InArguments::write_schema(&Json::scanned(own.into()), object.value("inputSchema"));
    } else {
        schema::write_input(fields, &tool.input_schema, object.value("inputSchema"));
    }
    if let Some(schema) = output_schema(fields, tool) {
        write_json(object.value("outputSchema"), schema);
    }
    if fields.tool_hints {
        hints(&mut object, fields, tool);
    }
    icons(&mut object, fields, &tool.icons);
    meta(&mut object, fields, tool.meta.as_ref());
    object.end();
}

/// The output schema that a revision can say, if there is one.
pub(in crate::revision) fn output_schema<'a>(fields: &Fields, tool: &'a Tool) -> Option<&'a Json> {
    let schema = tool.output_schema.as_ref()?;
    match fields.structured {
        Structured::Any => Some(schema),
        Structured::Object => schema::is_object(schema).then_some(schema),
        Structured::None => None,
    }
}

/// Appends a resource's declaration.
pub(in crate::revision) fn write_resource(fields: &Fields, resource: &Resource, out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    content::resource(&mut object, fields, resource);
    object.end();
}

/// Appends a resource template's declaration.
pub(in crate::revision) fn write_template(
    fields: &Fields,
    template: &ResourceTemplate,
    out: &mut Vec<u8>,
) {
    let mut object = Object::begin(out);
    object.string("uriTemplate", template.uri_template.as_str()).string("name", &template.name);
    object.string_if("title", template.title.as_deref().filter(|_| fields.title));
    object.string_if("description", template.description.as_deref());
    object.string_if("mimeType", template.mime_type.as_deref());
    annotations(&mut object, fields, template.annotations.as_ref());
    icons(&mut object, fields, &template.icons);
    meta(&mut object, fields, template.meta.as_ref());
    object.end();
}

/// Appends a prompt's declaration.
pub(in crate::revision) fn write_prompt(fields: &Fields, prompt: &Prompt, out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    object.string("name", &prompt.name);
    object.string_if("title", prompt.title.as_deref().filter(|_| fields.title));
    object.string_if("description", prompt.description.as_deref());
    if !prompt.arguments.is_empty() {
        object.array("arguments", &prompt.arguments, |argument, out| {
            let mut object = Object::begin(out);
            object.string("name", &argument.name);
            object.string_if("title", argument.title.as_deref().filter(|_| fields.title));
            object.string_if("description", argument.description.as_deref());
            if argument.required {
                object.boolean("required", true);
            }
            object.end();
        });
    }
    icons(&mut object, fields, &prompt.icons);
    meta(&mut object, fields, prompt.meta.as_ref());
    object.end();
}

/// Appends a program's name and version (R24-LIFE-16).
pub(in crate::revision) fn write_implementation(
    fields: &Fields,
    program: &Implementation,
    out: &mut Vec<u8>,
) {
    let mut object = Object::begin(out);
    object.string("name", &program.name);
    object.string_if("title", program.title.as_deref().filter(|_| fields.title));
    object.string("version", &program.version);
    if fields.icons {
        object.string_if("description", program.description.as_deref());
        object.string_if("websiteUrl", program.website_url.as_deref());
    }
    icons(&mut object, fields, &program.icons);
    object.end();
}

/// What a tool says about its behaviour. Before tools had titles, their name for people was here.
fn hints(object: &mut Object<'_>, fields: &Fields, tool: &Tool) {
    let title = tool.title.as_deref().filter(|_| !fields.title);
    let title = tool.hints.title.as_deref().or(title);
    if title.is_none() && tool.hints == ToolHints::default() {
        return;
    }
    object.object("annotations", |object| {
        object.string_if("title", title);
        let flags = [
            ("readOnlyHint", tool.hints.read_only),
            ("destructiveHint", tool.hints.destructive),
            ("idempotentHint", tool.hints.idempotent),
            ("openWorldHint", tool.hints.open_world),
        ];
        for (name, flag) in flags {
            if let Some(flag) = flag {
                object.boolean(name, flag);
            }
        }
    });
}
