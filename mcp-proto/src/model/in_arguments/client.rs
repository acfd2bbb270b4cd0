//! The same from the client's side.

use super::{ANSWERS, META, STATE};
use crate::frame::json;
use crate::frame::writer::Object;
use crate::model::view::View;
use crate::model::{InputRequired, Json, RawQuestion};

/// What a result's `_meta` asks, if it asks.
pub(super) fn asked(meta: &Json) -> Option<InputRequired> {
    let asked = View::of(meta.as_bytes())?.object(META)?;
    let question = |(key, value): (std::borrow::Cow<'_, str>, &[u8])| {
        let question = View::of(value)?;
        let method = question.string("method")?.into_owned();
        Some((key.into_owned(), RawQuestion { method, params: question.json("params") }))
    };
    let requests: Option<Vec<_>> = asked.object("inputRequests")?.iter().map(question).collect();
    Some(InputRequired { requests: requests?, state: asked.json("requestState") })
}

/// A tool's arguments with the answers, and the state that came with the questions.
pub(super) fn with_answers(
    arguments: Option<&Json>,
    answers: &[(String, Json)],
    state: Option<&Json>,
) -> Json {
    let mut out = Vec::new();
    let mut object = Object::begin(&mut out);
    let own = arguments.and_then(|arguments| View::of(arguments.as_bytes()));
    for (name, value) in own.iter().flat_map(View::iter) {
        if name != ANSWERS && name != STATE {
            json::compact(value, object.value(&name));
        }
    }
    object.object(ANSWERS, |given| {
        for (key, answer) in answers {
            answer.write(given.value(key));
        }
    });
    object.raw_if(STATE, state.map(Json::as_bytes));
    object.end();
    Json::scanned(out.into())
}
