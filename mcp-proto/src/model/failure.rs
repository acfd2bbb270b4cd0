//! What can go wrong with a call, in one vocabulary for every revision.

use core::fmt;
use std::borrow::Cow;

use super::{ClientCapabilities, InputRequest, Json};
use crate::frame::writer::Object;

/// Why a call failed. An adapter gives each kind its revision's code and HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The bytes are not JSON.
    Parse,
    /// The JSON is no valid message.
    Malformed,
    /// No such method.
    UnknownMethod,
    /// No such tool or prompt.
    UnknownTarget,
    /// No such resource.
    ResourceNotFound,
    /// The method's parameters are wrong.
    InvalidParams,
    /// A tool's arguments do not fit its schema: a result that the model can act on.
    InvalidArguments,
    /// A mirrored header differs from the body.
    HeaderMismatch,
    /// The protocol version is not one that this server speaks.
    UnsupportedVersion,
    /// The `Origin` is not allowed.
    OriginRejected,
    /// A question cannot be put to this client.
    InputUnsupported,
    /// The client did not declare a capability that the call needs.
    MissingRequiredCapability,
    /// The server failed.
    Internal,
    /// A required `_meta` member is missing.
    MissingMetadata,
    /// An error code that a handler chose.
    Custom(i32),
}

impl FailureKind {
    /// The kinds without [`Custom`](Self::Custom), in the order of the declaration.
    pub const ALL: [Self; 14] = [
        Self::Parse,
        Self::Malformed,
        Self::UnknownMethod,
        Self::UnknownTarget,
        Self::ResourceNotFound,
        Self::InvalidParams,
        Self::InvalidArguments,
        Self::HeaderMismatch,
        Self::UnsupportedVersion,
        Self::OriginRejected,
        Self::InputUnsupported,
        Self::MissingRequiredCapability,
        Self::Internal,
        Self::MissingMetadata,
    ];

    /// The kind's name, in snake case.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Malformed => "malformed",
            Self::UnknownMethod => "unknown_method",
            Self::UnknownTarget => "unknown_target",
            Self::ResourceNotFound => "resource_not_found",
            Self::InvalidParams => "invalid_params",
            Self::InvalidArguments => "invalid_arguments",
            Self::HeaderMismatch => "header_mismatch",
            Self::UnsupportedVersion => "unsupported_version",
            Self::OriginRejected => "origin_rejected",
            Self::InputUnsupported => "input_unsupported",
            Self::MissingRequiredCapability => "missing_required_capability",
            Self::Internal => "internal",
            Self::MissingMetadata => "missing_metadata",
            Self::Custom(_) => "custom",
        }
    }
}

/// A call that failed: the kind, a message for the peer, and optional data.
///
/// The message reaches the client, so it holds nothing that the client must not see.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// One sentence for the peer.
    pub message: Cow<'static, str>,
    /// The error's `data`.
    pub data: Option<Json>,
}

impl Failure {
    /// A failure without data.
    pub fn new(kind: FailureKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), data: None }
    }

    /// The client did not declare what these questions need: the data's `requiredCapabilities` is
    /// an object shaped like its capabilities (T-21, R26-META-11).
    pub fn missing_capability<'a>(requests: impl IntoIterator<Item = &'a InputRequest>) -> Self {
        let mut needed = ClientCapabilities::default();
        for request in requests {
            needed = needed.union(request.needs());
        }
        let mut data = Vec::new();
        let mut object = Object::begin(&mut data);
        needed.write_required(object.value("requiredCapabilities"));
        object.end();
        Self::new(
            FailureKind::MissingRequiredCapability,
            "this call needs a capability that the client did not declare",
        )
        .with_data(Json::scanned(data.into()))
    }

    /// The same failure with `data`.
    #[must_use]
    pub fn with_data(mut self, data: Json) -> Self {
        self.data = Some(data);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.message)
    }
}

impl core::error::Error for Failure {}
