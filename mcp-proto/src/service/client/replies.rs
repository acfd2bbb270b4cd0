//! What calls give.

use core::ops::Deref;

use serde::de::DeserializeOwned;

use crate::client::{ClientError, ErrorKind};
use crate::model::{
    Completion, Content, Description, Entries, Json, Prompt, PromptResult, Reply, ReplyValue,
    Resource, ResourceResult, ResourceTemplate, Tool, ToolResult,
};
use crate::revision::BadReply;

/// What a tool gave. [`is_error`](ToolResult::is_error) says that it failed.
#[derive(Clone, Debug)]
pub struct ToolReply {
    result: ToolResult,
    raw: Json,
}

impl ToolReply {
    /// What a call of a tool gave.
    ///
    /// # Errors
    /// Where it is something else: questions.
    pub(crate) fn of(reply: Reply) -> Result<Self, ClientError> {
        match reply.value {
            ReplyValue::Tool(result) => Ok(Self { result, raw: reply.raw }),
            value => other(value),
        }
    }

    /// The value for programs, as a `T`. Where there is none, the text is read as JSON: servers of
    /// the older revisions give it in this way.
    ///
    /// # Errors
    /// Where it has not the shape of `T`.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        match &self.result.structured {
            Some(value) => value.decode(),
            None => serde_json::from_str(&self.text()),
        }
    }

    /// All text of the result, its blocks on lines of their own.
    pub fn text(&self) -> String {
        let text = |block: &Content| match block {
            Content::Text { text, .. } => Some(text.clone()),
            _ => None,
        };
        self.result.content.iter().filter_map(text).collect::<Vec<_>>().join("\n")
    }

    /// Checks the value for programs against what the tool declared to give (R2506-TOOL-12). What a
    /// failed tool gives is not checked (C92). References that lead out of the schema are never
    /// followed (R26-JSCH-06), and what would take more than a million steps is not begun.
    ///
    /// # Errors
    /// What does not fit, or why nothing can be checked.
    #[cfg(feature = "schema")]
    pub fn check(&self, tool: &Tool) -> Result<(), String> {
        let Some(schema) = tool.output_schema.as_ref().filter(|_| !self.result.is_error) else {
            return Ok(());
        };
        let value = self.result.structured.as_ref().ok_or("it gave no value for programs")?;
        let checker = crate::service::schema::Checker::of(schema)
            .map_err(|why| format!("the output schema is none: {why}"))?;
        checker.check(value)
    }

    /// The whole result, as it came.
    pub fn raw(&self) -> &Json {
        &self.raw
    }

    /// The result.
    pub fn into_result(self) -> ToolResult {
        self.result
    }
}

impl Deref for ToolReply {
    type Target = ToolResult;

    fn deref(&self) -> &ToolResult {
        &self.result
    }
}

/// A result of another kind than the call's: only questions can be that.
fn other<T>(value: ReplyValue) -> Result<T, ClientError> {
    Err(ClientError::maybe(match value {
        ReplyValue::InputRequired(asks) => ErrorKind::InputRequired(Box::new(asks)),
        _ => ErrorKind::BadReply(BadReply::NotAnObject),
    }))
}

pub(super) fn resource(reply: Reply) -> Result<ResourceResult, ClientError> {
    match reply.value {
        ReplyValue::Resource(result) => Ok(result),
        value => other(value),
    }
}

pub(super) fn prompt(reply: Reply) -> Result<PromptResult, ClientError> {
    match reply.value {
        ReplyValue::Prompt(result) => Ok(result),
        value => other(value),
    }
}

pub(super) fn completion(reply: Reply) -> Result<Completion, ClientError> {
    match reply.value {
        ReplyValue::Completion(completion) => Ok(completion),
        value => other(value),
    }
}

pub(super) fn description(reply: Reply) -> Result<Description, ClientError> {
    match reply.value {
        ReplyValue::Description(description) => Ok(*description),
        value => other(value),
    }
}

pub(super) fn tools(reply: Reply) -> Result<Entries<Tool>, ClientError> {
    match reply.value {
        ReplyValue::Tools(entries) => Ok(entries),
        value => other(value),
    }
}

pub(super) fn resources(reply: Reply) -> Result<Entries<Resource>, ClientError> {
    match reply.value {
        ReplyValue::Resources(entries) => Ok(entries),
        value => other(value),
    }
}

pub(super) fn templates(reply: Reply) -> Result<Entries<ResourceTemplate>, ClientError> {
    match reply.value {
        ReplyValue::Templates(entries) => Ok(entries),
        value => other(value),
    }
}

pub(super) fn prompts(reply: Reply) -> Result<Entries<Prompt>, ClientError> {
    match reply.value {
        ReplyValue::Prompts(entries) => Ok(entries),
        value => other(value),
    }
}

pub(super) fn done(_: Reply) -> Result<(), ClientError> {
    Ok(())
}

pub(super) fn raw(reply: Reply) -> Result<Json, ClientError> {
    Ok(reply.raw)
}
