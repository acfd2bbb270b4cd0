//! 2025-03-26: Streamable HTTP with streams that can be taken up again, batches, tool hints, sound.

use super::v2024_11_05::ADAPTER as PREDECESSOR;
use super::{Adapter, Fields, Resumption};
use crate::model::InputFields;

/// What an HTTP request that names no version is taken for.
pub(super) const ADAPTER: Adapter = Adapter {
    version: "2025-03-26",
    assumed: true,
    resumption: Resumption::Ids,
    fields: Fields {
        audio: true,
        tool_hints: true,
        progress_message: true,
        completions_capability: true,
        ..PREDECESSOR.fields
    },
    input: InputFields { sampling_audio: true, ..PREDECESSOR.input },
    ..PREDECESSOR
};
