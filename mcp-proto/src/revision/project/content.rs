//! Content blocks and resource contents.

use base64::engine::general_purpose::STANDARD;

use super::json_if;
use crate::frame::json::write_string;
use crate::frame::writer::Object;
use crate::model::{
    Annotations, Body, Content, Contents, Icon, Json, PromptMessage, Resource, Role,
};
use crate::revision::Fields;

/// Appends a text block that says `value` (R2506-TOOL-14).
pub(in crate::revision) fn write_text_of(fields: &Fields, value: &Json, out: &mut Vec<u8>) {
    block(fields, out, "text", &None, &None, |block| {
        block.string("text", &value.one_line());
    });
}

/// Appends one content block.
pub(in crate::revision) fn write_content(fields: &Fields, content: &Content, out: &mut Vec<u8>) {
    match content {
        Content::Text { text, annotations, meta } => {
            block(fields, out, "text", annotations, meta, |block| {
                block.string("text", text);
            });
        }
        Content::Image { data, mime_type, annotations, meta } => {
            block(fields, out, "image", annotations, meta, |block| {
                base64(block, "data", data);
                block.string("mimeType", mime_type);
            });
        }
        Content::Audio { data, mime_type, annotations, meta } if fields.audio => {
            block(fields, out, "audio", annotations, meta, |block| {
                base64(block, "data", data);
                block.string("mimeType", mime_type);
            });
        }
        Content::Audio { data, mime_type, annotations, meta } => {
            let text = format!("[{mime_type}, {} bytes]", data.len());
            block(fields, out, "text", annotations, meta, |block| {
                block.string("text", &text);
            });
        }
        Content::Resource { contents, annotations, meta } => {
            block(fields, out, "resource", annotations, meta, |block| {
                write_contents(fields, contents, block.value("resource"));
            });
        }
        Content::Link(link) if fields.resource_link => {
            let mut object = Object::begin(out);
            object.string("type", "resource_link");
            resource(&mut object, fields, link);
            object.end();
        }
        Content::Link(link) => {
            let name = link.title.as_ref().unwrap_or(&link.name);
            let text = match &link.description {
                Some(description) => format!("{name}: {} ({description})", link.uri),
                None => format!("{name}: {}", link.uri),
            };
            block(fields, out, "text", &link.annotations, &link.meta, |block| {
                block.string("text", &text);
            });
        }
    }
}

/// Appends a prompt's message.
pub(in crate::revision) fn write_message(
    fields: &Fields,
    message: &PromptMessage,
    out: &mut Vec<u8>,
) {
    let mut object = Object::begin(out);
    object.string("role", message.role.as_str());
    write_content(fields, &message.content, object.value("content"));
    object.end();
}

/// Appends the contents of a resource (R24-CONT-03, R24-RSRC-14).
pub(in crate::revision) fn write_contents(fields: &Fields, contents: &Contents, out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    object.string("uri", &contents.uri).string_if("mimeType", contents.mime_type.as_deref());
    match &contents.body {
        Body::Text(text) => {
            object.string("text", text);
        }
        Body::Blob(bytes) => base64(&mut object, "blob", bytes),
    }
    meta(&mut object, fields, contents.meta.as_ref());
    object.end();
}

/// Adds hints for the client, where there are any.
pub(super) fn annotations(
    object: &mut Object<'_>,
    fields: &Fields,
    annotations: Option<&Annotations>,
) {
    let Some(hints) = annotations else { return };
    let last_modified = hints.last_modified.as_deref().filter(|_| fields.last_modified);
    if hints.audience.is_empty() && hints.priority.is_none() && last_modified.is_none() {
        return;
    }
    object.object("annotations", |object| {
        if !hints.audience.is_empty() {
            object.array("audience", &hints.audience, |role: &Role, out| {
                write_string(out, role.as_str());
            });
        }
        if let Some(priority) = hints.priority {
            object.float("priority", priority);
        }
        object.string_if("lastModified", last_modified);
    });
}

/// Adds pictures, where there are any.
pub(super) fn icons(object: &mut Object<'_>, fields: &Fields, icons: &[Icon]) {
    if !fields.icons || icons.is_empty() {
        return;
    }
    object.array("icons", icons, |icon, out| {
        let mut object = Object::begin(out);
        object.string("src", &icon.src).string_if("mimeType", icon.mime_type.as_deref());
        if !icon.sizes.is_empty() {
            object.array("sizes", &icon.sizes, |size, out| write_string(out, size));
        }
        object.string_if("theme", icon.theme.as_deref());
        object.end();
    });
}

/// Adds `_meta`, where there is some.
pub(super) fn meta(object: &mut Object<'_>, fields: &Fields, meta: Option<&Json>) {
    if fields.meta {
        json_if(object, "_meta", meta);
    }
}

fn block(
    fields: &Fields,
    out: &mut Vec<u8>,
    kind: &str,
    hints: &Option<Annotations>,
    own: &Option<Json>,
    fill: impl FnOnce(&mut Object<'_>),
) {
    let mut object = Object::begin(out);
    object.string("type", kind);
    fill(&mut object);
    annotations(&mut object, fields, hints.as_ref());
    meta(&mut object, fields, own.as_ref());
    object.end();
}

/// Adds what a declaration of a resource and a link to it tell alike.
pub(super) fn resource(object: &mut Object<'_>, fields: &Fields, resource: &Resource) {
    object.string("uri", &resource.uri).string("name", &resource.name);
    object.string_if("title", resource.title.as_deref().filter(|_| fields.title));
    object.string_if("description", resource.description.as_deref());
    object.string_if("mimeType", resource.mime_type.as_deref());
    if let Some(size) = resource.size {
        object.number("size", size);
    }
    annotations(object, fields, resource.annotations.as_ref());
    icons(object, fields, &resource.icons);
    meta(object, fields, resource.meta.as_ref());
}

/// Writes Base64 straight into the buffer: it may be large.
fn base64(object: &mut Object<'_>, name: &str, bytes: &[u8]) {
    let out = object.value(name);
    out.push(b'"');
    append_base64(&STANDARD, bytes, out);
    out.push(b'"');
}

/// Appends Base64 without a string in between.
pub(in crate::revision) fn append_base64(
    engine: &impl base64::Engine,
    bytes: &[u8],
    out: &mut Vec<u8>,
) {
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, b'=');
    let room = out.get_mut(start..).unwrap_or_default();
    // There is room for the longest form, so this cannot fail.
    let written = engine.encode_slice(bytes, room).unwrap_or_default();
    out.truncate(start + written);
}
