//! What a registry becomes: handlers to call, and the catalog of what they are.

use core::any::TypeId;
use core::fmt;
use core::panic::AssertUnwindSafe;
use std::collections::HashMap;
use std::panic::catch_unwind;
use std::sync::Arc;

use super::declare::Validator;
use super::error::INTERNAL;
use super::running::Running;
use super::scope::{Found, Source};
use super::trace::CallSpan;
use super::{Outbox, Parts, Scope, Shared, Threading, args, convert};
use crate::model::{
    Call, Catalog, Completion, Failure, FailureKind, Located, Operation, Outcome, Reference, Text,
};
use crate::server::CallId;

/// Everything that a server offers. Cloning shares it: one service can be behind any number of
/// endpoints, transports and connections.
///
/// Call [`dispatch`](Self::dispatch) for each call that a machine hands out.
pub struct Service<M: Threading = Shared>(Arc<Inner<M>>);

pub(crate) struct Inner<M: Threading> {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) tools: HashMap<String, ToolEntry<M>>,
    /// By URI, or by the text of the template.
    pub(crate) resources: HashMap<String, ResourceEntry<M>>,
    pub(crate) prompts: HashMap<String, PromptEntry<M>>,
    pub(crate) completer: Option<Entry<M>>,
    /// Of extensions, by name.
    pub(crate) methods: HashMap<String, Entry<M>>,
    pub(crate) states: HashMap<TypeId, M::Value>,
    pub(crate) providers: HashMap<TypeId, Source<M>>,
    pub(crate) observer: Observer,
    pub(crate) http_only: Option<String>,
    pub(crate) guarded_only: Option<String>,
    pub(crate) warnings: Vec<String>,
}

/// A handler that can be called.
pub(crate) struct Entry<M: Threading> {
    pub(crate) run: M::Callable,
    /// It may look at the HTTP request.
    pub(crate) parts: bool,
    /// It takes the exchange.
    pub(crate) exchange: bool,
}

pub(crate) struct ToolEntry<M: Threading> {
    pub(crate) entry: Entry<M>,
    pub(crate) validator: Option<Validator>,
    /// It has an output schema.
    pub(crate) structured: bool,
}

pub(crate) struct ResourceEntry<M: Threading> {
    pub(crate) entry: Entry<M>,
    pub(crate) mime_type: Option<Text>,
}

pub(crate) struct PromptEntry<M: Threading> {
    pub(crate) entry: Entry<M>,
    /// Arguments that nothing else checks to be there.
    pub(crate) required: Vec<String>,
}

/// What becomes of a call.
#[derive(Debug)]
pub enum Dispatched<M: Threading = Shared> {
    /// No handler was needed.
    Done(Outcome),
    /// A handler runs while this is polled, and is cancelled when this is dropped.
    Running(Running<M>),
}

impl<M: Threading> Service<M> {
    pub(crate) fn new(inner: Inner<M>) -> Self {
        Self(Arc::new(inner))
    }

