//! How a server describes itself, and what its errors say.

use crate::frame::json;
use crate::model::{
    Description, FailureKind, Implementation, Json, ServerCapabilities, View, copied,
};
use crate::revision::{Adapter, meta_key};

impl Adapter {
    /// Whether this revision is one of these versions.
    pub fn is_among(&self, versions: &[String]) -> bool {
        versions.iter().any(|version| version == self.version)
    }

    /// Reads a server's description of itself: the result of a handshake or of a discovery. `None`
    /// where it is neither, so that what answers anything to everything is not taken for a server
    /// of this revision (R24-LIFE-02, R26-DISC-03).
    pub fn read_description(&self, result: &[u8]) -> Option<Description> {
        let object = View::of(result)?;
        let info = match self.has_handshake {
            true => object.get("serverInfo"),
            false => object.object("_meta").and_then(|meta| meta.get(meta_key::SERVER_INFO)),
        };
        let versions = match self.has_handshake {
            true => vec![object.string("protocolVersion")?.into_owned()],
            false => versions(object.get("supportedVersions")?)?,
        };
        let declared = object.json("capabilities");
        Some(Description {
            server: info.and_then(|info| serde_json::from_slice::<Implementation>(info).ok()),
            capabilities: declared
                .as_ref()
                .map(|declared| ServerCapabilities::read(declared.as_bytes()))
                .unwrap_or_default(),
            declared,
            instructions: object.string("instructions").map(std::borrow::Cow::into_owned),
            versions,
        })
    }

    /// What kind of failure a server's code means in this revision, as far as one code means one
    /// kind; anything else is a code of the server's own (R26-RPC-28, R26-RPC-31).
    pub fn kind_of(&self, code: i64) -> FailureKind {
        const TOLD_APART: [FailureKind; 9] = [
            FailureKind::Parse,
            FailureKind::UnknownMethod,
            FailureKind::HeaderMismatch,
            FailureKind::UnsupportedVersion,
            FailureKind::MissingRequiredCapability,
            FailureKind::InvalidParams,
            FailureKind::Malformed,
            FailureKind::Internal,
            FailureKind::ResourceNotFound,
        ];
        // T-11: what reading a resource was answered before is understood by every revision.
        const NOT_FOUND_BEFORE: i64 = -32002;
        let distinct = |kind: &FailureKind| {
            let own = i64::from(self.wire(*kind).code);
            // Handshake revisions spell some kinds with the codes of others.
            own == code
                && (!self.has_handshake
                    || !matches!(
                        kind,
                        FailureKind::HeaderMismatch
                            | FailureKind::UnsupportedVersion
                            | FailureKind::MissingRequiredCapability
                    ))
        };
        match TOLD_APART.iter().find(|kind| distinct(kind)) {
            Some(kind) => *kind,
            None if code == NOT_FOUND_BEFORE => FailureKind::ResourceNotFound,
            None => FailureKind::Custom(i32::try_from(code).unwrap_or_default()),
        }
    }
}

/// The error that a server answered with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerError {
    /// The code.
    pub code: i64,
    /// The message. It may be anything, and nobody may be asked to trust it.
    pub message: String,
    /// More about it.
    pub data: Option<Json>,
}

impl ServerError {
    /// Reads an error object that was scanned; what is not as it must be gets the nearest default.
    pub(crate) fn read(error: &[u8]) -> Self {
        let object = View::of(error);
        let get = |name| object.as_ref().and_then(|object| object.get(name));
        Self {
            code: get("code").and_then(json::integer).unwrap_or_default(),
            message: get("message").and_then(json::string).unwrap_or_default().into_owned(),
            data: get("data").map(copied),
        }
    }
}

/// The versions that an error's data offers in place of the one that was asked for (R26-VER-01).
pub fn offered_versions(error: &ServerError) -> Option<Vec<String>> {
    let data = error.data.as_ref()?;
    versions(View::of(data.as_bytes())?.get("supported")?)
}

fn versions(list: &[u8]) -> Option<Vec<String>> {
    if json::kind(list) != json::Kind::Array {
        return None;
    }
    // More than anyone speaks is not read.
    const MOST: usize = 64;
    let texts = json::elements(list).take(MOST).filter_map(|span| json::string(span.of(list)));
    Some(texts.map(std::borrow::Cow::into_owned).collect())
}
