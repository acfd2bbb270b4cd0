//! What every storage can be told before it opens.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::effect::EffectError;

use crate::background::Report;

/// How to open a storage on a server of kind `K`.
pub struct Builder<K> {
    pub(crate) kind: K,
    pub(crate) event_ttl: Duration,
    pub(crate) report: Report,
}

impl<K> Builder<K> {
    pub(crate) fn new(kind: K) -> Self {
        // Failures go where a service's operator looks.
        let report: Report = Arc::new(|error| eprintln!("{error}"));
        Self { kind, event_ttl: Duration::from_secs(3_600), report }
    }

    /// How long events are kept at least. One hour by default.
    pub fn event_ttl(mut self, ttl: Duration) -> Self {
        self.event_ttl = ttl;
        self
    }

    /// Who is told that the server fails, and what to do: when news stop to come, of each sweep that
    /// fails, and of calls that fail, once in ten seconds at most. It goes to standard error by
    /// default.
    pub fn report(mut self, report: impl Fn(&EffectError) + Send + Sync + 'static) -> Self {
        self.report = Arc::new(report);
        self
    }
}

impl<K: fmt::Debug> fmt::Debug for Builder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, event_ttl, .. } = self;
        f.debug_struct("Builder").field("kind", kind).field("event_ttl", event_ttl).finish()
    }
}
