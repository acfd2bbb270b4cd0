//! What a server answers, before anything says how a revision spells it.

use super::{
    CacheHint, Completion, Description, Json, Prompt, PromptResult, Resource, ResourceResult,
    ResourceTemplate, Tool, ToolResult,
};

/// A server's answer to a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reply {
    /// The result, read as what the call asked for (C13).
    pub value: ReplyValue,
    /// How long it may be cached, and for whom; stale at once where the server does not say
    /// (R26-CACHE-03).
    pub cache: CacheHint,
    /// The result's `_meta`.
    pub meta: Option<Json>,
    /// The whole result, as it came. Of a list that was followed through its pages: the last one.
    pub raw: Json,
    /// What of the result could not be read and was left out, so that the rest survives (C14).
    pub left_out: Vec<String>,
}

/// What a result is, which the call decides and never its looks (C13).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReplyValue {
    /// It is done; nothing else is said.
    Done,
    /// Of `Describe`.
    Description(Box<Description>),
    /// Of `CallTool`.
    Tool(ToolResult),
    /// Of `ReadResource`.
    Resource(ResourceResult),
    /// Of `GetPrompt`.
    Prompt(PromptResult),
    /// Of `Complete`.
    Completion(Completion),
    /// Of `ListTools`.
    Tools(Entries<Tool>),
    /// Of `ListResources`.
    Resources(Entries<Resource>),
    /// Of `ListResourceTemplates`.
    Templates(Entries<ResourceTemplate>),
    /// Of `ListPrompts`.
    Prompts(Entries<Prompt>),
    /// The server asks first; call again with the answers (R26-MRTR-15).
    InputRequired(InputRequired),
    /// Of `Extension`: see [`Reply::raw`].
    Raw,
}

impl ReplyValue {
    /// How many entries a list has; none, where it is no list.
    pub(crate) fn entries(&self) -> usize {
        match self {
            Self::Tools(list) => list.entries.len(),
            Self::Resources(list) => list.entries.len(),
            Self::Templates(list) => list.entries.len(),
            Self::Prompts(list) => list.entries.len(),
            _ => 0,
        }
    }
}

/// The entries of a list, or of one page of it.
#[derive(Clone, Debug)]
pub struct Entries<T> {
    /// The entries, in the server's order.
    pub entries: Vec<T>,
    /// Where the list goes on; an empty cursor is one, too (T-57).
    pub next: Option<String>,
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), next: None }
    }
}

/// A server's questions, and the state that it wants back with the answers.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequired {
    /// Questions by key, in the server's order: method and parameters.
    pub requests: Vec<(String, RawQuestion)>,
    /// To be sent back as it is, with the answers and nowhere else (R26-MRTR-16): JSON text.
    pub state: Option<Json>,
}

/// A question as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct RawQuestion {
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: String,
    /// The parameters: an object, if there are any.
    pub params: Option<Json>,
}
