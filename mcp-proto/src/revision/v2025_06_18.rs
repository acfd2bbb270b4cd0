//! 2025-06-18: elicitation, structured results, titles; no batches.

use super::v2025_03_26::ADAPTER as PREDECESSOR;
use super::{Adapter, AskBy, Fields, Structured};

/// The first revision that can put a form to a person.
pub(super) const ADAPTER: Adapter = Adapter {
    version: "2025-06-18",
    allows_batch: false,
    assumed: false,
    ask_elicitation: AskBy::Push,
    fields: Fields {
        title: true,
        meta: true,
        last_modified: true,
        resource_link: true,
        structured: Structured::Object,
        ..PREDECESSOR.fields
    },
    ..PREDECESSOR
};
