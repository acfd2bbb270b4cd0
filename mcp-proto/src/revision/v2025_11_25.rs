//! 2025-11-25: icons, streams that begin with an id, errors without one.

use super::v2025_06_18::ADAPTER as PREDECESSOR;
use super::{Adapter, Fields, Resumption};
use crate::model::InputFields;

/// The last revision with a handshake.
pub(super) const ADAPTER: Adapter = Adapter {
    version: "2025-11-25",
    error_without_id: true,
    resumption: Resumption::Primed,
    fields: Fields { icons: true, ..PREDECESSOR.fields },
    input: InputFields {
        form_defaults: true,
        titled_options: true,
        multi_select: true,
        modes: true,
        elicitation_id: true,
        sampling_tools: true,
        sampling_blocks: true,
        sampling_context_declared: true,
        ..PREDECESSOR.input
    },
    ..PREDECESSOR
};
