//! A catalog as its clients see it: rendered once per revision, spliced into each reply.

use std::sync::Arc;

use super::project::{
    append_base64, write_implementation, write_prompt, write_resource, write_template, write_tool,
};
use super::{Adapter, AdapterSet};
use crate::frame::envelope::write_result;
use crate::frame::writer::Object;
use crate::model::{Call, Catalog, Change, Detail, Failure, FailureKind, Operation, Tool};

mod listing;

use listing::{Kind, Listing};

/// A catalog with its listings, rendered for every revision of a set.
///
/// Built anew whenever a declaration changes. A reply that lists costs no work per entry.
#[derive(Debug)]
pub struct Published {
    catalog: Arc<Catalog>,
    adapters: AdapterSet,
    /// In the order of the set.
    rendered: Vec<Rendered>,
}

/// For one revision.
#[derive(Debug)]
struct Rendered {
    server_info: Vec<u8>,
    /// In the order of [`Kind::ALL`].
    listings: [Listing; 4],
    /// The tools, for clients that are asked in arguments though the revision has another way.
    tools_asking_in_arguments: Option<Listing>,
    /// What follows the entries of a list, up to the end of the result.
    tail: Vec<u8>,
}

impl Published {
    /// Renders a catalog for every revision of a set.
    pub fn new(catalog: Arc<Catalog>, adapters: &AdapterSet) -> Self {
        let rendered = adapters.iter().map(|adapter| Rendered::new(&catalog, adapter)).collect();
        Self { catalog, adapters: adapters.clone(), rendered }
    }

    /// What is declared.
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The revisions that it is rendered for.
    pub fn adapters(&self) -> &AdapterSet {
        &self.adapters
    }

    /// The tool of that name, unless it is hidden from clients of that revision: what is not
    /// listed is not callable either.
    pub fn tool(&self, adapter: &Adapter, name: &str) -> Option<&Tool> {
        self.catalog.tool(name).filter(|tool| is_visible(adapter, tool))
    }

    /// The tool that `call` calls, if it calls one.
    pub fn called(&self, adapter: &Adapter, call: &Call) -> Option<&Tool> {
        match call.operation() {
            Operation::CallTool => self.tool(adapter, call.target()?),
            _ => None,
        }
    }

    /// Whether any tool asks that clients of this revision see, though not all of them can be asked.
    pub(crate) fn asks_by_push(&self, adapter: &Adapter) -> bool {
        let rendered = self.rendered(adapter);
        rendered.is_some_and(|rendered| rendered.tools_asking_in_arguments.is_some())
    }

    /// Whether the server has what an operation is for: where it declared no capability, it has
    /// no method either (R24-RPC-15, R26-RPC-15).
    pub fn offers(&self, adapter: &Adapter, operation: Operation) -> bool {
        if adapter.method_for(operation).is_none() {
            return operation == Operation::Extension;
        }
        let has = |kind| self.listing(adapter, kind).is_some_and(|listing| !listing.is_empty());
        match operation {
            Operation::ListTools | Operation::CallTool => has(Kind::Tools),
            Operation::ListPrompts | Operation::GetPrompt => has(Kind::Prompts),
            Operation::ListResources
            | Operation::ListResourceTemplates
            | Operation::ReadResource => has(Kind::Resources) || has(Kind::Templates),
            Operation::Subscribe | Operation::Unsubscribe => {
                self.catalog.features.subscribe && (has(Kind::Resources) || has(Kind::Templates))
            }
            Operation::Complete => self.catalog.features.completions,
            Operation::SetLogLevel => self.catalog.features.logging,
            Operation::Describe
            | Operation::HandshakeComplete
            | Operation::Ping
            | Operation::Listen
            | Operation::Extension => true,
        }
    }

    /// The lists that look otherwise than they did `before`, to a client of any of the revisions.
    pub fn changes(&self, before: &Self) -> Vec<Change> {
        let differs = |kind| {
            self.adapters.iter().any(|adapter| {
                [*adapter, adapter.asking_in_arguments()].iter().any(|adapter| {
                    let [now, then] = [self, before].map(|of| of.listing(adapter, kind));
                    now.map(Listing::text) != then.map(Listing::text)
                })
            })
        };
        let resources = differs(Kind::Resources) || differs(Kind::Templates);
        [
            (differs(Kind::Tools), Change::Tools),
            (differs(Kind::Prompts), Change::Prompts),
            (resources, Change::Resources),
        ]
        .into_iter()
        .filter_map(|(differs, change)| differs.then_some(change))
        .collect()
    }

    /// Appends the reply to a call that lists. Pages hold what comes after the last entry of the
    /// page before, whatever was declared meanwhile (R24-PAGE-04).
    ///
    /// # Errors
    /// `UnknownMethod` where the server has none of what is to be listed, `InvalidParams` where
    /// the cursor is none that this list gave; nothing is appended then.
    pub fn write_listing(
        &self,
        adapter: &Adapter,
        call: &Call,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let kind = Kind::of(call.operation()).filter(|_| self.offers(adapter, call.operation()));
        let (Some(kind), Some(rendered), Some(id)) = (kind, self.rendered(adapter), call.id())
        else {
            return Err(Failure::new(
                FailureKind::UnknownMethod,
                "nothing of the kind is declared",
            ));
        };
        let listing = rendered.listing(adapter, kind);
        let cursor = match &call.detail {
            Detail::Cursor(cursor) => Some(cursor.as_str()),
            _ => None,
        };
        let page = listing.page(&self.catalog, kind, cursor, self.catalog.page_size)?;
        out.reserve(page.entries.len() + rendered.tail.len() + 128);
        write_result(out, id, |out: &mut Vec<u8>| {
            out.extend_from_slice(b"{\"");
            out.extend_from_slice(kind.member().as_bytes());
            out.extend_from_slice(b"\":[");
            out.extend_from_slice(page.entries);
            out.push(b']');
            if let Some(last) = page.more_after {
                out.extend_from_slice(b",\"nextCursor\":\"");
                kind.write_cursor(last, out);
                out.push(b'"');
            }
            out.extend_from_slice(&rendered.tail);
        });
        Ok(())
    }

