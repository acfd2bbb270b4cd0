//! Questions, at the terminal. Where there is none, nobody makes a choice.

use std::io::{IsTerminal, Write, stderr, stdin};

use mcp_driver_tokio::client::{Asked, Declined};
use mcp_driver_tokio::model::{
    Answer, ClientCapabilities, FieldKind, InputRequest, elicit_accept, elicit_cancel,
    elicit_decline,
};
use serde_json::{Map, Value};

pub(crate) fn what_can_be_asked() -> ClientCapabilities {
    let mut can = ClientCapabilities::default();
    can.elicitation_form = true;
    can.elicitation_url = true;
    can
}

pub(crate) async fn at_the_terminal(asked: Asked) -> Result<Answer, Declined> {
    let answered = tokio::task::spawn_blocking(move || answer(asked.question)).await;
    answered.map_err(|error| Declined::failed(error.to_string()))?
}

fn answer(question: InputRequest) -> Result<Answer, Declined> {
    if !stdin().is_terminal() {
        return Ok(elicit_cancel());
    }
    match question {
        InputRequest::Elicit(form) => {
            eprintln!("\n{}", form.message);
            let mut content = Map::new();
            for field in form.schema.fields() {
                let label = field.title.as_ref().unwrap_or(&field.name);
                let default = field.default.as_ref().map(|it| format!(" [{it}]"));
                let hint = if field.required { "" } else { " (optional)" };
                let line = read(&format!("  {label}{hint}{}: ", default.unwrap_or_default()));
                let Some(line) = line else { return Ok(elicit_cancel()) };
                if !line.is_empty() {
                    let value = match field.kind {
                        FieldKind::Text { .. } | FieldKind::Choice { .. } => Value::String(line),
                        _ => serde_json::from_str(&line).unwrap_or(Value::String(line)),
                    };
                    content.insert(field.name.clone(), value);
                }
            }
            agreed(&content)
        }
        InputRequest::ElicitUrl { message, url } => {
            eprintln!("\n{message}\n  {url}");
            agreed(&Map::new())
        }
        _ => Err(Declined::failed("this client asks people only")),
    }
}

fn agreed(content: &Map<String, Value>) -> Result<Answer, Declined> {
    match read("Agree? [y]es, [n]o, anything else cancels: ").as_deref() {
        Some("y" | "yes") => {
            elicit_accept(content).map_err(|error| Declined::failed(error.to_string()))
        }
        Some("n" | "no") => Ok(elicit_decline()),
        _ => Ok(elicit_cancel()),
    }
}

/// A line; none where the terminal is closed.
fn read(prompt: &str) -> Option<String> {
    eprint!("{prompt}");
    stderr().flush().ok()?;
    let mut line = String::new();
    let read = stdin().read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim().to_owned())
}
