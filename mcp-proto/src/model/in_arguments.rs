//! Asking in the arguments of a tool, for revisions that have no other way.
//!
//! A tool that asks gets two more arguments. Its result says in words, for the model that called
//! it, what finishes the call, and in `_meta`, for programs, what is asked.

mod client;
mod explain;
mod take;
#[cfg(test)]
mod tests;

use core::fmt;

use super::{InputRequest, InputRequired, Json, ToolResult, Unaskable};
use crate::frame::json::{self, Kind};
use crate::frame::writer::Object;
use crate::model::view::View;

/// The argument that holds the answers.
pub(crate) const ANSWERS: &str = "input_responses";

/// The argument that says which unfinished call they belong to.
pub(crate) const STATE: &str = "request_state";

/// The `_meta` member of a result that asks.
pub(crate) const META: &str = "mcp-proto/inputRequired";

/// A tool's arguments, with what finishes an earlier call taken out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct InArguments {
    /// What the tool itself gets: `None` where there were no arguments.
    pub arguments: Option<Json>,
    /// The answers by the keys of their questions, not yet judged.
    pub answers: Vec<(String, Json)>,
    /// Which unfinished call they belong to.
    pub state: Option<String>,
}

/// The two arguments are not what they must be. The text tells the model how to write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadArguments {
    /// The answers are no object.
    Answers,
    /// The state is no string.
    State,
}

impl fmt::Display for BadArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answers => write!(f, "`{ANSWERS}` must be an object of one answer per question"),
            Self::State => write!(f, "`{STATE}` must be the string that the first result gave"),
        }
    }
}

impl core::error::Error for BadArguments {}

impl InArguments {
    /// Takes the two arguments out. A model that wrote the answers as a string of JSON is
    /// understood, and `null` counts as left out.
    ///
    /// # Errors
    /// Where one of them is something else.
    pub fn take(arguments: Option<Json>) -> Result<Self, BadArguments> {
        take::take(arguments)
    }

    /// The result that asks. `arguments` are those of the call without the two, `state` says which
    /// call is unfinished.
    ///
    /// # Errors
    /// [`Unaskable::InArguments`] for what a model could not ask a person.
    pub fn ask(
        arguments: Option<&Json>,
        questions: &[(String, InputRequest)],
        state: Option<&str>,
    ) -> Result<ToolResult, Unaskable> {
        explain::ask(arguments, questions, state)
    }

    /// The questions of a result that asks, for its client: from the result's `_meta`. `None` where
    /// it asks nothing.
    pub fn asked(meta: &Json) -> Option<InputRequired> {
        client::asked(meta)
    }

    /// The arguments that finish a call, for its client: those of the call without the two, the
    /// answers by the keys of their questions, and the state as it came.
    pub fn with_answers(
        arguments: Option<&Json>,
        answers: &[(String, Json)],
        state: Option<&Json>,
    ) -> Json {
        client::with_answers(arguments, answers, state)
    }

    /// Whether a tool has an argument of its own with one of the two names, and so cannot ask.
    pub fn collides(input_schema: &Json) -> bool {
        let properties =
            View::of(input_schema.as_bytes()).and_then(|root| root.object("properties"));
        properties.is_some_and(|own| [ANSWERS, STATE].iter().any(|name| own.get(name).is_some()))
    }

    /// Appends a tool's input schema with the two arguments, both optional.
    pub fn write_schema(input_schema: &Json, out: &mut Vec<u8>) {
        let text = input_schema.as_bytes();
        let mut object = Object::begin(out);
        let mut extended = false;
        for (name, value) in View::of(text).iter().flat_map(View::iter) {
            if name == "properties" && json::kind(value) == Kind::Object {
                extended = true;
                write_properties(View::of(value).as_ref(), object.value(&name));
            } else {
                json::compact(value, object.value(&name));
            }
        }
        if !extended {
            write_properties(None, object.value("properties"));
        }
        object.end();
    }
}

fn write_properties(own: Option<&View<'_>>, out: &mut Vec<u8>) {
    let mut object = Object::begin(out);
    for (name, value) in own.iter().flat_map(|own| own.iter()) {
        json::compact(value, object.value(&name));
    }
    object.object(ANSWERS, |schema| {
        schema.string("type", "object").string(
            "description",
            "Leave out at first. Where a result of this tool asks the user something: their \
             answers, as that result says.",
        );
    });
    object.object(STATE, |schema| {
        schema.string("type", "string").string(
            "description",
            "Leave out at first. Where a result of this tool asks the user something: the value \
             that it gives.",
        );
    });
    object.end();
}
