//! Asking the client from within a handler.

use core::fmt;
use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::{Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::promise::{Promise, Promised, promise};
use super::{Command, Error, Exchange, schema};
use crate::model::{
    Answer, AnswerAction, AskWay, BadAnswer, Form, FormError, FormSchema, InputRequest, NeedsInput,
    elicit,
};
use crate::server::Answered;

/// A form with the fields of `T`: text, numbers, booleans and unit variants.
///
/// ```
/// use mcp_proto::service::{Error, Exchange, form, schemars};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Contact { name: String, email: Option<String> }
///
/// async fn subscribe(ex: Exchange) -> Result<String, Error> {
///     let answer = ex.ask("contact", form::<Contact>("Who are you?")?).await?;
///     if !answer.accepted() {
///         return Ok("nobody subscribed".into());
///     }
///     Ok(format!("welcome, {}", answer.content::<Contact>()?.name))
/// }
/// ```
///
/// # Errors
/// Where `T` is no form: its fields must be flat.
pub fn form<T: JsonSchema>(message: impl Into<String>) -> Result<Form, FormError> {
    let schema = FormSchema::from_type_schema(&schema::input::<T>().to_value().into())?;
    Ok(elicit(message).schema(schema))
}

impl Exchange {
    /// Asks the client, and waits for its answer: whether a person accepts, fills in a form, what
    /// its model says, or which roots it has. `key` names the question within the call.
    ///
    /// It reads as if it waited here. **In truth the handler may be stopped here and started again
    /// from its top**, possibly in another process, once the answer is there: where the revision
    /// has the call end with the question, `ask` returns at once when the call is repeated. So
    /// whatever cannot be taken back belongs after the last `ask`, and the same questions must be
    /// asked again on the way there. Questions asked at once (with a `join`) reach the client
    /// together.
    ///
    /// ```
    /// use mcp_proto::model::elicit;
    /// use mcp_proto::service::{Args, Error, Exchange, Registry, schemars, tool};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Deploy { service: String }
    ///
    /// async fn deploy(Args(Deploy { service }): Args<Deploy>, ex: Exchange) -> Result<String, Error> {
    ///     // Runs again for every answer, here or on another node: looking is fine.
    ///     let version = "1.2.3"; // .. read from somewhere ..
    ///     let sure = ex.ask("sure", elicit(format!("Deploy {service} {version}?"))).await?;
    ///     if !sure.accepted() {
    ///         return Ok(format!("stopped: {}", sure.action()));
    ///     }
    ///     // Runs once, since nothing is asked from here on: this is the place to act.
    ///     Ok(format!("deployed {service} {version}"))
    /// }
    ///
    /// let registry = Registry::new("demo", "1.0.0").tool(tool("deploy", deploy).asks());
    /// # assert!(registry.build().is_ok());
    /// ```
    ///
    /// Declining and cancelling are answers, and so is a [`default`](Ask::default). That nobody
    /// answers in time is none: it is [`BadAnswer::TimedOut`].
    ///
    /// # Errors
    /// - This client cannot be asked that, and no default is given.
    /// - Nobody answered in time.
    /// - It answered with an error, or with what does not fit the question, where it cannot be
    ///   asked anew ([`Error::bad_answer`]). That is never consent.
    pub fn ask(&self, key: impl Into<String>, request: impl Into<InputRequest>) -> Ask {
        Ask {
            exchange: self.clone(),
            key: key.into(),
            request: request.into(),
            default: None,
            step: Step::New,
        }
    }

    /// Whether a question that was asked under `key` has an answer, whatever it says.
    pub fn answered(&self, key: &str) -> bool {
        self.action(key).is_some()
    }

    /// Whether a question that was asked under `key` was accepted.
    pub fn accepted(&self, key: &str) -> bool {
        self.action(key) == Some(AnswerAction::Accept)
    }

    /// What was done with a question that was asked under `key`; `None` where nobody knows yet.
    pub fn action(&self, key: &str) -> Option<AnswerAction> {
        self.told(key).map(|answer| answer.action())
    }

    /// The answer to a question that was asked under `key`.
    pub fn told(&self, key: &str) -> Option<Answer> {
        self.asked().told(key).or_else(|| self.call().told(key))
    }

    /// What the client gave with this very call under `key`, judged against `request`, whether or
    /// not it was asked: for a [`NeedInput`](super::NeedInput) of which the server keeps nothing.
    ///
    /// Such an answer proves nothing: whoever calls can make it up. Where consent matters, use
    /// [`ask`](Self::ask).
    pub fn given(&self, key: &str, request: &InputRequest) -> Option<Result<Answer, BadAnswer>> {
        self.call().given(key).map(|given| Answer::read(request, given))
    }

    /// Whether a form can be put to this client.
    pub fn can_ask(&self) -> bool {
        self.can_ask_for(&elicit("").into())
    }

    /// Whether this question can be put to this client.
    pub fn can_ask_for(&self, request: &InputRequest) -> bool {
        self.call().ask_way(request) != AskWay::Never
    }

    /// What an earlier run of this handler [left](super::NeedInput::state) for this one; `None`
    /// where it left nothing.
    ///
    /// # Errors
    /// Where it has not the shape of a `T`.
    pub fn state<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        let state = self.call().round().and_then(|round| round.state.as_ref());
        Ok(state.map(|state| serde_json::from_slice(state.as_bytes())).transpose()?)
    }
}

