//! From declarations to a service: every check, and what each says when it fails.

mod methods;
mod prompts;
mod resources;
mod tools;

use core::fmt;
use std::collections::HashMap;
use std::sync::Arc;

use super::declare::{About, Erased, Validation};
use super::service::{Entry, Inner};
use super::{Needs, Registry, SchemaStyle, Service, Threading};
use crate::Printable;
use crate::model::{Catalog, Features, Json, Prompt, Tool, View};
use crate::revision::{AdapterSet, MetaKey};

/// What is wrong with the declarations of a registry: all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    problems: Vec<String>,
}

impl BuildError {
    /// One text for each problem, which says what to do about it.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

impl core::error::Error for BuildError {}

/// A tool's own input schema, and the style of those that are derived.
type Schemas = (Option<Json>, Option<SchemaStyle>);

/// What was declared, not checked yet.
pub(crate) struct Drafts<M: Threading> {
    tools: Vec<(Tool, Schemas, Validation, Erased<M>)>,
    prompts: Vec<(Prompt, Erased<M>)>,
    resources: Vec<(String, About, Erased<M>)>,
    templates: Vec<(String, About, Erased<M>)>,
    completers: Vec<Erased<M>>,
    extensions: Vec<(String, Json)>,
    methods: Vec<(String, Erased<M>)>,
}

impl<M: Threading> Default for Drafts<M> {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            completers: Vec::new(),
            extensions: Vec::new(),
            methods: Vec::new(),
        }
    }
}

impl<M: Threading> Drafts<M> {
    pub(crate) fn tool(
        &mut self,
        tool: Tool,
        schemas: Schemas,
        validation: Validation,
        handler: Erased<M>,
    ) {
        self.tools.push((tool, schemas, validation, handler));
    }

    pub(crate) fn prompt(&mut self, prompt: Prompt, handler: Erased<M>) {
        self.prompts.push((prompt, handler));
    }

    pub(crate) fn resource(&mut self, uri: String, about: About, handler: Erased<M>) {
        self.resources.push((uri, about, handler));
    }

    pub(crate) fn template(&mut self, template: String, about: About, handler: Erased<M>) {
        self.templates.push((template, about, handler));
    }

    pub(crate) fn extension(&mut self, name: String, settings: Json) {
        self.extensions.push((name, settings));
    }

    pub(crate) fn method(&mut self, name: String, handler: Erased<M>) {
        self.methods.push((name, handler));
    }

    pub(crate) fn completer(&mut self, handler: Erased<M>) {
        self.completers.push(handler);
    }
}

pub(crate) fn build<M: Threading>(registry: Registry<M>) -> Result<Service<M>, BuildError> {
    let features = Wanted {
        logging: registry.logging,
        list_changed: registry.list_changed,
        subscribe: registry.subscribe,
    };
    let mut catalog = Catalog::new(registry.server);
    catalog.instructions = registry.instructions;
    catalog.page_size = registry.page_size;
    catalog.cache = registry.cache;
    catalog.features.strict_prompt_arguments = registry.strict_prompt_arguments;
    let mut builder = Builder {
        inner: Inner {
            catalog: Arc::default(),
            tools: HashMap::new(),
            resources: HashMap::new(),
            prompts: HashMap::new(),
            completer: None,
            methods: HashMap::new(),
            states: registry.states,
            providers: registry.providers,
            observer: registry.observer,
            http_only: None,
            guarded_only: None,
            warnings: Vec::new(),
        },
        catalog,
        style: registry.schema,
        exchange: false,
        problems: Vec::new(),
    };
    if builder.catalog.server.name.is_empty() {
        builder.problem("the server has an empty name: give it one".into());
    }
    for twice in registry.twice {
        builder.problem(format!("{twice}: remove one, or wrap one in a type of its own"));
    }
    let drafts = registry.drafts;
    let Drafts { tools, prompts, resources, templates, completers, extensions, methods } = drafts;
    for (tool, schemas, validation, handler) in tools {
        builder.tool(tool, schemas, validation, handler);
    }
    for (prompt, handler) in prompts {
        builder.prompt(prompt, handler);
    }
    for (uri, about, handler) in resources {
        builder.resource(uri, about, handler);
    }
    for (template, about, handler) in templates {
        builder.template(template, about, handler);
    }
    for handler in completers {
        builder.completer(handler);
    }
    for (name, settings) in extensions {
        builder.extension(name, settings);
    }
    for (name, handler) in methods {
        builder.method(name, handler);
    }
    for (one, other) in builder.catalog.spelt_twice() {
        builder.inner.warnings.push(format!(
            "the resources `{one}` and `{other}` are spellings of one URI: each is found by its \
             own, and only one by any other; declare one"
        ));
    }
    builder.finish(features)
}

