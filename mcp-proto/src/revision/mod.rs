//! Revisions of the protocol, as data. Everything that differs between them is here, and nothing
//! outside this module names or compares a version.
//!
//! An [`Adapter`] is one revision: flags, tables of method names and failure codes, and what its
//! messages may carry. Each lives in a file of its own, written as the difference to its
//! predecessor; an [`AdapterSet`] is the revisions that an endpoint speaks. An application builds
//! an adapter of its own by struct update:
//!
//! ```
//! use mcp_proto::revision::{Adapter, AdapterSet, Revision};
//!
//! let strict = Adapter { allows_batch: false, ..*Revision::V2025_03_26.adapter() };
//! let set = AdapterSet::new([strict, *Revision::V2025_11_25.adapter()])?;
//! assert_eq!(set.versions().collect::<Vec<_>>(), ["2025-11-25", "2025-03-26"]);
//! # Ok::<(), mcp_proto::revision::AdapterSetError>(())
//! ```

mod ask;
mod client;
mod decode;
mod encode;
mod failures;
mod headers;
mod listen;
mod meta_key;
mod methods;
mod named;
mod params;
mod preamble;
mod project;
mod publish;
mod select;
mod set;
mod v2024_11_05;
mod v2025_03_26;
mod v2025_06_18;
mod v2025_11_25;
mod v2026_07_28;

#[cfg(test)]
mod tests;

pub use client::{BadReply, Heard, Received, ServerError, Speaker, offered_versions};
pub use decode::{Answered, Decoded};
pub use failures::{Failures, Wire};
pub use headers::{HeaderValue, Mirrors, check_parameters};
pub(crate) use meta_key::MetaKey;
pub use methods::{Methods, notification};
pub use named::{ParseRevisionError, Revision};
use preamble::decode_text;
pub use preamble::{
    Incoming, Metadata, Preamble, ReadBound, ReadLimits, Refused, Shape, Stated, Subject, read,
};
pub use publish::Published;
pub use select::{Context, Established, Selection, Transport};
pub use set::{AdapterSet, AdapterSetError};

use crate::model::{InputFields, LogLevel, Operation};

/// How a question reaches the person (or the model) behind the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AskBy {
    /// By an ordinary tool result; the answers come in arguments of the next call.
    Arguments,
    /// By a request of the server's own on the call's stream.
    Push,
    /// By a result that asks; the client repeats its request with the answers (R26-MRTR-02).
    Retry,
}

/// Whether a broken stream can be taken up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resumption {
    /// It cannot: the request is lost (R26-HTTP-40).
    None,
    /// From the id of the last event that arrived (R2503-RESUME-01).
    Ids,
    /// The same, and each stream begins with an event without data, so that there always is an id
    /// (R2511-HTTP-18).
    Primed,
}

/// What a tool's result may hold for programs, and what its output schema may describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Structured {
    /// Nothing: text only.
    None,
    /// An object (R2506-TOOL-13).
    Object,
    /// Any JSON value (R26-TOOL-13).
    Any,
}

/// What declarations, content and notifications can carry. What a revision lacks is dropped, or
/// turned to text, where its messages are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Sound as a content block; else a line of text stands for it (R2503-CONT-01).
    pub audio: bool,
    /// What tools say about their behaviour (R2503-TOOL-03).
    pub tool_hints: bool,
    /// `message` in progress notifications (R2503-PROG-07).
    pub progress_message: bool,
    /// `completions` among the capabilities (R2503-CMPL-02).
    pub completions_capability: bool,
    /// Names for people (R2506-META-17).
    pub title: bool,
    /// `_meta` on declarations and content (R2506-META-01).
    pub meta: bool,
    /// `lastModified` in annotations (R2506-CONT-06).
    pub last_modified: bool,
    /// Links to resources as content; else a line of text stands for them (R2506-CONT-05).
    pub resource_link: bool,
    /// Structured results and output schemas.
    pub structured: Structured,
    /// Pictures on declarations, and what else tells people about a program (R2511-LIFE-16).
    pub icons: bool,
    /// `x-mcp-header` in input schemas (R26-HDR-08).
    pub mirrored: bool,
    /// Extensions among the capabilities (R26-EXT-01).
    pub extensions: bool,
}

