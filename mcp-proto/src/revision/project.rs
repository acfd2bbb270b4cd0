//! What declarations, content and results look like in a revision. What it lacks is dropped, or
//! turned to text, here and nowhere else.

mod content;
mod declared;
mod schema;

pub(super) use content::{
    append_base64, write_content, write_contents, write_message, write_text_of,
};
pub(super) use declared::{
    output_schema, write_implementation, write_prompt, write_resource, write_template, write_tool,
};

use super::meta_key::SERVER_INFO;
use crate::frame::json;
use crate::frame::writer::Object;
use crate::model::Json;

/// Appends a value as one line.
pub(super) fn write_json(out: &mut Vec<u8>, value: &Json) {
    value.write(out);
}

/// Adds a member of JSON text where there is one.
pub(super) fn json_if(object: &mut Object<'_>, name: &str, value: Option<&Json>) {
    if let Some(value) = value {
        write_json(object.value(name), value);
    }
}

/// Adds `_meta`: what the application gave, where that is an object, and the server's name and
/// version (R26-META-12). What a gateway passes on has those of another server, which are left out.
pub(super) fn meta_if(object: &mut Object<'_>, own: Option<&Json>, server_info: Option<&[u8]>) {
    let own = own.filter(|own| own.kind() == json::Kind::Object);
    if own.is_none() && server_info.is_none() {
        return;
    }
    let mut meta = Object::begin(object.value("_meta"));
    if let Some(own) = own {
        let text = own.as_bytes();
        for member in json::members(text).iter().filter(|it| !it.is_named(text, SERVER_INFO)) {
            json::compact(member.value.of(text), meta.value(&member.decoded_name(text)));
        }
    }
    meta.raw_if(SERVER_INFO, server_info);
    meta.end();
}
