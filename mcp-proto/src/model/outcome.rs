//! What a dispatched call produced, before any revision spells it.

use super::{Completion, Failure, Json, PromptResult, ResourceResult, ToolResult};

/// What a call produced.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The operation's result.
    Value(Value),
    /// The operation failed.
    Failure(Failure),
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
