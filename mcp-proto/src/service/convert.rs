//! What handlers may return.

use bytes::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use super::kind::{Completer, Kind, Method, Prompt, Resource, Tool};
use super::scope::Origin;
use super::{Error, schema};
use crate::model::{
    Body, Call, Completion, Content, Contents, Failure, FailureKind, Json as Text, PromptMessage,
    PromptResult, ResourceResult, ToolResult, Value,
};

/// A value that a handler of kind `K` may return.
///
/// | returned | [`Tool`] | [`Resource`] | [`Prompt`] | [`Completer`] |
/// |---|---|---|---|---|
/// | `String`, `&str` | a text block | text | a message of the user | |
/// | [`Json<T>`](Json) | structured content, with a schema | JSON text | | |
/// | `Vec<u8>`, `Bytes` | | bytes | | |
/// | [`Content`], `Vec<Content>` | blocks | | | |
/// | [`Contents`], `Vec<Contents>` | | contents | | |
/// | [`PromptMessage`], `Vec<PromptMessage>` | | | messages | |
/// | `Vec<String>`, `Vec<&str>` | | | | suggestions |
/// | [`ToolResult`], [`ResourceResult`], [`PromptResult`], [`Completion`] | itself | itself | itself | itself |
/// | `()` | no content | | | |
/// | `Option<R>` | | not found, if `None` | | |
/// | `Result<R, E>` | all | all | all | all |
#[diagnostic::on_unimplemented(
    message = "a handler of this kind cannot return `{Self}`",
    note = "see the table of `mcp_proto::service::IntoOutcome` for what it can return"
)]
pub trait IntoOutcome<K: Kind> {
    /// Says what is known of every value of this type.
    #[doc(hidden)]
    fn describe(returns: &mut Returns) {
        let _ = returns;
    }

    /// The result that this is.
    ///
    /// # Errors
    /// Where it is an error, or could not be serialized.
    fn into_outcome(self, origin: Origin<'_>) -> Result<K::Result, Error>;
}

/// What is known of everything that a handler returns.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Returns {
    pub(crate) schema: Option<fn() -> schemars::Schema>,
    pub(crate) mime_type: Option<&'static str>,
}

/// A value for programs: structured content of a tool, with an output schema derived from its
/// type; JSON text of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<K: Kind, R: IntoOutcome<K>, E: Into<Error>> IntoOutcome<K> for Result<R, E> {
    fn describe(returns: &mut Returns) {
        R::describe(returns);
    }

    fn into_outcome(self, origin: Origin<'_>) -> Result<K::Result, Error> {
        self.map_err(Into::into)?.into_outcome(origin)
    }
}

impl<T: Serialize + JsonSchema> IntoOutcome<Tool> for Json<T> {
    fn describe(returns: &mut Returns) {
        returns.schema = Some(schema::output::<T>);
    }

    fn into_outcome(self, _: Origin<'_>) -> Result<ToolResult, Error> {
        Ok(ToolResult::structured(Text::of(&self.0)?))
    }
}

impl<T: Serialize> IntoOutcome<Resource> for Json<T> {
    fn describe(returns: &mut Returns) {
        returns.mime_type = Some("application/json");
    }

    fn into_outcome(self, origin: Origin<'_>) -> Result<ResourceResult, Error> {
        read(Body::Text(serde_json::to_string(&self.0)?), origin)
    }
}

impl<T: Serialize> IntoOutcome<Method> for Json<T> {
    fn into_outcome(self, _: Origin<'_>) -> Result<Value, Error> {
        Ok(Value::Raw(Text::of(&self.0)?))
    }
}

/// A missing resource (R26-RSRC-11, R26-RSRC-12).
impl<R: IntoOutcome<Resource>> IntoOutcome<Resource> for Option<R> {
    fn describe(returns: &mut Returns) {
        R::describe(returns);
    }

    fn into_outcome(self, origin: Origin<'_>) -> Result<ResourceResult, Error> {
        self.ok_or_else(|| not_found(origin.call))?.into_outcome(origin)
    }
}

/// Kinds of results, each from the types that stand for it.
macro_rules! results {
    ($($kind:ident { $($from:ty, |$value:pat_param, $origin:pat_param| $into:expr;)* })*) => {$($(
        impl IntoOutcome<$kind> for $from {
            fn into_outcome(self, $origin: Origin<'_>) -> Result<<$kind as Kind>::Result, Error> {
                let $value = self;
                $into
            }
        }
    )*)*};
}

results! {
    Tool {
        (), |(), _| Ok(ToolResult::default());
        String, |text, _| Ok(ToolResult::text(text));
        &'static str, |text, _| Ok(ToolResult::text(text));
        Content, |block, _| Ok(ToolResult::new([block]));
        Vec<Content>, |blocks, _| Ok(ToolResult::new(blocks));
        ToolResult, |result, _| Ok(result);
    }
    Resource {
        String, |text, origin| read(Body::Text(text), origin);
        &'static str, |text, origin| read(Body::Text(text.to_owned()), origin);
        Vec<u8>, |bytes, origin| read(Body::Blob(bytes.into()), origin);
        Bytes, |bytes, origin| read(Body::Blob(bytes), origin);
        Contents, |contents, _| Ok(ResourceResult::new([contents]));
        Vec<Contents>, |contents, _| Ok(ResourceResult::new(contents));
        ResourceResult, |result, _| Ok(result);
    }
    Prompt {
        String, |text, _| Ok(PromptResult::new([PromptMessage::user(text)]));
        &'static str, |text, _| Ok(PromptResult::new([PromptMessage::user(text)]));
        PromptMessage, |message, _| Ok(PromptResult::new([message]));
        Vec<PromptMessage>, |messages, _| Ok(PromptResult::new(messages));
        PromptResult, |result, _| Ok(result);
    }
    Method {
        (), |(), _| Ok(Value::Raw(Text::scanned(Bytes::from_static(b"{}"))));
        Text, |result, _| Ok(Value::Raw(result));
    }
    Completer {
        Vec<String>, |values, _| Ok(Completion::new(values));
        Vec<&'static str>, |values, _| Ok(Completion::new(values));
        Completion, |completion, _| Ok(completion);
    }
}

fn read(body: Body, origin: Origin<'_>) -> Result<ResourceResult, Error> {
    let uri = origin.call.target().unwrap_or_default();
    let mut contents = Contents::text(uri, "");
    contents.body = body;
    Ok(ResourceResult::new([contents]))
}

/// No such resource; the data say which (R24-RSRC-11, R26-RSRC-11).
pub(crate) fn not_found(call: &Call) -> Failure {
    let uri = call.target().unwrap_or_default();
    Failure::new(FailureKind::ResourceNotFound, "no such resource")
        .with_data(serde_json::json!({ "uri": uri }).into())
}
