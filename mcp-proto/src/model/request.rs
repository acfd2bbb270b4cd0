//! What a client asks of a server, whatever revision it will be spelled in.

use core::time::Duration;

use super::{Completing, Detail, Filter, Json, LogLevel, Operation, Text};

/// A call as an application makes it.
///
/// ```
/// use mcp_proto::model::{Json, Request};
///
/// let arguments = Json::parse(r#"{"a":2,"b":40}"#)?;
/// let call = Request::call_tool("add", Some(arguments)).without_progress();
/// # Ok::<(), mcp_proto::frame::json::ScanError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) operation: Operation,
    /// Of `Extension`: the method.
    pub(crate) method: Option<Text>,
    pub(crate) target: Option<Text>,
    pub(crate) arguments: Option<Json>,
    /// Of `Extension`: the parameters.
    pub(crate) params: Option<Json>,
    pub(crate) detail: Detail,
    pub(crate) meta: Option<Json>,
    pub(crate) answers: Option<Answers>,
    pub(crate) progress: bool,
    /// A list is followed to its end.
    pub(crate) whole: bool,
    pub(crate) patience: Option<Duration>,
    pub(crate) deadline: Option<Duration>,
}

/// What finishes a call that the server answered with questions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answers {
    /// Answers by the keys of the questions: JSON objects.
    pub(crate) responses: Vec<(String, Json)>,
    /// The state, as it came (R26-MRTR-16).
    pub(crate) state: Option<Json>,
}

impl Request {
    fn new(operation: Operation) -> Self {
        Self {
            operation,
            method: None,
            target: None,
            arguments: None,
            params: None,
            detail: Detail::None,
            meta: None,
            answers: None,
            progress: matches!(
                operation,
                Operation::CallTool | Operation::ReadResource | Operation::GetPrompt
            ),
            whole: false,
            patience: None,
            deadline: None,
        }
    }

    fn at(operation: Operation, target: impl Into<String>) -> Self {
        Self { target: Some(Text::from(target.into())), ..Self::new(operation) }
    }

    /// Calls a tool; `arguments` is an object (R24-TOOL-22).
    pub fn call_tool(name: impl Into<String>, arguments: Option<Json>) -> Self {
        Self { arguments, ..Self::at(Operation::CallTool, name) }
    }

    /// Reads the resource at `uri`, which is sent as it is.
    pub fn read_resource(uri: impl Into<String>) -> Self {
        Self::at(Operation::ReadResource, uri)
    }

    /// Gets a prompt; `arguments` is an object of strings (T-62).
    pub fn get_prompt(name: impl Into<String>, arguments: Option<Json>) -> Self {
        Self { arguments, ..Self::at(Operation::GetPrompt, name) }
    }

    /// Completes an argument.
    pub fn complete(completing: Completing) -> Self {
        let detail = Detail::Completing(Box::new(completing));
        Self { detail, ..Self::new(Operation::Complete) }
    }

    /// All entries of the list that `operation` names, page after page. An operation that lists
    /// nothing is refused when it is made.
    pub fn list(operation: Operation) -> Self {
        Self { whole: true, ..Self::new(operation) }
    }

    /// One page of a list: the first, or the one at `cursor` (R24-PAGE-02).
    pub fn page(operation: Operation, cursor: Option<String>) -> Self {
        let detail = cursor.map_or(Detail::None, |cursor| Detail::Cursor(Text::from(cursor)));
        Self { detail, ..Self::new(operation) }
    }

    pub(crate) fn listen(filter: Filter) -> Self {
        Self { detail: Detail::Listen(Box::new(filter)), ..Self::new(Operation::Listen) }
    }

    pub(crate) fn subscription(operation: Operation, uri: &str) -> Self {
        Self::at(operation, uri)
    }

    /// Asks for a sign of life. A revision without `ping` is asked to describe itself instead.
    pub fn ping() -> Self {
        Self::new(Operation::Ping)
    }

    /// Asks the server to describe itself, where the revision can be asked.
    pub fn describe() -> Self {
        Self::new(Operation::Describe)
    }

    /// Asks for log messages of this severity and above (R24-LOG-03, R26-LOG-03).
    pub fn set_log_level(level: LogLevel) -> Self {
        Self { detail: Detail::Level(level), ..Self::new(Operation::SetLogLevel) }
    }

    /// Calls a method that no revision defines; `params` is an object.
    pub fn extension(method: impl Into<String>, params: Option<Json>) -> Self {
        let method = Some(Text::from(method.into()));
        Self { method, params, ..Self::new(Operation::Extension) }
    }

    /// The same call, reporting how far it has come (R24-PROG-01). Calls of tools, resources and
    /// prompts do, since progress keeps them [alive](crate::client::Limits::patience).
    #[must_use]
    pub fn with_progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// The same call, not reporting how far it has come.
    #[must_use]
    pub fn without_progress(mut self) -> Self {
        self.progress = false;
        self
    }

    /// The same call with members for its `_meta`: an object, such as a trace context
    /// (R26-META-15).
    #[must_use]
    pub fn with_meta(mut self, meta: Json) -> Self {
        self.meta = Some(meta);
        self
    }

    /// The same call, given up after this much silence (R2503-TIME-02). Progress is no silence.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// Given up after this long in all, with every round and every page of it, whatever progress it
    /// makes (R2503-TIME-04); in place of [`Limits::longest`](crate::client::Limits::longest).
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// The same call with the answers to what the server asked when it was made before: for each
    /// key an answer as the protocol spells it, and the state that came with the questions.
    #[must_use]
    pub fn with_answers(mut self, responses: Vec<(String, Json)>, state: Option<Json>) -> Self {
        self.answers = Some(Answers { responses, state });
        self
    }

    /// What is asked for.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The tool's name, the prompt's name, or the resource's URI.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }
}