/// What every result carries besides its own members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// `resultType` (R26-RPC-23).
    pub result_type: bool,
    /// `ttlMs` and `cacheScope` in what may be cached (R26-CACHE-01).
    pub cache_hints: bool,
    /// The server's name and version in `_meta` (R26-META-12).
    pub server_info: bool,
}

/// One revision of the protocol.
///
/// Data only, so that `Adapter { ..predecessor }` is a constant. It is compared by `version`.
#[derive(Clone, Copy, Debug)]
pub struct Adapter {
    /// The version as the protocol spells it.
    pub version: &'static str,
    /// A client is described once, by `initialize`; else by each request (R26-META-07).
    pub has_handshake: bool,
    /// An array of messages is a message (R2503-RPC-17).
    pub allows_batch: bool,
    /// How elicitation reaches the client.
    pub ask_elicitation: AskBy,
    /// How sampling and the listing of roots reach the client.
    pub ask_sampling: AskBy,
    /// A client that goes away while its HTTP call runs has cancelled it (R26-CANC-13).
    pub disconnect_cancels: bool,
    /// Parts of the body are repeated in headers (R26-HDR-05).
    pub mirrors_headers: bool,
    /// An HTTP request that names no version and no session is of this revision (R2506-HDR-02).
    pub assumed: bool,
    /// An error may lack its id (R2511-RPC-12). Where it may not, a stream of messages stays
    /// silent on what has no readable id, as its receiver would take such an error for a broken
    /// message; the body of a refused HTTP request tells it in every revision (R2503-RPC-12).
    pub error_without_id: bool,
    /// Whether broken streams can be taken up again.
    pub resumption: Resumption,
    /// The least severe log message sent to a client that named no level; `None` sends none
    /// (R24-LOG-04, R26-LOG-04).
    pub default_log_level: Option<LogLevel>,
    /// The names of the operations.
    pub methods: &'static Methods,
    /// The codes of the failures.
    pub failures: &'static Failures,
    /// What messages can carry.
    pub fields: Fields,
    /// What questions to the client can hold.
    pub input: InputFields,
    /// What results carry.
    pub envelope: Envelope,
}

impl Adapter {
    /// The method that asks for an operation; `None` where this revision has none.
    pub const fn method_for(&self, operation: Operation) -> Option<&'static str> {
        self.methods.name(operation)
    }

    /// What a method asks for; `None` where this revision does not know it.
    pub fn operation_for(&self, method: &str) -> Option<Operation> {
        self.methods.operation(method)
    }

    /// Questions are results, and their answers come with a repeated request.
    pub const fn can_ask(&self) -> bool {
        matches!(self.ask_elicitation, AskBy::Retry)
    }

    /// Questions are requests of the server's own on a stream that is open.
    pub const fn can_push_ask(&self) -> bool {
        matches!(self.ask_elicitation, AskBy::Push)
    }

    /// Questions and answers travel in tool calls.
    pub const fn asks_in_arguments(&self) -> bool {
        matches!(self.ask_elicitation, AskBy::Arguments)
    }

    /// The same revision for a client that cannot be asked in its way: questions and answers travel
    /// in tool calls.
    #[must_use]
    pub const fn asking_in_arguments(self) -> Self {
        Self { ask_elicitation: AskBy::Arguments, ..self }
    }

    /// The client holds the state of an unfinished call, so what comes back must be verified
    /// (R26-MRTR-09).
    pub const fn carries_state(&self) -> bool {
        self.can_ask() || self.asks_in_arguments()
    }
}

impl PartialEq for Adapter {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

impl Eq for Adapter {}
