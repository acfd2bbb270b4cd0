//! Everything that a server declares, as plain data.

use crate::frame::uri_template::UriTemplate;
use std::borrow::Cow;

use super::uri::normal_uri;
use super::{CacheHint, Implementation, Json, Prompt, Resource, ResourceTemplate, Tool};

/// What a server declares. Machines read it; it is replaced whole when a declaration changes.
///
/// Lists are sorted by name (or URI) and hold each name once; [`insert_tool`](Self::insert_tool)
/// and its like keep it so.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Catalog {
    /// The server's name and version.
    pub server: Implementation,
    /// How to use the server, for the model.
    pub instructions: Option<String>,
    /// What the server can do beyond its lists.
    pub features: Features,
    /// How many entries a page of a list holds; 0 means all of them.
    pub page_size: usize,
    /// How long lists and the server's description may be cached.
    pub cache: CacheHint,
    tools: Vec<Tool>,
    resources: Vec<Resource>,
    /// Resources whose URIs are not in their normal form, by that form.
    spellings: Vec<Spelling>,
    templates: Vec<ResourceTemplate>,
    /// Templates whose literals are not, with those that are.
    normal_templates: Vec<(String, UriTemplate)>,
    prompts: Vec<Prompt>,
}

/// What a server can do beyond its lists. Capabilities follow from these and from the lists: an
/// empty catalog declares none.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Features {
    /// It completes arguments.
    pub completions: bool,
    /// Its handlers log to the client.
    pub logging: bool,
    /// It tells when its lists change.
    pub list_changed: bool,
    /// It tells when resources change that clients subscribed to.
    pub subscribe: bool,
    /// Arguments of prompts are refused unless they are strings (R24-PRMT-03). Without it numbers
    /// and booleans are taken as their text, since clients send them; what a completion is told is
    /// always taken so.
    pub strict_prompt_arguments: bool,
    /// Extensions and their settings, by identifier (R26-EXT-01).
    pub extensions: Vec<(String, Json)>,
    /// The methods of extensions that the application answers.
    pub methods: Vec<String>,
}

/// The normal form of a URI that is declared otherwise.
#[derive(Clone, Debug)]
struct Spelling {
    normal: String,
    declared: String,
}

/// Where a resource's URI leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Located<'a> {
    /// A resource declared at that URI, or at another spelling of it.
    Resource(&'a str),
    /// A template that the URI fits, with the values of its variables.
    Template {
        /// The template's text.
        template: &'a str,
        /// Variables and their decoded values, in the template's order.
        values: Vec<(&'a str, String)>,
    },
}

impl Catalog {
    /// A catalog that declares nothing but who the server is.
    pub fn new(server: Implementation) -> Self {
        Self { server, ..Self::default() }
    }

    /// Declares a tool; one of the same name is replaced and returned.
    pub fn insert_tool(&mut self, tool: Tool) -> Option<Tool> {
        insert(&mut self.tools, tool, |tool| &tool.name)
    }

    /// Declares a resource; one at the same URI is replaced and returned.
    pub fn insert_resource(&mut self, resource: Resource) -> Option<Resource> {
        if let Cow::Owned(normal) = normal_uri(&resource.uri)
            && !self.spellings.iter().any(|it| it.declared == resource.uri)
        {
            let declared = resource.uri.clone();
            let at = self.spellings.partition_point(|it| it.normal <= normal);
            self.spellings.insert(at, Spelling { normal, declared });
        }
        insert(&mut self.resources, resource, |resource| &resource.uri)
    }

    /// Declares a resource template; one with the same text is replaced and returned.
    pub fn insert_template(&mut self, template: ResourceTemplate) -> Option<ResourceTemplate> {
        let text = template.uri_template.as_str();
        if let Some(normal) = template.uri_template.normal()
            && !self.normal_templates.iter().any(|(declared, _)| declared == text)
        {
            self.normal_templates.push((text.to_owned(), normal));
        }
        insert(&mut self.templates, template, |template| template.uri_template.as_str())
    }

    /// Declares a prompt; one of the same name is replaced and returned.
    pub fn insert_prompt(&mut self, prompt: Prompt) -> Option<Prompt> {
        insert(&mut self.prompts, prompt, |prompt| &prompt.name)
    }

    /// Only what has such scopes.
    pub(super) fn retain(&mut self, keep: impl Fn(&[String]) -> bool) {
        self.tools.retain(|tool| keep(&tool.scopes));
        self.prompts.retain(|prompt| keep(&prompt.scopes));
        self.resources.retain(|resource| keep(&resource.scopes));
        self.templates.retain(|template| keep(&template.scopes));
        let there = &self.resources;
        self.spellings.retain(|it| there.iter().any(|resource| resource.uri == it.declared));
        let there = &self.templates;
        self.normal_templates
            .retain(|(text, _)| there.iter().any(|it| it.uri_template.as_str() == text));
    }

    /// The tools, by name.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The resources, by URI.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// The resource templates, by text.
    pub fn templates(&self) -> &[ResourceTemplate] {
        &self.templates
    }

    /// The prompts, by name.
    pub fn prompts(&self) -> &[Prompt] {
        &self.prompts
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        find(&self.tools, name, |tool| &tool.name)
    }

    /// The prompt of that name.
    pub fn prompt(&self, name: &str) -> Option<&Prompt> {
        find(&self.prompts, name, |prompt| &prompt.name)
    }

    /// Whether `uri` is a resource here: declared, fitting a template, or a template's own text.
    pub fn has(&self, uri: &str) -> bool {
        find(&self.templates, uri, |declared| declared.uri_template.as_str()).is_some()
            || self.locate(uri).is_some()
    }

    /// Where `uri` leads: a declared resource first, then the first template that it fits. Where it
    /// leads nowhere as it is spelt, another spelling of it may: its normal form, compared with those
    /// of what is declared ([`normal_uri`]).
    pub fn locate(&self, uri: &str) -> Option<Located<'_>> {
        self.spelt(uri).or_else(|| self.spelt_otherwise(&normal_uri(uri)))
    }

    fn spelt(&self, uri: &str) -> Option<Located<'_>> {
        if let Some(resource) = find(&self.resources, uri, |resource| &resource.uri) {
            return Some(Located::Resource(&resource.uri));
        }
        self.templates.iter().find_map(|declared| {
            let values = declared.uri_template.matches(uri)?;
            Some(Located::Template { template: declared.uri_template.as_str(), values })
        })
    }

    fn spelt_otherwise(&self, normal: &str) -> Option<Located<'_>> {
        if let Some(resource) = find(&self.resources, normal, |resource| &resource.uri) {
            return Some(Located::Resource(&resource.uri));
        }
        let at = self.spellings.partition_point(|it| it.normal.as_str() < normal);
        if let Some(known) = self.spellings.get(at).filter(|it| it.normal == normal) {
            return Some(Located::Resource(&known.declared));
        }
        let own = self.templates.iter().map(|it| (it.uri_template.as_str(), &it.uri_template));
        let normal_ones = self.normal_templates.iter().map(|(text, it)| (text.as_str(), it));
        own.chain(normal_ones).find_map(|(template, matching)| {
            Some(Located::Template { template, values: matching.matches(normal)? })
        })
    }

    /// Pairs of resources whose URIs are spellings of one: each is found by its own spelling, and
    /// only one of them by any other.
    pub fn spelt_twice(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.spellings.windows(2).filter_map(|pair| match pair {
            [one, other] if one.normal == other.normal => {
                Some((one.declared.as_str(), other.declared.as_str()))
            }
            _ => None,
        });
        pairs.chain(self.spellings.iter().filter_map(|it| {
            let other = find(&self.resources, &it.normal, |resource| &resource.uri)?;
            Some((other.uri.as_str(), it.declared.as_str()))
        }))
    }
}

