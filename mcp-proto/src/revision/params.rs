//! What each operation's parameters must be.

use super::decode::{json_at, log_level};
use super::{Adapter, Preamble, decode_text};
use crate::frame::json::{self, Kind, Span};
use crate::model::{
    Completing, Detail, Failure, FailureKind, Filter, Json, Operation, Reference, Text, texts,
};

/// Parameters that were found as they must be.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) target: Option<Text>,
    pub(super) arguments: Option<Json>,
    pub(super) detail: Detail,
}

/// Checks and reads the parameters of an operation (C08). Unknown members are left alone (T-07).
pub(super) fn check(
    adapter: &Adapter,
    operation: Operation,
    preamble: &Preamble,
) -> Result<Checked, Failure> {
    let params = Reader { preamble };
    Ok(match operation {
        Operation::Describe if adapter.has_handshake => {
            // R24-LIFE-01
            params.required("capabilities")?;
            params.required("clientInfo")?;
            params.detail(Detail::Requested(params.text("protocolVersion")?))
        }
        Operation::ListTools
        | Operation::ListResources
        | Operation::ListResourceTemplates
        | Operation::ListPrompts => match params.optional("cursor") {
            Some(_) => params.detail(Detail::Cursor(params.text("cursor")?)),
            None => Checked::default(),
        },
        Operation::CallTool => Checked {
            target: Some(params.text("name")?),
            arguments: params.object("arguments")?,
            ..Checked::default()
        },
        Operation::GetPrompt => {
            let arguments = params.object("arguments")?;
            if let Some(arguments) = &arguments {
                only_scalars(arguments.as_bytes())?;
            }
            Checked { target: Some(params.text("name")?), arguments, ..Checked::default() }
        }
        Operation::ReadResource | Operation::Subscribe | Operation::Unsubscribe => {
            Checked { target: Some(params.text("uri")?), ..Checked::default() }
        }
        Operation::Complete => params.detail(Detail::Completing(Box::new(params.completing()?))),
        Operation::SetLogLevel => {
            let level = params.optional("level").and_then(|span| log_level(preamble, span));
            params.detail(Detail::Level(
                level.ok_or_else(|| invalid("`level` must be one of the eight levels"))?,
            ))
        }
        Operation::Listen => {
            let filter = params.required("notifications")?;
            params.detail(Detail::Listen(Box::new(listen_filter(filter.as_bytes())?)))
        }
        Operation::Describe
        | Operation::HandshakeComplete
        | Operation::Ping
        | Operation::Extension => Checked::default(),
    })
}

/// R26-SUBS-02.
fn listen_filter(object: &[u8]) -> Result<Filter, Failure> {
    let members = json::members(object);
    let flag = |name| match members.get(object, name).map(|span| json::kind(span.of(object))) {
        None | Some(Kind::Null | Kind::False) => Ok(false),
        Some(Kind::True) => Ok(true),
        Some(_) => Err(invalid(format!("`{name}` must be a boolean"))),
    };
    let mut filter = Filter {
        tools: flag("toolsListChanged")?,
        prompts: flag("promptsListChanged")?,
        resources: flag("resourcesListChanged")?,
        uris: Vec::new(),
    };
    if let Some(uris) = members.get(object, "resourceSubscriptions").map(|span| span.of(object)) {
        let wrong = || invalid("`resourceSubscriptions` must be an array of URIs");
        if json::kind(uris) != Kind::Array {
            return Err(wrong());
        }
        for uri in json::elements(uris).take(Filter::MOST_URIS) {
            filter.uris.push(json::string(uri.of(uris)).ok_or_else(wrong)?.into_owned());
        }
    }
    Ok(filter)
}

/// R24-PRMT-03, T-62.
/// Strings (R24-PRMT-03), or what has a text: clients send numbers and booleans as they are.
fn only_scalars(object: &[u8]) -> Result<(), Failure> {
    let composed = |member: &json::Member| {
        matches!(json::kind(member.value.of(object)), Kind::Array | Kind::Object)
    };
    if json::members(object).iter().any(composed) {
        return Err(invalid("the values of a prompt's arguments are strings"));
    }
    Ok(())
}

struct Reader<'a> {
    preamble: &'a Preamble,
}

impl Reader<'_> {
    fn detail(&self, detail: Detail) -> Checked {
        Checked { detail, ..Checked::default() }
    }

    /// A member; null counts as absent, as some clients mean it.
    fn optional(&self, name: &str) -> Option<Span> {
        let span = self.preamble.param(name)?;
        (json::kind(span.of(&self.preamble.message)) != Kind::Null).then_some(span)
    }

    fn text(&self, name: &str) -> Result<Text, Failure> {
        self.preamble
            .param(name)
            .and_then(|span| decode_text(&self.preamble.message, span))
            .ok_or_else(|| invalid(format!("`{name}` must be a string")))
    }

    fn object(&self, name: &str) -> Result<Option<Json>, Failure> {
        let Some(span) = self.optional(name) else { return Ok(None) };
        match json::kind(span.of(&self.preamble.message)) {
            Kind::Object => Ok(Some(json_at(self.preamble, span))),
            _ => Err(invalid(format!("`{name}` must be an object"))),
        }
    }

    fn required(&self, name: &str) -> Result<Json, Failure> {
        self.object(name)?.ok_or_else(|| invalid(format!("`{name}` is missing")))
    }

    /// R26-CMPL-03, C107.
    fn completing(&self) -> Result<Completing, Failure> {
        let (reference, argument) = (self.required("ref")?, self.required("argument")?);
        let text = |object: &Json, name: &str| {
            member_text(object, name).ok_or_else(|| invalid(format!("`{name}` must be a string")))
        };
        let reference = match text(&reference, "type")?.as_str() {
            "ref/prompt" => Reference::Prompt(text(&reference, "name")?),
            "ref/resource" => Reference::Resource(text(&reference, "uri")?),
            _ => return Err(invalid("`ref.type` must be `ref/prompt` or `ref/resource`")),
        };
        let context = match self.object("context")? {
            Some(context) => context_arguments(&context)
                .ok_or_else(|| invalid("`context.arguments` must be an object of strings"))?,
            None => Vec::new(),
        };
        let (argument, value) = (text(&argument, "name")?, text(&argument, "value")?);
        Ok(Completing { reference, argument, value, context })
    }
}

fn context_arguments(context: &Json) -> Option<Vec<(String, String)>> {
    let context = context.as_bytes();
    match json::members(context).get(context, "arguments") {
        Some(arguments) => {
            let arguments = arguments.of(context);
            let is_object = json::kind(arguments) == Kind::Object;
            is_object.then(|| texts(arguments).ok()).flatten()
        }
        None => Some(Vec::new()),
    }
}

fn member_text(object: &Json, name: &str) -> Option<String> {
    let object = object.as_bytes();
    let span = json::members(object).get(object, name)?;
    json::string(span.of(object)).map(std::borrow::Cow::into_owned)
}

fn invalid(why: impl Into<std::borrow::Cow<'static, str>>) -> Failure {
    Failure::new(FailureKind::InvalidParams, why)
}
