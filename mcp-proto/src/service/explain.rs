//! What is wrong with a handler, said by the compiler piece by piece.

use core::convert::Infallible;
use core::future::Future;

use super::{FromExchange, IntoOutcome, kind::Kind};

/// Has the compiler say why a function is no handler.
///
/// That `Registry::tool` does not take a function is one error, whatever the reason: an argument that
/// none can be, a type without `JsonSchema`, a result that is none, a future that cannot be sent.
/// This macro asks for each of these by itself, so each has an error of its own, at its own place. Name
/// the kind, the function and the types of its arguments; a handler that is right compiles, and
/// nothing is left of the macro. It is for functions with a name, and for `Registry::new`, whose
/// handlers may be sent between threads.
///
/// ```
/// use mcp_proto::explain;
/// use mcp_proto::service::{Args, Error, Exchange, schemars};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Query { text: String }
///
/// async fn search(Args(query): Args<Query>, ex: Exchange) -> Result<String, Error> {
///     Ok(query.text)
/// }
///
/// explain!(tool: search(Args<Query>, Exchange));
/// ```
///
/// # Common errors
///
/// **A type of arguments without `JsonSchema`**: *the trait bound `Query: JsonSchema` is not
/// satisfied*. Derive it beside `Deserialize`.
///
/// ```compile_fail,E0277
/// # use mcp_proto::{explain, service::Args};
/// #[derive(serde::Deserialize)]
/// struct Query { text: String }
/// async fn search(Args(query): Args<Query>) -> String { query.text }
/// explain!(tool: search(Args<Query>));
/// ```
///
/// **An argument that none can be**, such as the type itself in place of `Args<Query>`: *`Query` is
/// no argument that a handler can take*, with those that are.
///
/// ```compile_fail,E0277
/// # use mcp_proto::explain;
/// async fn search(query: String) -> String { query }
/// explain!(tool: search(String));
/// ```
///
/// **A borrowed exchange**: *`&Exchange` is no argument*. A handler takes its arguments by value;
/// `Exchange` is cheap to clone.
///
/// ```compile_fail,E0277
/// # use mcp_proto::{explain, service::Exchange};
/// async fn search(ex: &'static Exchange) -> String { String::new() }
/// explain!(tool: search(&'static Exchange));
/// ```
///
/// **A result that is none**: *a handler of this kind cannot return `Found`*. Wrap what is to be
/// structured in `Json`, or give text.
///
/// ```compile_fail,E0277
/// # use mcp_proto::explain;
/// struct Found;
/// async fn search() -> Found { Found }
/// explain!(tool: search());
/// ```
///
/// **A future that cannot be sent**, since something like an `Rc` or the guard of a lock lives over an
/// `.await`: *future cannot be sent between threads safely*, with the value and the line. Drop it
/// before, or use `Registry::local`.
///
/// ```compile_fail
/// # use mcp_proto::explain;
/// async fn search() -> String {
///     let shared = std::rc::Rc::new(1);
///     std::future::ready(()).await;
///     shared.to_string()
/// }
/// explain!(tool: search());
/// ```
#[macro_export]
macro_rules! explain {
    (tool: $handler:ident($($argument:ty),* $(,)?)) => {
        $crate::explain!(@ Tool, $handler, $($argument),*);
    };
    (resource: $handler:ident($($argument:ty),* $(,)?)) => {
        $crate::explain!(@ Resource, $handler, $($argument),*);
    };
    (prompt: $handler:ident($($argument:ty),* $(,)?)) => {
        $crate::explain!(@ Prompt, $handler, $($argument),*);
    };
    (completer: $handler:ident($($argument:ty),* $(,)?)) => {
        $crate::explain!(@ Completer, $handler, $($argument),*);
    };
    (method: $handler:ident($($argument:ty),* $(,)?)) => {
        $crate::explain!(@ Method, $handler, $($argument),*);
    };
    (@ $kind:ident, $handler:ident, $($argument:ty),*) => {
        const _: () = {
            // Never called: what matters is that it compiles.
            #[allow(dead_code, unused_variables)]
            fn explained(never: ::core::convert::Infallible) {
                $($crate::service::explain::argument::<$argument>();)*
                let future = $handler($($crate::service::explain::any::<$argument>(never)),*);
                $crate::service::explain::sent(&future);
                $crate::service::explain::returned::<$crate::service::kind::$kind, _>(future);
            }
        };
    };
}

#[doc(hidden)]
pub fn argument<A: FromExchange>() {}

#[doc(hidden)]
pub fn any<A>(never: Infallible) -> A {
    match never {}
}

#[doc(hidden)]
pub fn sent<F: Send>(_: &F) {}

#[doc(hidden)]
pub fn returned<K: Kind, F: Future<Output: IntoOutcome<K>>>(_: F) {}
