//! What a message from a server means to its client.

use super::ServerError;
use crate::frame::envelope::{ProgressToken, RequestId};
use crate::frame::json;
use crate::model::{
    Change, Filter, Json, LogLevel, LogMessage, Progress, View, boolean, copied, elements, number,
};
use crate::revision::{Preamble, Shape, meta_key, notification};

/// A message from a server, as a client understands it. Nothing here depends on the revision:
/// what one lacks never arrives, and what arrives all the same is for the machine to judge.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Heard {
    /// The result of a request.
    Result {
        /// The request.
        id: RequestId,
        /// The result.
        result: Json,
    },
    /// An error: of a request, or of what belongs to none (C05).
    Error {
        /// The request.
        id: Option<RequestId>,
        /// What went wrong.
        error: ServerError,
    },
    /// A request of the server's own.
    Request {
        /// Its id, for the answer.
        id: RequestId,
        /// Its method.
        method: String,
        /// Its parameters, where they are an object.
        params: Option<Json>,
    },
    /// How far a request has come.
    Progress(ProgressToken, Progress),
    /// A log message.
    Log(LogMessage),
    /// Something has changed.
    Changed {
        /// What.
        change: Change,
        /// The request that listens, where the message says so (R26-SUBS-08).
        subscription: Option<RequestId>,
    },
    /// A request that listens is heard: what it will be told (R26-SUBS-03).
    Acknowledged {
        /// The request.
        subscription: Option<RequestId>,
        /// The filter as the server took it.
        filter: Filter,
    },
    /// The server no longer wants the answer to a request of its own, or ends one that listens
    /// (R26-SUBS-12).
    Cancelled(RequestId),
    /// Another notification, or a malformed one (C11).
    Other {
        /// Its method.
        method: String,
        /// Its parameters.
        params: Option<Json>,
    },
}

impl Heard {
    /// Reads a message.
    pub fn of(message: &Preamble) -> Self {
        let text = message.message();
        let params = message.params().map(|span| copied(span.of(text)));
        match message.shape() {
            Shape::Result { id, result } => {
                let result = text.slice(result.start as usize..result.end as usize);
                Self::Result { id: id.clone(), result: Json::scanned(result) }
            }
            Shape::Error { id, error } => {
                Self::Error { id: id.clone(), error: ServerError::read(error.of(text)) }
            }
            Shape::Request(id) => Self::Request {
                id: id.clone(),
                method: message.method().unwrap_or_default().to_owned(),
                params,
            },
            Shape::Notification => {
                let method = message.method().unwrap_or_default();
                notified(method, params.as_ref())
                    .unwrap_or_else(|| Self::Other { method: method.to_owned(), params })
            }
        }
    }
}

/// A notification that is known and as it must be.
fn notified(method: &str, params: Option<&Json>) -> Option<Heard> {
    let params = params.and_then(|params| View::of(params.as_bytes()));
    let get = |name| params.as_ref().and_then(|params| params.get(name));
    let subscription = || {
        let meta = params.as_ref()?.object("_meta")?;
        RequestId::from_json(meta.get(meta_key::SUBSCRIPTION)?)
    };
    let changed = |change| Some(Heard::Changed { change, subscription: subscription() });
    match method {
        notification::PROGRESS => {
            let mut progress = Progress::new(number(get("progress")?)?);
            progress.total = get("total").and_then(number);
            progress.message = get("message").and_then(json::string).map(|text| text.into_owned());
            Some(Heard::Progress(ProgressToken::from_json(get("progressToken")?)?, progress))
        }
        notification::MESSAGE => {
            let level = LogLevel::from_name(&json::string(get("level")?)?)?;
            let mut log = LogMessage::new(level, copied(get("data")?));
            log.logger = get("logger").and_then(json::string).map(|text| text.into_owned());
            Some(Heard::Log(log))
        }
        notification::CANCELLED => RequestId::from_json(get("requestId")?).map(Heard::Cancelled),
        notification::TOOLS_CHANGED => changed(Change::Tools),
        notification::PROMPTS_CHANGED => changed(Change::Prompts),
        notification::RESOURCES_CHANGED => changed(Change::Resources),
        notification::RESOURCE_UPDATED => {
            changed(Change::Updated(json::string(get("uri")?)?.into_owned()))
        }
        notification::ACKNOWLEDGED => Some(Heard::Acknowledged {
            subscription: subscription(),
            filter: accepted(get("notifications")?),
        }),
        _ => None,
    }
}

/// What a server will tell of (R26-SUBS-04).
fn accepted(filter: &[u8]) -> Filter {
    let filter = View::of(filter);
    let get = |name| filter.as_ref().and_then(|filter| filter.get(name));
    let flag = |name| get(name).and_then(boolean).unwrap_or_default();
    let uris = get("resourceSubscriptions").into_iter().flat_map(elements);
    let uris = uris.filter_map(json::string).take(Filter::MOST_URIS);
    Filter {
        tools: flag("toolsListChanged"),
        prompts: flag("promptsListChanged"),
        resources: flag("resourcesListChanged"),
        uris: uris.map(std::borrow::Cow::into_owned).collect(),
    }
}
