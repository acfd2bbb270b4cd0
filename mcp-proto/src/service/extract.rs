//! The arguments that come with the library.

use core::any::type_name;
use core::ops::Deref;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::needs::Arguments;
use super::{Error, Exchange, Extraction, FromExchange, Needs, Parts, Scope, Threading};
use super::{args, schema};
use crate::auth::Principal;
use crate::model::{Completing, FailureKind, Json, Operation, object_of};

/// The call's arguments as a `T`: those of a tool or prompt, or the variables of a resource
/// template.
///
/// The tool's input schema, and the prompt's arguments, are derived from `T`. Prompts and
/// templates have strings only (T-62); numbers, booleans and unit variants are read from them.
#[derive(Clone, Copy, Debug)]
pub struct Args<T>(pub T);

impl<M: Threading, T: DeserializeOwned + JsonSchema> FromExchange<M> for Args<T> {
    fn needs(needs: &mut Needs) {
        let (schema, type_name) = (schema::input::<T> as fn() -> _, type_name::<T>());
        needs.arguments = Some(Arguments { schema, type_name });
    }

    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        let call = scope.call();
        let decoded = match call.operation() {
            Operation::CallTool => args::of_tool(call, scope.input_schema()),
            Operation::GetPrompt => args::of_prompt(call),
            Operation::Extension => args::of_method(call),
            _ => args::of_variables(scope.variables()),
        };
        Extraction::ready(decoded.map(Args).map_err(Error::from))
    }
}

/// The call's arguments as the client sent them: an object; of a prompt, one of strings. What is in it is for the handler to
/// check, beyond what the tool's schema says.
#[derive(Clone, Debug)]
pub struct RawArgs(pub Json);

impl<M: Threading> FromExchange<M> for RawArgs {
    fn needs(needs: &mut Needs) {
        needs.raw_arguments = true;
    }

    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        let call = scope.call();
        let sent = match call.operation() {
            Operation::Extension => call.params().cloned(),
            Operation::GetPrompt => match args::strings(call) {
                Ok(strings) => Some(object_of(&strings)),
                Err(failure) => return Extraction::ready(Err(failure.into())),
            },
            _ => call.arguments().cloned(),
        };
        Extraction::ready(Ok(RawArgs(sent.unwrap_or_else(|| Json::scanned("{}".into())))))
    }
}

/// The variables of a resource template, decoded, in the template's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(pub Vec<(String, String)>);

impl Variables {
    /// The value of the variable of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

impl<M: Threading> FromExchange<M> for Variables {
    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        Extraction::ready(Ok(Variables(scope.variables().to_vec())))
    }
}

/// The URI that is read, as the client wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri(pub String);

impl<M: Threading> FromExchange<M> for Uri {
    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        Extraction::ready(Ok(Uri(scope.call().target().unwrap_or_default().to_owned())))
    }
}

impl<M: Threading> FromExchange<M> for Exchange {
    fn needs(needs: &mut Needs) {
        needs.exchange();
    }

    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        Extraction::ready(Ok(scope.exchange().clone()))
    }
}

/// A copy of the registry's [state](super::Registry::state) of type `S`.
#[derive(Clone, Copy, Debug)]
pub struct State<S>(pub S);

impl<M: Threading, S: Clone + 'static> FromExchange<M> for State<S> {
    fn needs(needs: &mut Needs) {
        needs.state::<S>();
    }

    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        Extraction::ready(scope.state::<S>().cloned().map(State))
    }
}

/// What the registry [provides](super::Registry::provide): made at most once for a call, and
/// dropped when the call ends, however it ends.
#[derive(Debug)]
pub struct Provided<T>(Arc<T>);

impl<T> Provided<T> {
    pub(crate) fn new(value: Arc<T>) -> Self {
        Self(value)
    }

    /// The value itself, where nothing else of this call holds it.
    ///
    /// # Errors
    /// Gives the value back where it is shared.
    pub fn into_inner(self) -> Result<T, Self> {
        Arc::try_unwrap(self.0).map_err(Self)
    }
}

impl<T> Deref for Provided<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<M: Threading, T: 'static> FromExchange<M> for Provided<T> {
    fn needs(needs: &mut Needs) {
        needs.provided::<T>();
    }

    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        scope.provided::<T>()
    }
}

/// What the host framework attached to the HTTP request, by type. Makes the registry one for
/// HTTP; take `Option<Extension<T>>` where it may be missing.
#[derive(Clone, Copy, Debug)]
pub struct Extension<T>(pub T);

impl<M: Threading, T: Clone + Send + Sync + 'static> FromExchange<M> for Extension<T> {
    fn needs(needs: &mut Needs) {
        needs.http_only("Extension");
    }

    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        let found = extension(scope).ok_or_else(|| {
            let name = type_name::<T>();
            Error::internal(format!(
                "the request has no extension `{name}`; is the layer that adds it outside of the \
                 MCP service?"
            ))
        });
        Extraction::ready(found)
    }
}

impl<M: Threading, T: Clone + Send + Sync + 'static> FromExchange<M> for Option<Extension<T>> {
    fn needs(needs: &mut Needs) {
        needs.http();
    }

    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        Extraction::ready(Ok(extension(scope)))
    }
}

fn extension<M: Threading, T: Clone + Send + Sync + 'static>(
    scope: &Scope<M>,
) -> Option<Extension<T>> {
    scope.parts()?.extensions().get().cloned().map(Extension)
}

/// Who calls. A server without a [guard](super::Guard) does not start then; take
/// `Option<Principal>` to serve both.
impl<M: Threading> FromExchange<M> for Principal {
    fn needs(needs: &mut Needs) {
        needs.principal();
    }

    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        let principal = scope.call().principal().map(|principal| Self::clone(principal));
        let missing = || Error::internal("nobody says who calls");
        Extraction::ready(principal.ok_or_else(missing))
    }
}

impl<M: Threading> FromExchange<M> for Option<Principal> {
    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        Extraction::ready(Ok(scope.call().principal().map(|it| Principal::clone(it))))
    }
}

impl<M: Threading> FromExchange<M> for Parts {
    fn needs(needs: &mut Needs) {
        needs.http_only("Parts");
    }

    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        let parts = scope.parts().cloned();
        let missing = || Error::internal("the call came without an HTTP request");
        Extraction::ready(parts.ok_or_else(missing))
    }
}

impl<M: Threading> FromExchange<M> for Option<Parts> {
    fn needs(needs: &mut Needs) {
        needs.http();
    }

    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        Extraction::ready(Ok(scope.parts().cloned()))
    }
}

/// What is to be completed; for [completers](super::Registry::completions).
impl<M: Threading> FromExchange<M> for Completing {
    fn needs(needs: &mut Needs) {
        needs.completing = true;
    }

    fn from_exchange(scope: &Scope<M>) -> Extraction<'_, Self, M> {
        let completing = scope.call().completing().cloned();
        let missing = || Error::protocol(FailureKind::InvalidParams, "nothing is being completed");
        Extraction::ready(completing.ok_or_else(missing))
    }
}
