//! Declarations under construction: a handler with all that clients should know of it.

use core::fmt;
use core::marker::PhantomData;
use std::borrow::Cow;

use super::convert::Returns;
use super::{Handler, Needs, SchemaStyle, Threading, kind};
use crate::model::{self, Annotations, Icon, Json, PromptArgument, ToolHints};

/// A tool: `handler` under the name that calls use. Goes into
/// [`Registry::tool`](super::Registry::tool).
///
/// What the handler takes as [`Args`](super::Args) gives the input schema, and what it returns as
/// [`Json`](super::Json) the output schema.
///
/// ```
/// use mcp_proto::service::{Args, Json, Registry, schemars, tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add { a: i64, b: i64 }
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Sum { total: i64 }
///
/// async fn add(Args(Add { a, b }): Args<Add>) -> Json<Sum> {
///     Json(Sum { total: a + b })
/// }
///
/// let service = Registry::new("demo", "1.0.0")
///     .tool(tool("add", add).title("Add").description("Add two integers.").read_only(true))
///     .build()?;
/// assert!(service.catalog().tool("add").is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tool<H, A>(name: impl Into<String>, handler: H) -> ToolDeclaration<H, A> {
    ToolDeclaration {
        handler,
        tool: model::Tool::new(name, super::schema::nothing()),
        input: None,
        style: None,
        validation: Validation::Unset,
        arguments: PhantomData,
    }
}

/// A prompt: `handler` under the name that clients get it by. Goes into
/// [`Registry::prompt`](super::Registry::prompt).
///
/// The prompt's arguments are those of the handler's [`Args`](super::Args), and those added with
/// [`argument`](PromptDeclaration::argument).
pub fn prompt<H, A>(name: impl Into<String>, handler: H) -> PromptDeclaration<H, A> {
    PromptDeclaration { handler, prompt: model::Prompt::new(name), arguments: PhantomData }
}

/// A handler of a resource, to say more of it than its URI:
///
/// ```
/// use mcp_proto::service::{Registry, resource};
///
/// async fn readme() -> &'static str { "# Demo" }
///
/// let service = Registry::new("demo", "1.0.0")
///     .resource("doc://readme", resource(readme).name("README").mime_type("text/markdown"))
///     .build()?;
/// assert_eq!(service.catalog().resources()[0].name, "README");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn resource<H, A>(handler: H) -> ResourceDeclaration<H, A> {
    ResourceDeclaration { handler, about: About::default(), arguments: PhantomData }
}

/// How the arguments of a tool with a schema of its own are checked before its handler runs.
pub(crate) enum Validation {
    /// Nothing was said.
    Unset,
    /// By the handler.
    Unchecked,
    /// By a function.
    By(Validator),
}

/// Checks the arguments of a tool; an error's text is for the model.
pub(crate) type Validator = Box<dyn Fn(&Json) -> Result<(), String> + Send + Sync>;

/// A tool under construction; see [`tool`].
#[must_use = "a tool is declared by `Registry::tool`"]
pub struct ToolDeclaration<H, A> {
    pub(crate) handler: H,
    pub(crate) tool: model::Tool,
    pub(crate) input: Option<Json>,
    pub(crate) style: Option<SchemaStyle>,
    pub(crate) validation: Validation,
    arguments: PhantomData<fn(A)>,
}

