//! What handlers give back.

use super::{CacheHint, Content, Contents, Json, Role};

/// What a tool gives back.
///
/// A tool that failed at its task says so in `is_error`, so that the model can act on it;
/// a failure of the protocol is an [`Outcome::Failure`](super::Outcome::Failure).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolResult {
    /// Content blocks for the model.
    pub content: Vec<Content>,
    /// A value for programs, which fits the tool's output schema.
    pub structured: Option<Json>,
    /// The tool failed, and the content says how.
    pub is_error: bool,
    /// The result's `_meta`.
    pub meta: Option<Json>,
}

impl ToolResult {
    /// A result of content blocks.
    pub fn new(content: impl Into<Vec<Content>>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// A result of one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([Content::text(text)])
    }

    /// A structured value. Its text is added as the content block that the specification asks
    /// for, when the result is encoded.
    pub fn structured(value: Json) -> Self {
        Self { structured: Some(value), ..Self::default() }
    }

    /// A failed tool, with a text that the model can act on.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

/// What reading a resource gives.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceResult {
    /// The contents; several where the resource has parts.
    pub contents: Vec<Contents>,
    /// How long it may be cached, where the revision can say so.
    pub cache: CacheHint,
    /// The result's `_meta`.
    pub meta: Option<Json>,
}

impl ResourceResult {
    /// A result of these contents, which nobody may cache.
    pub fn new(contents: impl Into<Vec<Contents>>) -> Self {
        Self { contents: contents.into(), ..Self::default() }
    }
}

/// What getting a prompt gives.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PromptResult {
    /// What the prompt is for.
    pub description: Option<String>,
    /// The messages, in order.
    pub messages: Vec<PromptMessage>,
    /// The result's `_meta`.
    pub meta: Option<Json>,
}

impl PromptResult {
    /// A result of these messages.
    pub fn new(messages: impl Into<Vec<PromptMessage>>) -> Self {
        Self { messages: messages.into(), ..Self::default() }
    }
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

impl PromptMessage {
    /// A message from the user.
    pub fn user(content: impl Into<Content>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// A message from the model.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// Suggestions for an argument's value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// The suggestions, best first. At most [`Completion::MOST`] are sent (R24-CMPL-04).
    pub values: Vec<String>,
    /// How many there are in all, where that is known to be more than `values`.
    pub total: Option<u64>,
    /// There are more than `values`, though it is not known how many.
    pub has_more: bool,
}

impl Completion {
    /// How many values one result may hold.
    pub const MOST: usize = 100;

    /// All of the suggestions that there are. What exceeds [`Completion::MOST`] is cut off when
    /// it is sent, and the result then says how many there are and that there are more.
    pub fn new(values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { values: values.into_iter().map(Into::into).collect(), total: None, has_more: false }
    }
}
