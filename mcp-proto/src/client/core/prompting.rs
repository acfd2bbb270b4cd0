//! Arguments of prompts, which are text (R24-PRMT-03).

use crate::frame::json::{self, Kind};
use crate::frame::writer::Object;
use crate::model::{Json, Operation, Request, View, scalar_text};

/// Spells the arguments of a prompt as the protocol has them: numbers and booleans become their
/// text, and what is null is left out.
///
/// # Errors
/// Where one is an array or an object: no text stands for it.
pub(super) fn spell(request: &mut Request) -> Result<(), &'static str> {
    let (Operation::GetPrompt, Some(arguments)) = (request.operation, &request.arguments) else {
        return Ok(());
    };
    let twice = "arguments of a prompt name each member once";
    let arguments = View::of(arguments.as_bytes()).ok_or(twice)?;
    if arguments.iter().all(|(_, value)| json::kind(value) == Kind::String) {
        return Ok(());
    }
    let mut spelled = Vec::new();
    let mut object = Object::begin(&mut spelled);
    for (name, value) in arguments.iter() {
        match scalar_text(value) {
            Some(text) => {
                object.string(&name, &text);
            }
            None if json::kind(value) == Kind::Null => {}
            None => return Err("arguments of a prompt are text, numbers or booleans"),
        }
    }
    object.end();
    request.arguments = Some(Json::scanned(spelled.into()));
    Ok(())
}
