//! Arguments of prompts, which are text (R24-PRMT-03).

use crate::frame::json::{self, Kind};
use crate::model::{Operation, Request, View, object_of, texts};

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
    let members = View::of(arguments.as_bytes()).ok_or(twice)?;
    if members.iter().all(|(_, value)| json::kind(value) == Kind::String) {
        return Ok(());
    }
    let texts = texts(arguments.as_bytes());
    let texts = texts.map_err(|_| "arguments of a prompt are text, numbers or booleans")?;
    request.arguments = Some(object_of(&texts));
    Ok(())
}
