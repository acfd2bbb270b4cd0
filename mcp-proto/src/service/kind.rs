//! What a handler is for. The same function can be one kind or another; its kind decides what
//! may be returned and how wrong arguments are answered.

use super::{Error, Origin};
use crate::model::{Completion, Outcome, PromptResult, ResourceResult, ToolResult, Value};

/// What a handler is for: [`Tool`], [`Resource`], [`Prompt`], [`Completer`] or [`Method`].
/// Sealed.
pub trait Kind: sealed::Sealed + 'static {
    /// What handlers of this kind produce in the end.
    type Result: Into<Outcome> + Send;
    /// Makes a handler's result fit what was declared.
    ///
    /// # Errors
    /// Where it cannot be made to.
    #[doc(hidden)]
    fn finish(result: Self::Result, origin: Origin<'_>) -> Result<Self::Result, Error> {
        let _ = origin;
        Ok(result)
    }
    /// A failed task is a result here, rather than an error (R26-TOOL-06).
    #[doc(hidden)]
    const IS_TOOL: bool = false;
}

/// Runs a tool.
#[derive(Debug)]
pub enum Tool {}

/// Reads a resource.
#[derive(Debug)]
pub enum Resource {}

/// Gets a prompt.
#[derive(Debug)]
pub enum Prompt {}

/// Completes an argument.
#[derive(Debug)]
pub enum Completer {}

/// Answers a method of an extension.
#[derive(Debug)]
pub enum Method {}

impl Kind for Tool {
    type Result = ToolResult;
    const IS_TOOL: bool = true;

    /// A tool with an output schema gives structured content, unless it failed (R26-TOOL-11).
    fn finish(result: ToolResult, origin: Origin<'_>) -> Result<ToolResult, Error> {
        if origin.structured && result.structured.is_none() && !result.is_error {
            return Err(Error::internal(
                "the tool declares an output schema, and its result has no structured content",
            ));
        }
        Ok(result)
    }
}

impl Kind for Resource {
    type Result = ResourceResult;

    /// Contents that name no media type have the declared one.
    fn finish(mut result: ResourceResult, origin: Origin<'_>) -> Result<ResourceResult, Error> {
        for contents in &mut result.contents {
            if contents.mime_type.is_none() {
                contents.mime_type = origin.mime_type.map(str::to_owned);
            }
        }
        Ok(result)
    }
}

impl Kind for Prompt {
    type Result = PromptResult;
}

impl Kind for Method {
    type Result = Value;
}

impl Kind for Completer {
    type Result = Completion;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Tool {}
    impl Sealed for super::Resource {}
    impl Sealed for super::Prompt {}
    impl Sealed for super::Completer {}
    impl Sealed for super::Method {}
}
