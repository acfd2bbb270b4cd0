//! From an [`Outcome`] to a response. Each is one line, and the same bytes wherever it is sent.

use super::project::{
    json_if, meta_if, output_schema, write_content, write_contents, write_json, write_message,
    write_text_of,
};
use super::{Adapter, Published, Structured, notification};
use crate::frame::envelope::{
    ProgressToken, RequestId, write_error, write_notification, write_result,
};
use crate::frame::json::{self, write_string};
use crate::frame::writer::{self, Object};
use crate::model::{
    CacheHint, Completion, Content, Failure, FailureKind, Json, LogMessage, Operation, Outcome,
    Progress, PromptResult, ResourceResult, Tool, ToolResult, Value,
};

/// The HTTP status of every result.
const OK: u16 = 200;

impl Adapter {
    /// Appends the response to a call and tells its HTTP status. `tool` is the one that was called,
    /// if it was one: what it declared decides what its result may hold.
    pub fn write_outcome(
        &self,
        out: &mut Vec<u8>,
        published: &Published,
        id: &RequestId,
        operation: Operation,
        tool: Option<&Tool>,
        outcome: &Outcome,
    ) -> u16 {
        let value = match outcome {
            Outcome::Value(value) => value,
            Outcome::Failure(failure)
                if operation == Operation::CallTool
                    && (failure.kind == FailureKind::InvalidArguments
                        || failure.kind == FailureKind::InputUnsupported && self.has_handshake) =>
            {
                // The model can correct itself only by what it sees (R2511-TOOL-06).
                let result = Value::Tool(ToolResult::error(failure.message.clone()));
                let outcome = Outcome::Value(result);
                return self.write_outcome(out, published, id, operation, tool, &outcome);
            }
            Outcome::Failure(failure) => return self.write_failure(out, Some(id), failure),
            // Questions need more than a response to be written; who can put them does so first.
            Outcome::NeedsInput(_) => {
                let why = "this call cannot ask its client for input";
                let failure = Failure::new(FailureKind::InputUnsupported, why);
                return self.write_failure(out, Some(id), &failure);
            }
        };
        let server_info = published.server_info(self);
        write_result(out, id, |out: &mut Vec<u8>| {
            let mut result = Object::begin(out);
            let (meta, hint) = match value {
                Value::Tool(given) => {
                    self.tool_result(&mut result, given, tool);
                    (given.meta.as_ref(), None)
                }
                Value::Resource(resource) => {
                    self.resource_result(&mut result, resource);
                    (resource.meta.as_ref(), Some(resource.cache))
                }
                Value::Prompt(prompt) => {
                    self.prompt_result(&mut result, prompt);
                    (prompt.meta.as_ref(), None)
                }
                Value::Completion(completion) => {
                    completion_result(&mut result, completion);
                    (None, None)
                }
                Value::Raw(raw) => return self.raw_result(result, raw, operation, server_info),
            };
            self.close_result(result, hint, meta, server_info);
        });
        OK
    }

    /// Appends the response to a call whose result says nothing but that it is done, and tells its
    /// HTTP status.
    pub fn write_empty(&self, out: &mut Vec<u8>, published: &Published, id: &RequestId) -> u16 {
        let server_info = published.server_info(self);
        write_result(out, id, |out: &mut Vec<u8>| {
            self.close_result(Object::begin(out), None, None, server_info);
        });
        OK
    }

    /// Appends an error and tells its HTTP status. Without an id it is for the body of an HTTP
    /// reply, or for streams of messages where [`error_without_id`](Self::error_without_id) is
    /// set; null is never written (C05, R2511-RPC-12).
    pub fn write_failure(
        &self,
        out: &mut Vec<u8>,
        id: Option<&RequestId>,
        failure: &Failure,
    ) -> u16 {
        let wire = self.wire(failure.kind);
        let data = failure.data.as_ref().map(|data| |out: &mut Vec<u8>| write_json(out, data));
        write_error(out, id, wire.code.into(), &failure.message, data);
        wire.status
    }

    /// Appends a progress notification. A revision without messages drops the message; what is not
    /// finite has no form in JSON and is left out (C16).
    pub fn write_progress(&self, out: &mut Vec<u8>, token: &ProgressToken, progress: &Progress) {
        let message = progress.message.as_deref().filter(|_| self.fields.progress_message);
        let params = |out: &mut Vec<u8>| {
            let mut params = Object::begin(out);
            params.raw("progressToken", token.as_json()).float("progress", progress.progress);
            if let Some(total) = progress.total {
                params.float("total", total);
            }
            params.string_if("message", message);
            params.end();
        };
        write_notification(out, notification::PROGRESS, Some(params));
    }

