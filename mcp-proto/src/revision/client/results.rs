//! A result, read as what was asked for (C13).

mod content;
mod declared;

use core::fmt;

use crate::frame::json::{self, Kind};
use crate::model::{
    CacheHint, CacheScope, Completion, Entries, InputRequired, Json, Operation, PromptResult,
    RawQuestion, Reply, ReplyValue, ResourceResult, ToolResult, View, boolean, copied, elements,
};
use crate::revision::{Adapter, AskBy};

/// What a result is.
#[derive(Clone, Debug)]
pub enum Received {
    /// The answer to the call.
    Reply(Reply),
    /// Questions that come before the answer (R26-MRTR-02).
    Questions(InputRequired),
}

/// A result that is not what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadReply {
    /// It is no object, or names a member twice.
    NotAnObject,
    /// `resultType` is none that the client knows (R26-RPC-25).
    ResultType,
    /// It asks, though what was asked for cannot be answered with questions (R26-MRTR-03), or
    /// without a question and without a state (R26-MRTR-04).
    Questions,
    /// A member is missing, or is not what it must be.
    Member(&'static str),
    /// Nothing of its contents can be read; the text says why.
    Unreadable(String),
    /// It is the result of something else.
    Foreign(&'static str),
}

impl fmt::Display for BadReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject => f.write_str("the result is no object"),
            Self::ResultType => f.write_str("the result is of an unknown type"),
            Self::Questions => f.write_str("the result asks where nothing can be asked"),
            Self::Member(name) => write!(f, "the result has no valid `{name}`"),
            Self::Unreadable(why) => write!(f, "the result cannot be read: {why}"),
            Self::Foreign(name) => write!(f, "the result is that of something else: `{name}`"),
        }
    }
}

impl std::error::Error for BadReply {}

impl Adapter {
    /// Reads the result of a call by what was asked and by `resultType`, never by its looks (C13).
    ///
    /// # Errors
    /// Where it is not what was asked for. Parts of lists and of content that cannot be read are
    /// left out and named in [`Reply::left_out`] instead. `mirrors` says that calls repeat arguments
    /// in headers, so that a tool whose headers cannot be sent is left out (R26-HDR-12).
    pub fn read_result(
        &self,
        operation: Operation,
        result: &Json,
        mirrors: bool,
    ) -> Result<Received, BadReply> {
        let object = View::of(result.as_bytes()).ok_or(BadReply::NotAnObject)?;
        if self.envelope.result_type {
            match object.get("resultType").map(json::string) {
                None => {}
                Some(Some(kind)) if kind == "complete" => {}
                Some(Some(kind)) if kind == "input_required" => {
                    return self.questions(operation, &object).map(Received::Questions);
                }
                Some(_) => return Err(BadReply::ResultType),
            }
        }
        let mut reader = Reader {
            adapter: self,
            object,
            mirrors: mirrors && self.mirrors_headers,
            left_out: Vec::new(),
        };
        let value = reader.value(operation)?;
        Ok(Received::Reply(Reply {
            value,
            cache: reader.cache(),
            meta: reader.object.json("_meta"),
            raw: result.clone(),
            left_out: reader.left_out,
        }))
    }

    /// R26-MRTR-02 to R26-MRTR-06.
    fn questions(&self, on: Operation, object: &View<'_>) -> Result<InputRequired, BadReply> {
        let can =
            matches!(on, Operation::CallTool | Operation::GetPrompt | Operation::ReadResource);
        let state = object.json("requestState");
        let requests = match object.get("inputRequests") {
            Some(requests) => View::of(requests).ok_or(BadReply::Member("inputRequests"))?,
            None if state.is_some() => return self.only_state(can, state),
            None => return Err(BadReply::Questions),
        };
        if !can || self.ask_elicitation != AskBy::Retry {
            return Err(BadReply::Questions);
        }
        let question = |(key, value): (std::borrow::Cow<'_, str>, &[u8])| {
            let question = View::of(value)?;
            let method = question.string("method")?.into_owned();
            Some((key.into_owned(), RawQuestion { method, params: question.json("params") }))
        };
        let requests: Option<Vec<_>> = requests.iter().map(question).collect();
        let requests = requests.ok_or(BadReply::Member("inputRequests"))?;
        Ok(InputRequired { requests, state })
    }

    fn only_state(&self, can: bool, state: Option<Json>) -> Result<InputRequired, BadReply> {
        match can && self.ask_elicitation == AskBy::Retry {
            true => Ok(InputRequired { requests: Vec::new(), state }),
            false => Err(BadReply::Questions),
        }
    }
}

/// One result being read.
struct Reader<'a> {
    adapter: &'a Adapter,
    object: View<'a>,
    mirrors: bool,
    left_out: Vec<String>,
}

/// So many notes about what was left out say enough.
const MOST_NOTES: usize = 32;

impl<'a> Reader<'a> {
    fn value(&mut self, operation: Operation) -> Result<ReplyValue, BadReply> {
        Ok(match operation {
            Operation::CallTool => ReplyValue::Tool(self.tool_result()?),
            Operation::ReadResource => ReplyValue::Resource(self.resource_result()?),
            Operation::GetPrompt => ReplyValue::Prompt(self.prompt_result()?),
            Operation::Complete => ReplyValue::Completion(self.completion()?),
            Operation::ListTools => ReplyValue::Tools(self.entries("tools", Self::tool)?),
            Operation::ListResources => ReplyValue::Resources(
                self.entries("resources", |_, object| declared::resource(object))?,
            ),
            Operation::ListResourceTemplates => {
                ReplyValue::Templates(self.entries("resourceTemplates", Self::template)?)
            }
            Operation::ListPrompts => ReplyValue::Prompts(self.entries("prompts", Self::prompt)?),
            Operation::Describe => {
                let description = self.adapter.read_description(self.object.text());
                let missing = match self.adapter.has_handshake {
                    true => "protocolVersion",
                    false => "supportedVersions",
                };
                ReplyValue::Description(Box::new(description.ok_or(BadReply::Member(missing))?))
            }
            Operation::Extension => ReplyValue::Raw,
            Operation::HandshakeComplete
            | Operation::Ping
            | Operation::Listen
            | Operation::Subscribe
            | Operation::Unsubscribe
            | Operation::SetLogLevel => ReplyValue::Done,
        })
    }

