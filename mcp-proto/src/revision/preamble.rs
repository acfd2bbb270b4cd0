//! The shallow parse of a message: enough to choose its revision.

use std::borrow::Cow;

use bytes::{Buf, Bytes};

use super::meta_key;
use crate::frame::envelope::{Envelope, Invalid, Outline, Params, RequestId, rough_elements};
use crate::frame::json::{self, Kind, Members, ScanError, ScanErrorKind, ScanLimits, Span};
use crate::model::{Failure, FailureKind, Text};

/// What reading allows.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ReadLimits {
    /// Of the JSON scanner.
    pub scan: ScanLimits,
    /// How many messages a batch may hold: 100 by default.
    pub batch: usize,
    /// Whether a lone surrogate in a string is read as U+FFFD rather than refused. Off by default.
    pub replaces_surrogates: bool,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { scan: ScanLimits::default(), batch: 100, replaces_surrogates: false }
    }
}

/// A message or part of one that was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Whom it concerns, as far as that could be read.
    pub subject: Subject,
    /// Why.
    pub failure: Failure,
    /// The bound that it exceeds, if it does.
    pub exceeds: Option<ReadBound>,
}

/// A bound of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadBound {
    /// How deep JSON may nest.
    Depth,
    /// How many messages a batch may hold.
    Batch,
}

/// Whom a refused message concerns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A request of the peer's with this id, which the refusal carries.
    Request(RequestId),
    /// Requests of a batch that is refused as a whole, each with this id.
    Requests(Vec<RequestId>),
    /// A request of our own, which it was meant to answer; its id, where that could be read. It
    /// must not be answered, whatever else is wrong with it.
    Response(Option<RequestId>),
    /// That could not be read.
    Unknown,
}

impl Refused {
    pub(crate) fn new(id: Option<RequestId>, failure: Failure) -> Self {
        Self { subject: id.map_or(Subject::Unknown, Subject::Request), failure, exceeds: None }
    }

    /// What is refused as a whole for `failure`, of which `outline` is what could be read.
    pub(crate) fn outlined(outline: &Outline, failure: Failure) -> Self {
        match outline.is_response() {
            true => {
                let subject = Subject::Response(outline.response_id().cloned());
                Self { subject, failure, exceeds: None }
            }
            false => Self::new(outline.request_id().cloned(), failure),
        }
    }

    /// A batch that is refused as a whole: its requests are, and its responses are let pass.
    pub(crate) fn batch(ids: Vec<RequestId>, failure: Failure) -> Self {
        let subject = if ids.is_empty() { Subject::Unknown } else { Subject::Requests(ids) };
        Self { subject, failure, exceeds: None }
    }

    fn exceeding(self, exceeds: Option<ReadBound>) -> Self {
        Self { exceeds, ..self }
    }

    /// The same, of a batch that was read. `None` where nothing in it could be answered: responses
    /// and notifications.
    pub(crate) fn batch_of(
        messages: Vec<Result<Preamble, Self>>,
        failure: Failure,
    ) -> Option<Self> {
        let is_clear = |message: &Result<Preamble, Self>| match message {
            Ok(_) => true,
            Err(refused) => refused.subject != Subject::Unknown,
        };
        let is_silent = messages.iter().all(is_clear);
        let ids = messages.iter().filter_map(|message| match message {
            Ok(message) => message.id().cloned(),
            Err(refused) => refused.id().cloned(),
        });
        let refused = Self::batch(ids.collect(), failure);
        (!is_silent || refused.subject != Subject::Unknown).then_some(refused)
    }

    /// The id that a single answer to it carries.
    pub fn id(&self) -> Option<&RequestId> {
        match &self.subject {
            Subject::Request(id) => Some(id),
            Subject::Requests(_) | Subject::Response(_) | Subject::Unknown => None,
        }
    }
}

/// What came: one message, or the elements of an array.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is nearly every message")]
pub enum Incoming {
    /// One message.
    One(Preamble),
    /// A batch, which only some revisions have. One invalid element does not spoil the others.
    Batch(Vec<Result<Preamble, Refused>>),
}

