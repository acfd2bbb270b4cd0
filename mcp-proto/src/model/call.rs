//! One decoded request or notification, with the revision's differences already flattened.

use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::view::View;
use super::{
    Answer, AskWay, Asking, BadAnswer, ClientProfile, Filter, InputRequest, Json, Keeping,
    LogLevel, Operation, Round, SessionRef, Text, TraceContext,
};
use crate::auth::Principal;
use crate::frame::envelope::{ProgressToken, RequestId};

/// One decoded request, or a notification that the server acts on.
///
/// It owns its message (the parts share the bytes), so it outlives the input buffer. Whether its
/// client was described by a handshake or by the request itself cannot be told from it.
#[derive(Clone, Debug)]
pub struct Call {
    pub(crate) operation: Operation,
    /// The version of its revision.
    pub(crate) revision: &'static str,
    pub(crate) id: Option<RequestId>,
    pub(crate) method: Text,
    pub(crate) target: Option<Text>,
    pub(crate) arguments: Option<Json>,
    pub(crate) params: Option<Json>,
    pub(crate) detail: Detail,
    pub(crate) client: ClientProfile,
    pub(crate) progress_token: Option<ProgressToken>,
    pub(crate) log_level: Option<LogLevel>,
    pub(crate) raw: Json,
    pub(crate) asking: Asking,
    /// The answers that came with this call, by key.
    pub(crate) answers: Vec<(String, Json)>,
    /// The state of the call that this one repeats.
    pub(crate) state_id: Option<Text>,
    /// What that call asked and was told, once it was found.
    pub(crate) round: Option<Arc<Round>>,
    pub(crate) session: Option<SessionRef>,
    pub(crate) principal: Option<Arc<Principal>>,
    pub(crate) keeping: Keeping,
}

/// What some operations carry besides target and arguments.
#[derive(Clone, Debug, Default)]
pub(crate) enum Detail {
    #[default]
    None,
    /// Of the lists: where to go on.
    Cursor(Text),
    /// Of `SetLogLevel`.
    Level(LogLevel),
    /// Of `Complete`.
    Completing(Box<Completing>),
    /// Of `Describe` by handshake: the version that the client asked for.
    Requested(Text),
    /// Of `Listen`: what to listen to.
    Listen(Box<Filter>),
}

impl Call {
    /// What is asked for.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The version of the protocol that it came in: for logs. What handlers do does not depend on
    /// it.
    pub fn revision(&self) -> &'static str {
        self.revision
    }

    /// The trace that it is part of, where its client said (R26-META-15).
    pub fn trace(&self) -> Option<TraceContext> {
        TraceContext::read(&View::of(self.params.as_ref()?.as_bytes())?.object("_meta")?)
    }

    /// The request's id; `None` for a notification.
    pub fn id(&self) -> Option<&RequestId> {
        self.id.as_ref()
    }

    /// Nobody waits for an answer.
    pub fn is_notification(&self) -> bool {
        self.id.is_none()
    }

    /// The method as the wire names it; what an extension's handler is found by.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The tool's name, the prompt's name, or the resource's URI.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// The arguments of a tool or a prompt, as the client sent them: an object.
    pub fn arguments(&self) -> Option<&Json> {
        self.arguments.as_ref()
    }

    /// Decodes the arguments; where there are none, those of an empty object.
    ///
    /// # Errors
    /// Where they do not have the shape of `T`.
    pub fn decode_arguments<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let text = self.arguments.as_ref().map_or(&b"{}"[..], Json::as_bytes);
        serde_json::from_slice(text)
    }

    /// The parameters as the client sent them.
    pub fn params(&self) -> Option<&Json> {
        self.params.as_ref()
    }

    /// What is to be completed, if that is asked for.
    pub fn completing(&self) -> Option<&Completing> {
        match &self.detail {
            Detail::Completing(completing) => Some(completing),
            _ => None,
        }
    }

    /// Who is calling.
    pub fn client(&self) -> &ClientProfile {
        &self.client
    }

    /// What progress is reported under; `None` where the client wants none (R24-PROG-01).
    pub fn progress_token(&self) -> Option<&ProgressToken> {
        self.progress_token.as_ref()
    }

    /// The least severe log message that may be sent for this call; `None` means none may be.
    pub fn log_level(&self) -> Option<LogLevel> {
        self.log_level
    }

    /// The answer to a question that an earlier run of this call asked under `key`. It counts only
    /// where this very question was asked; `None` means that it is to be asked, for the first time
    /// or anew.
    pub fn answer(&self, key: &str, question: &InputRequest) -> Option<Result<Answer, BadAnswer>> {
        self.round.as_ref()?.answer(key, question, &self.answers)
    }

    /// The answer to whatever an earlier run of this call asked under `key`.
    pub fn told(&self, key: &str) -> Option<Answer> {
        self.round.as_ref()?.told(key, &self.answers)
    }

    /// What the client gave under `key` with this call, whether or not it was asked: the result
    /// as it came, to be judged against a question with [`Answer::read`].
    pub fn given(&self, key: &str) -> Option<&Json> {
        self.answers.iter().find(|(own, _)| own == key).map(|(_, given)| given)
    }

    /// What an earlier run of this call asked, was told, and kept.
    pub fn round(&self) -> Option<&Round> {
        self.round.as_deref()
    }

    /// How `request` reaches this call's client. [`AskWay::Retry`] is by
    /// [`Outcome::NeedsInput`](super::Outcome::NeedsInput).
    pub fn ask_way(&self, request: &InputRequest) -> AskWay {
        self.asking.way(request, &self.client.capabilities)
    }

    /// How this call can ask its client at all.
    pub fn asking(&self) -> Asking {
        self.asking
    }

    /// The session that the call belongs to.
    pub fn session(&self) -> Option<&SessionRef> {
        self.session.as_ref()
    }

    /// Who calls, where that is asked.
    pub fn principal(&self) -> Option<&Arc<Principal>> {
        self.principal.as_ref()
    }

    /// The whole message as it came.
    pub fn raw(&self) -> &Json {
        &self.raw
    }
}

/// What a completion is asked for (R26-CMPL-03).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Completing {
    /// Whose argument it is.
    pub reference: Reference,
    /// The argument's name.
    pub argument: String,
    /// What was typed so far.
    pub value: String,
    /// Values that other arguments have already.
    pub context: Vec<(String, String)>,
}

impl Completing {
    /// An argument of this prompt, with what was typed so far.
    pub fn prompt(
        name: impl Into<String>,
        argument: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        Self::of(Reference::Prompt(name.into()), argument.into(), value.into())
    }

    /// A variable of this resource template, with what was typed so far.
    pub fn resource(
        template: impl Into<String>,
        variable: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        Self::of(Reference::Resource(template.into()), variable.into(), value.into())
    }

    /// The same, where another argument has this value already (R2506-CMPL-01).
    #[must_use]
    pub fn with(mut self, argument: impl Into<String>, value: impl Into<String>) -> Self {
        self.context.push((argument.into(), value.into()));
        self
    }

    fn of(reference: Reference, argument: String, value: String) -> Self {
        Self { reference, argument, value, context: Vec::new() }
    }
}

/// Whose argument is being completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A prompt, by name.
    Prompt(String),
    /// A resource template, by its text (or a resource, by its URI).
    Resource(String),
}
