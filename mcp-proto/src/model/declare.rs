//! What a server declares: tools, resources, templates, prompts.

use std::borrow::Cow;

use super::{Annotations, Icon, Json};
use crate::frame::uri_template::UriTemplate;
use crate::model::mirror::MirroredParam;

/// How long a result may be cached, and for whom (R26-CACHE-01).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheHint {
    /// Milliseconds for which the result is fresh; 0 is stale at once.
    pub ttl_ms: u64,
    /// Who may share the cached result.
    pub scope: CacheScope,
}

/// Who may share a cached result (R26-CACHE-08, R26-CACHE-09).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheScope {
    /// Only the authorization context that asked.
    #[default]
    Private,
    /// Anyone.
    Public,
}

impl CacheScope {
    /// The scope's name in the protocol.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Public => "public",
        }
    }
}

/// A tool, as it is declared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tool {
    /// The name that calls use.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: Option<String>,
    /// JSON Schema of the arguments: an object.
    pub input_schema: Json,
    /// JSON Schema of the structured result.
    pub output_schema: Option<Json>,
    /// What the tool promises about its behaviour.
    pub hints: ToolHints,
    /// Pictures for the client's display.
    pub icons: Vec<Icon>,
    /// The declaration's `_meta`.
    pub meta: Option<Json>,
    /// The oldest protocol version whose clients see and may call it.
    pub min_revision: Option<Cow<'static, str>>,
    /// It sends messages before its result, so its reply is a stream from the start.
    pub streaming: bool,
    /// It may ask its client for input in its arguments, where the revision has no other way.
    pub asks: bool,
    /// The scopes that a caller needs, where callers are asked who they are.
    pub scopes: Vec<String>,
    /// The parameters that clients mirror into headers (R26-HDR-08).
    pub mirrored: Vec<MirroredParam>,
}

impl Tool {
    /// A tool of that name and input schema; everything else is unset.
    pub fn new(name: impl Into<String>, input_schema: Json) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema,
            output_schema: None,
            hints: ToolHints::default(),
            icons: Vec::new(),
            meta: None,
            min_revision: None,
            streaming: false,
            asks: false,
            scopes: Vec::new(),
            mirrored: Vec::new(),
        }
    }
}

/// What a tool says about its behaviour (R2503-TOOL: annotations). Unset means nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolHints {
    /// A name for people, from before tools had titles.
    pub title: Option<String>,
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// Calling it again with the same arguments changes nothing more.
    pub idempotent: Option<bool>,
    /// It reaches things outside the server's own world.
    pub open_world: Option<bool>,
}

/// A resource at a fixed URI, as it is declared, or as content [links](super::Content::Link) to it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Resource {
    /// Where it is; compared byte for byte.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its media type.
    pub mime_type: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
    /// Hints for the client.
    pub annotations: Option<Annotations>,
    /// Pictures for the client's display.
    pub icons: Vec<Icon>,
    /// The `_meta` of the declaration, or of the link.
    pub meta: Option<Json>,
    /// The scopes that a caller needs, where callers are asked who they are.
    pub scopes: Vec<String>,
}

impl Resource {
    /// A resource at `uri`; everything else is unset.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            annotations: None,
            icons: Vec::new(),
            meta: None,
            scopes: Vec::new(),
        }
    }
}

/// A family of resources, addressed by a URI template, as it is declared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// RFC 6570 template of the URIs.
    pub uri_template: UriTemplate,
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What the resources are.
    pub description: Option<String>,
    /// Their media type, where all have the same.
    pub mime_type: Option<String>,
    /// Hints for the client.
    pub annotations: Option<Annotations>,
    /// Pictures for the client's display.
    pub icons: Vec<Icon>,
    /// The declaration's `_meta`.
    pub meta: Option<Json>,
    /// The scopes that a caller needs, where callers are asked who they are.
    pub scopes: Vec<String>,
}

impl ResourceTemplate {
    /// A template; everything else is unset.
    pub fn new(uri_template: UriTemplate, name: impl Into<String>) -> Self {
        Self {
            uri_template,
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            annotations: None,
            icons: Vec::new(),
            meta: None,
            scopes: Vec::new(),
        }
    }
}

/// A prompt, as it is declared.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prompt {
    /// The name that clients get it by.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The arguments it takes.
    pub arguments: Vec<PromptArgument>,
    /// Pictures for the client's display.
    pub icons: Vec<Icon>,
    /// The declaration's `_meta`.
    pub meta: Option<Json>,
    /// The scopes that a caller needs, where callers are asked who they are.
    pub scopes: Vec<String>,
}

impl Prompt {
    /// A prompt without arguments; everything else is unset.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            arguments: Vec::new(),
            icons: Vec::new(),
            meta: None,
            scopes: Vec::new(),
        }
    }
}

/// An argument of a prompt. Its values are strings (T-62).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The argument's name.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The prompt cannot be had without it.
    pub required: bool,
}

impl PromptArgument {
    /// An optional argument.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: None, required: false }
    }
}
