//! The checks of resources and templates.

use super::Builder;
use crate::frame::uri_template::UriTemplate;
use crate::model::{Annotations, Json, Resource, ResourceTemplate, Text};
use crate::service::declare::{About, Erased};
use crate::service::service::ResourceEntry;
use crate::service::{Needs, Threading, schema};

impl<M: Threading> Builder<M> {
    pub(super) fn resource(&mut self, uri: String, about: About, handler: Erased<M>) {
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
        resource.scopes = about.scopes;
        if !about.slashes.is_empty() {
            self.problem(format!("{whose} has no variables: remove `.encoded_slashes`"));
        }
        self.about(&whose, resource.annotations.as_ref(), resource.meta.as_ref());
        self.variables(&whose, &[], &handler.needs);
        self.readable(&whose, uri, resource.mime_type.clone(), handler);
        if self.catalog.insert_resource(resource).is_some() {
            self.problem(format!("{whose} is declared twice: give one another URI"));
        }
    }

    pub(super) fn template(&mut self, text: String, about: About, handler: Erased<M>) {
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
        if let Some(unknown) =
            about.slashes.iter().find(|name| !template.variables().any(|own| own == **name))
        {
            self.problem(format!(
                "{whose} has no variable `{unknown}`: name one of its own in `.encoded_slashes`"
            ));
        }
        let template = template.with_encoded_slashes(about.slashes);
        let name = about.name.unwrap_or_else(|| text.clone());
        let mut declared = ResourceTemplate::new(template, name);
        declared.title = about.title;
        declared.description = about.description;
        declared.mime_type = about.mime_type.or(handler.returns.mime_type.map(str::to_owned));
        declared.annotations = about.annotations;
        declared.icons = about.icons;
        declared.meta = about.meta;
        declared.scopes = about.scopes;
        self.about(&whose, declared.annotations.as_ref(), declared.meta.as_ref());
        let variables: Vec<_> = declared.uri_template.variables().collect();
        self.variables(&whose, &variables, &handler.needs);
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

    /// What a handler reads from the URI must be in the URI.
    fn variables(&mut self, whose: &str, variables: &[&str], needs: &Needs) {
        let Some(typed) = needs.arguments else { return };
        let Ok(schema) = schema::object_root((typed.schema)().to_value()) else {
            return self.problem(format!(
                "the variables of {whose} are named, and `{}` is not: make it a struct with named \
                 fields",
                typed.type_name
            ));
        };
        for argument in schema::prompt_arguments(&schema) {
            if argument.required && !variables.contains(&argument.name.as_str()) {
                self.problem(format!(
                    "{whose} has no variable `{}`, which `{}` needs: add it to the URI, or make \
                     the field optional",
                    argument.name, typed.type_name
                ));
            }
        }
    }

    fn about(&mut self, whose: &str, annotations: Option<&Annotations>, meta: Option<&Json>) {
        self.meta(whose, meta);
        let priority = annotations.and_then(|annotations| annotations.priority);
        if priority.is_some_and(|priority| !(0.0..=1.0).contains(&priority)) {
            self.problem(format!("the priority of {whose} is not between 0 and 1: put it there"));
        }
    }
}

/// Whether a URI is absolute (R24-RSRC-13).
fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        let rest = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(rest)
    })
}
