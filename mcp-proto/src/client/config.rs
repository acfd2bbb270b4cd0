//! Who the client is, and what it lets a server do.

use super::{Learned, Limits, Retry};
use crate::model::{ClientCapabilities, Implementation, Json, LogLevel};
use crate::revision::AdapterSet;

/// What a client's machine is told when it begins. The default declares no capability.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The client's name and version (R26-META-09).
    pub info: Option<Implementation>,
    /// What the application can be asked. Each is declared to the server, and what is not declared
    /// is refused (R26-CAP-01).
    pub capabilities: ClientCapabilities,
    /// Extensions and their settings, by identifier (R26-EXT-01).
    pub extensions: Vec<(String, Json)>,
    /// The least severe log message that is wanted; none where it is unset.
    pub log_level: Option<LogLevel>,
    /// The revisions to speak. One alone pins it.
    pub adapters: AdapterSet,
    /// What an earlier machine learned of this server; a guess that costs nothing if it is wrong.
    pub learned: Option<Learned>,
    /// Lists and resources are kept as long as the server says (R26-CACHE-03). Off at first.
    pub cache: bool,
    /// Over HTTP, a session has a stream on which the server speaks unasked (R2503-HTTP-22); else
    /// only while a subscription needs it. On at first: some servers ask and log there.
    pub unasked: bool,
    /// A lone surrogate in a string of the server's is read as U+FFFD; else its message is refused.
    /// On at first: servers cut text in the middle of a character.
    pub replaces_surrogates: bool,
    /// A server that is not there yet is tried again in this way; at once it is an error else.
    pub retry: Option<Retry>,
    /// Bounds.
    pub limits: Limits,
}

impl Config {
    /// A client of that name and version.
    pub fn new(info: Implementation) -> Self {
        Self { info: Some(info), ..Self::default() }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            info: None,
            capabilities: ClientCapabilities::default(),
            extensions: Vec::new(),
            log_level: None,
            adapters: AdapterSet::default(),
            learned: None,
            cache: false,
            unasked: true,
            replaces_surrogates: true,
            retry: None,
            limits: Limits::default(),
        }
    }
}
