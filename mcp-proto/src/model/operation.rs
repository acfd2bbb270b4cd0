//! The verbs that a server can perform.

use core::fmt;
use core::str::FromStr;

/// What a message asks for. How a revision names it is an adapter's concern.
///
/// ```
/// use mcp_proto::model::Operation;
///
/// assert_eq!(Operation::CallTool.as_str(), "call_tool");
/// assert_eq!("call_tool".parse(), Ok(Operation::CallTool));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Who the server is and what it can do: `server/discover`, or `initialize`.
    Describe,
    /// `notifications/initialized`.
    HandshakeComplete,
    /// `ping`.
    Ping,
    /// `tools/list`.
    ListTools,
    /// `tools/call`.
    CallTool,
    /// `resources/list`.
    ListResources,
    /// `resources/templates/list`.
    ListResourceTemplates,
    /// `resources/read`.
    ReadResource,
    /// `prompts/list`.
    ListPrompts,
    /// `prompts/get`.
    GetPrompt,
    /// `completion/complete`.
    Complete,
    /// `subscriptions/listen`.
    Listen,
    /// `resources/subscribe`.
    Subscribe,
    /// `resources/unsubscribe`.
    Unsubscribe,
    /// `logging/setLevel`.
    SetLogLevel,
    /// A method that an extension defines.
    Extension,
}

impl Operation {
    /// Every operation, in the order of the declaration.
    pub const ALL: [Self; 16] = [
        Self::Describe,
        Self::HandshakeComplete,
        Self::Ping,
        Self::ListTools,
        Self::CallTool,
        Self::ListResources,
        Self::ListResourceTemplates,
        Self::ReadResource,
        Self::ListPrompts,
        Self::GetPrompt,
        Self::Complete,
        Self::Listen,
        Self::Subscribe,
        Self::Unsubscribe,
        Self::SetLogLevel,
        Self::Extension,
    ];

    /// The operation's name, in snake case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::HandshakeComplete => "handshake_complete",
            Self::Ping => "ping",
            Self::ListTools => "list_tools",
            Self::CallTool => "call_tool",
            Self::ListResources => "list_resources",
            Self::ListResourceTemplates => "list_resource_templates",
            Self::ReadResource => "read_resource",
            Self::ListPrompts => "list_prompts",
            Self::GetPrompt => "get_prompt",
            Self::Complete => "complete",
            Self::Listen => "listen",
            Self::Subscribe => "subscribe",
            Self::Unsubscribe => "unsubscribe",
            Self::SetLogLevel => "set_log_level",
            Self::Extension => "extension",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOperationError;

impl fmt::Display for ParseOperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the name of an operation; they are in snake case, like `call_tool`")
    }
}

impl core::error::Error for ParseOperationError {}

impl FromStr for Operation {
    type Err = ParseOperationError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|operation| operation.as_str() == name)
            .ok_or(ParseOperationError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_name_of_its_own_that_parses_back() {
        for (index, operation) in Operation::ALL.into_iter().enumerate() {
            assert_eq!(operation as usize, index, "tables are indexed by operation");
            assert_eq!(operation.as_str().parse(), Ok(operation));
        }
        assert_eq!("Ping".parse::<Operation>(), Err(ParseOperationError));
    }
}
