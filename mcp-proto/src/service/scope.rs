//! What the arguments of a handler are drawn from.

use core::any::{TypeId, type_name};
use core::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::need_input;
use super::service::Watch;
use super::{Error, Exchange, Extraction, Outbox, Parts, Provided, Service, Shared, Threading};
use crate::model::{Call, Text};
use crate::server::CallId;

/// One call, with all that its handler's arguments can be drawn from.
pub struct Scope<M: Threading = Shared> {
    call: Carried,
    service: Service<M>,
    found: Found,
    made: Mutex<Vec<(TypeId, M::Value)>>,
}

/// The call, in an exchange if anything wants one.
#[expect(
    clippy::large_enum_variant,
    reason = "a box would cost what leaving the exchange out saves"
)]
enum Carried {
    Exchange(Exchange),
    Bare { id: CallId, call: Call, parts: Option<Parts>, outbox: Outbox, late: OnceLock<Exchange> },
}

/// What looking for the handler of a call found besides the handler.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The variables of a resource template.
    pub(crate) variables: Vec<(String, String)>,
    /// The media type of a resource.
    pub(crate) mime_type: Option<Text>,
    /// The tool has an output schema.
    pub(crate) structured: bool,
}

/// What a result must know of its call: which one it answers, and what was declared.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub(crate) call: &'a Call,
    pub(crate) mime_type: Option<&'a str>,
    pub(crate) structured: bool,
}

impl<M: Threading> Scope<M> {
    /// The scope of one call. `eager` says that an exchange will be wanted.
    pub(crate) fn new(
        id: CallId,
        call: Call,
        parts: Option<Parts>,
        outbox: Outbox,
        eager: bool,
        service: Service<M>,
        found: Found,
    ) -> Self {
        let call = match eager {
            true => Carried::Exchange(Exchange::new(id, call, parts, outbox)),
            false => Carried::Bare { id, call, parts, outbox, late: OnceLock::new() },
        };
        Self { call, service, found, made: Mutex::default() }
    }

    /// The call, for what is said and heard while it runs.
    pub fn exchange(&self) -> &Exchange {
        match &self.call {
            Carried::Exchange(exchange) => exchange,
            Carried::Bare { id, call, parts, outbox, late } => {
                late.get_or_init(|| Exchange::new(*id, call.clone(), parts.clone(), outbox.clone()))
            }
        }
    }

    /// The schema of the arguments of the tool that is called.
    pub(crate) fn input_schema(&self) -> Option<&crate::model::Json> {
        let name = self.call().target().unwrap_or_default();
        self.service.catalog().tool(name).map(|tool| &tool.input_schema)
    }

    /// The call as it was decoded.
    pub fn call(&self) -> &Call {
        match &self.call {
            Carried::Exchange(exchange) => exchange.call(),
            Carried::Bare { call, .. } => call,
        }
    }

    /// The HTTP request that carried the call; `None` on stdio, and where no argument of the
    /// handler [said](super::Needs::http) that it looks.
    pub fn parts(&self) -> Option<&Parts> {
        match &self.call {
            Carried::Exchange(exchange) => exchange.parts(),
            Carried::Bare { parts, .. } => parts.as_ref(),
        }
    }

    /// The variables of a resource template, decoded, in the template's order.
    pub fn variables(&self) -> &[(String, String)] {
        &self.found.variables
    }

    /// The registry's state of type `S`.
    ///
    /// # Errors
    /// Where there is none; [`Needs::state`](super::Needs::state) moves that error to where the
    /// registry is built.
    pub fn state<S: 'static>(&self) -> Result<&S, Error> {
        let value = self.service.states().get(&TypeId::of::<S>());
        value.and_then(|value| M::look(value).downcast_ref()).ok_or_else(|| missing::<S>("state"))
    }

    /// The `T` of this call, made at the first request by what the registry
    /// [provides](super::Registry::provide), and shared by all who ask for it.
    pub fn provided<T: 'static>(&self) -> Extraction<'_, Provided<T>, M> {
        let id = TypeId::of::<T>();
        if let Some((_, made)) = self.made().iter().find(|(own, _)| *own == id) {
            return Extraction::ready(shared::<T, M>(made));
        }
        match self.service.providers().get(&id) {
            Some(Source::Instance(value)) => Extraction::ready(shared::<T, M>(value)),
            Some(Source::Factory(factory)) => {
                let making = factory(self.exchange().clone());
                Extraction::making(making, self, id, shared::<T, M>)
            }
            None => Extraction::ready(Err(missing::<T>("provider"))),
        }
    }

    pub(crate) fn keep(&self, id: TypeId, made: M::Value) {
        self.made().push((id, made));
    }

    /// All arguments are there: what was made for the call is theirs alone.
    pub(crate) fn release(&self) {
        self.made().clear();
    }

    pub(crate) fn origin(&self) -> Origin<'_> {
        Origin {
            call: self.call(),
            mime_type: self.found.mime_type.as_deref(),
            structured: self.found.structured,
        }
    }

    /// Whether what the handler failed with asks the client for input, and that can be had while
    /// the call goes on.
    pub(crate) fn can_answer(&self, error: &Error) -> bool {
        error.needs_input().is_some_and(|needs| need_input::is_pushed(self.call(), needs))
    }

    /// Asks the client; the handler then runs again, with the answers.
    pub(crate) async fn answer(&mut self, error: Error) -> Result<(), Error> {
        let Some(needs) = error.needs_input().cloned() else { return Err(error) };
        let exchange = self.exchange();
        let call = need_input::asked(exchange, needs).await?;
        self.call = Carried::Exchange(exchange.again(call));
        Ok(())
    }

    /// Who learns how the call fails.
    pub(crate) fn watch(&self) -> Watch {
        self.service.observer().watch(self.call())
    }

    /// The call is over, if it was not before.
    pub(crate) fn end(&self, cancelled: bool) {
        match &self.call {
            Carried::Exchange(exchange) => exchange.end(cancelled),
            Carried::Bare { late, .. } => {
                if let Some(exchange) = late.get() {
                    exchange.end(cancelled);
                }
            }
        }
    }

    fn made(&self) -> MutexGuard<'_, Vec<(TypeId, M::Value)>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handler that is dropped before it is done was cancelled.
impl<M: Threading> Drop for Scope<M> {
    fn drop(&mut self) {
        self.end(true);
    }
}

impl<M: Threading> fmt::Debug for Scope<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(&self.call().operation()).finish()
    }
}

/// Where a provided value comes from.
pub(crate) enum Source<M: Threading> {
    /// It is there: an `Arc<T>`.
    Instance(M::Value),
    /// It is made for each call.
    Factory(M::Factory),
}

fn shared<T: 'static, M: Threading>(value: &M::Value) -> Result<Provided<T>, Error> {
    let value = M::look(value).downcast_ref::<Arc<T>>().cloned();
    value.map(Provided::new).ok_or_else(|| missing::<T>("provider"))
}

/// Building a registry refuses handlers that lack something, so this is met only where an
/// extractor does not say what it needs.
fn missing<T: ?Sized>(what: &str) -> Error {
    let name = type_name::<T>();
    Error::internal(format!(
        "the registry has no {what} for `{name}`; say so in `FromExchange::needs`, and it is \
         checked when the registry is built"
    ))
}
