//! Arguments of handlers, at once or later.

use core::any::TypeId;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use super::{Error, Later, Needs, Scope, Shared, Threading};

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
    /// The argument is made, and kept in `scope` for who asks for it next.
    pub(super) fn making(
        making: M::Boxed<'static, Result<M::Value, Error>>,
        scope: &'a Scope<M>,
        id: TypeId,
        take: fn(&M::Value) -> Result<T, Error>,
    ) -> Self {
        Self(State::Making { making, scope, id, take })
    }

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
                scope.keep(*id, value);
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
