//! What came back for a question, judged against that very question.

mod bad;
mod read;
mod result;
#[cfg(test)]
mod tests;

pub use bad::BadAnswer;
pub use result::{Root, Roots, SampleResult};

use core::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Json;
use crate::frame::writer::Object;

/// An answer that fits its question.
///
/// Only [`accepted`](Self::accepted) is consent. An error, a missing action, or a form that does
/// not fit never becomes an `Answer`; see [`BadAnswer`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// What was done with the question. Models and roots always accept.
    pub action: AnswerAction,
    /// What was filled in; the whole result, where a model or the roots were asked for. Nothing
    /// comes with a refusal, nor from a URL (T-70).
    pub content: Option<Json>,
}

/// What a person did with a question (R2506-ELIC-09). The three differ (R26-ELIC-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnswerAction {
    /// They agreed. In URL mode this does not mean that anything is finished (T-70).
    Accept,
    /// They refused.
    Decline,
    /// They made no choice.
    Cancel,
}

impl AnswerAction {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Accept, Self::Decline, Self::Cancel];

    /// The action's name in the protocol.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}

impl fmt::Display for AnswerAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The answer that agrees.
///
/// # Errors
/// Where `content` cannot be JSON.
pub fn elicit_accept<T: Serialize + ?Sized>(content: &T) -> Result<Answer, serde_json::Error> {
    Ok(Answer { action: AnswerAction::Accept, content: Some(Json::of(content)?) })
}

/// The answer that refuses.
pub fn elicit_decline() -> Answer {
    Answer { action: AnswerAction::Decline, content: None }
}

/// The answer that makes no choice.
pub fn elicit_cancel() -> Answer {
    Answer { action: AnswerAction::Cancel, content: None }
}

impl Answer {
    /// Whether the answer is consent.
    pub fn accepted(&self) -> bool {
        self.action == AnswerAction::Accept
    }

    /// What was done with the question.
    pub fn action(&self) -> AnswerAction {
        self.action
    }

    /// Decodes what was filled in. Where nothing was, that of an empty object is decoded.
    ///
    /// # Errors
    /// Where it has not the shape of `T`.
    pub fn content<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(self.content.as_ref().map_or(b"{}", Json::as_bytes))
    }

    /// What was filled in, as it came.
    pub fn raw(&self) -> Option<&Json> {
        self.content.as_ref()
    }

    /// What the model said, where a model was asked.
    ///
    /// # Errors
    /// Where this is no answer of a model.
    pub fn sampled(&self) -> Result<SampleResult, BadAnswer> {
        SampleResult::read(self.content.as_ref().map_or(b"{}", Json::as_bytes))
    }

    /// The roots, where they were asked for.
    ///
    /// # Errors
    /// Where this is no list of roots.
    pub fn roots(&self) -> Result<Roots, BadAnswer> {
        Roots::read(self.content.as_ref().map_or(b"{}", Json::as_bytes))
    }

    /// Appends the answer to an elicitation as a client sends it (R2506-ELIC-09).
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut object = Object::begin(out);
        object.string("action", self.action.as_str());
        if let Some(content) = &self.content {
            content.write(object.value("content"));
        }
        object.end();
    }
}
