//! What a handler is for. The same function can be one kind or another; its kind decides what
//! may be returned and how wrong arguments are answered.

use crate::model::{Completion, Outcome, PromptResult, ResourceResult, ToolResult};

/// What a handler is for: [`Tool`], [`Resource`], [`Prompt`] or [`Completer`]. Sealed.
pub trait Kind: sealed::Sealed + 'static {
    /// What handlers of this kind produce in the end.
    type Result: Into<Outcome>;
    /// A failed task is a result here, rather than an error (R26-TOOL-06).
    #[doc(hidden)]
    const IS_TOOL: bool = false;
    /// What this kind is called in texts.
    #[doc(hidden)]
    const NAME: &'static str;
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

impl Kind for Tool {
    type Result = ToolResult;
    const IS_TOOL: bool = true;
    const NAME: &'static str = "tool";
}

impl Kind for Resource {
    type Result = ResourceResult;
    const NAME: &'static str = "resource";
}

impl Kind for Prompt {
    type Result = PromptResult;
    const NAME: &'static str = "prompt";
}

impl Kind for Completer {
    type Result = Completion;
    const NAME: &'static str = "completer";
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Tool {}
    impl Sealed for super::Resource {}
    impl Sealed for super::Prompt {}
    impl Sealed for super::Completer {}
}
