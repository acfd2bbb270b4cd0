//! One HTTP exchange, as its client sees it.

use core::fmt;

use bytes::Bytes;

use super::silence::Pulse;
use crate::client::{ClientError, Method, Url};
use crate::frame::http1::Headers;
use crate::frame::sse;

/// An exchange under way.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) purpose: For,
    pub(super) reading: Reading,
    /// Where the request went.
    pub(super) url: Url,
    /// The request named a session, so that 404 says that it is gone (R2503-SESS-07).
    pub(super) in_session: bool,
    /// The signs of life of its stream.
    pub(super) pulse: Pulse,
}

/// What an exchange is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    /// The answer to this request.
    Request(i64),
    /// The rest of the stream with the answer to this request.
    Resume(i64),
    /// A message that has no answer; that it completes a handshake is waited for.
    Note { completes: bool },
    /// An answer of ours, with its number.
    Answer(u64),
    /// What the server says unasked.
    Standing,
    /// Everything that an HTTP+SSE server says.
    Everything,
    /// A message to an HTTP+SSE server, which answers elsewhere; of a request, its id.
    Post(Option<i64>, Completes),
    /// The end of the session.
    Goodbye,
    /// Nothing more: what it was for is over.
    Spent,
}

/// Whether a message completes a handshake.
pub(super) type Completes = bool;

/// What is being read.
#[derive(Debug)]
pub(super) enum Reading {
    /// The head has not come, and may send the request elsewhere.
    Head(Box<Sent>),
    /// A body to be read whole.
    Whole { status: u16, body: Vec<u8>, refusal: ClientError },
    /// A body that nobody reads; in words, what it is.
    Unread { status: u16, refusal: ClientError, described: String },
    /// A body that means nothing.
    Nothing,
    /// An event stream.
    Events(Box<sse::Decoder>),
}

/// A request, for as long as it may have to be made again.
pub(super) struct Sent {
    pub(super) method: Method,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    /// How often it was sent elsewhere.
    pub(super) redirects: u32,
}

/// Without headers and body: they hold secrets.
impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sent").field("redirects", &self.redirects).finish_non_exhaustive()
    }
}

/// What the media type of a response says about its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Json,
    Events,
    /// Text for people: what a refusal may have to say.
    Text,
    Other,
}

impl Media {
    /// A body without a type may be a message.
    pub(super) fn of<H: Headers + ?Sized>(headers: &H) -> Self {
        let Some(value) = headers.get("content-type") else { return Self::Json };
        let essence = value.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        let is = |name: &str| essence.eq_ignore_ascii_case(name.as_bytes());
        match () {
            () if is("text/event-stream") => Self::Events,
            () if is("application/json") || essence.is_empty() => Self::Json,
            () if is("text/plain") || is("application/problem+json") => Self::Text,
            () => Self::Other,
        }
    }
}

/// What the body is of, in words; the first 100 characters of a type.
pub(super) fn described<H: Headers + ?Sized>(status: u16, headers: &H) -> String {
    match headers.get("content-type") {
        Some(media) => {
            let media: String = String::from_utf8_lossy(media).chars().take(100).collect();
            format!("a body of type {media:?} with status {status}")
        }
        None => format!("a response with status {status} and without a type"),
    }
}

/// The coding of the body, where it has one: the client asked for none.
pub(super) fn coding<H: Headers + ?Sized>(headers: &H) -> Option<String> {
    let values = headers.get_all("content-encoding").map(<[u8]>::trim_ascii);
    let mut codings = values.filter(|it| !it.is_empty() && !it.eq_ignore_ascii_case(b"identity"));
    codings.next().map(|coding| String::from_utf8_lossy(coding).chars().take(100).collect())
}

/// A session's id, if it is a valid one (R2503-SESS-03).
pub(super) fn session_id<H: Headers + ?Sized>(headers: &H, most: usize) -> Option<String> {
    let mut values = headers.get_all("mcp-session-id");
    let id = values.next().filter(|id| !id.is_empty() && id.len() <= most)?;
    let is_visible = id.iter().all(|byte| (0x21..=0x7e).contains(byte));
    (values.next().is_none() && is_visible).then(|| String::from_utf8_lossy(id).into_owned())
}
