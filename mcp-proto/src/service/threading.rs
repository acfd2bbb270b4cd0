//! Whether handlers may move between threads: decided once, for a whole registry.

use core::any::Any;
use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;

use super::{Error, Exchange, Scope};
use crate::model::Outcome;

/// Handlers, states and providers may be used from any thread ([`Shared`]), or stay on one
/// ([`Local`]). Sealed: there are just these two.
pub trait Threading: sealed::Sealed + Sized + 'static {
    /// A future in a box; `Send` where the mode is [`Shared`].
    type Boxed<'a, T: 'a>: Future<Output = T> + Unpin + 'a;
    /// A handler of any kind and with any arguments.
    #[doc(hidden)]
    type Callable: Fn(Scope<Self>) -> Self::Boxed<'static, Outcome> + 'static;
    /// What makes a value for one call.
    #[doc(hidden)]
    type Factory: Fn(Exchange) -> Self::Boxed<'static, Result<Self::Value, Error>> + 'static;
    /// A value of any type.
    #[doc(hidden)]
    type Value: 'static;
    /// Looks at a value.
    #[doc(hidden)]
    fn look(value: &Self::Value) -> &dyn Any;
}

/// Handlers are `Send`; connections may be served from any thread.
#[derive(Clone, Copy, Debug)]
pub enum Shared {}

/// Handlers need not be `Send`; connections are served on the thread that the registry was made
/// on.
#[derive(Clone, Copy, Debug)]
pub enum Local {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Shared {}
    impl Sealed for super::Local {}
}

impl Threading for Shared {
    type Boxed<'a, T: 'a> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
    type Callable = Box<dyn Fn(Scope<Self>) -> Self::Boxed<'static, Outcome> + Send + Sync>;
    type Factory =
        Box<dyn Fn(Exchange) -> Self::Boxed<'static, Result<Self::Value, Error>> + Send + Sync>;
    type Value = Box<dyn Any + Send + Sync>;

    fn look(value: &Self::Value) -> &dyn Any {
        &**value
    }
}

impl Threading for Local {
    type Boxed<'a, T: 'a> = Pin<Box<dyn Future<Output = T> + 'a>>;
    type Callable = Box<dyn Fn(Scope<Self>) -> Self::Boxed<'static, Outcome>>;
    type Factory = Box<dyn Fn(Exchange) -> Self::Boxed<'static, Result<Self::Value, Error>>>;
    type Value = Box<dyn Any>;

    fn look(value: &Self::Value) -> &dyn Any {
        &**value
    }
}

/// What a registry of mode `M` can hold: anything for [`Local`], what is `Send + Sync` for
/// [`Shared`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared between threads, which this registry's handlers need",
    note = "make it `Send + Sync`, or start with `Registry::local`"
)]
pub trait Keep<M: Threading>: 'static {
    #[doc(hidden)]
    fn keep(self) -> M::Value;
}

impl<T: Any + Send + Sync> Keep<Shared> for T {
    fn keep(self) -> Box<dyn Any + Send + Sync> {
        Box::new(self)
    }
}

impl<T: Any> Keep<Local> for T {
    fn keep(self) -> Box<dyn Any> {
        Box::new(self)
    }
}

/// An async function that makes a `T` for one call: `async fn(Exchange) -> Result<T, Error>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not make a `{T}` for one call",
    note = "write an `async fn(Exchange) -> Result<{T}, Error>`; `Send`, or use `Registry::local`"
)]
pub trait Make<M: Threading, T>: 'static {
    #[doc(hidden)]
    fn erase(self) -> M::Factory;
}

impl<F, Fut, T> Make<Shared, T> for F
where
    F: Fn(Exchange) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<T, Error>> + Send + 'static,
    T: Send + Sync + 'static,
{
    fn erase(self) -> <Shared as Threading>::Factory {
        Box::new(move |exchange| {
            let made = self(exchange);
            Box::pin(async move { Ok(Keep::<Shared>::keep(Arc::new(made.await?))) })
        })
    }
}

impl<F, Fut, T> Make<Local, T> for F
where
    F: Fn(Exchange) -> Fut + 'static,
    Fut: Future<Output = Result<T, Error>> + 'static,
    T: 'static,
{
    fn erase(self) -> <Local as Threading>::Factory {
        Box::new(move |exchange| {
            let made = self(exchange);
            Box::pin(async move { Ok(Keep::<Local>::keep(Arc::new(made.await?))) })
        })
    }
}

/// A future that a registry of mode `M` can wait for: any for [`Local`], one that is `Send` for
/// [`Shared`].
#[diagnostic::on_unimplemented(
    message = "this future cannot be sent between threads, which this registry's handlers need",
    note = "keep what is not `Send` out of it while it waits, or start with `Registry::local`"
)]
pub trait Later<'a, M: Threading, T: 'a>: 'a {
    #[doc(hidden)]
    fn boxed(self) -> M::Boxed<'a, T>;
}

impl<'a, T: 'a, F: Future<Output = T> + Send + 'a> Later<'a, Shared, T> for F {
    fn boxed(self) -> Pin<Box<dyn Future<Output = T> + Send + 'a>> {
        Box::pin(self)
    }
}

impl<'a, T: 'a, F: Future<Output = T> + 'a> Later<'a, Local, T> for F {
    fn boxed(self) -> Pin<Box<dyn Future<Output = T> + 'a>> {
        Box::pin(self)
    }
}
