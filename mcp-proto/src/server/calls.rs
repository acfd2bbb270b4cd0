//! Calls that an application is running, and the last word on each.

use super::CallId;
use crate::frame::envelope::{ProgressToken, RequestId};
use crate::frame::json;
use crate::frame::writer::Object;
use crate::model::{
    Call, ClientCapabilities, Failure, FailureKind, InArguments, InputRequest, Json, LogLevel,
    LogMessage, Operation, Outcome, Progress, Text, Tool,
};
use crate::revision::{Adapter, AskBy, Published};

/// One call under way: what its answer and its messages must be written with.
#[derive(Debug)]
pub(crate) struct InFlight {
    pub(crate) call: CallId,
    pub(crate) request: RequestId,
    pub(crate) adapter: Adapter,
    pub(crate) operation: Operation,
    pub(crate) target: Option<Text>,
    pub(crate) arguments: Option<Json>,
    pub(crate) capabilities: ClientCapabilities,
    progress_token: Option<ProgressToken>,
    progress: Option<f64>,
    log_level: Option<LogLevel>,
}

/// The last word on a call.
#[derive(Clone, Debug)]
pub(crate) enum Last {
    /// What the application said.
    Outcome(Outcome),
    /// Questions, and the state under which their answers are expected.
    Asked { requests: Vec<(String, InputRequest)>, state: Option<String> },
    /// What an equal request got before: an object of a `result` or an `error`.
    Replayed(Json),
}

impl Last {
    /// The worker that ran the call is lost.
    pub(crate) fn lost() -> Self {
        Self::Outcome(Self::failure().into())
    }

    /// What is said where nobody knows how a call ended.
    pub(crate) fn failure() -> Failure {
        let why = "the worker that ran this call is lost; the call may have run";
        Failure::new(FailureKind::Internal, why)
    }
}

impl InFlight {
    /// Remembers what is needed of `call`; `None` for a notification, which nothing answers.
    pub(crate) fn new(id: CallId, adapter: Adapter, call: &Call) -> Option<Self> {
        Some(Self {
            call: id,
            request: call.id.clone()?,
            adapter,
            operation: call.operation,
            target: call.target.clone(),
            arguments: call.arguments.clone(),
            capabilities: call.client.capabilities,
            progress_token: call.progress_token.clone(),
            progress: None,
            log_level: call.log_level,
        })
    }

    /// Appends the response, and returns its HTTP status.
    pub(crate) fn write(&self, published: &Published, last: &Last, out: &mut Vec<u8>) -> u16 {
        match last {
            Last::Outcome(outcome) => self.write_outcome(published, outcome, out),
            Last::Asked { requests, state } => {
                self.write_asked(published, requests, state.as_deref(), out)
            }
            Last::Replayed(payload) => {
                let mut response = Object::begin(out);
                response.string("jsonrpc", "2.0").raw("id", self.request.as_json());
                let text = payload.as_bytes();
                for member in json::members(text).iter() {
                    response.raw(&member.decoded_name(text), member.value.of(text));
                }
                response.end();
                200
            }
        }
    }

    /// What a response says, without whom it says it to: an object of a `result` or an `error`.
    pub(crate) fn payload(&self, published: &Published, last: &Last) -> Json {
        let mut response = Vec::new();
        self.write(published, last, &mut response);
        let members = json::members(&response);
        let mut payload = Vec::with_capacity(response.len());
        let mut object = Object::begin(&mut payload);
        for name in ["result", "error"] {
            object.raw_if(name, members.get(&response, name).map(|span| span.of(&response)));
        }
        object.end();
        Json::scanned(payload.into())
    }

    fn write_outcome(&self, published: &Published, outcome: &Outcome, out: &mut Vec<u8>) -> u16 {
        let tool = self.tool(published);
        self.adapter.write_outcome(out, published, &self.request, self.operation, tool, outcome)
    }

    fn write_asked(
        &self,
        published: &Published,
        requests: &[(String, InputRequest)],
        state: Option<&str>,
        out: &mut Vec<u8>,
    ) -> u16 {
        let failed = |why: String| Outcome::from(Failure::new(FailureKind::InputUnsupported, why));
        match self.adapter.ask_elicitation {
            AskBy::Retry => {
                let client = &self.capabilities;
                let id = &self.request;
                match self.adapter.write_asked(out, published, id, requests, state, client) {
                    Ok(()) => 200,
                    Err(why) => self.write_outcome(published, &failed(why.to_string()), out),
                }
            }
            AskBy::Arguments => {
                let asked = InArguments::ask(self.arguments.as_ref(), requests, state);
                let outcome = asked.map_or_else(|why| failed(why.to_string()), Outcome::from);
                self.write_outcome(published, &outcome, out)
            }
            AskBy::Push => {
                let why = "a question of this call needs a stream of its own";
                self.write_outcome(published, &failed(why.into()), out)
            }
        }
    }

    /// The tool that is called, if it is one.
    pub(crate) fn tool<'a>(&self, published: &'a Published) -> Option<&'a Tool> {
        match self.operation {
            Operation::CallTool => published.tool(&self.adapter, self.target.as_deref()?),
            _ => None,
        }
    }

    /// Whether `progress` is to be sent: the client asked for it, and it exceeds what was sent
    /// (R24-PROG-01, R24-PROG-02).
    pub(crate) fn admit(&mut self, progress: &Progress) -> Option<&ProgressToken> {
        let token = self.progress_token.as_ref()?;
        let rises = self.progress.is_none_or(|last| progress.progress > last);
        if !rises || !progress.progress.is_finite() {
            return None;
        }
        self.progress = Some(progress.progress);
        Some(token)
    }

    /// Whether the client wants `message` for this call (R26-LOG-04).
    pub(crate) fn wants(&self, message: &LogMessage) -> bool {
        self.log_level.is_some_and(|least| message.level >= least)
    }
}
