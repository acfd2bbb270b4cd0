//! Who answers a server's questions.

use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;

use crate::client::{CallId, Declined, Question};
use crate::model::{Answer, ClientCapabilities, InputRequest, Json};

/// A question to the person, or to the model, behind a client.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Asked {
    /// The question.
    pub question: InputRequest,
    /// The call that it is about, where that is known.
    pub call: Option<CallId>,
}

/// Answers questions. A client that has one declares what it can be asked; one that has none is
/// not asked.
pub trait Ask: Send + Sync + 'static {
    /// What can be asked.
    fn can(&self) -> ClientCapabilities;

    /// Answers one question. Dropped where the answer is no longer wanted.
    ///
    /// To refuse is an answer, too: [`elicit_decline`](crate::model::elicit_decline). An error is
    /// for what cannot be answered at all.
    fn ask(&self, asked: Asked) -> impl Future<Output = Result<Answer, Declined>> + Send;
}

/// An [`Ask`] of any type.
pub struct Asker(Arc<dyn DynAsk>);

type Answering = Pin<Box<dyn Future<Output = Result<Answer, Declined>> + Send>>;

trait DynAsk: Send + Sync {
    fn can(&self) -> ClientCapabilities;
    fn ask(self: Arc<Self>, asked: Asked) -> Answering;
}

impl<T: Ask> DynAsk for T {
    fn can(&self) -> ClientCapabilities {
        Ask::can(self)
    }

    fn ask(self: Arc<Self>, asked: Asked) -> Answering {
        Box::pin(async move { Ask::ask(&*self, asked).await })
    }
}

impl Asker {
    /// Answers by `ask`.
    pub fn new(ask: impl Ask) -> Self {
        Self(Arc::new(ask))
    }

    pub(super) fn can(&self) -> ClientCapabilities {
        self.0.can()
    }

    /// The answer as the protocol spells it.
    pub(super) fn answer(
        &self,
        question: Question,
    ) -> Pin<Box<dyn Future<Output = Spelled> + Send>> {
        let ask = self.0.clone();
        Box::pin(async move {
            let read = question.read().map_err(|bad| Declined::invalid(&bad))?;
            let answer = ask.ask(Asked { question: read.clone(), call: question.call }).await?;
            Ok(spell(answer, &read))
        })
    }
}

pub(super) type Spelled = Result<Json, Declined>;

/// What a model said, and roots, are whole results; what a person said has an action.
pub(crate) fn spell(answer: Answer, question: &InputRequest) -> Json {
    match (question, answer.content) {
        (InputRequest::Sample(_) | InputRequest::ListRoots, Some(result)) => result,
        (_, content) => {
            let mut out = Vec::new();
            Answer { content, ..answer }.write(&mut out);
            Json::scanned(out.into())
        }
    }
}

impl core::fmt::Debug for Asker {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Asker").field(&self.can()).finish()
    }
}

/// Answers by a function what `can` says.
pub fn ask_with<F, Fut>(can: ClientCapabilities, function: F) -> impl Ask
where
    F: Fn(Asked) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Answer, Declined>> + Send + 'static,
{
    AskWith { can, function }
}

struct AskWith<F> {
    can: ClientCapabilities,
    function: F,
}

impl<F, Fut> Ask for AskWith<F>
where
    F: Fn(Asked) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Answer, Declined>> + Send + 'static,
{
    fn can(&self) -> ClientCapabilities {
        self.can
    }

    fn ask(&self, asked: Asked) -> impl Future<Output = Result<Answer, Declined>> + Send {
        (self.function)(asked)
    }
}
