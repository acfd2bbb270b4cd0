//! Everything that a server declares, as plain data.

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
    templates: Vec<ResourceTemplate>,
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

/// Where a resource's URI leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Located<'a> {
    /// A resource declared at just that URI.
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
        insert(&mut self.resources, resource, |resource| &resource.uri)
    }

    /// Declares a resource template; one with the same text is replaced and returned.
    pub fn insert_template(&mut self, template: ResourceTemplate) -> Option<ResourceTemplate> {
        insert(&mut self.templates, template, |template| template.uri_template.as_str())
    }

    /// Declares a prompt; one of the same name is replaced and returned.
    pub fn insert_prompt(&mut self, prompt: Prompt) -> Option<Prompt> {
        insert(&mut self.prompts, prompt, |prompt| &prompt.name)
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

    /// Where `uri` leads: a declared resource first, then the first template that it fits.
    pub fn locate(&self, uri: &str) -> Option<Located<'_>> {
        if let Some(resource) = find(&self.resources, uri, |resource| &resource.uri) {
            return Some(Located::Resource(&resource.uri));
        }
        self.templates.iter().find_map(|declared| {
            let values = declared.uri_template.matches(uri)?;
            Some(Located::Template { template: declared.uri_template.as_str(), values })
        })
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