/// Reads one JSON text: scans it once and tells what it is. A byte order mark before it is ignored,
/// as RFC 8259, section 8.1, allows. What cannot be read is refused under the ids that can
/// (R24-RPC-14).
///
/// # Errors
/// Where the text is not JSON, not a message, an empty batch, or one with too many elements.
pub fn read(mut message: Bytes, limits: &ReadLimits) -> Result<Incoming, Refused> {
    if message.starts_with(b"\xef\xbb\xbf") {
        message.advance(3);
    }
    let mut scanned = json::scan(&message, &limits.scan);
    let is_half = |error: &ScanError| error.kind == ScanErrorKind::LoneSurrogate;
    if limits.replaces_surrogates && scanned.as_ref().is_err_and(is_half) {
        message = json::without_lone_surrogates(&message).into();
        scanned = json::scan(&message, &limits.scan);
    }
    let scanned = match scanned {
        Ok(scanned) => scanned,
        Err(error) => {
            let refused = match json::kind(&message) {
                Kind::Array => refused_batch(&message, refusal(&error)),
                _ => Refused::outlined(&Outline::of(&message), refusal(&error)),
            };
            let is_deep = error.kind == ScanErrorKind::Depth;
            return Err(refused.exceeding(is_deep.then_some(ReadBound::Depth)));
        }
    };
    if scanned.root != Kind::Array {
        return Preamble::new(message, scanned, false).map(Incoming::One);
    }
    let spans: Vec<_> = json::elements(&message).take(limits.batch.saturating_add(1)).collect();
    let malformed = |why| Failure::new(FailureKind::Malformed, why);
    if spans.is_empty() {
        return Err(Refused::new(None, malformed("a batch needs at least one message")));
    }
    if spans.len() > limits.batch {
        let refused = refused_batch(&message, malformed("too many messages in one batch"));
        return Err(refused.exceeding(Some(ReadBound::Batch)));
    }
    let element = |span: Span| {
        let text = message.slice(span.start as usize..span.end as usize);
        let scanned = scan(&text, limits)?;
        Preamble::new(text, scanned, true)
    };
    Ok(Incoming::Batch(spans.into_iter().map(element).collect()))
}

fn scan(text: &Bytes, limits: &ReadLimits) -> Result<json::Message, Refused> {
    json::scan(text, &limits.scan)
        .map_err(|error| Refused::outlined(&Outline::of(text), refusal(&error)))
}

fn refusal(error: &ScanError) -> Failure {
    let kind = if error.is_parse_error() { FailureKind::Parse } else { FailureKind::Malformed };
    Failure::new(kind, error.to_string())
}

/// Requests of one batch that are refused under their own ids; of a longer one none are.
const REFUSED_AT_ONCE: usize = 1_000;

/// Nothing of a batch that cannot be read is done. Its requests are refused under their own ids,
/// where these are clear.
fn refused_batch(text: &[u8], failure: Failure) -> Refused {
    let elements = rough_elements(text, REFUSED_AT_ONCE + 1);
    let is_sane = elements.len() <= REFUSED_AT_ONCE;
    let ids = elements.into_iter().filter(|_| is_sane).filter_map(|element| {
        let outline = Outline::of(element);
        outline.request_id().cloned()
    });
    Refused::batch(ids.collect(), failure)
}

/// One message, of which only the envelope and the metadata have been looked at.
#[derive(Clone, Debug)]
pub struct Preamble {
    pub(super) message: Bytes,
    members: Option<Members>,
    pub(super) method: Option<Text>,
    pub(super) params: Params,
    pub(super) metadata: Metadata,
    pub(super) in_batch: bool,
    shape: Shape,
}

/// What a message is to JSON-RPC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// It wants an answer.
    Request(RequestId),
    /// It must not be answered.
    Notification,
    /// It answers a request of ours.
    Result {
        /// The request's id.
        id: RequestId,
        /// The result: a range of the message.
        result: Span,
    },
    /// It answers a request of ours with an error, or reports one that belongs to none.
    Error {
        /// The request's id, if it has one.
        id: Option<RequestId>,
        /// The error object: a range of the message.
        error: Span,
    },
}

/// The version that a message states in its `_meta`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stated {
    /// None.
    Absent,
    /// This one, whether or not it exists.
    Version(Text),
    /// Something that is no string.
    Invalid,
}

impl Stated {
    /// The version, if it is one.
    pub fn known(&self) -> Option<&str> {
        match self {
            Self::Version(version) => Some(version),
            Self::Absent | Self::Invalid => None,
        }
    }
}

/// The protocol's own members of a request's `_meta`: ranges of their values in the message.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// The version (R26-META-07).
    pub version: Stated,
    pub(super) capabilities: Option<Span>,
    pub(super) client_info: Option<Span>,
    pub(super) log_level: Option<Span>,
    pub(super) progress_token: Option<Span>,
}