    /// Appends who the server is and what it can do: the result of a handshake that settled on
    /// `adapter`, or of a discovery (R24-LIFE-02, R26-DISC-03).
    ///
    /// # Errors
    /// Where the call has no id, as nobody waits for an answer then.
    pub fn write_description(
        &self,
        adapter: &Adapter,
        call: &Call,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let id = call.id().ok_or_else(|| {
            Failure::new(FailureKind::Malformed, "a description answers a request")
        })?;
        let instructions = self.catalog.instructions.as_deref();
        write_result(out, id, |out: &mut Vec<u8>| {
            let mut result = Object::begin(out);
            if adapter.has_handshake {
                result.string("protocolVersion", adapter.version);
            } else {
                self.adapters.write_versions(result.value("supportedVersions"));
            }
            result.object("capabilities", |object| self.capabilities(object, adapter));
            if adapter.has_handshake
                && let Some(rendered) = self.rendered(adapter)
            {
                result.raw("serverInfo", &rendered.server_info);
            }
            result.string_if("instructions", instructions);
            let hint = Some(self.catalog.cache);
            adapter.close_result(result, hint, None, self.server_info(adapter));
        });
        Ok(())
    }

    /// The server's name and version, where results carry them.
    pub(super) fn server_info(&self, adapter: &Adapter) -> Option<&[u8]> {
        let rendered = self.rendered(adapter).filter(|_| adapter.envelope.server_info)?;
        Some(&rendered.server_info)
    }

    /// Presence is the signal (R24-CAP-04); what is not there is not declared.
    fn capabilities(&self, object: &mut Object<'_>, adapter: &Adapter) {
        let features = &self.catalog.features;
        let lists = [
            ("tools", Operation::ListTools),
            ("resources", Operation::ListResources),
            ("prompts", Operation::ListPrompts),
        ];
        for (name, operation) in lists {
            if self.offers(adapter, operation) {
                object.object(name, |object| {
                    if features.subscribe && operation == Operation::ListResources {
                        object.boolean("subscribe", true);
                    }
                    if features.list_changed {
                        object.boolean("listChanged", true);
                    }
                });
            }
        }
        if features.completions && adapter.fields.completions_capability {
            object.object("completions", |_| {});
        }
        if features.logging {
            object.object("logging", |_| {});
        }
        if adapter.fields.extensions && !features.extensions.is_empty() {
            object.object("extensions", |object| {
                for (name, settings) in &features.extensions {
                    super::project::json_if(object, name, Some(settings));
                }
            });
        }
    }

    fn listing(&self, adapter: &Adapter, kind: Kind) -> Option<&Listing> {
        self.rendered(adapter).map(|rendered| rendered.listing(adapter, kind))
    }

    fn rendered(&self, adapter: &Adapter) -> Option<&Rendered> {
        self.rendered.get(self.adapters.index(adapter.version)?)
    }
}

impl Rendered {
    fn new(catalog: &Catalog, adapter: &Adapter) -> Self {
        let fields = &adapter.fields;
        let mut server_info = Vec::new();
        write_implementation(fields, &catalog.server, &mut server_info);

        let visible = || {
            let tools = catalog.tools().iter().enumerate();
            tools.filter(|(_, tool)| is_visible(adapter, tool))
        };
        let tools =
            |adapter: &Adapter| Listing::new(visible(), |tool, out| write_tool(adapter, tool, out));
        let pushes = adapter.can_push_ask() && visible().any(|(_, tool)| tool.asks);
        let tools_asking_in_arguments = pushes.then(|| tools(&adapter.asking_in_arguments()));
        let listings = [
            tools(adapter),
            Listing::new(catalog.resources().iter().enumerate(), |resource, out| {
                write_resource(fields, resource, out);
            }),
            Listing::new(catalog.templates().iter().enumerate(), |template, out| {
                write_template(fields, template, out);
            }),
            Listing::new(catalog.prompts().iter().enumerate(), |prompt, out| {
                write_prompt(fields, prompt, out);
            }),
        ];

        let mut tail = Vec::new();
        let shown = adapter.envelope.server_info.then_some(server_info.as_slice());
        adapter.close_result(Object::begin(&mut tail), Some(catalog.cache), None, shown);
        // It goes on after the list: a comma takes the place of the brace, if there is a member.
        match tail.as_slice() {
            [b'{', b'}'] => drop(tail.remove(0)),
            _ => tail[0] = b',',
        }
        Self { server_info, listings, tools_asking_in_arguments, tail }
    }

    fn listing(&self, adapter: &Adapter, kind: Kind) -> &Listing {
        match &self.tools_asking_in_arguments {
            Some(tools) if kind == Kind::Tools && adapter.asks_in_arguments() => tools,
            _ => &self.listings[kind as usize],
        }
    }
}

/// Versions are dates, so one that is older sorts lower.
fn is_visible(adapter: &Adapter, tool: &Tool) -> bool {
    tool.min_revision.as_deref().is_none_or(|oldest| adapter.version >= oldest)
}
