//! A form as a revision can say it. What can be said is passed on as it was written.

use super::{FormSchema, is_boolean};
use crate::frame::json::{self, write_string};
use crate::frame::writer::Object;
use crate::model::input::{FieldKind, InputFields, Unaskable};
use crate::model::view::{View, elements};

pub(super) fn check(form: &FormSchema, fields: &InputFields) -> Result<(), Unaskable> {
    let several = |kind: &FieldKind| matches!(kind, FieldKind::Choices { .. });
    match form.fields.iter().find(|field| several(&field.kind) && !fields.multi_select) {
        Some(field) => Err(Unaskable::MultiSelect { field: field.name.clone() }),
        None => Ok(()),
    }
}

pub(super) fn write(form: &FormSchema, fields: &InputFields, out: &mut Vec<u8>) {
    let text = form.text.as_bytes();
    let root = View::of(text).filter(|_| !(fields.form_defaults && fields.titled_options));
    let Some(root) = root else { return form.text.write(out) };
    let mut object = Object::begin(out);
    for (name, value) in root.iter() {
        match View::of(value).filter(|_| name == "properties") {
            Some(properties) => {
                object.object("properties", |object| {
                    for (name, property) in properties.iter() {
                        write_property(property, fields, object.value(&name));
                    }
                });
            }
            None => json::compact(value, object.value(&name)),
        }
    }
    object.end();
}

fn write_property(property: &[u8], fields: &InputFields, out: &mut Vec<u8>) {
    let Some(schema) = View::of(property) else { return json::compact(property, out) };
    let mut object = Object::begin(out);
    for (name, value) in schema.iter() {
        match &*name {
            "default" if !fields.form_defaults && !is_boolean(&schema) => {}
            "oneOf" if !fields.titled_options => {
                column(&mut object, "enum", value, "const");
                column(&mut object, "enumNames", value, "title");
            }
            _ => json::compact(value, object.value(&name)),
        }
    }
    object.end();
}

/// One member of each of the options, as a list.
fn column(object: &mut Object<'_>, name: &str, options: &[u8], member: &str) {
    let values = elements(options).filter_map(|option| View::of(option)?.string(member));
    object.array(name, values, |value, out| write_string(out, &value));
}
