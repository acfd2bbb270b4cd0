//! What a dispatched call produced, before any revision spells it.

use super::{Completion, Failure, InputRequest, Json, PromptResult, ResourceResult, ToolResult};

/// What a call produced.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The operation's result.
    Value(Value),
    /// The operation needs input of the client before it can go on.
    NeedsInput(NeedsInput),
    /// The operation failed.
    Failure(Failure),
}

/// What a call asks its client before it goes on, by ending for now: the client repeats it with
/// the answers (R26-MRTR-02), or calls again with them in its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NeedsInput {
    /// The questions, by keys of the handler's own choice (R26-MRTR-05).
    pub requests: Vec<(String, InputRequest)>,
    /// What the handler wants to find when it runs again.
    pub state: Option<Json>,
    /// The questions and earlier answers are kept by the server, so that an answer counts only
    /// for the question that was asked. Without it, and without a state, the client is given
    /// nothing to bring back.
    pub kept: bool,
}

impl NeedsInput {
    /// These questions, kept by the server.
    pub fn new(requests: Vec<(String, InputRequest)>) -> Self {
        Self { requests, state: None, kept: true }
    }

    /// Whether the server keeps a record of this.
    pub fn is_kept(&self) -> bool {
        self.kept || self.state.is_some()
    }
}

impl From<NeedsInput> for Outcome {
    fn from(needs: NeedsInput) -> Self {
        Self::NeedsInput(needs)
    }
}

/// A result that an application produces.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// Of `CallTool`.
    Tool(ToolResult),
    /// Of `ReadResource`.
    Resource(ResourceResult),
    /// Of `GetPrompt`.
    Prompt(PromptResult),
    /// Of `Complete`.
    Completion(Completion),
    /// A whole result object, passed through as it is.
    Raw(Json),
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<Value> for Outcome {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<ToolResult> for Outcome {
    fn from(result: ToolResult) -> Self {
        Self::Value(Value::Tool(result))
    }
}

impl From<ResourceResult> for Outcome {
    fn from(result: ResourceResult) -> Self {
        Self::Value(Value::Resource(result))
    }
}

impl From<PromptResult> for Outcome {
    fn from(result: PromptResult) -> Self {
        Self::Value(Value::Prompt(result))
    }
}

impl From<Completion> for Outcome {
    fn from(completion: Completion) -> Self {
        Self::Value(Value::Completion(completion))
    }
}
