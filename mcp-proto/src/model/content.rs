//! What results are made of: content blocks, resource contents, annotations, icons.

use bytes::Bytes;

use super::{Json, Resource};

/// Who a message is from, or whom content is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person, or their client.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The role's name in the protocol.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }

    /// The role of that name in the protocol.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::User, Self::Assistant].into_iter().find(|role| role.as_str() == name)
    }
}

/// Hints on how a client may use content or a resource (R24-CONT: annotations).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Annotations {
    /// Whom it is for; empty means nothing is said.
    pub audience: Vec<Role>,
    /// How important it is, from 0 (optional) to 1 (required).
    pub priority: Option<f64>,
    /// When it last changed, in ISO 8601. Revisions without it leave it out.
    pub last_modified: Option<String>,
}

/// A picture that stands for something in a client's display (R2511-ICON-01).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Icon {
    /// Where the picture is: an `https:` or `data:` URI.
    pub src: String,
    /// The picture's media type.
    pub mime_type: Option<String>,
    /// Sizes such as `48x48`, or `any`.
    pub sizes: Vec<String>,
    /// `light` or `dark`, where it is made for one of them.
    pub theme: Option<String>,
}

impl Icon {
    /// The icon at `src`.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }
}

/// One block of content in a tool's result or a prompt's message.
///
/// What a revision lacks is turned into text by its adapter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text {
        /// The text itself.
        text: String,
        /// Hints for the client.
        annotations: Option<Annotations>,
        /// The block's `_meta`.
        meta: Option<Json>,
    },
    /// A picture.
    Image {
        /// The picture's bytes.
        data: Bytes,
        /// Its media type.
        mime_type: String,
        /// Hints for the client.
        annotations: Option<Annotations>,
        /// The block's `_meta`.
        meta: Option<Json>,
    },
    /// Sound.
    Audio {
        /// The sound's bytes.
        data: Bytes,
        /// Its media type.
        mime_type: String,
        /// Hints for the client.
        annotations: Option<Annotations>,
        /// The block's `_meta`.
        meta: Option<Json>,
    },
    /// A resource's contents, embedded.
    Resource {
        /// The contents.
        contents: Contents,
        /// Hints for the client.
        annotations: Option<Annotations>,
        /// The block's `_meta`.
        meta: Option<Json>,
    },
    /// A reference to a resource that the client may read.
    Link(Resource),
}

impl Content {
    /// Text without annotations.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), annotations: None, meta: None }
    }

    /// A picture without annotations.
    pub fn image(data: impl Into<Bytes>, mime_type: impl Into<String>) -> Self {
        Self::Image {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
        }
    }

    /// Sound without annotations.
    pub fn audio(data: impl Into<Bytes>, mime_type: impl Into<String>) -> Self {
        Self::Audio {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
        }
    }

    /// An embedded resource without annotations.
    pub fn resource(contents: Contents) -> Self {
        Self::Resource { contents, annotations: None, meta: None }
    }

    /// A link to the resource at `uri`.
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::Link(Resource::new(uri, name))
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// The contents of a resource: text, or bytes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Contents {
    /// The resource's URI.
    pub uri: String,
    /// Its media type.
    pub mime_type: Option<String>,
    /// What it holds.
    pub body: Body,
    /// The contents' `_meta`.
    pub meta: Option<Json>,
}

/// What a resource holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Text.
    Text(String),
    /// Bytes, sent as Base64.
    Blob(Bytes),
}

impl Contents {
    /// Text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: Body::Text(text.into()), meta: None }
    }

    /// Bytes.
    pub fn blob(uri: impl Into<String>, bytes: impl Into<Bytes>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: Body::Blob(bytes.into()), meta: None }
    }

    /// The same contents with a media type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}
