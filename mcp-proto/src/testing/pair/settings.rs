//! What a pair is to be, before anything happens.

use super::client::Near;
use super::{Link, Pair, Random, VirtualTime, Way};
use crate::client::Config;
use crate::revision::{AdapterSet, Revision};
use crate::server::Endpoint;
use crate::service::Threading;

impl<M: Threading> Pair<M> {
    /// The server speaks this revision only; the client finds out.
    #[must_use]
    pub fn revision(self, revision: Revision) -> Self {
        self.adapters(AdapterSet::from(revision))
    }

    /// The server speaks these revisions only.
    #[must_use]
    pub fn adapters(mut self, adapters: AdapterSet) -> Self {
        self.server.speak(adapters);
        self
    }

    /// The server is at this endpoint: at [`PATH`](Self::PATH), and at [`SSE_PATHS`](Self::SSE_PATHS)
    /// where the pair talks that [way](Way::HttpSse).
    #[must_use]
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.server.endpoint = endpoint;
        self
    }

    /// They talk this way.
    #[must_use]
    pub fn over(self, way: Way) -> Self {
        Self { way, ..self }.anew()
    }

    /// The client is configured anew.
    #[must_use]
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self.anew()
    }

    /// Connections are like this link, each with whims of its own that follow from the
    /// [seed](Self::seed).
    #[must_use]
    pub fn link(self, link: Link) -> Self {
        Self { link, ..self }
    }

    /// Whatever is left to chance follows from `seed`: whims of links, ids, and whether the client
    /// or the server has its turn first.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.random = Random::new(seed);
        self.server.seed(seed);
        self
    }

    /// One HTTP request in `n` reaches the server a second time, on a connection that breaks: a
    /// proxy has tried twice. None where `n` is 0.
    #[must_use]
    pub fn repeats(self, n: u64) -> Self {
        Self { repeats: n, ..self }
    }

    /// The clock that handlers wait on.
    #[must_use]
    pub fn time(mut self, time: &VirtualTime) -> Self {
        self.time = time.clone();
        self.server.keep_time(time.clone());
        self
    }

    /// The path of the server.
    pub const PATH: &'static str = "/mcp";

    /// The paths of the server's stream, and of what is posted to it.
    pub const SSE_PATHS: [&'static str; 2] = ["/sse", "/messages"];

    /// Nothing happened so far, so that the client may be another.
    fn anew(self) -> Self {
        Self { near: Near::new(self.way, self.config.clone()), ..self }
    }
}
