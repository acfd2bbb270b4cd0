//! Objects of text: arguments of prompts, and what a completion is told (R24-PRMT-03).

use super::Json;
use super::view::scalar_text;
use crate::frame::json::{self, Kind};
use crate::frame::writer::Object;

/// The members of a validated object as text: numbers and booleans as they are written, since
/// clients send them; what is null is not there.
///
/// # Errors
/// The name of a member that no text stands for: an array, or an object.
pub(crate) fn texts(object: &[u8]) -> Result<Vec<(String, String)>, String> {
    let members = json::members(object);
    let is_there = |member: &&json::Member| json::kind(member.value.of(object)) != Kind::Null;
    let text = |member: &json::Member| {
        let name = member.decoded_name(object).into_owned();
        match scalar_text(member.value.of(object)) {
            Some(text) => Ok((name, text.into_owned())),
            None => Err(name),
        }
    };
    members.iter().filter(is_there).map(text).collect()
}

/// An object of these texts.
pub(crate) fn object_of(texts: &[(String, String)]) -> Json {
    let mut out = Vec::new();
    let mut object = Object::begin(&mut out);
    for (name, text) in texts {
        object.string(name, text);
    }
    object.end();
    Json::scanned(out.into())
}