/// A question on its way; see [`Exchange::ask`]. Dropping it takes the question back.
#[must_use = "nothing is asked before this is awaited"]
pub struct Ask {
    exchange: Exchange,
    key: String,
    request: InputRequest,
    default: Option<Answer>,
    step: Step,
}

enum Step {
    New,
    /// Registered: the call ends with the question.
    Registered,
    /// The client has it.
    Pushed(Promised<Answered>),
    Done,
}

impl Ask {
    /// What to take for the answer where this client cannot be asked.
    pub fn default(mut self, answer: Answer) -> Self {
        self.default = Some(answer);
        self
    }

    fn begin(&mut self) -> Poll<Result<Answer, Error>> {
        let call = self.exchange.call();
        match call.ask_way(&self.request) {
            AskWay::Never => Poll::Ready(self.unasked()),
            AskWay::Retry => match call.answer(&self.key, &self.request) {
                Some(Ok(answer)) => Poll::Ready(Ok(answer)),
                // What does not fit is asked anew.
                Some(Err(_)) | None => self.register(),
            },
            AskWay::Push => {
                self.step = Step::Pushed(self.exchange.push(self.request.clone()));
                Poll::Pending
            }
        }
    }

    fn register(&mut self) -> Poll<Result<Answer, Error>> {
        let question = (self.key.clone(), self.request.clone());
        if !self.exchange.asked().register(question) {
            let why = format!("two questions at once have the key `{}`", self.key);
            return Poll::Ready(Err(Error::internal(why)));
        }
        self.step = Step::Registered;
        self.exchange.send(Command::Round(Round(self.exchange.clone())));
        Poll::Pending
    }

    fn unasked(&mut self) -> Result<Answer, Error> {
        let call = self.exchange.call();
        let failure = || call.asking().failure([&self.request], &call.client().capabilities);
        self.default.take().ok_or_else(|| failure().into())
    }

    fn judge(&mut self, answered: Option<Answered>) -> Result<Answer, Error> {
        Ok(match answered {
            Some(Answered::Given(result)) => Answer::read(&self.request, &result)?,
            Some(Answered::Error(error)) => Answer::of_reply(&self.request, Err(&error))?,
            Some(Answered::TimedOut) => return Err(BadAnswer::TimedOut.into()),
            Some(Answered::Unsupported) => return self.unasked(),
            Some(Answered::Failed) => return Err(Error::internal("the question got lost")),
            None => return Err(Error::internal("the call is over; nobody can be asked")),
        })
    }
}

