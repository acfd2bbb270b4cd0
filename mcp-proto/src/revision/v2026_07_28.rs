//! 2026-07-28: no handshake and no session; each request describes itself.

use super::failures::wire;
use super::v2025_11_25::ADAPTER as PREDECESSOR;
use super::{Adapter, AskBy, Envelope, Failures, Fields, Resumption, Structured};
use crate::model::{InputFields, Operation};

/// Stateless: a client is asked by a result, and answers by repeating its request.
pub(super) const ADAPTER: Adapter = Adapter {
    version: "2026-07-28",
    has_handshake: false,
    ask_elicitation: AskBy::Retry,
    ask_sampling: AskBy::Retry,
    disconnect_cancels: true,
    mirrors_headers: true,
    resumption: Resumption::None,
    default_log_level: None,
    methods: &PREDECESSOR
        .methods
        .with(Operation::Describe, "server/discover")
        .with(Operation::Listen, "subscriptions/listen")
        .without(Operation::HandshakeComplete)
        .without(Operation::Ping)
        .without(Operation::Subscribe)
        .without(Operation::Unsubscribe)
        .without(Operation::SetLogLevel),
    failures: &Failures {
        unknown_method: wire(-32601, 404),
        resource_not_found: wire(-32602, 200),
        header_mismatch: wire(-32020, 400),
        unsupported_version: wire(-32022, 400),
        input_unsupported: wire(-32021, 400),
        missing_required_capability: wire(-32021, 400),
        ..*PREDECESSOR.failures
    },
    fields: Fields {
        structured: Structured::Any,
        mirrored: true,
        extensions: true,
        ..PREDECESSOR.fields
    },
    input: InputFields { elicitation_id: false, ..PREDECESSOR.input },
    envelope: Envelope { result_type: true, cache_hints: true, server_info: true },
    ..PREDECESSOR
};
