//! JSON-RPC 2.0 envelopes: what one JSON object is, and how to write one.
//!
//! Which keys are present decides what an envelope is, never what their values look like: a
//! request whose method is the empty string is a request, and one whose method is null an invalid
//! one, and neither is ever taken for a response.

use std::borrow::Cow;
use std::fmt;

use super::json::{self, Kind, Message, Span};

mod id;
mod outline;
#[cfg(test)]
mod tests;
mod write;

pub use id::{ProgressToken, RequestId};
pub use outline::Outline;
pub(crate) use outline::rough_elements;
pub use write::{Payload, write_error, write_notification, write_request, write_result};

/// What a JSON text is to JSON-RPC. Ranges are in the scanned text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Envelope {
    /// Wants an answer.
    Request {
        /// The id to answer with.
        id: RequestId,
        /// The method: a JSON string, quotes included, for [`json::string`].
        method: Span,
        /// The parameters.
        params: Params,
    },
    /// Must not be answered (R24-RPC-11).
    Notification {
        /// The method: a JSON string, quotes included, for [`json::string`].
        method: Span,
        /// The parameters.
        params: Params,
    },
    /// Answers a request.
    Result {
        /// The request's id.
        id: RequestId,
        /// The result: any JSON value.
        result: Span,
    },
    /// Answers a request, or reports what could be related to none.
    Error {
        /// The request's id; absent and null are one (R2511-RPC-12).
        id: Option<RequestId>,
        /// What went wrong.
        error: ErrorObject,
    },
    /// None of these.
    Invalid {
        /// The id, where it is a valid one.
        id: Option<RequestId>,
        /// What is wrong with it.
        reason: Invalid,
    },
}

impl Envelope {
    /// Tells what the text `src` is that was scanned to `message`.
    pub fn of(src: &[u8], message: &Message) -> Envelope {
        let names = ["jsonrpc", "id", "method", "params", "result", "error"];
        let [version, id, method, params, result, error] = message.envelope.find(src, names);
        let id = Id::of(src, id);
        let invalid = |id: Id, reason| Envelope::Invalid { id: id.valid(), reason };

        if message.root != Kind::Object {
            return invalid(id, Invalid::NotAnObject);
        }
        let version = version.map(|version| json::string(version.of(src)));
        if version != Some(Some(Cow::Borrowed("2.0"))) {
            let is_response = method.is_none() && (result.is_some() || error.is_some());
            return invalid(
                id,
                if is_response { Invalid::ResponseVersion } else { Invalid::Version },
            );
        }
        match (method, result, error) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                invalid(id, Invalid::RequestAndResponse)
            }
            (Some(method), None, None) => {
                if json::kind(method.of(src)) != Kind::String {
                    return invalid(id, Invalid::Method);
                }
                let params = Params::of(src, params);
                match id {
                    Id::Valid(id) => Envelope::Request { id, method, params },
                    Id::Absent => Envelope::Notification { method, params },
                    Id::Null | Id::Other => invalid(id, Invalid::Id),
                }
            }
            // Many write both, and null for the one that is not there.
            (None, Some(result), Some(error)) => {
                match (is_null(src, result), is_null(src, error)) {
                    (false, false) => invalid(id, Invalid::ResultAndError),
                    (_, true) => Self::result(id, result),
                    (true, false) => Self::error(src, message, id),
                }
            }
            (None, Some(result), None) => Self::result(id, result),
            (None, None, Some(_)) => Self::error(src, message, id),
            (None, None, None) => invalid(id, Invalid::NoMethod),
        }
    }

    fn result(id: Id, result: Span) -> Envelope {
        match id {
            Id::Valid(id) => Envelope::Result { id, result },
            id => Envelope::Invalid { id: id.valid(), reason: Invalid::ResponseId },
        }
    }

    fn error(src: &[u8], message: &Message, id: Id) -> Envelope {
        let invalid = |id: Id, reason| Envelope::Invalid { id: id.valid(), reason };
        match (id, ErrorObject::of(src, message)) {
            (Id::Other, _) => invalid(Id::Other, Invalid::ResponseId),
            (id, None) => invalid(id, Invalid::ErrorObject),
            (id, Some(error)) => Envelope::Error { id: id.valid(), error },
        }
    }

    /// The method of a request or notification, unescaped.
    pub fn method<'a>(&self, src: &'a [u8]) -> Option<Cow<'a, str>> {
        match self {
            Envelope::Request { method, .. } | Envelope::Notification { method, .. } => {
                json::string(method.of(src))
            }
            _ => None,
        }
    }

    /// The id that it carries.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Envelope::Request { id, .. } | Envelope::Result { id, .. } => Some(id),
            Envelope::Error { id, .. } | Envelope::Invalid { id, .. } => id.as_ref(),
            Envelope::Notification { .. } => None,
        }
    }
}

