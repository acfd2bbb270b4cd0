//! The names of methods.

use crate::model::Operation;

/// A revision's methods: at most one name for each operation, and further names for some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Methods {
    names: [Option<&'static str>; Operation::ALL.len()],
    aliases: &'static [(&'static str, Operation)],
}

impl Methods {
    /// No methods at all.
    pub const NONE: Self = Self { names: [None; Operation::ALL.len()], aliases: &[] };

    /// The same methods, and `operation` under `method`.
    #[must_use]
    pub const fn with(mut self, operation: Operation, method: &'static str) -> Self {
        self.names[operation as usize] = Some(method);
        self
    }

    /// The same methods without that operation.
    #[must_use]
    pub const fn without(mut self, operation: Operation) -> Self {
        self.names[operation as usize] = None;
        self
    }

    /// The same methods, with further names for operations; these are read, never written.
    #[must_use]
    pub const fn with_aliases(mut self, aliases: &'static [(&'static str, Operation)]) -> Self {
        self.aliases = aliases;
        self
    }

    /// The name of an operation.
    pub const fn name(&self, operation: Operation) -> Option<&'static str> {
        self.names[operation as usize]
    }

    /// The operation of a name, which is compared exactly.
    pub fn operation(&self, method: &str) -> Option<Operation> {
        let named = |operation: &Operation| self.name(*operation) == Some(method);
        let alias = || self.aliases.iter().find(|(name, _)| *name == method).map(|entry| entry.1);
        Operation::ALL.into_iter().find(named).or_else(alias)
    }
}

/// The names of the notifications that both sides of every revision agree on.
pub mod notification {
    /// What every notification's name begins with.
    pub const PREFIX: &str = "notifications/";
    /// A request is no longer wanted (R24-CANC-01).
    pub const CANCELLED: &str = "notifications/cancelled";
    /// How far a request has come (R24-PROG-01).
    pub const PROGRESS: &str = "notifications/progress";
    /// A log message (R24-LOG-09).
    pub const MESSAGE: &str = "notifications/message";
    /// The list of tools changed.
    pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
    /// The list of prompts changed.
    pub const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
    /// The lists of resources changed.
    pub const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
    /// A resource changed.
    pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";
    /// What a client may listen to (R26-SUBS-03).
    pub const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
}
