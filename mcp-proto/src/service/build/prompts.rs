//! The checks of prompts and completers.

use super::Builder;
use crate::model::Prompt;
use crate::service::declare::Erased;
use crate::service::service::PromptEntry;
use crate::service::{Threading, schema};

impl<M: Threading> Builder<M> {
    pub(super) fn prompt(&mut self, mut prompt: Prompt, handler: Erased<M>) {
        let whose = format!("the prompt `{}`", prompt.name);
        self.name(&whose, &prompt.name);
        let mut required = Vec::new();
        let said = core::mem::take(&mut prompt.arguments);
        let typed = handler.needs.arguments;
        if let Some(typed) = typed {
            match schema::object_root((typed.schema)().to_value()) {
                Ok(schema) => {
                    if let Some(name) = schema::no_word(&schema) {
                        self.problem(format!(
                            "the argument `{name}` of {whose} is no single value, and prompts \
                             have strings only: take a `String` and read it in the handler"
                        ));
                    }
                    prompt.arguments = schema::prompt_arguments(&schema);
                }
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
        self.meta(&whose, prompt.meta.as_ref());
        let entry = self.entry(&whose, handler);
        self.inner.prompts.insert(prompt.name.clone(), PromptEntry { entry, required });
        if self.catalog.insert_prompt(prompt).is_some() {
            self.problem(format!("{whose} is declared twice: give one another name"));
        }
    }

    pub(super) fn completer(&mut self, handler: Erased<M>) {
        if handler.needs.arguments.is_some() || handler.needs.raw_arguments {
            self.problem("the completer takes `Args`: all that it gets is `Completing`".into());
        }
        if !handler.needs.completing {
            self.problem("the completer does not take `Completing`: add it as an argument".into());
        }
        let entry = self.entry("the completer", handler);
        if self.inner.completer.replace(entry).is_some() {
            self.problem("there are two completers: answer for all arguments in one".into());
        }
    }
}
