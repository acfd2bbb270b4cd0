//! Asking by ending: the explicit form.

use std::sync::Arc;

use futures_util::future::try_join_all;
use serde::Serialize;

use super::{Error, Exchange};
use crate::model::{
    Answer, AskWay, BadAnswer, Binding, Call, Digest, InputRequest, Json, NeedsInput, Round,
};
use crate::server::Answered;

/// What a tool, a prompt or a resource fails with where it needs input first: questions, and
/// possibly a state for the run that finds the answers. The handler then runs again from its top.
///
/// With a state, or where they were [kept](Self::kept), answers count only for the questions that
/// were asked, and are read by [`Exchange::told`]. Without either the client is given nothing to
/// bring back, and what it gives is read by [`Exchange::given`]; where the client can be asked
/// while the call goes on, both are the same.
///
/// ```
/// use mcp_proto::model::elicit;
/// use mcp_proto::service::{Error, Exchange, NeedInput};
///
/// async fn two_steps(ex: Exchange) -> Result<String, Error> {
///     match ex.state::<u32>()? {
///         None => Err(NeedInput::new().ask("first", elicit("Begin?")).state(&1)?.into()),
///         Some(1) => Err(NeedInput::new().ask("second", elicit("Go on?")).state(&2)?.into()),
///         Some(_) => Ok(format!("{} {}", ex.accepted("first"), ex.accepted("second"))),
///     }
/// }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "return it as an error"]
pub struct NeedInput(NeedsInput);

impl NeedInput {
    /// Asks nothing so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks this too, under a key of the handler's own choice. A question under the same key is
    /// replaced.
    pub fn ask(mut self, key: impl Into<String>, request: impl Into<InputRequest>) -> Self {
        let key = key.into();
        self.0.requests.retain(|(own, _)| *own != key);
        self.0.requests.push((key, request.into()));
        self
    }

    /// Leaves this for the next run, which finds it as [`Exchange::state`].
    ///
    /// # Errors
    /// Where it cannot be JSON.
    pub fn state<T: Serialize + ?Sized>(mut self, state: &T) -> Result<Self, Error> {
        self.0.state = Some(Json::of(state)?);
        Ok(self)
    }

    /// Has the server keep the questions and earlier answers, though there is no state.
    pub fn kept(mut self) -> Self {
        self.0.kept = true;
        self
    }
}

impl From<NeedInput> for NeedsInput {
    fn from(needs: NeedInput) -> Self {
        needs.0
    }
}

/// Whether all of it can be asked while `call` goes on.
pub(super) fn is_pushed(call: &Call, needs: &NeedsInput) -> bool {
    !needs.requests.is_empty()
        && needs.requests.iter().all(|(_, request)| call.ask_way(request) == AskWay::Push)
}

/// Asks all of it, and makes the call that a client would have repeated with the answers.
pub(super) async fn asked(ex: &Exchange, needs: NeedsInput) -> Result<Call, Error> {
    let asking = needs.requests.iter().map(|(key, request)| async {
        let answered = ex.push(request.clone()).await;
        Ok::<_, Error>((key.clone(), result(ex.call(), request, answered)?))
    });
    let answers = try_join_all(asking).await?;
    let mut call = ex.call().clone();
    let settled = call.round().map(|round| round.settle(&call.answers)).unwrap_or_default();
    let binding = Binding {
        operation: call.operation(),
        target: call.target().map(str::to_owned),
        arguments: Digest::of_arguments(call.arguments()),
        principal: None,
    };
    let round = Round { binding, questions: needs.requests, settled, state: needs.state };
    call.round = Some(Arc::new(round));
    call.answers = answers;
    Ok(call)
}

/// The result that a client would have sent.
fn result(call: &Call, request: &InputRequest, answered: Option<Answered>) -> Result<Json, Error> {
    match answered {
        Some(Answered::Given(result)) => {
            Answer::read(request, &result)?;
            Ok(result)
        }
        Some(Answered::Error(error)) => {
            Answer::of_reply(request, Err(&error))?;
            Err(Error::internal("an error was taken for an answer"))
        }
        Some(Answered::TimedOut) => Err(BadAnswer::TimedOut.into()),
        Some(Answered::Unsupported) => {
            Err(call.asking().failure([request], &call.client().capabilities).into())
        }
        Some(Answered::Failed) | None => Err(Error::internal("the question got lost")),
    }
}
