//! What a server lists.

use super::content::{annotations, icons, size};
use super::{Reader, raw, text};
use crate::frame::json::{self, Kind};
use crate::frame::uri_template::UriTemplate;
use crate::model::mirror::mirrored_params;
use crate::model::{
    Prompt, PromptArgument, Resource, ResourceTemplate, Tool, ToolHints, View, boolean, elements,
};

impl Reader<'_> {
    /// A tool whose annotations cannot be mirrored is left out, by name (R26-HDR-12).
    pub(super) fn tool(&mut self, object: &View<'_>) -> Result<Tool, &'static str> {
        let name = text(object, "name").ok_or("it has no `name`")?;
        let schema = raw(object, "inputSchema").ok_or("it has no `inputSchema`")?;
        let mut mirrored = Vec::new();
        if self.mirrors {
            match mirrored_params(schema.as_bytes()) {
                Ok(params) => mirrored = params,
                Err(fault) => {
                    self.leave_out(|| format!("the tool {name:?}: {fault}"));
                    return Err("its headers cannot be sent");
                }
            }
        }
        let mut tool = Tool::new(name, schema);
        tool.mirrored = mirrored;
        tool.title = text(object, "title");
        tool.description = text(object, "description");
        tool.output_schema = raw(object, "outputSchema");
        tool.hints = hints(object);
        tool.icons = icons(object);
        tool.meta = raw(object, "_meta");
        Ok(tool)
    }

    pub(super) fn template(&mut self, object: &View<'_>) -> Result<ResourceTemplate, &'static str> {
        let template = text(object, "uriTemplate").ok_or("it has no `uriTemplate`")?;
        let name = text(object, "name").unwrap_or_else(|| template.clone());
        let template = UriTemplate::parse(&template).map_err(|_| "its template is invalid")?;
        let mut declared = ResourceTemplate::new(template, name);
        declared.title = text(object, "title");
        declared.description = text(object, "description");
        declared.mime_type = text(object, "mimeType");
        declared.annotations = annotations(object);
        declared.icons = icons(object);
        declared.meta = raw(object, "_meta");
        Ok(declared)
    }

    pub(super) fn prompt(&mut self, object: &View<'_>) -> Result<Prompt, &'static str> {
        let mut prompt = Prompt::new(text(object, "name").ok_or("it has no `name`")?);
        prompt.title = text(object, "title");
        prompt.description = text(object, "description");
        let arguments = object.get("arguments").into_iter().flat_map(elements);
        prompt.arguments = arguments.filter_map(argument).collect();
        prompt.icons = icons(object);
        prompt.meta = raw(object, "_meta");
        Ok(prompt)
    }
}

/// A resource, as it is declared or linked to.
pub(super) fn resource(object: &View<'_>) -> Result<Resource, &'static str> {
    let uri = text(object, "uri").ok_or("it has no `uri`")?;
    let name = text(object, "name").unwrap_or_else(|| uri.clone());
    let mut resource = Resource::new(uri, name);
    resource.title = text(object, "title");
    resource.description = text(object, "description");
    resource.mime_type = text(object, "mimeType");
    resource.size = size(object);
    resource.annotations = annotations(object);
    resource.icons = icons(object);
    resource.meta = raw(object, "_meta");
    Ok(resource)
}

fn argument(argument: &[u8]) -> Option<PromptArgument> {
    let object = View::of(argument)?;
    let mut argument = PromptArgument::new(text(&object, "name")?);
    argument.title = text(&object, "title");
    argument.description = text(&object, "description");
    argument.required = object.get("required").and_then(boolean).unwrap_or_default();
    Some(argument)
}

fn hints(object: &View<'_>) -> ToolHints {
    let Some(object) = object.object("annotations") else { return ToolHints::default() };
    let flag =
        |name| object.get(name).filter(|value| json::kind(value) != Kind::Null).and_then(boolean);
    ToolHints {
        title: text(&object, "title"),
        read_only: flag("readOnlyHint"),
        destructive: flag("destructiveHint"),
        idempotent: flag("idempotentHint"),
        open_world: flag("openWorldHint"),
    }
}
