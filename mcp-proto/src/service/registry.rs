//! Where a server's handlers are registered, and checked.

use core::any::{TypeId, type_name};
use core::fmt;
use std::collections::HashMap;
use std::sync::Arc;

use super::build::Drafts;
use super::declare::Erased;
use super::scope::Source;
use super::service::{Observe, Observer};
use super::{
    BuildError, Handler, Keep, Local, Make, PromptDeclaration, Readable, Report, SchemaStyle,
    Service, Shared, Threading, ToolDeclaration, kind,
};
use crate::model::{CacheHint, Icon, Implementation, Json};

/// What a server offers, handler by handler. [`build`](Self::build) checks all of it.
///
/// ```
/// use mcp_proto::service::{Registry, prompt, resource, tool};
///
/// async fn now() -> &'static str { "noon" }
/// async fn briefing() -> String { "Summarize what happened.".into() }
/// async fn readme() -> &'static str { "# Demo" }
///
/// let service = Registry::new("demo", "1.0.0")
///     .instructions("Ask for the time before anything else.")
///     .tool(tool("time", now).description("Tells the time."))
///     .tool(tool("clock", now)) // one function, several names
///     .prompt(prompt("briefing", briefing))
///     .resource("doc://readme", resource(readme).mime_type("text/markdown"))
///     .resource("doc://hello", || async { "hello" })
///     .build()?;
/// # Ok::<(), mcp_proto::service::BuildError>(())
/// ```
///
/// A handler that is not `Send` needs [`Registry::local`]:
///
/// ```compile_fail
/// use std::rc::Rc;
/// use mcp_proto::service::{Registry, tool};
///
/// let counter = Rc::new(());
/// let _ = Registry::new("demo", "1.0.0").tool(tool("count", move || {
///     let counter = counter.clone();
///     async move { Rc::strong_count(&counter).to_string() }
/// }));
/// ```
#[must_use = "a registry serves nothing before it is built"]
pub struct Registry<M: Threading = Shared> {
    pub(crate) server: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) page_size: usize,
    pub(crate) cache: CacheHint,
    pub(crate) logging: Option<bool>,
    pub(crate) list_changed: bool,
    pub(crate) subscribe: bool,
    pub(crate) drafts: Drafts<M>,
    pub(crate) states: HashMap<TypeId, M::Value>,
    pub(crate) providers: HashMap<TypeId, Source<M>>,
    pub(crate) twice: Vec<String>,
    pub(crate) observer: Observer,
    pub(crate) strict_prompt_arguments: bool,
    pub(crate) schema: SchemaStyle,
}

impl Registry<Shared> {
    /// A server of that name and version, whose handlers may run on any thread.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::begin(name, version)
    }
}

impl Registry<Local> {
    /// A server of that name and version, whose handlers need not be `Send` and stay on this
    /// thread.
    pub fn local(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self::begin(name, version)
    }
}

