//! Taking answers out of a tool's arguments.

use super::{ANSWERS, BadArguments, InArguments, STATE};
use crate::frame::json::{self, Kind, ScanLimits};
use crate::frame::writer::Object;
use crate::model::Json;
use crate::model::view::{View, copied};

pub(super) fn take(arguments: Option<Json>) -> Result<InArguments, BadArguments> {
    let untouched = |arguments| InArguments { arguments, answers: Vec::new(), state: None };
    let Some(given) = arguments else { return Ok(untouched(None)) };
    let members = json::members(given.as_bytes());
    let ours = |name: &str| name == ANSWERS || name == STATE;
    let text = given.as_bytes();
    if !members.iter().any(|member| ours(&member.decoded_name(text))) {
        return Ok(untouched(Some(given)));
    }
    let (mut answers, mut state) = (None, None);
    let mut own = Vec::with_capacity(text.len());
    let mut object = Object::begin(&mut own);
    for member in members.iter() {
        let (name, value) = (member.decoded_name(text), member.value.of(text));
        match &*name {
            // Models fill optional arguments with null.
            ANSWERS | STATE if json::kind(value) == Kind::Null => {}
            ANSWERS if answers.is_none() => answers = Some(read_answers(value)?),
            ANSWERS => return Err(BadArguments::Answers),
            STATE if state.is_none() => state = Some(read_state(value)?),
            STATE => return Err(BadArguments::State),
            _ => json::compact(value, object.value(&name)),
        }
    }
    object.end();
    let arguments = Some(Json::scanned(own.into()));
    Ok(InArguments { arguments, answers: answers.unwrap_or_default(), state })
}

fn read_state(value: &[u8]) -> Result<String, BadArguments> {
    json::string(value).map(Into::into).ok_or(BadArguments::State)
}

fn read_answers(value: &[u8]) -> Result<Vec<(String, Json)>, BadArguments> {
    let unquoted;
    let value = match json::string(value) {
        Some(text) => {
            unquoted = text.into_owned();
            json::scan(unquoted.as_bytes(), &ScanLimits::default())
                .map_err(|_| BadArguments::Answers)?;
            unquoted.as_bytes()
        }
        None => value,
    };
    let answers = View::of(value).ok_or(BadArguments::Answers)?;
    Ok(answers.iter().map(|(key, answer)| (key.into(), copied(answer))).collect())
}
