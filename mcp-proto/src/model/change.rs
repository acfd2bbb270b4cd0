//! What changed in a server, and who wants to know.

use bytes::Bytes;

use super::Catalog;
use super::uri::is_same;
use crate::frame::json;
use crate::frame::uri_template::UriTemplate;
use crate::frame::writer::Object;

/// Something that changed, for clients that listen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The lists of resources and templates.
    Resources,
    /// The resource at this URI.
    Updated(String),
}

impl Change {
    /// The change as a hub's message.
    pub fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(64);
        let mut object = Object::begin(&mut out);
        object.string("changed", self.kind());
        if let Self::Updated(uri) = self {
            object.string("uri", uri);
        }
        object.end();
        out.into()
    }

    /// The change that a hub's message tells of; `None` where it tells of none.
    pub fn decode(message: &[u8]) -> Option<Self> {
        json::scan(message, &json::ScanLimits::default()).ok()?;
        let members = json::members(message);
        let text = |name| json::string(members.get(message, name)?.of(message));
        Some(match &*text("changed")? {
            "tools" => Self::Tools,
            "prompts" => Self::Prompts,
            "resources" => Self::Resources,
            "resource" => Self::Updated(text("uri")?.into_owned()),
            _ => return None,
        })
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Updated(_) => "resource",
        }
    }
}

/// Which changes a client wants to know of (R26-SUBS-02).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Changes of the list of tools.
    pub tools: bool,
    /// Changes of the list of prompts.
    pub prompts: bool,
    /// Changes of the lists of resources and templates.
    pub resources: bool,
    /// Changes of these resources. The text of a template stands for every URI that fits it.
    pub uris: Vec<String>,
}

impl Filter {
    /// How many URIs one client may listen to.
    pub const MOST_URIS: usize = 1_000;

    /// Every list, and no resource.
    pub fn lists() -> Self {
        Self { tools: true, prompts: true, resources: true, uris: Vec::new() }
    }

    /// Whether the client wants to know of `change`.
    pub fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.tools,
            Change::Prompts => self.prompts,
            Change::Resources => self.resources,
            Change::Updated(uri) => self.uris.iter().any(|own| is_same(own, uri) || fits(own, uri)),
        }
    }

    /// What of this a server with that catalog can tell (R26-SUBS-04): lists that it has, and
    /// resources that exist, by their own URI or through a template.
    #[must_use]
    pub fn accepted(mut self, catalog: &Catalog) -> Self {
        let changes = catalog.features.list_changed;
        self.tools &= changes && !catalog.tools().is_empty();
        self.prompts &= changes && !catalog.prompts().is_empty();
        let has_resources = !catalog.resources().is_empty() || !catalog.templates().is_empty();
        self.resources &= changes && has_resources;
        self.uris.retain(|uri| catalog.features.subscribe && catalog.has(uri));
        self.uris.truncate(Self::MOST_URIS);
        self
    }

    /// As many of its URIs as hold no more than `bytes` together; the others are left out.
    #[must_use]
    pub fn within(mut self, mut bytes: usize) -> Self {
        self.uris.retain(|uri| match bytes.checked_sub(uri.len()) {
            Some(left) => {
                bytes = left;
                true
            }
            None => false,
        });
        self
    }
}

fn fits(template: &str, uri: &str) -> bool {
    template.contains('{')
        && UriTemplate::parse(template).is_ok_and(|template| template.matches(uri).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_read_back_and_other_messages_are_none() {
        let updated = Change::Updated("a\"b".into());
        for change in [Change::Tools, Change::Prompts, Change::Resources, updated] {
            assert_eq!(Change::decode(&change.encode()), Some(change));
        }
        for other in ["", "[]", "{}", r#"{"changed":"moon"}"#, r#"{"changed":"resource"}"#] {
            assert_eq!(Change::decode(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_resource_is_wanted_by_its_uri_or_through_a_template() {
        let filter =
            Filter { uris: vec!["a://b".into(), "t://{id}/x".into()], ..Filter::default() };
        for (uri, wanted) in
            [("a://b", true), ("t://1/x", true), ("a://b/c", false), ("t://1", false)]
        {
            assert_eq!(filter.wants(&Change::Updated(uri.into())), wanted, "{uri}");
        }
        assert!(!filter.wants(&Change::Tools) && Filter::lists().wants(&Change::Tools));
    }
}