impl<M: Threading> Registry<M> {
    fn begin(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            server: Implementation::new(name, version),
            instructions: None,
            page_size: 0,
            cache: CacheHint::default(),
            logging: None,
            list_changed: true,
            subscribe: true,
            drafts: Drafts::default(),
            states: HashMap::new(),
            providers: HashMap::new(),
            twice: Vec::new(),
            observer: Observer::default(),
            strict_prompt_arguments: false,
            schema: SchemaStyle::default(),
        }
    }

    /// The server's name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.server.title = Some(title.into());
        self
    }

    /// What the server is.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.server.description = Some(text.into());
        self
    }

    /// Where to read about the server.
    pub fn website(mut self, url: impl Into<String>) -> Self {
        self.server.website_url = Some(url.into());
        self
    }

    /// Adds a picture of the server for the client's display.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.server.icons.push(icon);
        self
    }

    /// How to use the server, for the model.
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// How schemas that are derived from types are written; each tool may say otherwise.
    pub fn schema(mut self, style: SchemaStyle) -> Self {
        self.schema = style;
        self
    }

    /// Refuses arguments of prompts that are no strings, as the specification has them
    /// (R24-PRMT-03). Without this, numbers and booleans are taken as their text.
    pub fn strict_prompt_arguments(mut self) -> Self {
        self.strict_prompt_arguments = true;
        self
    }

    /// How many entries a page of a list holds; without this, lists are sent whole.
    pub fn page_size(mut self, entries: usize) -> Self {
        self.page_size = entries;
        self
    }

    /// How long lists and the server's description may be cached (R26-CACHE-01).
    pub fn cache(mut self, hint: CacheHint) -> Self {
        self.cache = hint;
        self
    }

    /// Whether the server declares that it logs (R24-LOG-01). Without this it does exactly if a
    /// handler takes the [`Exchange`](super::Exchange), through which alone it could log.
    pub fn logging(mut self, logs: bool) -> Self {
        self.logging = Some(logs);
        self
    }

    /// Whether the server tells clients when its lists change; it does unless told otherwise.
    pub fn list_changed(mut self, tells: bool) -> Self {
        self.list_changed = tells;
        self
    }

    /// Whether clients may subscribe to resources; they may unless told otherwise.
    pub fn subscribe(mut self, may: bool) -> Self {
        self.subscribe = may;
        self
    }

    /// Adds a [tool](super::tool).
    pub fn tool<H, A>(mut self, tool: ToolDeclaration<H, A>) -> Self
    where
        H: Handler<M, kind::Tool, A>,
    {
        let handler = Erased::of::<kind::Tool, A>(tool.handler);
        self.drafts.tool(tool.tool, (tool.input, tool.style), tool.validation, handler);
        self
    }

    /// Adds a [prompt](super::prompt).
    pub fn prompt<H, A>(mut self, prompt: PromptDeclaration<H, A>) -> Self
    where
        H: Handler<M, kind::Prompt, A>,
    {
        self.drafts.prompt(prompt.prompt, Erased::of::<kind::Prompt, A>(prompt.handler));
        self
    }

    /// Adds a resource at `uri`: a handler, or one [with more to say](super::resource).
    pub fn resource<A>(mut self, uri: impl Into<String>, resource: impl Readable<M, A>) -> Self {
        let (about, handler) = resource.into_readable();
        self.drafts.resource(uri.into(), about, handler);
        self
    }

    /// Adds the resources whose URIs fit `template` (RFC 6570): a handler, or one
    /// [with more to say](super::resource). It gets the variables, decoded, as
    /// [`Args<T>`](super::Args) or [`Variables`](super::Variables), and the URI as
    /// [`Uri`](super::Uri).
    ///
    /// No variable ever holds a `..` segment (R26-RSRC-16).
    pub fn resource_template<A>(
        mut self,
        template: impl Into<String>,
        resource: impl Readable<M, A>,
    ) -> Self {
        let (about, handler) = resource.into_readable();
        self.drafts.template(template.into(), about, handler);
        self
    }

    /// Suggests values for the arguments of prompts and the variables of templates: one handler
    /// for all, which takes [`Completing`](crate::model::Completing).
    pub fn completions<H, A>(mut self, handler: H) -> Self
    where
        H: Handler<M, kind::Completer, A>,
    {
        self.drafts.completer(Erased::of::<kind::Completer, A>(handler));
        self
    }

    /// Declares an extension of the protocol, with its settings: an object. Clients of revisions
    /// that have extensions learn of it (R26-EXT-01).
    pub fn extension(mut self, name: impl Into<String>, settings: impl Into<Json>) -> Self {
        self.drafts.extension(name.into(), settings.into());
        self
    }

    /// Answers a method of an [extension](Self::extension); it is unknown to clients of revisions
    /// without extensions. [`Args<T>`](super::Args) are its parameters, and it returns a
    /// [`Json`](super::Json) object, or nothing.
    ///
    /// ```
    /// use mcp_proto::service::{Args, Json, Registry, schemars};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Echo { text: String }
    ///
    /// async fn echo(Args(Echo { text }): Args<Echo>) -> Json<serde_json::Value> {
    ///     Json(serde_json::json!({ "text": text }))
    /// }
    ///
    /// let registry = Registry::new("demo", "1.0.0")
    ///     .extension("com.example/echo", serde_json::json!({}))
    ///     .method("com.example/echo", echo);
    /// assert!(registry.build().is_ok());
    /// ```
    pub fn method<H, A>(mut self, name: impl Into<String>, handler: H) -> Self
    where
        H: Handler<M, kind::Method, A>,
    {
        self.drafts.method(name.into(), Erased::of::<kind::Method, A>(handler));
        self
    }

    /// Adds a state, one of each type, for handlers that take [`State<S>`](super::State).
    pub fn state<S: Clone + Keep<M>>(mut self, state: S) -> Self {
        if self.states.insert(TypeId::of::<S>(), state.keep()).is_some() {
            self.twice.push(format!("the state `{}` is given twice", type_name::<S>()));
        }
        self
    }

    /// Makes a `T` for each call whose handler takes [`Provided<T>`](super::Provided): at most
    /// once a call, before the handler runs. It is dropped when the call ends.
    ///
    /// ```
    /// use mcp_proto::service::{Error, Exchange, Provided, Registry, tool};
    ///
    /// struct Transaction(u32);
    ///
    /// async fn begin(_: Exchange) -> Result<Transaction, Error> {
    ///     Ok(Transaction(7))
    /// }
    ///
    /// async fn number(transaction: Provided<Transaction>) -> String {
    ///     transaction.0.to_string()
    /// }
    ///
    /// let registry = Registry::new("demo", "1.0.0").provide(begin).tool(tool("number", number));
    /// assert!(registry.build().is_ok());
    /// ```
    pub fn provide<T: 'static>(self, make: impl Make<M, T>) -> Self {
        self.source::<T>(Source::Factory(make.erase()))
    }

    /// Gives the same `value` to each handler that takes [`Provided<T>`](super::Provided). To
    /// give it by a trait, hand in an `Arc<dyn Trait>` and take `Provided<Arc<dyn Trait>>`.
    pub fn provide_instance<T: 'static>(self, value: T) -> Self
    where
        Arc<T>: Keep<M>,
    {
        self.source::<T>(Source::Instance(Arc::new(value).keep()))
    }

    fn source<T: 'static>(mut self, source: Source<M>) -> Self {
        if self.providers.insert(TypeId::of::<T>(), source).is_some() {
            self.twice.push(format!("`{}` is provided twice", type_name::<T>()));
        }
        self
    }

    /// Tells `observe` of each error whose text no client reads: those made by
    /// [`Error::internal`](super::Error::internal) or `?`, and panics.
    pub fn on_error<F>(mut self, observe: F) -> Self
    where
        F: Fn(&Report<'_>) + Send + Sync + 'static,
    {
        self.observer = Observer(Some(Arc::new(observe) as Arc<Observe>));
        self
    }

    /// Checks everything that was declared.
    ///
    /// # Errors
    /// All that is wrong, each with what to do about it.
    pub fn build(self) -> Result<Service<M>, BuildError> {
        super::build::build(self)
    }
}

impl<M: Threading> fmt::Debug for Registry<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.server).finish()
    }
}
