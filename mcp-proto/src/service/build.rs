//! From declarations to a service: every check, and what each says when it fails.

use core::fmt;
use std::collections::HashMap;
use std::sync::Arc;

use super::declare::{About, Erased, Validation, Validator};
use super::service::{Entry, Inner, PromptEntry, ResourceEntry, ToolEntry};
use super::{Needs, Registry, Service, Threading, schema};
use crate::frame::uri_template::UriTemplate;
use crate::model::mirror::mirrored_params;
use crate::model::{Catalog, Features, Json, Prompt, Resource, ResourceTemplate, Text, Tool};
use crate::revision::AdapterSet;

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

/// What was declared, not checked yet.
pub(crate) struct Drafts<M: Threading> {
    tools: Vec<(Tool, Option<Json>, Validation, Erased<M>)>,
    prompts: Vec<(Prompt, Erased<M>)>,
    resources: Vec<(String, About, Erased<M>)>,
    templates: Vec<(String, About, Erased<M>)>,
    completers: Vec<Erased<M>>,
}

impl<M: Threading> Default for Drafts<M> {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            completers: Vec::new(),
        }
    }
}

impl<M: Threading> Drafts<M> {
    pub(crate) fn tool(
        &mut self,
        tool: Tool,
        input: Option<Json>,
        validation: Validation,
        handler: Erased<M>,
    ) {
        self.tools.push((tool, input, validation, handler));
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

    pub(crate) fn completer(&mut self, handler: Erased<M>) {
        self.completers.push(handler);
    }
}

pub(crate) fn build<M: Threading>(registry: Registry<M>) -> Result<Service<M>, BuildError> {
    let mut catalog = Catalog::new(registry.server);
    catalog.instructions = registry.instructions;
    catalog.page_size = registry.page_size;
    catalog.cache = registry.cache;
    let mut builder = Builder {
        inner: Inner {
            catalog: Arc::default(),
            tools: HashMap::new(),
            resources: HashMap::new(),
            prompts: HashMap::new(),
            completer: None,
            states: registry.states,
            providers: registry.providers,
            observer: registry.observer,
            http_only: None,
            warnings: Vec::new(),
        },
        catalog,
        exchange: false,
        problems: Vec::new(),
    };
    for twice in registry.twice {
        builder.problem(format!("{twice}: remove one, or wrap one in a type of its own"));
    }
    let Drafts { tools, prompts, resources, templates, completers } = registry.drafts;
    for (tool, input, validation, handler) in tools {
        builder.tool(tool, input, validation, handler);
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
    builder.finish(registry.logging)
}

struct Builder<M: Threading> {
    inner: Inner<M>,
    catalog: Catalog,
    /// A handler takes the exchange, so it may log.
    exchange: bool,
    problems: Vec<String>,
}

impl<M: Threading> Builder<M> {
    fn problem(&mut self, text: String) {
        self.problems.push(text);
    }

    fn tool(
        &mut self,
        mut tool: Tool,
        input: Option<Json>,
        validation: Validation,
        handler: Erased<M>,
    ) {
        let whose = format!("the tool `{}`", tool.name);
        self.name(&whose, &tool.name);
        let typed = handler.needs.arguments;
        let declared = input.is_some();
        let schema = match (input, typed) {
            (Some(schema), _) => schema::parse(&schema).and_then(schema::object_root),
            (None, Some(typed)) => schema::object_root((typed.schema)().to_value()),
            (None, None) if handler.needs.raw_arguments => {
                self.problem(format!(
                    "{whose} takes `RawArgs` and has no input schema: add `.input_schema(..)`"
                ));
                return;
            }
            (None, None) => Ok(schema::nothing()),
        };
        match schema {
            Ok(schema) => tool.input_schema = schema,
            Err(found) => {
                let fix = match typed.filter(|_| !declared) {
                    Some(typed) => format!(
                        "make `{}` a struct with named fields, or a tagged enum of such",
                        typed.type_name
                    ),
                    None => "give a schema with `\"type\": \"object\"` at its root".into(),
                };
                self.problem(format!(
                    "the arguments of {whose} must be an object, and its input schema is {found}: \
                     {fix}"
                ));
                return;
            }
        }
        match mirrored_params(tool.input_schema.as_bytes()) {
            Ok(params) => tool.mirrored = params,
            Err(error) => self.problem(format!(
                "the input schema of {whose} cannot be used: {error}; correct the annotation or \
                 remove it"
            )),
        }
        match tool.output_schema.take() {
            Some(schema) => match schema.kind() {
                crate::frame::json::Kind::Object => tool.output_schema = Some(schema),
                _ => self.problem(format!(
                    "the output schema of {whose} is no object: give a JSON Schema, or none"
                )),
            },
            None => {
                tool.output_schema =
                    handler.returns.schema.and_then(|schema| schema::of_result(schema()));
            }
        }
        let checks_itself = !declared || typed.is_some();
        let validator = self.validator(&whose, &tool, validation, checks_itself);
        let entry = self.entry(&whose, handler);
        let (name, structured) = (tool.name.clone(), tool.output_schema.is_some());
        self.inner.tools.insert(name, ToolEntry { entry, validator, structured });
        if self.catalog.insert_tool(tool).is_some() {
            self.problem(format!("{whose} is declared twice: give one another name"));
        }
    }

    fn validator(
        &mut self,
        whose: &str,
        tool: &Tool,
        validation: Validation,
        checks_itself: bool,
    ) -> Option<Validator> {
        match validation {
            Validation::By(validator) => Some(validator),
            Validation::Unchecked => None,
            Validation::Unset if checks_itself => None,
            Validation::Unset => match schema::validator(&tool.input_schema) {
                Ok(validator) => Some(validator),
                Err(why) => {
                    self.problem(format!("nothing checks the arguments of {whose}: {why}"));
                    None
                }
            },
        }
    }

    fn prompt(&mut self, mut prompt: Prompt, handler: Erased<M>) {
        let whose = format!("the prompt `{}`", prompt.name);
        self.name(&whose, &prompt.name);
        let mut required = Vec::new();
        let said = core::mem::take(&mut prompt.arguments);
        let typed = handler.needs.arguments;
        if let Some(typed) = typed {
            match schema::object_root((typed.schema)().to_value()) {
                Ok(schema) => prompt.arguments = schema::prompt_arguments(&schema),
                Err(found) => self.problem(format!(
                    "the arguments of {whose} must be named, and `{}` is {found}: make it a \
                     struct with named fields",
                    typed.type_name
                )),
            }
        }
        for argument in said {
            self.name(&format!("an argument of {whose}"), &argument.name);
            let known = prompt.arguments.iter_mut().find(|known| known.name == argument.name);
            match known {
                Some(known) if typed.is_some() => {
                    known.title = argument.title.or_else(|| known.title.take());
                    known.description = argument.description.or_else(|| known.description.take());
                }
                Some(_) => self.problem(format!(
                    "{whose} declares the argument `{}` twice: remove one",
                    argument.name
                )),
                None => {
                    required.extend(argument.required.then(|| argument.name.clone()));
                    prompt.arguments.push(argument);
                }
            }
        }
        let entry = self.entry(&whose, handler);
        self.inner.prompts.insert(prompt.name.clone(), PromptEntry { entry, required });
        if self.catalog.insert_prompt(prompt).is_some() {
            self.problem(format!("{whose} is declared twice: give one another name"));
        }
    }

    fn resource(&mut self, uri: String, about: About, handler: Erased<M>) {
        let whose = format!("the resource `{uri}`");
        self.name(&whose, &uri);
        if !uri.is_empty() && !has_scheme(&uri) {
            self.problem(format!(
                "{whose} has no scheme: give an absolute URI, like `app://{uri}`"
            ));
        }
        let mut resource = Resource::new(uri.as_str(), about.name.unwrap_or_else(|| uri.clone()));
        resource.title = about.title;
        resource.description = about.description;
        resource.mime_type = about.mime_type.or(handler.returns.mime_type.map(str::to_owned));
        resource.size = about.size;
        resource.annotations = about.annotations;
        resource.icons = about.icons;
        resource.meta = about.meta;
        self.readable(&whose, uri, resource.mime_type.clone(), handler);
        if self.catalog.insert_resource(resource).is_some() {
            self.problem(format!("{whose} is declared twice: give one another URI"));
        }
    }

    fn template(&mut self, text: String, about: About, handler: Erased<M>) {
        let whose = format!("the resource template `{text}`");
        let template = UriTemplate::parse(&text).and_then(|template| {
            template.check_matchable()?;
            Ok(template)
        });
        let template = match template {
            Ok(template) => template,
            Err(error) => {
                return self.problem(format!("{whose} cannot be used: {error}; correct it there"));
            }
        };
        if about.size.is_some() {
            self.problem(format!("{whose} has a size, which only a resource has: remove `.size`"));
        }
        let name = about.name.unwrap_or_else(|| text.clone());
        let mut declared = ResourceTemplate::new(template, name);
        declared.title = about.title;
        declared.description = about.description;
        declared.mime_type = about.mime_type.or(handler.returns.mime_type.map(str::to_owned));
        declared.annotations = about.annotations;
        declared.icons = about.icons;
        declared.meta = about.meta;
        self.readable(&whose, text, declared.mime_type.clone(), handler);
        if self.catalog.insert_template(declared).is_some() {
            self.problem(format!("{whose} is declared twice: remove one"));
        }
    }

    fn readable(
        &mut self,
        whose: &str,
        key: String,
        mime_type: Option<String>,
        handler: Erased<M>,
    ) {
        if handler.needs.raw_arguments {
            self.problem(format!(
                "{whose} takes `RawArgs`, and reading has no arguments: take `Variables` or `Uri`"
            ));
        }
        let entry = self.entry(whose, handler);
        let mime_type = mime_type.map(Text::from);
        self.inner.resources.insert(key, ResourceEntry { entry, mime_type });
    }

    fn completer(&mut self, handler: Erased<M>) {
        if !handler.needs.completing {
            self.problem("the completer does not take `Completing`: add it as an argument".into());
        }
        let entry = self.entry("the completer", handler);
        if self.inner.completer.replace(entry).is_some() {
            self.problem("there are two completers: answer for all arguments in one".into());
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
        let Needs { states, provided, http_only, exchange, parts, .. } = handler.needs;
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
        self.exchange |= exchange;
        Entry { run: handler.run, parts, exchange }
    }

    fn finish(mut self, logging: Option<bool>) -> Result<Service<M>, BuildError> {
        if !self.problems.is_empty() {
            return Err(BuildError { problems: self.problems });
        }
        self.catalog.features = Features {
            completions: self.inner.completer.is_some(),
            logging: logging.unwrap_or(self.exchange),
            ..Features::default()
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

/// Whether a URI is absolute (R24-RSRC-13).
fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        let rest = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(rest)
    })
}

#[cfg(test)]
mod tests;