fn is_null(src: &[u8], value: Span) -> bool {
    json::kind(value.of(src)) == Kind::Null
}

/// The `params` of a request or notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Params {
    /// No such member.
    Absent,
    /// Null, which some clients send for absent; an invalid value by the letter.
    Null,
    /// An object.
    Object(Span),
    /// Something else, which MCP gives no meaning (R24-RPC-13).
    Other(Span),
}

impl Params {
    fn of(src: &[u8], params: Option<Span>) -> Params {
        match params.map(|params| (json::kind(params.of(src)), params)) {
            None => Params::Absent,
            Some((Kind::Null, _)) => Params::Null,
            Some((Kind::Object, params)) => Params::Object(params),
            Some((_, params)) => Params::Other(params),
        }
    }
}

/// The `error` of a response (R24-RPC-07, R2503-RPC-08).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorObject {
    /// The code.
    pub code: i64,
    /// The message: a JSON string, quotes included, for [`json::string`].
    pub message: Span,
    /// The data: any JSON value.
    pub data: Option<Span>,
}

impl ErrorObject {
    fn of(src: &[u8], message: &Message) -> Option<ErrorObject> {
        let error = message.error.as_ref()?;
        Some(ErrorObject {
            code: json::integer(error.get(src, "code")?.of(src))?,
            message: error
                .get(src, "message")
                .filter(|message| json::kind(message.of(src)) == Kind::String)?,
            data: error.get(src, "data"),
        })
    }
}

/// Why an object is no valid envelope. Displays as a short message for a -32600.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Invalid {
    /// Another JSON value; a batch, if it is an array.
    NotAnObject,
    /// `jsonrpc` is not `"2.0"`, or missing.
    Version,
    /// The same, of what was meant as a response.
    ResponseVersion,
    /// Neither `method` nor `result` nor `error`.
    NoMethod,
    /// `method` is no string.
    Method,
    /// A request's `id` is neither a string nor an integer.
    Id,
    /// `method` beside `result` or `error`.
    RequestAndResponse,
    /// `result` beside `error`.
    ResultAndError,
    /// A response whose `id` is missing or neither a string nor an integer.
    ResponseId,
    /// `error` has no integer `code` or no string `message`.
    ErrorObject,
}

impl Invalid {
    /// Whether it was meant as a response: no answer is due, and none may be sent.
    pub fn is_response(self) -> bool {
        matches!(
            self,
            Invalid::ResponseVersion
                | Invalid::ResultAndError
                | Invalid::ResponseId
                | Invalid::ErrorObject
        )
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Invalid::NotAnObject => "a message is a JSON object",
            Invalid::Version | Invalid::ResponseVersion => "jsonrpc must be \"2.0\"",
            Invalid::NoMethod => "method is missing",
            Invalid::Method => "method must be a string",
            Invalid::Id => "id must be a string or an integer",
            Invalid::RequestAndResponse => "method excludes result and error",
            Invalid::ResultAndError => "result excludes error",
            Invalid::ResponseId => "a response needs the id of its request",
            Invalid::ErrorObject => "an error needs an integer code and a string message",
        })
    }
}

/// The `id` member.
enum Id {
    Absent,
    Null,
    Valid(RequestId),
    Other,
}

impl Id {
    fn of(src: &[u8], id: Option<Span>) -> Id {
        let Some(id) = id.map(|id| id.of(src)) else {
            return Id::Absent;
        };
        match RequestId::from_json(id) {
            Some(id) => Id::Valid(id),
            None if json::kind(id) == Kind::Null => Id::Null,
            None => Id::Other,
        }
    }

    fn valid(self) -> Option<RequestId> {
        match self {
            Id::Valid(id) => Some(id),
            _ => None,
        }
    }
}
