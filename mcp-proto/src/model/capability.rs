//! Who the peers are, and what a client says that it can do.

use serde::Deserialize;

use super::{Icon, Json, LogLevel};
use crate::frame::json;
use crate::frame::writer::Object;

/// Name and version of a client or server, for display only (R24-LIFE-16, R26-META-13).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// The program's name.
    pub name: String,
    /// The program's version.
    pub version: String,
    /// The program's name for people.
    #[serde(default)]
    pub title: Option<String>,
    /// What the program is.
    #[serde(default)]
    pub description: Option<String>,
    /// Where to read about the program.
    #[serde(default)]
    pub website_url: Option<String>,
    /// Pictures for the peer's display; not read from peers.
    #[serde(skip)]
    pub icons: Vec<Icon>,
}

impl Implementation {
    /// A program of that name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), ..Self::default() }
    }
}

/// What a client declared that it can do. Presence is the signal (R24-CAP-04).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// It can show a form to a person. An empty `elicitation` means just this (T-68).
    pub elicitation_form: bool,
    /// It can send a person to a URL.
    pub elicitation_url: bool,
    /// It can sample from a model.
    pub sampling: bool,
    /// Its model can be given tools.
    pub sampling_tools: bool,
    /// It can include context of other servers when it samples.
    pub sampling_context: bool,
    /// It can list the roots that the server may work in.
    pub roots: bool,
}

impl ClientCapabilities {
    /// Reads a capabilities object; what has another shape counts as undeclared.
    pub fn read(object: &[u8]) -> Self {
        let members = json::members(object);
        let within = |name| {
            members
                .get(object, name)
                .map(|span| span.of(object))
                .filter(|value| json::kind(value) == json::Kind::Object)
        };
        let declares = |parent: &[u8], name| {
            json::members(parent)
                .get(parent, name)
                .is_some_and(|span| json::kind(span.of(parent)) == json::Kind::Object)
        };
        let elicitation = within("elicitation");
        let elicitation_url = elicitation.is_some_and(|modes| declares(modes, "url"));
        let sampling = within("sampling");
        Self {
            elicitation_form: elicitation
                .is_some_and(|modes| declares(modes, "form") || !elicitation_url),
            elicitation_url,
            sampling: sampling.is_some(),
            sampling_tools: sampling.is_some_and(|sampling| declares(sampling, "tools")),
            sampling_context: sampling.is_some_and(|sampling| declares(sampling, "context")),
            roots: within("roots").is_some(),
        }
    }

    /// Whether all that `needed` has is here too.
    pub fn includes(&self, needed: &Self) -> bool {
        self.flags().into_iter().zip(needed.flags()).all(|(has, needs)| has || !needs)
    }

    /// What `needed` has and these do not, by its path in a capabilities object.
    pub fn missing(&self, needed: &Self) -> Vec<&'static str> {
        let asks = self.elicitation_form || self.elicitation_url;
        let form = if asks { "elicitation.form" } else { "elicitation" };
        let names =
            [form, "elicitation.url", "sampling", "sampling.tools", "sampling.context", "roots"];
        let both = self.flags().into_iter().zip(needed.flags()).zip(names);
        both.filter_map(|((has, needs), name)| (needs && !has).then_some(name)).collect()
    }

    /// What either of the two has.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            elicitation_form: self.elicitation_form || other.elicitation_form,
            elicitation_url: self.elicitation_url || other.elicitation_url,
            sampling: self.sampling || other.sampling,
            sampling_tools: self.sampling_tools || other.sampling_tools,
            sampling_context: self.sampling_context || other.sampling_context,
            roots: self.roots || other.roots,
        }
    }

    /// Appends a capabilities object. Forms alone are an empty `elicitation`, which every revision
    /// understands.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_naming(self.elicitation_form && self.elicitation_url, out);
    }

    /// Appends what a client would have had to declare, each by its name (T-21, R26-META-11).
    pub fn write_required(&self, out: &mut Vec<u8>) {
        self.write_naming(self.elicitation_form, out);
    }

    fn write_naming(&self, form: bool, out: &mut Vec<u8>) {
        fn empty(object: &mut Object<'_>, name: &str, there: bool) {
            if there {
                object.raw(name, b"{}");
            }
        }
        let mut object = Object::begin(out);
        if self.elicitation_form || self.elicitation_url {
            object.object("elicitation", |modes| {
                empty(modes, "form", form);
                empty(modes, "url", self.elicitation_url);
            });
        }
        if self.sampling || self.sampling_tools || self.sampling_context {
            object.object("sampling", |sampling| {
                empty(sampling, "tools", self.sampling_tools);
                empty(sampling, "context", self.sampling_context);
            });
        }
        empty(&mut object, "roots", self.roots);
        object.end();
    }

    const fn flags(&self) -> [bool; 6] {
        let Self { elicitation_form, elicitation_url, sampling, sampling_tools, .. } = *self;
        let Self { sampling_context, roots, .. } = *self;
        [elicitation_form, elicitation_url, sampling, sampling_tools, sampling_context, roots]
    }
}

