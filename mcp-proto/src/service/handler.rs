//! Functions as handlers.

use core::any::Any;
use core::future::Future;
use core::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::FutureExt;

use super::convert::Returns;
use super::error::Source;
use super::kind::Kind;
use super::service::Watch;
use super::{Error, FromExchange, IntoOutcome, Local, Needs, Scope, Shared, Threading};
use crate::model::Outcome;

/// An async function of up to eight [arguments](FromExchange) that returns what its kind
/// [may return](IntoOutcome). `A` is how the compiler tells functions apart; it is inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no handler of this kind",
    note = "a handler is an async function; each of its arguments implements `FromExchange`, what \
            it returns `IntoOutcome`, and it is `Send` unless the registry is `Registry::local`; \
            `mcp_proto::explain!` says which of these it is not"
)]
pub trait Handler<M: Threading, K: Kind, A>: Sized + 'static {
    #[doc(hidden)]
    fn needs(needs: &mut Needs);

    #[doc(hidden)]
    fn returns(returns: &mut Returns);

    #[doc(hidden)]
    fn erase(self) -> M::Callable;
}

/// The bound that bounds nothing.
trait Anything {}

impl<T> Anything for T {}

macro_rules! handlers {
    ($($argument:ident)*) => {
        handlers!(@impl Shared, Arc, Send, Sync; $($argument)*);
        handlers!(@impl Local, Rc, Anything, Anything; $($argument)*);
    };
    (@impl $mode:ident, $pointer:ident, $send:ident, $sync:ident; $($argument:ident)*) => {
        impl<K, F, Fut, R, $($argument,)*> Handler<$mode, K, ($($argument,)*)> for F
        where
            K: Kind,
            F: Fn($($argument),*) -> Fut + $send + $sync + 'static,
            Fut: Future<Output = R> + $send + 'static,
            R: IntoOutcome<K> + 'static,
            $($argument: FromExchange<$mode> + $send + 'static,)*
        {
            fn needs(needs: &mut Needs) {
                let _ = &needs;
                $($argument::needs(needs);)*
            }

            fn returns(returns: &mut Returns) {
                R::describe(returns);
            }

            #[allow(non_snake_case)]
            fn erase(self) -> <$mode as Threading>::Callable {
                let handler = $pointer::new(self);
                Box::new(move |mut scope: Scope<$mode>| {
                    let handler = $pointer::clone(&handler);
                    let watch = scope.watch();
                    // Wrapped out here: what an async block moves into another it holds twice.
                    let work = AssertUnwindSafe(async move {
                        loop {
                            $(let $argument = $argument::from_exchange(&scope).await?;)*
                            scope.release();
                            let result = handler($($argument),*).await;
                            let result = result.into_outcome(scope.origin());
                            match result.and_then(|result| K::finish(result, scope.origin())) {
                                Err(error) if scope.can_answer(&error) => {
                                    Box::pin(scope.answer(error)).await?;
                                }
                                result => {
                                    scope.end(false);
                                    return result;
                                }
                            }
                        }
                    });
                    Box::pin(work.catch_unwind().map(move |done| settle::<K>(done, &watch)))
                })
            }
        }
    };
}

handlers!();
handlers!(T1);
handlers!(T1 T2);
handlers!(T1 T2 T3);
handlers!(T1 T2 T3 T4);
handlers!(T1 T2 T3 T4 T5);
handlers!(T1 T2 T3 T4 T5 T6);
handlers!(T1 T2 T3 T4 T5 T6 T7);
handlers!(T1 T2 T3 T4 T5 T6 T7 T8);

/// The outcome of a handler, whatever it did: a panic is an internal error of its call, and ends
/// nothing else.
fn settle<K: Kind>(
    done: Result<Result<K::Result, Error>, Box<dyn Any + Send>>,
    watch: &Watch,
) -> Outcome {
    let done = done.unwrap_or_else(|panic| Err(Error::internal(panicked(&*panic))));
    match done {
        Ok(result) => result.into(),
        Err(error) => error.settle::<K>(|source: &Source| watch.tell(&**source)),
    }
}

fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the handler panicked: {}", text.unwrap_or("without a text"))
}