impl Preamble {
    fn new(message: Bytes, scanned: json::Message, in_batch: bool) -> Result<Self, Refused> {
        let none = (None, Params::Absent);
        let text = |span: Span| decode_text(&message, span);
        let (shape, (method, params)) = match Envelope::of(&message, &scanned) {
            Envelope::Request { id, method, params } => {
                (Shape::Request(id), (text(method), params))
            }
            Envelope::Notification { method, params } => {
                (Shape::Notification, (text(method), params))
            }
            Envelope::Result { id, result } => (Shape::Result { id, result }, none),
            Envelope::Error { id, .. } => {
                let error = scanned.envelope.get(&message, "error").unwrap_or_default();
                (Shape::Error { id, error }, none)
            }
            Envelope::Invalid { id, reason } => {
                let said = match reason {
                    Invalid::ErrorObject | Invalid::ResultAndError => {
                        scanned.envelope.get(&message, "error")
                    }
                    _ => None,
                };
                let why = match said.map(|said| excerpt(said.of(&message))) {
                    Some(said) => format!("{reason}; it says {said}"),
                    None => reason.to_string(),
                };
                let failure = Failure::new(FailureKind::Malformed, why);
                return Err(match reason.is_response() {
                    true => Refused { subject: Subject::Response(id), failure, exceeds: None },
                    false => Refused::new(id, failure),
                });
            }
        };
        let metadata = Metadata::read(&message, scanned.meta.as_ref());
        let members = scanned.params;
        Ok(Self { message, members, method, params, metadata, in_batch, shape })
    }

    /// What the message is.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The method of a request or notification.
    pub fn method(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// The id of a request, which its answer carries.
    pub fn id(&self) -> Option<&RequestId> {
        match &self.shape {
            Shape::Request(id) => Some(id),
            _ => None,
        }
    }

    /// Nobody waits for an answer.
    pub fn is_notification(&self) -> bool {
        self.shape == Shape::Notification
    }

    /// It answers a request of ours, so it must not be answered, not even with an error.
    pub fn is_response(&self) -> bool {
        matches!(self.shape, Shape::Result { .. } | Shape::Error { .. })
    }

    /// What its `_meta` says.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The message's own bytes.
    pub fn message(&self) -> &Bytes {
        &self.message
    }

    /// Where `params` lies, if it is an object.
    pub(super) fn params(&self) -> Option<Span> {
        match self.params {
            Params::Object(span) => Some(span),
            Params::Absent | Params::Null | Params::Other(_) => None,
        }
    }

    /// A member of `params`.
    pub(super) fn param(&self, name: &str) -> Option<Span> {
        self.members.as_ref()?.get(&self.message, name)
    }

    /// A string member of `params`, if it is one.
    pub(super) fn text_param(&self, name: &str) -> Option<Cow<'_, str>> {
        json::string(self.param(name)?.of(&self.message))
    }
}

impl Metadata {
    fn read(message: &Bytes, meta: Option<&Members>) -> Self {
        let [version, capabilities, client_info, log_level, progress_token] = match meta {
            Some(meta) => meta.find(
                message,
                [
                    meta_key::VERSION,
                    meta_key::CAPABILITIES,
                    meta_key::CLIENT_INFO,
                    meta_key::LOG_LEVEL,
                    meta_key::PROGRESS_TOKEN,
                ],
            ),
            None => [None; 5],
        };
        let version = match version {
            None => Stated::Absent,
            Some(span) => decode_text(message, span).map_or(Stated::Invalid, Stated::Version),
        };
        Self { version, capabilities, client_info, log_level, progress_token }
    }

    /// Checks the members that every request needs where there is no handshake (R26-META-07,
    /// R26-META-08).
    pub(super) fn require(&self, message: &[u8]) -> Result<(), Failure> {
        let missing = |what: &'static str| Err(Failure::new(FailureKind::MissingMetadata, what));
        if !matches!(self.version, Stated::Version(_)) {
            return missing("_meta needs io.modelcontextprotocol/protocolVersion, a string");
        }
        match self.capabilities.map(|span| json::kind(span.of(message))) {
            Some(Kind::Object) => Ok(()),
            _ => missing("_meta needs io.modelcontextprotocol/clientCapabilities, an object"),
        }
    }
}

/// The text of a string in `message`, sharing its bytes unless it has escapes.
pub(super) fn decode_text(message: &Bytes, span: Span) -> Option<Text> {
    json::string(span.of(message)).map(|text| Text::within(message, text))
}

/// The first 200 characters of a value, as it stands.
fn excerpt(value: &[u8]) -> String {
    const MOST: usize = 200;
    let bytes = value.get(..4 * MOST).unwrap_or(value);
    String::from_utf8_lossy(bytes).chars().take(MOST).collect()
}
