//! The normalized core: what a server does and what a client asked, without a word about how a
//! revision of the protocol spells it.
//!
//! Nothing here names a revision. Adapters (module [`revision`](crate::revision)) turn wire
//! messages into these types and these types into wire messages.

mod answer;
mod asking;
mod call;
mod capability;
mod catalog;
mod change;
mod content;
mod declare;
mod digest;
mod failure;
mod in_arguments;
mod input;
mod json;
mod log_level;
pub mod mirror;
mod notice;
mod operation;
mod outcome;
mod peer;
mod reply;
mod request;
mod result;
mod round;
mod scopes;
mod session_ref;
mod text;
mod texts;
mod trace;
mod uri;
mod values;
pub(crate) mod view;

pub use answer::{Answer, AnswerAction, BadAnswer, Root, Roots, SampleResult};
pub use answer::{elicit_accept, elicit_cancel, elicit_decline};
pub use asking::{AskWay, Asking};
pub(crate) use call::Detail;
pub use call::{Call, Completing, Reference};
pub use capability::{ClientCapabilities, ClientProfile, Implementation};
pub use catalog::{Catalog, Features, Located};
pub use change::{Change, Filter};
pub use content::{Annotations, Body, Content, Contents, Icon, Role};
pub use declare::{
    CacheHint, CacheScope, Prompt, PromptArgument, Resource, ResourceTemplate, Tool, ToolHints,
};
pub use digest::Digest;
pub use failure::{Failure, FailureKind};
pub use in_arguments::{BadArguments, InArguments};
#[cfg(test)]
pub(crate) use input::question;
pub use input::{
    BadQuestion, Block, Choice, Field, FieldKind, Form, FormError, FormErrorKind, FormSchema,
    Format, IncludeContext, InputFields, InputRequest, Misfit, ModelPreferences, PairingError,
    Sampling, SamplingMessage, ToolChoice, ToolUse, Unaskable,
};
pub use input::{elicit, elicit_url, list_roots, method, sample};
pub use json::Json;
#[cfg(feature = "service")]
pub(crate) use json::decode as json_decode;
pub use log_level::LogLevel;
pub use notice::{LogMessage, Progress};
pub use operation::{Operation, ParseOperationError};
pub use outcome::{NeedsInput, Outcome, Value};
pub use peer::{Description, ServerCapabilities};
pub use reply::{Entries, InputRequired, RawQuestion, Reply, ReplyValue};
pub(crate) use request::Answers;
pub use request::Request;
pub use result::{Completion, PromptMessage, PromptResult, ResourceResult, ToolResult};
pub use round::{Binding, Round, Settled};
pub(crate) use session_ref::Keeping;
pub use session_ref::SessionRef;
pub use text::Text;
pub(crate) use texts::{object_of, texts};
pub use trace::TraceContext;
pub(crate) use uri::normal_text;
pub use uri::normal_uri;
pub use values::Values;
pub(crate) use view::{View, boolean, copied, elements, number};