impl Future for Ask {
    type Output = Result<Answer, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if matches!(this.step, Step::New)
            && let Poll::Ready(answer) = this.begin()
        {
            return Poll::Ready(this.done(answer));
        }
        match &mut this.step {
            Step::Pushed(promised) => {
                let answered = core::task::ready!(Pin::new(promised).poll(cx));
                let answer = this.judge(answered);
                Poll::Ready(this.done(answer))
            }
            // The handler is not polled again, or it was asked for too much.
            Step::New | Step::Registered | Step::Done => Poll::Pending,
        }
    }
}

impl Ask {
    fn done(&mut self, answer: Result<Answer, Error>) -> Result<Answer, Error> {
        self.step = Step::Done;
        if let Ok(answer) = &answer {
            self.exchange.asked().tell(&self.key, answer);
        }
        answer
    }
}

impl Drop for Ask {
    fn drop(&mut self) {
        match mem::replace(&mut self.step, Step::Done) {
            Step::New | Step::Done => {}
            Step::Registered => self.exchange.asked().forget(&self.key),
            Step::Pushed(promised) => {
                drop(promised);
                self.exchange.send(Command::Withdraw);
            }
        }
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ask({}, {})", self.key, self.request.method())
    }
}

impl Exchange {
    /// Puts a question to the client while the call goes on.
    pub(super) fn push(&self, request: InputRequest) -> Promised<Answered> {
        let (answer, promised) = promise();
        self.send(Command::Ask(Question { request, answer }));
        promised
    }
}

/// What was asked on one call, and told.
#[derive(Debug, Default)]
pub(crate) struct Asked(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The questions that the call is to end with.
    round: Vec<(String, InputRequest)>,
    told: Vec<(String, Answer)>,
}

impl Asked {
    /// False where another question has the key.
    fn register(&self, question: (String, InputRequest)) -> bool {
        let mut inner = self.inner();
        let is_new = inner.round.iter().all(|(key, _)| *key != question.0);
        if is_new {
            inner.round.push(question);
        }
        is_new
    }

    fn forget(&self, key: &str) {
        self.inner().round.retain(|(own, _)| own != key);
    }

    fn tell(&self, key: &str, answer: &Answer) {
        let mut inner = self.inner();
        inner.told.retain(|(own, _)| own != key);
        inner.told.push((key.to_owned(), answer.clone()));
    }

    fn told(&self, key: &str) -> Option<Answer> {
        self.inner().told.iter().find(|(own, _)| own == key).map(|(_, answer)| answer.clone())
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question for [`Machine::ask`](crate::server::Machine::ask).
#[derive(Debug)]
pub struct Question {
    request: InputRequest,
    answer: Promise<Answered>,
}

impl Question {
    /// What is asked.
    pub fn request(&self) -> &InputRequest {
        &self.request
    }

    /// Whether the handler still waits for the answer; if not, the question is to be
    /// [withdrawn](crate::server::Machine::withdraw).
    pub fn is_wanted(&self) -> bool {
        self.answer.is_wanted()
    }

    /// Hands the handler what came of it.
    pub fn settle(self, answered: Answered) {
        self.answer.keep(answered);
    }
}

/// Questions that a call is to end with.
#[derive(Debug)]
pub struct Round(Exchange);

impl Round {
    /// The questions; `None` where they were taken back, or the handler is done: then its result
    /// counts. Otherwise the handler is to be dropped.
    pub fn take(self) -> Option<NeedsInput> {
        if self.0.is_over() {
            return None;
        }
        let round = mem::take(&mut self.0.asked().inner().round);
        (!round.is_empty()).then(|| NeedsInput::new(round))
    }
}

#[cfg(test)]
mod tests;
