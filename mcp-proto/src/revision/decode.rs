//! From a message to a [`Call`].

use super::params::{self, Checked};
use super::{Adapter, Metadata, Preamble, Refused, Shape, decode_text, notification};
use crate::frame::envelope::{Params, ProgressToken, RequestId};
use crate::frame::json;
use crate::model::{
    Asking, Call, ClientProfile, Failure, FailureKind, Json, Keeping, LogLevel, Operation, Text,
};

/// What a message means to a server.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is nearly every message")]
#[non_exhaustive]
pub enum Decoded {
    /// A request, or a notification that a server acts on.
    Call(Call),
    /// The client no longer wants the answer to a request (R24-CANC-01).
    Cancelled {
        /// Which request.
        request: RequestId,
        /// Why, for a log.
        reason: Option<Text>,
    },
    /// The answer to a request of ours.
    Answered(Answered),
    /// Nothing to do and nothing to say: a notification that is unknown, or malformed (R24-RPC-11,
    /// R24-CANC-08).
    Ignored,
    /// A request that is refused, with its id.
    Refused(Refused),
}

/// The client's answer to a request of ours. Revisions that ask by results have none: nothing waits
/// for it there (R26-HTTP-07, R26-STDIO-10).
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// The request's id; an error that belongs to none has none.
    pub id: Option<RequestId>,
    /// The result, or the error: an object with a code and a message, never consent to anything.
    pub result: Result<Json, Json>,
}

impl Adapter {
    /// Decodes a message that was selected to be of this revision. `client` is what a handshake
    /// told; it is not read where each request describes its client.
    ///
    /// No message is answered here that must not be: see [`Decoded`].
    pub fn decode(&self, preamble: &Preamble, client: Option<&ClientProfile>) -> Decoded {
        match preamble.shape() {
            Shape::Request(id) => match self.request(preamble, id, client) {
                Ok(call) => Decoded::Call(call),
                Err(failure) => Decoded::Refused(Refused::new(Some(id.clone()), failure)),
            },
            Shape::Notification => self.notification(preamble, client),
            Shape::Result { id, result } => Decoded::Answered(Answered {
                id: Some(id.clone()),
                result: Ok(json_at(preamble, *result)),
            }),
            Shape::Error { id, error } => Decoded::Answered(Answered {
                id: id.clone(),
                result: Err(json_at(preamble, *error)),
            }),
        }
    }

    fn request(
        &self,
        preamble: &Preamble,
        id: &RequestId,
        client: Option<&ClientProfile>,
    ) -> Result<Call, Failure> {
        let method = preamble.method.as_ref().ok_or_else(internal)?;
        let operation = self.operation_for(method).unwrap_or(Operation::Extension);
        if is_notification(operation) {
            let why = "this method is that of a notification";
            return Err(Failure::new(FailureKind::UnknownMethod, why));
        }
        if operation == Operation::Describe && self.has_handshake && preamble.in_batch {
            // R2503-RPC-19
            let why = "a handshake cannot be part of a batch";
            return Err(Failure::new(FailureKind::Malformed, why));
        }
        self.call(preamble, operation, Some(id.clone()), client)
    }

    fn notification(&self, preamble: &Preamble, client: Option<&ClientProfile>) -> Decoded {
        let method = preamble.method().unwrap_or_default();
        if method == notification::CANCELLED {
            return cancelled(preamble);
        }
        match self.operation_for(method) {
            Some(operation) if is_notification(operation) => {
                self.call(preamble, operation, None, client).map_or(Decoded::Ignored, Decoded::Call)
            }
            // A request without an id is one that nobody waits for: it is not run either.
            _ => Decoded::Ignored,
        }
    }