impl<H, A> ToolDeclaration<H, A> {
    /// The name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.tool.title = Some(title.into());
        self
    }

    /// What it does, for the model.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.tool.description = Some(text.into());
        self
    }

    /// It changes nothing, or may change something.
    pub fn read_only(mut self, hint: bool) -> Self {
        self.tool.hints.read_only = Some(hint);
        self
    }

    /// It may destroy something, or only adds.
    pub fn destructive(mut self, hint: bool) -> Self {
        self.tool.hints.destructive = Some(hint);
        self
    }

    /// Calling it again with the same arguments changes nothing more, or does.
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.tool.hints.idempotent = Some(hint);
        self
    }

    /// It reaches things outside the server's own world, or does not.
    pub fn open_world(mut self, hint: bool) -> Self {
        self.tool.hints.open_world = Some(hint);
        self
    }

    /// All hints at once.
    pub fn hints(mut self, hints: ToolHints) -> Self {
        self.tool.hints = hints;
        self
    }

    /// How the schemas that are derived from the handler's types are written, in place of what the
    /// [registry](super::Registry::schema) says.
    pub fn schema(mut self, style: SchemaStyle) -> Self {
        self.style = Some(style);
        self
    }

    /// Adds a picture for the client's display.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.tool.icons.push(icon);
        self
    }

    /// The declaration's `_meta`.
    pub fn meta(mut self, meta: impl Into<Json>) -> Self {
        self.tool.meta = Some(meta.into());
        self
    }

    /// Hides the tool from clients of protocol versions older than this one: they neither see it
    /// nor can they call it.
    pub fn min_revision(mut self, version: impl Into<Cow<'static, str>>) -> Self {
        self.tool.min_revision = Some(version.into());
        self
    }

    /// It sends messages before its result, so the reply is a stream from the start.
    pub fn streaming(mut self) -> Self {
        self.tool.streaming = true;
        self
    }

    /// It may [ask](super::Exchange::ask) its client. Where the revision has no other way, the
    /// model that calls it is told what to ask its user, and calls it again with the answers in
    /// two arguments more: `input_responses` and `request_state`.
    pub fn asks(mut self) -> Self {
        self.tool.asks = true;
        self
    }

    /// Callers need these scopes, where callers are asked who they are; others are refused with
    /// 403. It is listed to everyone, unless
    /// [`EndpointBuilder::lists_what_is_allowed`](crate::server::EndpointBuilder::lists_what_is_allowed).
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.tool.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// The JSON Schema of the arguments, an object, in place of what the handler's types say.
    ///
    /// A handler that takes [`Args`](super::Args) checks its arguments by reading them; for any
    /// other, say how they are checked: feature `schema` does it, or a
    /// [`validator`](Self::validator) of your own, or the handler itself
    /// ([`unchecked`](Self::unchecked)).
    pub fn input_schema(mut self, schema: impl Into<Json>) -> Self {
        self.input = Some(schema.into());
        self
    }

    /// The JSON Schema of the structured result, in place of what the handler's types say. The
    /// handler then sees to it that each result has structured content which fits.
    pub fn output_schema(mut self, schema: impl Into<Json>) -> Self {
        self.tool.output_schema = Some(schema.into());
        self
    }

    /// Checks the arguments before the handler runs. An error's text tells the model what to put
    /// right.
    pub fn validator<F>(mut self, check: F) -> Self
    where
        F: Fn(&Json) -> Result<(), String> + Send + Sync + 'static,
    {
        self.validation = Validation::By(Box::new(check));
        self
    }

    /// The handler itself checks its arguments: nothing else holds them against the schema.
    pub fn unchecked(mut self) -> Self {
        self.validation = Validation::Unchecked;
        self
    }
}

/// A prompt under construction; see [`prompt`].
#[must_use = "a prompt is declared by `Registry::prompt`"]
pub struct PromptDeclaration<H, A> {
    pub(crate) handler: H,
    pub(crate) prompt: model::Prompt,
    arguments: PhantomData<fn(A)>,
}

impl<H, A> PromptDeclaration<H, A> {
    /// The name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.prompt.title = Some(title.into());
        self
    }

    /// What it is for.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.prompt.description = Some(text.into());
        self
    }

    /// Adds an argument, or says more of one that the handler's type has.
    pub fn argument(mut self, argument: PromptArgument) -> Self {
        self.prompt.arguments.push(argument);
        self
    }

    /// Adds a picture for the client's display.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.prompt.icons.push(icon);
        self
    }

    /// The declaration's `_meta`.
    pub fn meta(mut self, meta: impl Into<Json>) -> Self {
        self.prompt.meta = Some(meta.into());
        self
    }

    /// Callers need these scopes, where callers are asked who they are: to get it, and to complete
    /// its arguments. Others are refused with 403. It is listed to everyone, unless
    /// [`EndpointBuilder::lists_what_is_allowed`](crate::server::EndpointBuilder::lists_what_is_allowed).
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.prompt.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }
}

/// What is said of a resource or a template.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct About {
    pub(crate) name: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) mime_type: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) annotations: Option<Annotations>,
    pub(crate) icons: Vec<Icon>,
    pub(crate) meta: Option<Json>,
    pub(crate) scopes: Vec<String>,
    /// The variables of a template whose values may have encoded slashes.
    pub(crate) slashes: Vec<String>,
}