    /// What is declared, for machines.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.0.catalog
    }

    /// What cannot be served without an HTTP request, if there is such a thing: a text that names
    /// the handler and its argument. Other transports must then refuse to start.
    pub fn http_only(&self) -> Option<&str> {
        self.0.http_only.as_deref()
    }

    /// What cannot be served where nobody says who calls, in the same way. Servers without a
    /// [`Guard`](super::Guard) must then refuse to start.
    pub fn guarded_only(&self) -> Option<&str> {
        self.0.guarded_only.as_deref()
    }

    /// What is allowed and yet unwise, such as names that some clients refuse. For the server's
    /// own log, when it starts.
    pub fn warnings(&self) -> &[String] {
        &self.0.warnings
    }

    /// Begins a call. `parts` gives the HTTP request that carried it, and is asked only where the
    /// handler may look at it; `outbox` takes what the handler has to say before it is done.
    pub fn dispatch(
        &self,
        id: CallId,
        call: Call,
        parts: impl FnOnce() -> Option<Parts>,
        outbox: &Outbox,
    ) -> Dispatched<M> {
        let span = CallSpan::new(&call);
        match self.find(&call) {
            Ok((entry, found)) => {
                let parts = if entry.parts { parts() } else { None };
                let (outbox, service) = (outbox.clone(), self.clone());
                let scope = Scope::new(id, call, parts, outbox, entry.exchange, service, found);
                let handler = span.within(|| (entry.run)(scope));
                Dispatched::Running(Running::new(id, handler, span))
            }
            Err(outcome) => {
                span.end(Some(&outcome));
                Dispatched::Done(outcome)
            }
        }
    }

    /// The handler of a call, or the answer to one that needs none.
    fn find(&self, call: &Call) -> Result<(&Entry<M>, Found), Outcome> {
        match call.operation() {
            Operation::CallTool => self.tool(call),
            Operation::ReadResource => self.resource(call),
            Operation::GetPrompt => self.prompt(call),
            Operation::Complete => self.completer(call),
            // Machines answer these themselves, from the catalog.
            Operation::Describe
            | Operation::HandshakeComplete
            | Operation::Ping
            | Operation::ListTools
            | Operation::ListResources
            | Operation::ListResourceTemplates
            | Operation::ListPrompts
            | Operation::Listen
            | Operation::Subscribe
            | Operation::Unsubscribe
            | Operation::SetLogLevel => Err(unhandled(call)),
            Operation::Extension => match self.0.methods.get(call.method()) {
                Some(entry) => Ok((entry, Found::default())),
                None => Err(unhandled(call)),
            },
        }
    }

    fn tool(&self, call: &Call) -> Result<(&Entry<M>, Found), Outcome> {
        let name = call.target().unwrap_or_default();
        let tool = self.0.tools.get(name).ok_or_else(|| unknown("tool", name))?;
        if let Some(validator) = &tool.validator {
            let none = crate::model::Json::scanned(bytes::Bytes::from_static(b"{}"));
            let arguments = call.arguments().unwrap_or(&none);
            let checked = catch_unwind(AssertUnwindSafe(|| validator(arguments)))
                .map_err(|_| Failure::new(FailureKind::Internal, INTERNAL))?;
            checked.map_err(|why| {
                // A validator stops at the first of them.
                let schema = self.0.catalog.tool(name).map(|tool| &tool.input_schema);
                let all = schema.and_then(|it| args::by_schema(it, arguments.as_bytes()));
                let why = all.unwrap_or(why);
                let message = format!("invalid arguments for the tool `{name}`: {why}");
                Failure::new(FailureKind::InvalidArguments, message)
            })?;
        }
        Ok((&tool.entry, Found { structured: tool.structured, ..Found::default() }))
    }

    fn resource(&self, call: &Call) -> Result<(&Entry<M>, Found), Outcome> {
        let uri = call.target().unwrap_or_default();
        let located = self.0.catalog.locate(uri);
        let (key, variables) = match &located {
            Some(Located::Resource(uri)) => (*uri, Vec::new()),
            Some(Located::Template { template, values }) => {
                let owned = |(name, value): &(&str, String)| ((*name).to_owned(), value.clone());
                (*template, values.iter().map(owned).collect())
            }
            None => ("", Vec::new()),
        };
        match self.0.resources.get(key) {
            Some(resource) => {
                let mime_type = resource.mime_type.clone();
                Ok((&resource.entry, Found { variables, mime_type, structured: false }))
            }
            None => Err(convert::not_found(call).into()),
        }
    }

    fn prompt(&self, call: &Call) -> Result<(&Entry<M>, Found), Outcome> {
        let name = call.target().unwrap_or_default();
        let prompt = self.0.prompts.get(name).ok_or_else(|| unknown("prompt", name))?;
        if !prompt.required.is_empty() {
            let given = args::strings(call)?;
            let missing =
                prompt.required.iter().find(|name| given.iter().all(|(own, _)| own != *name));
            if let Some(missing) = missing {
                let message = format!("the prompt `{name}` needs the argument `{missing}`");
                return Err(Failure::new(FailureKind::InvalidParams, message).into());
            }
        }
        Ok((&prompt.entry, Found::default()))
    }

    /// Completion of what does not exist is an error; where nothing completes it, there are no
    /// suggestions (C107, R2503-CMPL-05).
    fn completer(&self, call: &Call) -> Result<(&Entry<M>, Found), Outcome> {
        let invalid = |message: String| Failure::new(FailureKind::InvalidParams, message);
        let completing =
            call.completing().ok_or_else(|| invalid("nothing is being completed".into()))?;
        let catalog = &self.0.catalog;
        match &completing.reference {
            Reference::Prompt(name) if catalog.prompt(name).is_none() => {
                return Err(invalid(format!("no prompt is called `{name}`")).into());
            }
            Reference::Resource(uri) => {
                let declared = catalog.templates().iter().any(|t| t.uri_template.as_str() == uri);
                if !declared && catalog.locate(uri).is_none() {
                    return Err(invalid(format!("no resource or template is `{uri}`")).into());
                }
            }
            Reference::Prompt(_) => {}
        }
        match &self.0.completer {
            Some(completer) => Ok((completer, Found::default())),
            None => Err(Completion::default().into()),
        }
    }

    pub(crate) fn states(&self) -> &HashMap<TypeId, M::Value> {
        &self.0.states
    }

    pub(crate) fn providers(&self) -> &HashMap<TypeId, Source<M>> {
        &self.0.providers
    }

    pub(crate) fn observer(&self) -> &Observer {
        &self.0.observer
    }
}

fn unhandled(call: &Call) -> Outcome {
    let message = format!("no handler for `{}`", call.method());
    Failure::new(FailureKind::UnknownMethod, message).into()
}

/// R26-TOOL-06, R24-PRMT-06.
fn unknown(what: &str, name: &str) -> Failure {
    Failure::new(FailureKind::UnknownTarget, format!("no {what} is called `{name}`"))
}

/// Who learns of errors that clients are not told of.
#[derive(Clone, Default)]
pub(crate) struct Observer(pub(crate) Option<Arc<Observe>>);

pub(crate) type Observe = dyn Fn(&Report<'_>) + Send + Sync;

/// An error that no client is told of, and which call it ended.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Report<'a> {
    /// What was asked for.
    pub operation: Operation,
    /// The tool's or prompt's name, or the resource's URI.
    pub target: Option<&'a str>,
    /// What went wrong.
    pub error: &'a (dyn core::error::Error + Send + Sync + 'static),
}

impl Observer {
    /// Remembers what a report on `call` must say, if anybody reads it.
    pub(crate) fn watch(&self, call: &Call) -> Watch {
        let watched = self.0.as_ref();
        Watch(watched.map(|observe| (Arc::clone(observe), call.operation(), call.target.clone())))
    }
}

/// The observer of one call.
pub(crate) struct Watch(Option<(Arc<Observe>, Operation, Option<Text>)>);

impl Watch {
    pub(crate) fn tell(&self, error: &(dyn core::error::Error + Send + Sync + 'static)) {
        if let Some((observe, operation, target)) = &self.0 {
            let report = Report { operation: *operation, target: target.as_deref(), error };
            // An observer that panics has only itself to tell.
            let _ = catch_unwind(AssertUnwindSafe(|| observe(&report)));
        }
    }
}

impl<M: Threading> Clone for Service<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Threading> fmt::Debug for Service<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Service").field(&self.0.catalog).finish()
    }
}
