//! What failures look like to the peer.

use crate::model::FailureKind;

/// A failure's JSON-RPC code, and the HTTP status of a response that holds nothing else. The
/// status applies only while the head is unsent; else the error is the stream's last event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// The JSON-RPC error code.
    pub code: i32,
    /// The HTTP status.
    pub status: u16,
}

/// A code and a status, for tables.
pub(super) const fn wire(code: i32, status: u16) -> Wire {
    Wire { code, status }
}

/// A revision's code and status for each kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "one for each `FailureKind`, which explains them")]
pub struct Failures {
    pub parse: Wire,
    pub malformed: Wire,
    pub unknown_method: Wire,
    pub unknown_target: Wire,
    pub resource_not_found: Wire,
    pub invalid_params: Wire,
    /// Outside of tools; a tool's result says it with `isError` (R2511-TOOL-06).
    pub invalid_arguments: Wire,
    pub header_mismatch: Wire,
    pub unsupported_version: Wire,
    pub origin_rejected: Wire,
    pub input_unsupported: Wire,
    pub missing_required_capability: Wire,
    pub internal: Wire,
    pub missing_metadata: Wire,
    /// The status of codes that handlers choose.
    pub custom_status: u16,
}

impl Failures {
    /// What a kind looks like.
    pub const fn of(&self, kind: FailureKind) -> Wire {
        match kind {
            FailureKind::Parse => self.parse,
            FailureKind::Malformed => self.malformed,
            FailureKind::UnknownMethod => self.unknown_method,
            FailureKind::UnknownTarget => self.unknown_target,
            FailureKind::ResourceNotFound => self.resource_not_found,
            FailureKind::InvalidParams => self.invalid_params,
            FailureKind::InvalidArguments => self.invalid_arguments,
            FailureKind::HeaderMismatch => self.header_mismatch,
            FailureKind::UnsupportedVersion => self.unsupported_version,
            FailureKind::OriginRejected => self.origin_rejected,
            FailureKind::InputUnsupported => self.input_unsupported,
            FailureKind::MissingRequiredCapability => self.missing_required_capability,
            FailureKind::Internal => self.internal,
            FailureKind::MissingMetadata => self.missing_metadata,
            FailureKind::Custom(code) => wire(code, self.custom_status),
        }
    }
}

impl super::Adapter {
    /// The code and HTTP status of a kind of failure.
    pub const fn wire(&self, kind: FailureKind) -> Wire {
        self.failures.of(kind)
    }
}