/// A resource or resource template under construction; see [`resource`].
#[must_use = "a resource is declared by `Registry::resource`"]
pub struct ResourceDeclaration<H, A> {
    handler: H,
    about: About,
    arguments: PhantomData<fn(A)>,
}

impl<H, A> ResourceDeclaration<H, A> {
    /// Its name; its URI or template, unless given.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.about.name = Some(name.into());
        self
    }

    /// Its name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.about.title = Some(title.into());
        self
    }

    /// What it is.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.about.description = Some(text.into());
        self
    }

    /// Its media type, also of contents that name none. Unless given, what the handler returns
    /// decides: [`Json`](super::Json) is `application/json`.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.about.mime_type = Some(mime_type.into());
        self
    }

    /// Its size in bytes. Templates have none.
    pub fn size(mut self, bytes: u64) -> Self {
        self.about.size = Some(bytes);
        self
    }

    /// Hints for the client.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.about.annotations = Some(annotations);
        self
    }

    /// Adds a picture for the client's display.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.about.icons.push(icon);
        self
    }

    /// The declaration's `_meta`.
    pub fn meta(mut self, meta: impl Into<Json>) -> Self {
        self.about.meta = Some(meta.into());
        self
    }

    /// The values of this variable of a template may have slashes that are encoded in the URI; see
    /// [`UriTemplate::with_encoded_slashes`](crate::frame::uri_template::UriTemplate::with_encoded_slashes)
    /// for what that means for paths.
    pub fn encoded_slashes(mut self, variable: impl Into<String>) -> Self {
        self.about.slashes.push(variable.into());
        self
    }

    /// Callers need these scopes, where callers are asked who they are: to read it, to subscribe to
    /// it, and to complete its variables. Others are refused with 403. It is listed to everyone,
    /// unless [`EndpointBuilder::lists_what_is_allowed`](crate::server::EndpointBuilder::lists_what_is_allowed).
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.about.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }
}

/// A handler of a resource, plain, or [with more to say](resource). `A` is inferred.
pub trait Readable<M: Threading, A> {
    #[doc(hidden)]
    fn into_readable(self) -> (About, Erased<M>);
}

impl<M: Threading, A, H: Handler<M, kind::Resource, A>> Readable<M, Plain<A>> for H {
    fn into_readable(self) -> (About, Erased<M>) {
        (About::default(), Erased::of::<kind::Resource, A>(self))
    }
}

impl<M, A, H> Readable<M, Declared<A>> for ResourceDeclaration<H, A>
where
    M: Threading,
    H: Handler<M, kind::Resource, A>,
{
    fn into_readable(self) -> (About, Erased<M>) {
        (self.about, Erased::of::<kind::Resource, A>(self.handler))
    }
}

/// Marks the arguments of a handler that came alone.
#[doc(hidden)]
#[derive(Debug)]
pub struct Plain<A>(PhantomData<fn(A)>);

/// Marks the arguments of a handler that came with a declaration.
#[doc(hidden)]
#[derive(Debug)]
pub struct Declared<A>(PhantomData<fn(A)>);

/// A handler, and what its types said.
#[doc(hidden)]
pub struct Erased<M: Threading> {
    pub(crate) run: M::Callable,
    pub(crate) needs: Needs,
    pub(crate) returns: Returns,
}

impl<M: Threading> Erased<M> {
    pub(crate) fn of<K: kind::Kind, A>(handler: impl Handler<M, K, A>) -> Self {
        fn said<M: Threading, K: kind::Kind, A, H: Handler<M, K, A>>(_: &H) -> (Needs, Returns) {
            let (mut needs, mut returns) = (Needs::default(), Returns::default());
            H::needs(&mut needs);
            H::returns(&mut returns);
            (needs, returns)
        }
        let (needs, returns) = said(&handler);
        Self { run: handler.erase(), needs, returns }
    }
}

impl<H, A> fmt::Debug for ToolDeclaration<H, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolDeclaration").field(&self.tool).finish()
    }
}

impl<H, A> fmt::Debug for PromptDeclaration<H, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PromptDeclaration").field(&self.prompt).finish()
    }
}

impl<H, A> fmt::Debug for ResourceDeclaration<H, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResourceDeclaration").field(&self.about).finish()
    }
}
