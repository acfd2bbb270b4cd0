//! A server as its clients see it.

use super::view::View;
use super::{Implementation, Json};

/// What a server declared that it can do. Presence is the signal (R24-CAP-04).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// It has tools.
    pub tools: bool,
    /// It tells when its tools change.
    pub tools_changed: bool,
    /// It has prompts.
    pub prompts: bool,
    /// It tells when its prompts change.
    pub prompts_changed: bool,
    /// It has resources.
    pub resources: bool,
    /// It tells when its list of resources changes.
    pub resources_changed: bool,
    /// It tells when a resource changes.
    pub subscribe: bool,
    /// It completes arguments. The oldest revision has no such capability (T-64).
    pub completions: bool,
    /// It logs to its clients.
    pub logging: bool,
}

impl ServerCapabilities {
    /// Reads a capabilities object; what has another shape counts as undeclared (T-07).
    pub fn read(object: &[u8]) -> Self {
        let Some(object) = View::of(object) else { return Self::default() };
        let has = |name| object.object(name).is_some();
        let tells = |name, what| {
            object.object(name).and_then(|it| it.get(what)).is_some_and(|flag| flag == b"true")
        };
        Self {
            tools: has("tools"),
            tools_changed: tells("tools", "listChanged"),
            prompts: has("prompts"),
            prompts_changed: tells("prompts", "listChanged"),
            resources: has("resources"),
            resources_changed: tells("resources", "listChanged"),
            subscribe: tells("resources", "subscribe"),
            completions: has("completions"),
            logging: has("logging"),
        }
    }
}

/// Who a server is and what it can do, whether a handshake or a discovery told.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// Its name and version, for display only; a server need not tell them (R26-DISC-05).
    pub server: Option<Implementation>,
    /// What it can do.
    pub capabilities: ServerCapabilities,
    /// The capabilities object as the server sent it, extensions and experiments included.
    pub declared: Option<Json>,
    /// How to use the server, for the model (R24-LIFE-15).
    pub instructions: Option<String>,
    /// The versions that it speaks: one after a handshake.
    pub versions: Vec<String>,
}
