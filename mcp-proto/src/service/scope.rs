//! What the arguments of a handler are drawn from, and how.

use core::any::{TypeId, type_name};
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::sync::{Arc, Mutex, PoisonError};

use super::service::Observer;
use super::{Error, Exchange, Later, Provided, Service, Shared, Threading};
use crate::model::Text;

/// An argument of a handler: how to get it for one call, and what it needs for that.
///
/// ```
/// use mcp_proto::service::{Error, Extraction, FromExchange, Needs, Parts, Scope};
///
/// struct Tenant(String);
///
/// impl FromExchange for Tenant {
///     fn needs(needs: &mut Needs) {
///         needs.http_only("Tenant"); // checked when the registry is built
///     }
///
///     fn from_exchange(scope: &Scope) -> Extraction<'_, Self> {
///         Extraction::later(async move { // or `Extraction::ready`, which allocates nothing
///             let parts = Parts::from_exchange(scope).await?;
///             let header = parts.header("x-tenant").ok_or(Error::tool("send `X-Tenant`"))?;
///             Ok(Tenant(String::from_utf8_lossy(header).into_owned()))
///         })
///     }
/// }
///
/// async fn whoami(Tenant(name): Tenant) -> String {
///     name
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no argument that a handler can take",
    note = "arguments are `Args<T>`, `RawArgs`, `Exchange`, `State<S>`, `Extension<T>`, \
            `Provided<T>`, `Parts`, `Completing`, or implement `FromExchange`"
)]
pub trait FromExchange<M: Threading = Shared>: Sized {
    /// Says what the registry must have, so that a missing piece is an error when it is built.
    fn needs(needs: &mut Needs) {
        let _ = needs;
    }

    /// Gets the argument for one call.
    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M>;
}

/// An argument, at once or later. Await it.
#[must_use = "an argument is there once this was awaited"]
pub struct Extraction<'a, T, M: Threading = Shared>(State<'a, T, M>);

enum State<'a, T: 'a, M: Threading> {
    Ready(Option<Result<T, Error>>),
    Later(M::Boxed<'a, Result<T, Error>>),
    Making {
        making: M::Boxed<'static, Result<M::Value, Error>>,
        scope: &'a Scope<M>,
        id: TypeId,
        take: fn(&M::Value) -> Result<T, Error>,
    },
}

impl<'a, T, M: Threading> Extraction<'a, T, M> {
    /// The argument is there.
    pub fn ready(result: Result<T, Error>) -> Self {
        Self(State::Ready(Some(result)))
    }

    /// The argument takes waiting, such as for a store. The future must be `Send` where the
    /// mode is [`Shared`].
    pub fn later(future: impl Later<'a, M, Result<T, Error>>) -> Self {
        Self(State::Later(future.boxed()))
    }
}

impl<T, M: Threading> Unpin for Extraction<'_, T, M> {}

impl<T, M: Threading> Future for Extraction<'_, T, M> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            State::Ready(result) => match result.take() {
                Some(result) => Poll::Ready(result),
                None => Poll::Pending, // polled after it was done: as legal as it is useless
            },
            State::Later(future) => Pin::new(future).poll(cx),
            State::Making { making, scope, id, take } => {
                let value = ready!(Pin::new(making).poll(cx))?;
                let taken = take(&value);
                scope.made().push((*id, value));
                Poll::Ready(taken)
            }
        }
    }
}

impl<T, M: Threading> fmt::Debug for Extraction<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Ready(_) => "Extraction(ready)",
            State::Later(_) | State::Making { .. } => "Extraction(later)",
        })
    }
}

/// One call, with all that its handler's arguments can be drawn from.
pub struct Scope<M: Threading = Shared> {
    exchange: Exchange,
    service: Service<M>,
    origin: Origin,
    made: Mutex<Vec<(TypeId, M::Value)>>,
}

/// What a result must know of its call: where a resource's URI led, what a tool promised.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    pub(crate) uri: Option<Text>,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) mime_type: Option<Text>,
    pub(crate) structured: bool,
}

impl<M: Threading> Scope<M> {
    pub(crate) fn new(exchange: Exchange, service: Service<M>, origin: Origin) -> Self {
        Self { exchange, service, origin, made: Mutex::default() }
    }

    /// The call.
    pub fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// The variables of a resource template, decoded, in the template's order.
    pub fn variables(&self) -> &[(String, String)] {
        &self.origin.variables
    }

    /// The registry's state of type `S`.
    ///
    /// # Errors
    /// Where there is none; [`Needs::state`] moves that error to where the registry is built.
    pub fn state<S: 'static>(&self) -> Result<&S, Error> {
        let value = self.service.states().get(&TypeId::of::<S>());
        value.and_then(|value| M::look(value).downcast_ref()).ok_or_else(|| missing::<S>("state"))
    }

    /// The `T` of this call, made at the first request by what the registry
    /// [provides](super::Registry::provide), and shared by all who ask for it.
    pub fn provided<T: 'static>(&self) -> Extraction<'_, Provided<T>, M> {
        let id = TypeId::of::<T>();
        if let Some(made) = self.made().iter().find(|(own, _)| *own == id) {
            return Extraction::ready(shared::<T, M>(&made.1));
        }
        match self.service.providers().get(&id) {
            Some(Source::Instance(value)) => Extraction::ready(shared::<T, M>(value)),
            Some(Source::Factory(factory)) => Extraction(State::Making {
                making: factory(self.exchange.clone()),
                scope: self,
                id,
                take: shared::<T, M>,
            }),
            None => Extraction::ready(Err(missing::<T>("provider"))),
        }
    }

    /// Whose call it is, and who learns how it fails.
    pub(crate) fn watched(&self) -> (Exchange, Observer) {
        (self.exchange.clone(), self.service.observer().clone())
    }

    /// What is left to know once the arguments are there. What was made for the call is theirs.
    pub(crate) fn into_origin(self) -> Origin {
        self.origin
    }

    fn made(&self) -> std::sync::MutexGuard<'_, Vec<(TypeId, M::Value)>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: Threading> fmt::Debug for Scope<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(&self.exchange).finish()
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

/// What a handler needs, as its arguments say it. Checked when the registry is built.
#[derive(Debug, Default)]
pub struct Needs {
    pub(crate) states: Vec<(TypeId, &'static str)>,
    pub(crate) provided: Vec<(TypeId, &'static str)>,
    pub(crate) http_only: Option<&'static str>,
    pub(crate) exchange: bool,
    pub(crate) parts: bool,
    pub(crate) arguments: Option<Arguments>,
    pub(crate) raw_arguments: bool,
    pub(crate) completing: bool,
}

/// How a handler's arguments are shaped, and by which type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments {
    pub(crate) schema: fn() -> schemars::Schema,
    pub(crate) type_name: &'static str,
}

impl Needs {
    /// The registry must have a state of type `S`.
    pub fn state<S: 'static>(&mut self) {
        self.states.push((TypeId::of::<S>(), type_name::<S>()));
    }

    /// The registry must provide a `T`.
    pub fn provided<T: 'static>(&mut self) {
        self.provided.push((TypeId::of::<T>(), type_name::<T>()));
    }

    /// There must be an HTTP request: stdio refuses to start. `what` names the argument.
    pub fn http_only(&mut self, what: &'static str) {
        self.http_only = Some(what);
        self.parts = true;
    }

    /// The HTTP request is looked at, where there is one.
    pub fn http(&mut self) {
        self.parts = true;
    }

    /// The handler may log, so the server declares that it does; and it may look at the HTTP
    /// request.
    pub fn exchange(&mut self) {
        self.exchange = true;
        self.parts = true;
    }
}
