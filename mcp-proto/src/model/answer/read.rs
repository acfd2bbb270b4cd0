//! From a result, or an error, to an answer.

use super::{Answer, AnswerAction, BadAnswer, Roots, SampleResult};
use crate::frame::json::{self, Kind};
use crate::model::view::{View, copied};
use crate::model::{InputRequest, Json};

impl Answer {
    /// Judges a result against the question that it answers.
    ///
    /// Refusals are not validated (C97). Accepting a form without content is fine where no field is
    /// required; content that comes with a refusal or from a URL is dropped (T-70).
    ///
    /// # Errors
    /// Where it is no answer to this question; nothing that fails here is consent.
    pub fn read(question: &InputRequest, result: &Json) -> Result<Self, BadAnswer> {
        let text = result.as_bytes();
        match question {
            InputRequest::Elicit(form) => elicited(text, |content| form.schema.fits(content)),
            InputRequest::ElicitUrl { .. } => {
                let answer = elicited(text, |_| Ok(()))?;
                Ok(Self { content: None, ..answer })
            }
            InputRequest::Sample(_) => SampleResult::read(text).map(|_| given(result)),
            InputRequest::ListRoots => Roots::read(text).map(|_| given(result)),
        }
    }

    /// Judges a reply, of which an error is no answer to anything.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`BadAnswer::Error`].
    pub fn of_reply(
        question: &InputRequest,
        reply: Result<&Json, &Json>,
    ) -> Result<Self, BadAnswer> {
        match reply {
            Ok(result) => Self::read(question, result),
            Err(error) => {
                let error = View::of(error.as_bytes());
                let member = |name| error.as_ref().and_then(|error| error.get(name));
                Err(BadAnswer::Error {
                    code: member("code").and_then(json::integer).unwrap_or_default(),
                    message: member("message").and_then(json::string).unwrap_or_default().into(),
                })
            }
        }
    }
}

fn elicited(
    result: &[u8],
    judge: impl FnOnce(Option<&[u8]>) -> Result<(), BadAnswer>,
) -> Result<Answer, BadAnswer> {
    let result = View::of(result).ok_or(BadAnswer::NotAnObject)?;
    let name = result.string("action").ok_or(BadAnswer::NoAction)?;
    let action = AnswerAction::ALL.into_iter().find(|action| action.as_str() == name);
    let action = action.ok_or_else(|| BadAnswer::UnknownAction(name.into()))?;
    if action != AnswerAction::Accept {
        return Ok(Answer { action, content: None });
    }
    let content = result.get("content").filter(|content| json::kind(content) != Kind::Null);
    judge(content)?;
    Ok(Answer { action, content: content.map(copied) })
}

fn given(result: &Json) -> Answer {
    Answer { action: AnswerAction::Accept, content: Some(result.clone()) }
}
