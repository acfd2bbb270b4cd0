//! The result that asks.

use super::{ANSWERS, META, STATE};
use crate::frame::json;
use crate::frame::writer::Object;
use crate::model::view::View;
use crate::model::{
    ClientCapabilities, Content, Field, FieldKind, Form, InputFields, InputRequest, Json,
    ToolResult, Unaskable,
};

/// Stands where the action must. It is none, so whoever copies it unread has agreed to nothing.
const ACTION: &str = "accept, decline or cancel";

pub(super) fn ask(
    arguments: Option<&Json>,
    questions: &[(String, InputRequest)],
    state: Option<&str>,
) -> Result<ToolResult, Unaskable> {
    let mut text = String::from("This call is not finished: the user has to be asked first.\n");
    for (key, question) in questions {
        text.push_str(&spoken(key, question)?);
    }
    text.push_str(
        "\nAsk the user, and do not answer for them. Then call this tool again with exactly these \
         arguments, with what the user said filled in. Where they do not accept, leave `content` \
         out.\n\n",
    );
    text.push_str(&String::from_utf8_lossy(&to_copy(arguments, questions, state)));
    let mut result = ToolResult::new([Content::text(text)]);
    result.meta = Some(meta(questions, state)?);
    Ok(result)
}

/// One question in words.
fn spoken(key: &str, question: &InputRequest) -> Result<String, Unaskable> {
    match question {
        InputRequest::Elicit(Form { message, schema, .. }) => {
            let fields = schema.fields().iter().map(described);
            Ok(fields.fold(format!("\n- `{key}`: {message}\n"), |text, field| text + &field))
        }
        InputRequest::ElicitUrl { message, url } => {
            Ok(format!("\n- `{key}`: {message}\n  Let the user open {url} themselves.\n"))
        }
        _ => Err(Unaskable::InArguments),
    }
}

fn described(field: &Field) -> String {
    let mut text = format!("  - `{}` ({}", field.name, kind_name(&field.kind));
    if !field.required {
        text.push_str(", optional");
    }
    text.push(')');
    for more in [&field.title, &field.description].into_iter().flatten() {
        text.push_str(": ");
        text.push_str(more);
    }
    if let FieldKind::Choice { options } | FieldKind::Choices { options, .. } = &field.kind {
        let options = options.iter().map(|option| match &option.title {
            Some(title) => format!("`{}` ({title})", option.value),
            None => format!("`{}`", option.value),
        });
        text.push_str("; of ");
        text.push_str(&options.collect::<Vec<_>>().join(", "));
    }
    text.push('\n');
    text
}

const fn kind_name(kind: &FieldKind) -> &'static str {
    match kind {
        FieldKind::Text { .. } => "text",
        FieldKind::Number { integer: true, .. } => "integer",
        FieldKind::Number { integer: false, .. } => "number",
        FieldKind::Boolean => "true or false",
        FieldKind::Choice { .. } => "one option",
        FieldKind::Choices { .. } => "list of options",
    }
}

/// The arguments of the call that finishes this one.
fn to_copy(
    arguments: Option<&Json>,
    questions: &[(String, InputRequest)],
    state: Option<&str>,
) -> Vec<u8> {
    let mut out = Vec::new();
    let mut object = Object::begin(&mut out);
    let own = arguments.and_then(|arguments| View::of(arguments.as_bytes()));
    for (name, value) in own.iter().flat_map(View::iter) {
        json::compact(value, object.value(&name));
    }
    object.object(ANSWERS, |answers| {
        for (key, question) in questions {
            answers.object(key, |answer| {
                answer.string("action", ACTION);
                if let InputRequest::Elicit(form) = question
                    && !form.schema.fields().is_empty()
                {
                    answer.object("content", |content| {
                        for field in form.schema.fields() {
                            placeholder(field, content);
                        }
                    });
                }
            });
        }
    });
    object.string_if(STATE, state);
    object.end();
    out
}

/// What a field starts with: its default, else a value that shows its type.
fn placeholder(field: &Field, content: &mut Object<'_>) {
    if let Some(default) = &field.default {
        default.write(content.value(&field.name));
        return;
    }
    match &field.kind {
        FieldKind::Number { .. } => content.number(&field.name, 0),
        FieldKind::Boolean => content.boolean(&field.name, false),
        FieldKind::Choices { .. } => content.raw(&field.name, b"[]"),
        FieldKind::Text { .. } | FieldKind::Choice { .. } => content.string(&field.name, ""),
    };
}

/// The same for programs, in the form of results that ask (R26-MRTR-06).
fn meta(questions: &[(String, InputRequest)], state: Option<&str>) -> Result<Json, Unaskable> {
    let mut out = Vec::new();
    let mut meta = Object::begin(&mut out);
    let mut asked = Object::begin(meta.value(META));
    let mut requests = Object::begin(asked.value("inputRequests"));
    for (key, question) in questions {
        let client = ClientCapabilities::default();
        question.write_request(requests.value(key), &InputFields::ALL, &client)?;
    }
    requests.end();
    asked.string_if("requestState", state);
    asked.end();
    meta.end();
    Ok(Json::scanned(out.into()))
}