    /// Appends a log message (R24-LOG-09). Whether the client wants it is for the caller to know.
    pub fn write_log(&self, out: &mut Vec<u8>, message: &LogMessage) {
        let params = |out: &mut Vec<u8>| {
            let mut params = Object::begin(out);
            params.string("level", message.level.as_str());
            params.string_if("logger", message.logger.as_deref());
            write_json(params.value("data"), &message.data);
            params.end();
        };
        write_notification(out, notification::MESSAGE, Some(params));
    }

    /// Adds what every result carries, and closes it.
    pub(super) fn close_result(
        &self,
        mut result: Object<'_>,
        hint: Option<CacheHint>,
        meta: Option<&Json>,
        server_info: Option<&[u8]>,
    ) {
        if self.envelope.result_type {
            result.string("resultType", "complete");
        }
        if let Some(hint) = hint {
            self.cache_hint(&mut result, hint);
        }
        meta_if(&mut result, meta, server_info);
        result.end();
    }

    fn cache_hint(&self, result: &mut Object<'_>, hint: CacheHint) {
        if self.envelope.cache_hints {
            result.number("ttlMs", hint.ttl_ms).string("cacheScope", hint.scope.as_str());
        }
    }

    /// `content` is always there (C14), and a structured value has a text that says it
    /// (R2506-TOOL-14).
    fn tool_result(&self, result: &mut Object<'_>, given: &ToolResult, tool: Option<&Tool>) {
        let write = |block: &Content, out: &mut Vec<u8>| write_content(&self.fields, block, out);
        match &given.structured {
            Some(value) if given.content.is_empty() => {
                result.array("content", [value], |value, out| {
                    write_text_of(&self.fields, value, out);
                });
            }
            _ => {
                result.array("content", &given.content, write);
            }
        }
        json_if(result, "structuredContent", self.structured(given, tool));
        if given.is_error {
            result.boolean("isError", true);
        }
    }

    /// The structured value, where the revision has it and its schema can be told too (C92).
    fn structured<'a>(&self, given: &'a ToolResult, tool: Option<&Tool>) -> Option<&'a Json> {
        let value = given.structured.as_ref()?;
        let said = match self.fields.structured {
            Structured::None => false,
            Structured::Any => true,
            Structured::Object => {
                let told = |tool: &Tool| {
                    tool.output_schema.is_none() || output_schema(&self.fields, tool).is_some()
                };
                value.kind() == json::Kind::Object && tool.is_none_or(told)
            }
        };
        said.then_some(value)
    }

    fn resource_result(&self, result: &mut Object<'_>, resource: &ResourceResult) {
        result.array("contents", &resource.contents, |contents, out| {
            write_contents(&self.fields, contents, out);
        });
    }

    fn prompt_result(&self, result: &mut Object<'_>, prompt: &PromptResult) {
        result.string_if("description", prompt.description.as_deref());
        result.array("messages", &prompt.messages, |message, out| {
            write_message(&self.fields, message, out);
        });
    }

    /// A result that the application wrote itself, with what it left out.
    fn raw_result(
        &self,
        mut result: Object<'_>,
        raw: &Json,
        operation: Operation,
        server_info: Option<&[u8]>,
    ) {
        let text = raw.as_bytes();
        let members = json::members(text);
        let mut meta = None;
        for member in members.iter() {
            let value = member.value.of(text);
            if member.is_named(text, "_meta") {
                meta = Some(Json::scanned(value.to_vec().into()));
            } else {
                json::compact(value, result.value(&member.decoded_name(text)));
            }
        }
        let has = |name| members.get(text, name).is_some();
        if self.envelope.result_type && !has("resultType") {
            result.string("resultType", "complete");
        }
        if operation == Operation::ReadResource && !has("ttlMs") && !has("cacheScope") {
            self.cache_hint(&mut result, CacheHint::default());
        }
        meta_if(&mut result, meta.as_ref(), server_info);
        result.end();
    }
}

/// At most a hundred values, and the truth about how many there are (R24-CMPL-04).
fn completion_result(result: &mut Object<'_>, completion: &Completion) {
    let known = completion.values.len();
    let shown = completion.values.get(..Completion::MOST).unwrap_or(&completion.values);
    let cut = shown.len() < known;
    let total = match completion.total {
        Some(total) => Some(total.max(known as u64)),
        None => (cut && !completion.has_more).then_some(known as u64),
    };
    let more = cut || completion.has_more || total.is_some_and(|total| total > shown.len() as u64);
    result.object("completion", |object| {
        writer::array(object.value("values"), shown, |value, out| write_string(out, value));
        if let Some(total) = total {
            object.number("total", total);
        }
        if more || total.is_some() {
            object.boolean("hasMore", more);
        }
    });
}
