//! What a handler, an extractor or a factory fails with.

use core::fmt;
use std::borrow::Cow;

use super::NeedInput;
use super::kind::Kind;
use crate::model::{BadAnswer, Failure, FailureKind, Json, NeedsInput, Outcome, ToolResult};

/// Why a call failed, and what its client is told.
///
/// Three kinds, made by who may read the text:
///
/// - [`Error::tool`]: the tool failed at its task, and the text tells the model what to do about
///   it (R26-TOOL-06). In a prompt or a resource it is an internal error with that text.
/// - [`Error::protocol`]: a JSON-RPC error of the given kind and message.
/// - [`Error::internal`], and every foreign error through `?`: the client reads a generic
///   message; the source goes to the registry's [observer](super::Registry::on_error) only.
///
/// An application's own errors that are for the model become [`Error::tool`] by
/// [`or_tool`](OrTool::or_tool).
///
/// Besides, a [`NeedInput`] is one, which asks the client, and so is a [`BadAnswer`], whose text
/// is read like that of [`Error::tool`].
///
/// ```
/// use mcp_proto::service::Error;
///
/// fn read(path: &str) -> Result<String, Error> {
///     if path.is_empty() {
///         return Err(Error::tool("`path` is empty; give the path of a file"));
///     }
///     Ok(std::fs::read_to_string(path)?) // the client learns no more than "internal error"
/// }
/// assert_eq!(read("/no/such/file").unwrap_err().client_text(), "internal error");
/// assert!(read("").unwrap_err().client_text().contains("give the path"));
/// ```
pub struct Error(Box<Repr>);

enum Repr {
    Tool(ToolResult),
    Failure(Failure),
    BadAnswer(BadAnswer),
    NeedsInput(NeedsInput),
    Internal(Source),
}

/// An error that is for the server's own eyes.
pub(crate) type Source = Box<dyn core::error::Error + Send + Sync>;

/// All that a client learns of an internal error.
pub(crate) const INTERNAL: &str = "internal error";

impl Error {
    /// The tool failed at its task; the model reads `text` in a result with `isError`.
    pub fn tool(text: impl Into<String>) -> Self {
        Self::tool_result(ToolResult::error(text))
    }

    /// The tool failed at its task; the model reads all of `result`, marked `isError`.
    pub fn tool_result(mut result: ToolResult) -> Self {
        result.is_error = true;
        Self(Box::new(Repr::Tool(result)))
    }

    /// A JSON-RPC error. The client reads the message.
    pub fn protocol(kind: FailureKind, message: impl Into<Cow<'static, str>>) -> Self {
        Failure::new(kind, message).into()
    }

    /// The same error with `data`, where it is a JSON-RPC error; others carry none.
    #[must_use]
    pub fn with_data(mut self, data: Json) -> Self {
        if let Repr::Failure(failure) = &mut *self.0 {
            failure.data = Some(data);
        }
        self
    }

    /// The server failed; the client is not told how.
    pub fn internal(source: impl Into<Box<dyn core::error::Error + Send + Sync>>) -> Self {
        Self(Box::new(Repr::Internal(source.into())))
    }

    /// The text that the client reads.
    pub fn client_text(&self) -> Cow<'_, str> {
        match &*self.0 {
            Repr::Tool(result) => text_of(result),
            Repr::Failure(failure) => Cow::Borrowed(&failure.message),
            Repr::BadAnswer(bad) => Cow::Owned(bad.to_string()),
            Repr::NeedsInput(_) => Cow::Borrowed("input is needed first"),
            Repr::Internal(_) => Cow::Borrowed(INTERNAL),
        }
    }

    /// The error that the client is not told of.
    pub fn source(&self) -> Option<&(dyn core::error::Error + Send + Sync + 'static)> {
        match &*self.0 {
            Repr::Internal(source) => Some(&**source),
            _ => None,
        }
    }

    /// What came back for a question and is no answer, where that is the error.
    pub fn bad_answer(&self) -> Option<&BadAnswer> {
        match &*self.0 {
            Repr::BadAnswer(bad) => Some(bad),
            _ => None,
        }
    }

    /// What is to be asked, where that is the error.
    pub(crate) fn needs_input(&self) -> Option<&NeedsInput> {
        match &*self.0 {
            Repr::NeedsInput(needs) => Some(needs),
            _ => None,
        }
    }

    /// What the call ends with; what the client must not see is handed to `observe`.
    pub(crate) fn settle<K: Kind>(self, observe: impl FnOnce(&Source)) -> Outcome {
        match *self.0 {
            Repr::Tool(result) if K::IS_TOOL => result.into(),
            Repr::Tool(result) => {
                Failure::new(FailureKind::Internal, text_of(&result).into_owned()).into()
            }
            Repr::Failure(failure) => failure.into(),
            Repr::BadAnswer(bad) if K::IS_TOOL => ToolResult::error(bad.to_string()).into(),
            Repr::BadAnswer(bad) => Failure::new(FailureKind::Internal, bad.to_string()).into(),
            Repr::NeedsInput(needs) => needs.into(),
            Repr::Internal(source) => {
                observe(&source);
                Failure::new(FailureKind::Internal, INTERNAL).into()
            }
        }
    }
}

