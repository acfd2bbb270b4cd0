//! The checks of extensions and their methods.

use super::Builder;
use crate::frame::json::Kind;
use crate::model::{Json, Operation};
use crate::revision::AdapterSet;
use crate::service::Threading;
use crate::service::declare::Erased;

impl<M: Threading> Builder<M> {
    pub(super) fn extension(&mut self, name: String, settings: Json) {
        let whose = format!("the extension `{name}`");
        self.name(&whose, &name);
        if settings.kind() != Kind::Object {
            self.problem(format!(
                "the settings of {whose} are no object: give one, `{{}}` at least"
            ));
        }
        let extensions = &mut self.catalog.features.extensions;
        if extensions.iter().any(|(own, _)| *own == name) {
            self.problem(format!("{whose} is declared twice: remove one"));
        } else {
            extensions.push((name, settings));
        }
    }

    pub(super) fn method(&mut self, name: String, handler: Erased<M>) {
        let whose = format!("the method `{name}`");
        self.name(&whose, &name);
        if self.catalog.features.extensions.is_empty() {
            self.problem(format!(
                "{whose} belongs to no extension: declare it with `.extension(..)`, so that \
                 clients learn of it"
            ));
        }
        let is_known = |adapter: &crate::revision::Adapter| {
            adapter.operation_for(&name).is_some_and(|known| known != Operation::Extension)
        };
        if AdapterSet::default().iter().any(is_known) {
            self.problem(format!("{whose} is the protocol's own: give it another name"));
        }
        let entry = self.entry(&whose, handler);
        let methods = &mut self.catalog.features.methods;
        if methods.contains(&name) {
            self.problem(format!("{whose} is declared twice: remove one"));
        } else {
            methods.push(name.clone());
        }
        self.inner.methods.insert(name, entry);
    }
}
