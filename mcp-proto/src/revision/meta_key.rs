//! The protocol's own keys of `_meta` (R26-META-16).

pub(super) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(super) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(super) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(super) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub(super) const PROGRESS_TOKEN: &str = "progressToken";
pub(super) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
pub(super) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
