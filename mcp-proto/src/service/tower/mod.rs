//! Under web frameworks: a [`tower_service::Service`] over the types of [`http`], so that any
//! server that speaks them (hyper, axum and others, HTTP/1.1 and HTTP/2) can carry MCP (feature
//! `tower`).
//!
//! [`HttpBuilder::mount`] makes an [`HttpService`]. What the application's own layers put into a
//! request's extensions reaches handlers as [`Extension<T>`](super::Extension). Framing belongs to
//! the framework, and so do its bounds: the size of heads, connections, timeouts of idle ones.
//! Everything else is as with a listener of our own.

mod answer;
mod body;
mod ongoing;
mod pipe;

use core::convert::Infallible;
use core::fmt;
use core::pin::pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use super::accept::Terms;
use super::crowd::Crowd;
use super::site::Site;
use super::{
    Announcer, Driver, Error, HttpBuilder, Later, Parts, Shared, Threading, Timer, Updater,
};

use crate::auth::{Authorization, WELL_KNOWN};
use crate::server::{Bound, Notice};

pub use answer::Answer;
pub use body::HttpBody;
pub use ongoing::Ongoing;

/// A service for a web framework. Cloning shares it.
///
/// A client that goes away before its reply is complete is noticed by the framework, which drops
/// the reply: that cancels the call, or lets it go on where the revision lets the client come back
/// for the result.
pub struct HttpService<D, M: Threading = Shared>(Arc<Inner<D, M>>);

struct Inner<D, M: Threading> {
    site: Site<D, M>,
    crowd: Crowd,
    terms: Terms,
}

impl<D: Driver<M>, M: Threading> HttpBuilder<D, M> {
    /// A service with these settings for a web framework, which listens in its place. It answers
    /// for any path that the framework leads to it, unless it was [told](Self::path) one.
    ///
    /// # Errors
    /// Where the service cannot be served so: a handler wants to know who calls, and no
    /// [guard](Self::auth) says.
    pub fn mount(self) -> Result<HttpService<D, M>, Error> {
        let (site, terms) = self.site()?;
        Ok(HttpService(Arc::new(Inner { site, crowd: Crowd::default(), terms })))
    }
}

impl<D: Driver<M>, M: Threading> HttpService<D, M> {
    /// The protected resource's metadata, as a service of its own, for the application to mount at
    /// [`metadata_paths`](Self::metadata_paths): a service under a prefix does not get to see
    /// requests for it.
    #[must_use]
    pub fn metadata(&self) -> Self {
        let site = self.0.site.at(self.0.site.endpoint().metadata_only());
        let (crowd, terms) = (self.0.crowd.clone(), self.0.terms.clone());
        Self(Arc::new(Inner { site, crowd, terms }))
    }

    /// Where clients look for the protected resource's metadata, as paths from the root of the
    /// application: first the resource's own, then the one of a resource without a path
    /// (R2511-AUTH-16), which is for an application that mounts one protected service. None where
    /// callers are not asked who they are.
    pub fn metadata_paths(&self) -> Vec<String> {
        let endpoint = self.0.site.endpoint();
        let own = endpoint.authorization().map(Authorization::metadata_path);
        let mut paths: Vec<_> = own.map(str::to_owned).into_iter().collect();
        if own.is_some_and(|own| own != WELL_KNOWN) {
            paths.push(WELL_KNOWN.to_owned());
        }
        paths
    }

    /// Announces changes to the clients that listen, for the namespace of the endpoint.
    pub fn announcer(&self) -> Announcer {
        self.0.site.announcer()
    }

    /// Replaces what is served, while it is.
    pub fn updater(&self) -> Updater<M> {
        self.0.site.updater()
    }

    /// Has everything end, for servers that shut down: streams that only listen end at once,
    /// calls have the time of [`shutdown_grace`](HttpBuilder::shutdown_grace), and what is left
    /// then is cut off. Done once nothing is left. Most frameworks wait for open replies when they
    /// shut down, so this is to run beside their own shutdown, or before it.
    pub async fn shutdown(&self) {
        let Inner { site, crowd, terms } = &*self.0;
        let runtime = site.host.runtime();
        let mut timer = pin!(runtime.timer());
        timer.as_mut().reset(runtime.now() + terms.grace);
        if !crowd.drain(timer).await {
            terms.notices.say(|| "calls were cut off: they did not end in time".into());
        }
    }
}

impl<B, D, M> tower_service::Service<http::Request<B>> for HttpService<D, M>
where
    B: http_body::Body,
    D: Driver<M>,
    M: Threading,
    Ongoing<D, M>: Later<'static, M, ()>,
{
    type Response = http::Response<HttpBody>;
    type Error = Infallible;
    type Future = Answer<B, D, M>;

    /// Always ready: what is too much is refused.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Answer<B, D, M> {
        let Inner { site, crowd, terms } = &*self.0;
        let Some(member) = crowd.enter_below(terms.most) else {
            let full = Notice::Bound(Bound::Connections);
            terms.notices.tell(site.host.runtime().now(), &full);
            return Answer::busy();
        };
        let (head, body) = request.into_parts();
        let ongoing = Ongoing::new(&site.host, &site.endpoint(), Parts::from(head), member);
        Answer::new(ongoing, body)
    }
}

impl<D, M: Threading> Clone for HttpService<D, M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D: Driver<M>, M: Threading> fmt::Debug for HttpService<D, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HttpService").field(&self.0.site.endpoint()).finish()
    }
}

#[cfg(test)]
mod tests;