fn find<'a, T>(sorted: &'a [T], key: &str, by: impl Fn(&T) -> &str) -> Option<&'a T> {
    let index = sorted.binary_search_by(|item| by(item).cmp(key)).ok()?;
    sorted.get(index)
}

fn insert<T>(sorted: &mut Vec<T>, item: T, by: impl Fn(&T) -> &str) -> Option<T> {
    match sorted.binary_search_by(|other| by(other).cmp(by(&item))) {
        Ok(index) => Some(core::mem::replace(&mut sorted[index], item)),
        Err(index) => {
            sorted.insert(index, item);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(resources: &[&str], templates: &[&str]) -> Catalog {
        let mut catalog = Catalog::default();
        for uri in resources {
            catalog.insert_resource(Resource::new(*uri, "r"));
        }
        for text in templates {
            let template = UriTemplate::parse(text).expect("a template");
            catalog.insert_template(ResourceTemplate::new(template, "t"));
        }
        catalog
    }

    #[test]
    fn what_is_spelt_exactly_so_comes_first_and_other_spellings_lead_there_too() {
        let one = catalog(&["note://h\u{e9}", "http://h", "a://b%2fc"], &[]);
        for (asked, found) in [
            ("note://h\u{e9}", "note://h\u{e9}"),
            ("note://h%C3%A9", "note://h\u{e9}"),
            ("note://h%c3%a9", "note://h\u{e9}"),
            ("http://h/", "http://h"),
            ("HTTP://H", "http://h"),
            ("a://b%2Fc", "a://b%2fc"),
        ] {
            assert_eq!(one.locate(asked), Some(Located::Resource(found)), "{asked}");
        }
        for unknown in ["note://he", "http://h/x", "a://b/c", "note://h\u{e9}/"] {
            assert_eq!(one.locate(unknown), None, "{unknown}");
        }
        let both = catalog(&["note://%41", "note://A"], &[]);
        assert_eq!(both.locate("note://%41"), Some(Located::Resource("note://%41")));
        assert_eq!(both.locate("note://A"), Some(Located::Resource("note://A")));
        assert_eq!(both.spelt_twice().count(), 1);
        assert_eq!(catalog(&["a://\u{e9}", "a://%c3%a9", "a://e"], &[]).spelt_twice().count(), 1);
        assert_eq!(one.spelt_twice().count(), 0);
    }

    #[test]
    fn a_template_is_found_by_every_spelling_of_what_it_gives() {
        let text = "FILE:///docs/caf\u{e9}/{name}";
        let some = catalog(&[], &[text, "item://{id}"]);
        for asked in [
            "FILE:///docs/caf\u{e9}/a%20b",
            "file:///docs/caf%C3%A9/a%20b",
            "file:///docs/caf%c3%a9/a b",
        ] {
            let Some(Located::Template { template, values }) = some.locate(asked) else {
                panic!("{asked}")
            };
            assert_eq!((template, values), (text, vec![("name", "a b".to_owned())]), "{asked}");
        }
        let Some(Located::Template { values, .. }) = some.locate("ITEM://h%c3%a9") else {
            panic!("not found")
        };
        assert_eq!(values, [("id", "h\u{e9}".to_owned())]);
        // Nothing gets out by being spelt otherwise.
        for escape in ["item://%2e%2e", "item://..", "item://a/../b", "file:///docs/caf%c3%a9/.."] {
            assert_eq!(some.locate(escape), None, "{escape}");
        }
    }
}
