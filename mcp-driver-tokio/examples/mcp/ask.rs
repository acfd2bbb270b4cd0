//! Questions of the server's, put to a person. Where there is none, nobody makes a choice.

use std::thread;

use futures_channel::oneshot;
use mcp_proto::model::{
    Answer, Choice, ClientCapabilities, Field, FieldKind, Form, FormSchema, InputRequest, Json,
    elicit_accept, elicit_cancel, elicit_decline,
};
use mcp_proto::service::client::{Asked, Declined};
use mcp_proto::{Printable, PrintableLines};
use serde_json::{Map, Value};

use crate::terminal::{Terminal, read};

pub(crate) fn what_can_be_asked() -> ClientCapabilities {
    let mut can = ClientCapabilities::default();
    can.elicitation_form = true;
    can.elicitation_url = true;
    can
}

/// Asks on a thread of its own: a terminal is read by waiting.
pub(crate) async fn at(terminal: Terminal, asked: Asked) -> Result<Answer, Declined> {
    let (tell, told) = oneshot::channel();
    thread::spawn(move || {
        let answer = terminal.ask(|| answer(asked.question));
        let _ = tell.send(answer.unwrap_or_else(|| Ok(elicit_cancel())));
    });
    told.await.unwrap_or_else(|_| Ok(elicit_cancel()))
}

fn answer(question: InputRequest) -> Result<Answer, Declined> {
    match question {
        InputRequest::Elicit(Form { message, schema, .. }) => {
            eprintln!("\n{}", PrintableLines(&message));
            let Some(content) = filled(&schema) else { return Ok(elicit_cancel()) };
            agreed("Send this?", &content)
        }
        InputRequest::ElicitUrl { message, url, .. } => {
            eprintln!("\n{}\n  {}", PrintableLines(&message), Printable(&url));
            agreed("Did you go there?", &Map::new())
        }
        _ => Err(Declined::failed("this client asks people only")),
    }
}

/// The form, filled in so that it fits; none where the terminal is closed.
fn filled(schema: &FormSchema) -> Option<Map<String, Value>> {
    let mut content = Map::new();
    for field in schema.fields() {
        loop {
            let line = read(&prompt(field))?;
            if line.is_empty() && (field.default.is_some() || !field.required) {
                break;
            }
            let value = value(&field.kind, &line);
            let alone = FormSchema::new([field.clone()]);
            let one = serde_json::json!({ &field.name: &value });
            match alone.judge(Some(&Json::from(one))) {
                Ok(()) => {
                    content.insert(field.name.clone(), value);
                    break;
                }
                Err(bad) => eprintln!("  {}", Printable(&bad.to_string())),
            }
        }
    }
    Some(content)
}

fn prompt(field: &Field) -> String {
    let label = field.title.as_ref().unwrap_or(&field.name);
    let what = match (&field.description, &field.kind) {
        (_, FieldKind::Choice { options }) => format!(" ({})", listed(options)),
        (_, FieldKind::Choices { options, .. }) => {
            format!(" (any of {}, with commas)", listed(options))
        }
        (_, FieldKind::Boolean) => " (y or n)".into(),
        (Some(description), _) => format!(" ({description})"),
        (None, _) => String::new(),
    };
    let default = field.default.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
    let hint = if field.required || field.default.is_some() { "" } else { " (optional)" };
    format!("  {label}{what}{hint}{default}: ")
}

fn listed(options: &[Choice]) -> String {
    let shown = |option: &Choice| match &option.title {
        Some(title) => format!("{}: {title}", option.value),
        None => option.value.clone(),
    };
    options.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// What a line means in a field of that kind. What means nothing there stays text, for the form to
/// say what is wrong with it.
fn value(kind: &FieldKind, line: &str) -> Value {
    match (kind, line) {
        (FieldKind::Boolean, "y" | "yes" | "true") => true.into(),
        (FieldKind::Boolean, "n" | "no" | "false") => false.into(),
        (FieldKind::Number { .. }, _) => serde_json::from_str(line).unwrap_or_else(|_| line.into()),
        (FieldKind::Choice { options }, _) => chosen(options, line),
        (FieldKind::Choices { options, .. }, _) => {
            line.split(',').map(|word| chosen(options, word.trim())).collect()
        }
        _ => line.into(),
    }
}

/// An option, by its value or its title.
fn chosen(options: &[Choice], word: &str) -> Value {
    let is = |option: &&Choice| option.value == word || option.title.as_deref() == Some(word);
    options.iter().find(is).map_or(word, |option| &option.value).into()
}

fn agreed(question: &str, content: &Map<String, Value>) -> Result<Answer, Declined> {
    match read(&format!("{question} [y]es, [n]o, anything else cancels: ")).as_deref() {
        Some("y" | "yes") => {
            elicit_accept(content).map_err(|error| Declined::failed(error.to_string()))
        }
        Some("n" | "no") => Ok(elicit_decline()),
        _ => Ok(elicit_cancel()),
    }
}
