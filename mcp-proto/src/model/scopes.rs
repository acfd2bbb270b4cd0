//! Which scopes a call needs, and who sees what.

use super::catalog::Located;
use super::{Call, Catalog, Operation, Reference};
use crate::auth::Principal;

impl Catalog {
    /// The scopes that a caller needs for `call`, where callers are asked who they are: those of the
    /// tool, the prompt, the resource or the template that it is about.
    pub fn scopes(&self, call: &Call) -> &[String] {
        let target = call.target().unwrap_or_default();
        match call.operation() {
            Operation::CallTool => self.tool(target).map_or(&[], |tool| &tool.scopes),
            Operation::GetPrompt => self.prompt(target).map_or(&[], |prompt| &prompt.scopes),
            Operation::ReadResource | Operation::Subscribe | Operation::Unsubscribe => {
                self.scopes_at(target)
            }
            Operation::Complete => match call.completing().map(|it| &it.reference) {
                Some(Reference::Prompt(name)) => {
                    self.prompt(name).map_or(&[], |prompt| &prompt.scopes)
                }
                Some(Reference::Resource(uri)) => self.scopes_at(uri),
                None => &[],
            },
            _ => &[],
        }
    }

    /// The scopes that a caller needs for the resource at `uri`, or for that template.
    pub fn scopes_at(&self, uri: &str) -> &[String] {
        let of = |text: &str| self.templates().iter().find(|it| it.uri_template.as_str() == text);
        if let Some(template) = of(uri) {
            return &template.scopes;
        }
        match self.locate(uri) {
            Some(Located::Resource(uri)) => {
                let found = self.resources().iter().find(|resource| resource.uri == uri);
                found.map_or(&[], |resource| &resource.scopes)
            }
            Some(Located::Template { template, .. }) => of(template).map_or(&[], |it| &it.scopes),
            None => &[],
        }
    }

    /// What of this a caller may use: without what it lacks scopes for.
    #[must_use]
    pub fn visible_to(&self, principal: &Principal) -> Self {
        let mut catalog = self.clone();
        catalog.retain(|scopes| principal.missing(scopes.iter().cloned()).is_empty());
        catalog
    }

    /// Whether there is anything that a caller may not use.
    pub(crate) fn hides_from(&self, principal: &Principal) -> bool {
        let lacks = |scopes: &[String]| !principal.missing(scopes.iter().cloned()).is_empty();
        self.tools().iter().any(|it| lacks(&it.scopes))
            || self.prompts().iter().any(|it| lacks(&it.scopes))
            || self.resources().iter().any(|it| lacks(&it.scopes))
            || self.templates().iter().any(|it| lacks(&it.scopes))
    }
}