/// A client as the server knows it, whether from a handshake or from the request itself.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ClientProfile {
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// The capabilities object as the client sent it, extensions and experiments included.
    pub declared: Option<Json>,
    /// The client's name and version as it sent them.
    pub info: Option<Json>,
    /// The least severe log messages that the client wants; `None` leaves it to the revision.
    pub log_level: Option<LogLevel>,
}

impl ClientProfile {
    /// A client with these declared capabilities and this info.
    pub fn new(declared: Option<Json>, info: Option<Json>) -> Self {
        let capabilities = declared
            .as_ref()
            .map(|json| ClientCapabilities::read(json.as_bytes()))
            .unwrap_or_default();
        Self { capabilities, declared, info, log_level: None }
    }

    /// The client's name and version, where it sent them well-formed. Nothing may depend on them
    /// but what a person sees (R26-META-13).
    pub fn implementation(&self) -> Option<Implementation> {
        self.info.as_ref()?.decode().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ClientCapabilities {
        ClientCapabilities::read(text.as_bytes())
    }

    #[test]
    fn an_empty_elicitation_capability_means_forms_only() {
        // T-68
        let caps = read(r#"{"elicitation":{}}"#);
        assert!(caps.elicitation_form && !caps.elicitation_url);
        let caps = read(r#"{"elicitation":{"url":{}}}"#);
        assert!(!caps.elicitation_form && caps.elicitation_url);
        let caps = read(r#"{"elicitation":{"url":{},"form":{}}}"#);
        assert!(caps.elicitation_form && caps.elicitation_url);
    }

    #[test]
    fn what_is_no_object_is_undeclared() {
        assert_eq!(read(r#"{"elicitation":null,"sampling":true,"roots":[]}"#), Default::default());
        let caps = read(r#"{"sampling":{"tools":{}},"roots":{"listChanged":true},"x":1}"#);
        assert!(caps.sampling && caps.sampling_tools && !caps.sampling_context && caps.roots);
    }

    #[test]
    fn required_capabilities_are_shaped_like_declared_ones() {
        // T-21
        for text in [
            r#"{"elicitation":{}}"#,
            r#"{"elicitation":{"url":{}},"sampling":{},"roots":{}}"#,
            r#"{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{},"context":{}}}"#,
            "{}",
        ] {
            let mut out = Vec::new();
            read(text).write(&mut out);
            assert_eq!(String::from_utf8_lossy(&out), text);
        }
        let form = read(r#"{"elicitation":{}}"#);
        let both = form.union(read(r#"{"roots":{}}"#));
        assert!(both.includes(&form) && !form.includes(&both));
    }

    #[test]
    fn info_that_is_malformed_is_treated_as_absent() {
        // C26
        let profile =
            |text: &'static str| ClientProfile::new(None, Some(Json::scanned(text.into())));
        assert_eq!(profile(r#"{"name":3}"#).implementation(), None);
        let info = profile(r#"{"name":"a","version":"1","odd":[]}"#).implementation().unwrap();
        assert_eq!((info.name.as_str(), info.version.as_str()), ("a", "1"));
    }
}
