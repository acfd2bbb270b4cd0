//! 2024-11-05: the base that the others are told apart from.

use super::failures::wire;
use super::{Adapter, AskBy, Envelope, Failures, Fields, Methods, Resumption, Structured};
use crate::model::{InputFields, LogLevel, Operation};

/// HTTP+SSE and stdio, a handshake, no elicitation.
pub(super) const ADAPTER: Adapter = Adapter {
    version: "2024-11-05",
    has_handshake: true,
    // JSON-RPC has them, and this revision says nothing else (R24-RPC-01).
    allows_batch: true,
    ask_elicitation: AskBy::Arguments,
    ask_sampling: AskBy::Push,
    disconnect_cancels: false,
    mirrors_headers: false,
    assumed: false,
    error_without_id: false,
    resumption: Resumption::None,
    default_log_level: Some(LogLevel::Info),
    methods: &Methods::NONE
        .with(Operation::Describe, "initialize")
        .with(Operation::HandshakeComplete, "notifications/initialized")
        .with(Operation::Ping, "ping")
        .with(Operation::ListTools, "tools/list")
        .with(Operation::CallTool, "tools/call")
        .with(Operation::ListResources, "resources/list")
        .with(Operation::ListResourceTemplates, "resources/templates/list")
        .with(Operation::ReadResource, "resources/read")
        .with(Operation::ListPrompts, "prompts/list")
        .with(Operation::GetPrompt, "prompts/get")
        .with(Operation::Complete, "completion/complete")
        .with(Operation::Subscribe, "resources/subscribe")
        .with(Operation::Unsubscribe, "resources/unsubscribe")
        .with(Operation::SetLogLevel, "logging/setLevel"),
    // R24-RPC-14. HTTP statuses other than 200 are for what was never dispatched (R2503-HTTP-09).
    failures: &Failures {
        parse: wire(-32700, 400),
        malformed: wire(-32600, 400),
        unknown_method: wire(-32601, 200),
        unknown_target: wire(-32602, 200),
        resource_not_found: wire(-32002, 200),
        invalid_params: wire(-32602, 200),
        invalid_arguments: wire(-32602, 200),
        header_mismatch: wire(-32600, 400),
        unsupported_version: wire(-32602, 400),
        origin_rejected: wire(-32600, 403),
        input_unsupported: wire(-32600, 200),
        missing_required_capability: wire(-32600, 200),
        internal: wire(-32603, 200),
        missing_metadata: wire(-32602, 400),
        custom_status: 200,
    },
    fields: Fields {
        audio: false,
        tool_hints: false,
        progress_message: false,
        completions_capability: false,
        title: false,
        meta: false,
        last_modified: false,
        resource_link: false,
        structured: Structured::None,
        icons: false,
        mirrored: false,
        extensions: false,
    },
    input: InputFields::NONE,
    envelope: Envelope { result_type: false, cache_hints: false, server_info: false },
};