impl<E: core::error::Error + Send + Sync + 'static> From<E> for Error {
    /// A [`Failure`] and a [`BadAnswer`] are what they say; everything else is
    /// [internal](Error::internal).
    fn from(error: E) -> Self {
        let error: Source = Box::new(error);
        let error = match error.downcast::<Failure>() {
            Ok(failure) => return Self(Box::new(Repr::Failure(*failure))),
            Err(error) => error,
        };
        Self(Box::new(match error.downcast::<BadAnswer>() {
            Ok(bad) => Repr::BadAnswer(*bad),
            Err(source) => Repr::Internal(source),
        }))
    }
}

/// Tells the model why a tool failed, for the errors of an application.
///
/// `?` alone takes any error for an [internal](Error::internal) one, whose text the client does not
/// read. Where an application's errors are written for the model, that is said in one word:
///
/// ```
/// use mcp_proto::service::{Error, OrTool};
///
/// #[derive(Debug)]
/// enum NoteError { Unknown(u32) }
///
/// impl std::fmt::Display for NoteError {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         let Self::Unknown(id) = self;
///         write!(f, "no note {id}; use list_notes")
///     }
/// }
///
/// fn find(id: u32) -> Result<String, NoteError> {
///     Err(NoteError::Unknown(id))
/// }
///
/// async fn note() -> Result<String, Error> {
///     Ok(find(99).or_tool()?) // the model reads "no note 99; use list_notes"
/// }
/// # assert_eq!(find(99).or_tool().unwrap_err().client_text(), "no note 99; use list_notes");
/// ```
pub trait OrTool<T> {
    /// The value, or an [`Error::tool`] with the error's text.
    ///
    /// # Errors
    /// Where there is no value.
    fn or_tool(self) -> Result<T, Error>;
}

impl<T, E: fmt::Display> OrTool<T> for Result<T, E> {
    fn or_tool(self) -> Result<T, Error> {
        self.map_err(|error| Error::tool(error.to_string()))
    }
}

impl From<NeedInput> for Error {
    fn from(needs: NeedInput) -> Self {
        Self(Box::new(Repr::NeedsInput(needs.into())))
    }
}

impl fmt::Debug for Error {
    /// For the server's own log: shows the source, and what caused it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.client_text())?;
        let mut next = self.source().map(|source| source as &(dyn core::error::Error + 'static));
        while let Some(error) = next {
            write!(f, ": {error}")?;
            next = error.source();
        }
        Ok(())
    }
}

fn text_of(result: &ToolResult) -> Cow<'_, str> {
    let texts = || {
        result.content.iter().filter_map(|block| match block {
            crate::model::Content::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
    };
    match texts().count() {
        0 => Cow::Borrowed("the tool failed"),
        1 => texts().next().map_or(Cow::Borrowed(""), Cow::Borrowed),
        _ => Cow::Owned(texts().collect::<Vec<_>>().join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::kind;

    #[test]
    fn a_foreign_error_reaches_the_observer_and_not_the_client() {
        let failed = || -> Result<(), Error> { Err(core::fmt::Error)? };
        let mut seen = String::new();
        let outcome =
            failed().unwrap_err().settle::<kind::Tool>(|source| seen = source.to_string());
        assert_eq!(outcome, Failure::new(FailureKind::Internal, INTERNAL).into());
        assert_eq!(seen, core::fmt::Error.to_string());
    }

    #[test]
    fn a_failed_tool_is_a_result_and_elsewhere_an_error_with_the_same_text() {
        // R26-TOOL-06, R24-TOOL-07
        let error = || Error::tool("try again tomorrow");
        let never = |_: &Source| unreachable!();
        let result: Outcome = ToolResult::error("try again tomorrow").into();
        assert_eq!(error().settle::<kind::Tool>(never), result);
        let failure = Failure::new(FailureKind::Internal, "try again tomorrow");
        assert_eq!(error().settle::<kind::Prompt>(never), failure.into());
    }
}