    fn call(
        &self,
        preamble: &Preamble,
        operation: Operation,
        id: Option<RequestId>,
        client: Option<&ClientProfile>,
    ) -> Result<Call, Failure> {
        let invalid = |why: &'static str| Failure::new(FailureKind::InvalidParams, why);
        let metadata = &preamble.metadata;
        if !self.has_handshake && id.is_some() {
            metadata.require(&preamble.message)?;
        }
        let params = match preamble.params {
            Params::Absent | Params::Null => None,
            Params::Object(span) => Some(json_at(preamble, span)),
            Params::Other(_) => return Err(invalid("params must be an object")),
        };
        let Checked { target, arguments, detail } = params::check(self, operation, preamble)?;
        let client = if operation == Operation::Describe && self.has_handshake {
            let part = |name| preamble.param(name).map(|span| json_at(preamble, span));
            ClientProfile::new(part("capabilities"), part("clientInfo"))
        } else if self.has_handshake {
            client.cloned().unwrap_or_default()
        } else {
            metadata.client(preamble)?
        };
        let (answers, state_id) = self.answers(preamble, operation)?;
        let progress_token = metadata
            .progress_token
            .and_then(|span| ProgressToken::from_json(span.of(&preamble.message)));
        Ok(Call {
            operation,
            revision: self.version,
            id,
            method: match self.method_for(operation) {
                Some(method) if preamble.method() == Some(method) => Text::from(method),
                _ => preamble.method.clone().unwrap_or_default(),
            },
            target,
            arguments,
            params,
            detail,
            log_level: client.log_level.or(self.default_log_level),
            client,
            progress_token,
            raw: Json::scanned(preamble.message.clone()),
            asking: Asking::default(),
            answers,
            state_id,
            round: None,
            session: None,
            principal: None,
            keeping: Keeping::default(),
        })
    }
}

impl Metadata {
    /// The client as the request itself describes it. Nothing of it outlives the request (C29).
    fn client(&self, preamble: &Preamble) -> Result<ClientProfile, Failure> {
        let part = |span: Option<json::Span>| span.map(|span| json_at(preamble, span));
        let mut client = ClientProfile::new(part(self.capabilities), part(self.client_info));
        if let Some(span) = self.log_level {
            client.log_level = Some(log_level(preamble, span).ok_or_else(|| {
                // R26-LOG-05
                let why = "io.modelcontextprotocol/logLevel is none of the eight levels";
                Failure::new(FailureKind::InvalidParams, why)
            })?);
        }
        Ok(client)
    }
}

impl Adapter {
    /// What a repeated request brings back: answers and state (R26-MRTR-12, R26-MRTR-20).
    fn answers(&self, preamble: &Preamble, operation: Operation) -> Result<Brought, Failure> {
        let repeats = matches!(
            operation,
            Operation::CallTool | Operation::GetPrompt | Operation::ReadResource
        );
        if !self.can_ask() || !repeats {
            return Ok(Brought::default());
        }
        let invalid = |why: &'static str| Failure::new(FailureKind::InvalidParams, why);
        let message = &preamble.message;
        let mut answers = Vec::new();
        if let Some(span) = preamble.param("inputResponses") {
            let object = span.of(message);
            if json::kind(object) != json::Kind::Object {
                return Err(invalid("`inputResponses` must be an object"));
            }
            let members = json::unique_members(object)
                .map_err(|_| invalid("`inputResponses` has one answer for each question"))?;
            for member in members.iter() {
                let answer = json_at(preamble, member.value.within(span));
                answers.push((member.decoded_name(object).into_owned(), answer));
            }
        }
        let state = match preamble.param("requestState") {
            None => None,
            Some(span) => Some(
                decode_text(message, span)
                    .ok_or_else(|| invalid("`requestState` must be a string"))?,
            ),
        };
        Ok((answers, state))
    }
}

/// Answers by key, and the state that they belong to.
type Brought = (Vec<(String, Json)>, Option<Text>);

/// Operations that are asked for by notifications.
fn is_notification(operation: Operation) -> bool {
    operation == Operation::HandshakeComplete
}

fn cancelled(preamble: &Preamble) -> Decoded {
    let request = preamble
        .param("requestId")
        .and_then(|span| RequestId::from_json(span.of(&preamble.message)));
    let reason = preamble.param("reason").and_then(|span| decode_text(&preamble.message, span));
    request.map_or(Decoded::Ignored, |request| Decoded::Cancelled { request, reason })
}

/// A validated value of the message, sharing its bytes.
pub(super) fn json_at(preamble: &Preamble, span: json::Span) -> Json {
    Json::scanned(preamble.message.slice(span.start as usize..span.end as usize))
}

pub(super) fn log_level(preamble: &Preamble, span: json::Span) -> Option<LogLevel> {
    LogLevel::from_name(&json::string(span.of(&preamble.message))?)
}

fn internal() -> Failure {
    Failure::new(FailureKind::Internal, "a request without a method")
}