    /// R26-CACHE-03: what is absent or negative is stale at once; so is what no number is.
    fn cache(&self) -> CacheHint {
        let ttl = self.object.get("ttlMs").and_then(json::integer).unwrap_or_default();
        let is_public = self
            .object
            .string("cacheScope")
            .is_some_and(|scope| scope == CacheScope::Public.as_str());
        CacheHint {
            ttl_ms: u64::try_from(ttl).unwrap_or_default(),
            scope: if is_public { CacheScope::Public } else { CacheScope::Private },
        }
    }

    fn array(&self, name: &'static str) -> Result<&'a [u8], BadReply> {
        let value = self.object.get(name).filter(|value| json::kind(value) == Kind::Array);
        value.ok_or(BadReply::Member(name))
    }

    /// C14: deployed servers of handshake revisions leave `content` out, or set it to null.
    fn tool_result(&mut self) -> Result<ToolResult, BadReply> {
        let content = self.object.get("content").filter(|value| json::kind(value) != Kind::Null);
        let mut result = ToolResult::default();
        match content {
            Some(content) if json::kind(content) == Kind::Array => {
                result.content = self.each(content, "content", Self::block);
            }
            None if self.adapter.has_handshake => self.not_foreign()?,
            _ => return Err(BadReply::Member("content")),
        }
        result.structured = self.object.json("structuredContent");
        result.is_error = self.object.get("isError").and_then(boolean).unwrap_or_default();
        result.meta = self.object.json("_meta");
        Ok(result)
    }

    fn not_foreign(&self) -> Result<(), BadReply> {
        const FOREIGN: [&str; 10] = [
            "contents",
            "messages",
            "completion",
            "tools",
            "prompts",
            "resources",
            "resourceTemplates",
            "inputRequests",
            "requestState",
            "task",
        ];
        match FOREIGN.into_iter().find(|name| self.object.get(name).is_some()) {
            Some(name) => Err(BadReply::Foreign(name)),
            None => Ok(()),
        }
    }

    fn resource_result(&mut self) -> Result<ResourceResult, BadReply> {
        let contents = self.array("contents")?;
        let read = self.each(contents, "contents", Self::contents);
        // An empty result would say that the resource holds nothing.
        if let (true, Some(why)) = (read.is_empty(), self.left_out.first()) {
            return Err(BadReply::Unreadable(why.clone()));
        }
        let mut result = ResourceResult::new(read);
        result.cache = self.cache();
        result.meta = self.object.json("_meta");
        Ok(result)
    }

    fn prompt_result(&mut self) -> Result<PromptResult, BadReply> {
        let messages = self.array("messages")?;
        let mut result = PromptResult::new(self.each(messages, "messages", Self::message));
        result.description = self.object.string("description").map(|text| text.into_owned());
        result.meta = self.object.json("_meta");
        Ok(result)
    }

    fn completion(&mut self) -> Result<Completion, BadReply> {
        const MISSING: BadReply = BadReply::Member("completion.values");
        let object = self.object.object("completion").ok_or(MISSING)?;
        let values = object.get("values").filter(|values| json::kind(values) == Kind::Array);
        let values = elements(values.ok_or(MISSING)?).filter_map(json::string);
        let mut completion = Completion::new(values.map(|value| value.into_owned()));
        completion.total =
            object.get("total").and_then(json::integer).and_then(|total| u64::try_from(total).ok());
        completion.has_more = object.get("hasMore").and_then(boolean).unwrap_or_default();
        Ok(completion)
    }

    /// A list's entries. A bad entry does not spoil the others, and what Go calls a nil slice is
    /// an empty list to the older revisions (C14).
    fn entries<T>(
        &mut self,
        name: &'static str,
        read: fn(&mut Self, &View<'_>) -> Result<T, &'static str>,
    ) -> Result<Entries<T>, BadReply> {
        let is_nil = self.object.get(name).is_some_and(|list| json::kind(list) == Kind::Null);
        let entries = match is_nil && self.adapter.has_handshake {
            true => Vec::new(),
            false => {
                let list = self.array(name)?;
                self.each(list, name, read)
            }
        };
        let next = self.object.string("nextCursor").map(|cursor| cursor.into_owned());
        Ok(Entries { entries, next })
    }

    fn each<T>(
        &mut self,
        list: &[u8],
        name: &str,
        read: fn(&mut Self, &View<'_>) -> Result<T, &'static str>,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for (index, entry) in elements(list).enumerate() {
            let entry = View::of(entry).ok_or("it is no object");
            match entry.and_then(|entry| read(self, &entry)) {
                Ok(entry) => found.push(entry),
                Err(why) => self.leave_out(|| format!("{name}[{index}]: {why}")),
            }
        }
        found
    }

    fn leave_out(&mut self, note: impl FnOnce() -> String) {
        if self.left_out.len() < MOST_NOTES {
            self.left_out.push(note());
        }
    }
}

fn text(object: &View<'_>, name: &str) -> Option<String> {
    object.string(name).map(|text| text.into_owned())
}

fn raw(object: &View<'_>, name: &str) -> Option<Json> {
    object.get(name).filter(|value| json::kind(value) == Kind::Object).map(copied)
}