/// What the registry was told of the server's features.
struct Wanted {
    logging: Option<bool>,
    list_changed: bool,
    subscribe: bool,
}

struct Builder<M: Threading> {
    inner: Inner<M>,
    catalog: Catalog,
    /// How derived schemas are written, unless a tool says otherwise.
    style: SchemaStyle,
    /// A handler takes the exchange, so it may log.
    exchange: bool,
    problems: Vec<String>,
}

impl<M: Threading> Builder<M> {
    fn problem(&mut self, text: String) {
        self.problems.push(text);
    }

    fn meta(&mut self, whose: &str, meta: Option<&Json>) {
        let Some(meta) = meta else { return };
        let Some(members) = View::of(meta.as_bytes()) else {
            return self.problem(format!("the `_meta` of {whose} is no object: make it one"));
        };
        for (key, _) in members.iter() {
            match MetaKey::of(&key) {
                MetaKey::Free => {}
                MetaKey::Reserved => self.inner.warnings.push(format!(
                    "the key `{key}` in the `_meta` of {whose} is reserved for the protocol: \
                     unless a specification defines it, put a domain of your own before the slash"
                )),
                MetaKey::Written => self.problem(format!(
                    "the key `{key}` in the `_meta` of {whose} is one that the library writes: \
                     remove it"
                )),
                MetaKey::Malformed => self.problem(format!(
                    "the key `{}` in the `_meta` of {whose} is malformed: a key is a name of \
                     letters, digits, `-`, `_` and `.`, after a domain and a slash if need be",
                    Printable(&key)
                )),
            }
        }
    }

    /// Names are refused only for what could not be told apart or shown (C94, R26-TOOL-15).
    fn name(&mut self, whose: &str, name: &str) {
        if name.is_empty() {
            self.problem(format!("{whose} has an empty name: give it one"));
        } else if name.chars().any(char::is_control) {
            let shown = name.escape_debug();
            self.problem(format!("{whose} has a control character in `{shown}`: remove it"));
        }
    }

    fn entry(&mut self, whose: &str, handler: Erased<M>) -> Entry<M> {
        let Needs { states, provided, http_only, principal, exchange, parts, .. } = handler.needs;
        for (id, name) in states {
            if !self.inner.states.contains_key(&id) {
                self.problem(format!(
                    "{whose} takes `State<{name}>`, and the registry has no such state: add \
                     `.state(..)` with a value of that type"
                ));
            }
        }
        for (id, name) in provided {
            if !self.inner.providers.contains_key(&id) {
                self.problem(format!(
                    "{whose} takes `Provided<{name}>`, and nothing provides it: add \
                     `.provide::<{name}>(..)` or `.provide_instance(..)`"
                ));
            }
        }
        if let (Some(argument), None) = (http_only, &self.inner.http_only) {
            self.inner.http_only = Some(format!(
                "{whose} takes `{argument}`, which only an HTTP request has: serve it over HTTP, \
                 or take `Option<{argument}>`"
            ));
        }
        if principal && self.inner.guarded_only.is_none() {
            self.inner.guarded_only = Some(format!(
                "{whose} takes `Principal`, and nobody says who calls: give the server a guard \
                 with `.auth(..)`, or take `Option<Principal>`"
            ));
        }
        self.exchange |= exchange;
        Entry { run: handler.run, parts, exchange }
    }

    fn finish(mut self, features: Wanted) -> Result<Service<M>, BuildError> {
        if !self.problems.is_empty() {
            return Err(BuildError { problems: self.problems });
        }
        self.catalog.features = Features {
            completions: self.inner.completer.is_some(),
            logging: features.logging.unwrap_or(self.exchange),
            list_changed: features.list_changed,
            subscribe: features.subscribe,
            ..self.catalog.features
        };
        let revisions = AdapterSet::default();
        for tool in self.catalog.tools() {
            if let Some(oldest) = tool.min_revision.as_deref()
                && revisions.by_version(oldest).is_none()
            {
                let known: Vec<_> = revisions.versions().collect();
                self.inner.warnings.push(format!(
                    "the tool `{}` wants at least the revision `{oldest}`, which is none of {}",
                    tool.name,
                    known.join(", ")
                ));
            }
            if !is_portable(&tool.name) {
                self.inner.warnings.push(format!(
                    "some clients refuse the tool name `{}`: portable names have 1 to 128 of \
                     `A-Z a-z 0-9 _ - .`",
                    tool.name
                ));
            }
        }
        self.inner.catalog = Arc::new(self.catalog);
        Ok(Service::new(self.inner))
    }
}

/// R26-TOOL-15.
fn is_portable(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    name.len() <= 128 && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests;
