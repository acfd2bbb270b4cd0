//! The checks of tools.

use super::Builder;
use crate::frame::json::Kind;
use crate::model::mirror::mirrored_params;
use crate::model::{InArguments, Json, Tool};
use crate::service::declare::{Erased, Validation, Validator};
use crate::service::service::ToolEntry;
use crate::service::{SchemaStyle, Threading, schema};

impl<M: Threading> Builder<M> {
    pub(super) fn tool(
        &mut self,
        mut tool: Tool,
        (input, style): (Option<Json>, Option<SchemaStyle>),
        validation: Validation,
        handler: Erased<M>,
    ) {
        let whose = format!("the tool `{}`", tool.name);
        self.name(&whose, &tool.name);
        let typed = handler.needs.arguments;
        let style = style.unwrap_or(self.style);
        let declared = input.is_some();
        let schema = match (input, typed) {
            (Some(schema), _) => schema::parse(&schema).and_then(schema::object_root),
            (None, Some(typed)) => schema::object_root(style.apply((typed.schema)().to_value())),
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
        if tool.asks && InArguments::collides(&tool.input_schema) {
            self.problem(format!(
                "{whose} asks, and has an argument `input_responses` or `request_state` of its \
                 own: rename it, since answers come in arguments of these names"
            ));
        }
        for (which, schema) in
            [("input", Some(&tool.input_schema)), ("output", tool.output_schema.as_ref())]
        {
            if let Some(why) = schema.and_then(schema::fault) {
                self.problem(format!("the {which} schema of {whose} is invalid: {why}"));
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
                Kind::Object => tool.output_schema = Some(schema),
                _ => self.problem(format!(
                    "the output schema of {whose} is no object: give a JSON Schema, or none"
                )),
            },
            None => {
                tool.output_schema =
                    handler.returns.schema.and_then(|schema| schema::of_result(schema(), style));
            }
        }
        self.meta(&whose, tool.meta.as_ref());
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
}
