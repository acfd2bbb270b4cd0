//! What a decoded request needs: an answer that is known already, or the application.

use super::session::SessionChange;
use crate::frame::json::{self, Kind};
use crate::frame::writer::Object;
use crate::model::{
    Call, Detail, Failure, FailureKind, Filter, InArguments, Json, Operation, Reference, Tool,
};
use crate::near::nearest;
use crate::revision::{Adapter, AdapterSet, Published};
use crate::server::Endpoint;

/// Why a handshake is refused where there was one.
pub(crate) const SHAKEN: &str =
    "the handshake is over: `initialize` comes once, on a new connection";

/// What is to be done about a request.
#[derive(Debug)]
pub(crate) enum Plan {
    /// It is answered from what is declared.
    Answer(Answer),
    /// The application answers it.
    Run,
    /// The client's handshake: what it says is to be kept, then it is answered.
    Handshake,
    /// The client's session is to be changed, then it is answered.
    Update(SessionChange),
    /// The client listens, and is answered at the end of that.
    Listen(Filter),
}

/// An answer that needs no application.
#[derive(Debug)]
pub(crate) enum Answer {
    Empty,
    Description,
    Listing,
    Failure(Failure),
}

/// Decides what `call` needs. Dispatch is this one match.
pub(crate) fn plan(published: &Published, adapter: &Adapter, call: &Call) -> Plan {
    if !published.offers(adapter, call.operation) {
        return Plan::Answer(unknown_method());
    }
    let target = call.target.as_deref().unwrap_or_default();
    let catalog = published.catalog();
    match call.operation {
        Operation::Describe if adapter.has_handshake => Plan::Handshake,
        Operation::Describe => Plan::Answer(Answer::Description),
        Operation::Ping | Operation::HandshakeComplete => Plan::Answer(Answer::Empty),
        Operation::ListTools
        | Operation::ListResources
        | Operation::ListResourceTemplates
        | Operation::ListPrompts => Plan::Answer(Answer::Listing),
        Operation::CallTool => run_if(published.tool(adapter, target).is_some(), || {
            let names = catalog.tools().iter().map(|tool| &*tool.name);
            unknown("tool", target, names)
        }),
        Operation::ReadResource => run_if(catalog.locate(target).is_some(), || {
            let message = format!("Resource not found: {}", shown(target));
            Failure::new(FailureKind::ResourceNotFound, message).with_data(about(target))
        }),
        Operation::GetPrompt => get_prompt(published, call, target),
        Operation::Complete => complete(published, call),
        Operation::SetLogLevel => match call.detail {
            Detail::Level(level) => Plan::Update(SessionChange::LogLevel(level)),
            _ => Plan::Answer(unknown_method()),
        },
        Operation::Subscribe if !catalog.has(target) => {
            let message = format!("Resource not found: {}", shown(target));
            Plan::Answer(Answer::Failure(Failure::new(FailureKind::ResourceNotFound, message)))
        }
        Operation::Subscribe => Plan::Update(SessionChange::Subscribe(target.to_owned())),
        Operation::Unsubscribe => Plan::Update(SessionChange::Unsubscribe(target.to_owned())),
        Operation::Listen => match &call.detail {
            Detail::Listen(filter) => Plan::Listen(Filter::clone(filter)),
            _ => Plan::Answer(unknown_method()),
        },
        Operation::Extension => {
            let methods = &catalog.features.methods;
            let is_known = methods.iter().any(|method| method == call.method());
            match is_known && adapter.fields.extensions && !call.is_notification() {
                true => Plan::Run,
                false => Plan::Answer(unknown_method()),
            }
        }
    }
}

/// The revision that a handshake settles on (R24-LIFE-07).
pub(crate) fn negotiated(adapters: &AdapterSet, pin: Option<&str>, call: &Call) -> Option<Adapter> {
    match &call.detail {
        Detail::Requested(version) => adapters.negotiate(pin, version).copied(),
        _ => None,
    }
}

/// The revision as it is for this call, where its client declared nothing that it can be asked by:
/// what a tool asks then travels in its arguments. `None` where that is as ever.
pub(crate) fn without_asking(
    endpoint: &Endpoint,
    published: &Published,
    adapter: &Adapter,
    call: &Call,
) -> Option<Adapter> {
    if !published.asks_by_push(adapter) || !endpoint.shared().ask_in_arguments {
        return None;
    }
    let concerns = match call.operation() {
        Operation::ListTools => true,
        Operation::CallTool => published.called(adapter, call).is_some_and(|tool| tool.asks),
        _ => false,
    };
    let can = &call.client().capabilities;
    let is_asked = can.elicitation_form || can.elicitation_url;
    (concerns && !is_asked).then(|| adapter.asking_in_arguments())
}

/// Takes out of a call what finishes an earlier one, where that came in a tool's arguments.
///
/// # Errors
/// Where the arguments cannot be read so.
pub(crate) fn take_answers(
    adapter: &Adapter,
    tool: Option<&Tool>,
    call: &mut Call,
) -> Result<(), Failure> {
    if !adapter.asks_in_arguments() || !tool.is_some_and(|tool| tool.asks) {
        return Ok(());
    }
    let taken = InArguments::take(call.arguments.take())
        .map_err(|why| Failure::new(FailureKind::InvalidArguments, why.to_string()))?;
    call.arguments = taken.arguments;
    call.answers = taken.answers;
    call.state_id = taken.state.map(Into::into);
    Ok(())
}

/// Appends `answer` to `call`, and returns its HTTP status.
pub(crate) fn write(
    published: &Published,
    adapter: &Adapter,
    call: &Call,
    answer: Answer,
    out: &mut Vec<u8>,
) -> u16 {
    let failure = match (answer, &call.id) {
        (Answer::Empty, Some(id)) => return adapter.write_empty(out, published, id),
        (Answer::Description, _) => published.write_description(adapter, call, out).err(),
        (Answer::Listing, _) => published.write_listing(adapter, call, out).err(),
        (Answer::Failure(failure), _) => Some(failure),
        (Answer::Empty, None) => None,
    };
    match failure {
        Some(failure) => adapter.write_failure(out, call.id.as_ref(), &failure),
        None => 200,
    }
}

fn run_if(known: bool, failure: impl FnOnce() -> Failure) -> Plan {
    if known { Plan::Run } else { Plan::Answer(Answer::Failure(failure())) }
}

/// There is no such thing; the name may be a slip.
fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let hint = nearest(name, known).map(|near| format!("; did you mean `{near}`?"));
    let message = format!("Unknown {what}: {}{}", shown(name), hint.unwrap_or_default());
    Failure::new(FailureKind::UnknownTarget, message)
}

fn unknown_method() -> Answer {
    Answer::Failure(Failure::new(FailureKind::UnknownMethod, "Method not found"))
}

fn get_prompt(published: &Published, call: &Call, name: &str) -> Plan {
    let Some(prompt) = published.catalog().prompt(name) else {
        let prompts = published.catalog().prompts();
        return run_if(false, || unknown("prompt", name, prompts.iter().map(|it| &*it.name)));
    };
    let given = call
        .arguments
        .as_ref()
        .map(|arguments| (arguments.as_bytes(), json::members(arguments.as_bytes())));
    let kind_of = |name: &str| {
        given
            .as_ref()
            .and_then(|(text, it)| it.get(text, name).map(|span| json::kind(span.of(text))))
    };
    if published.catalog().features.strict_prompt_arguments {
        let all = given.iter().flat_map(|(text, members)| members.iter().map(move |it| (text, it)));
        let mut all = all.map(|(text, member)| json::kind(member.value.of(text)));
        if all.any(|kind| kind != Kind::String) {
            let why = "the values of a prompt's arguments are strings";
            return run_if(false, || Failure::new(FailureKind::InvalidParams, why));
        }
    }
    let is_given = |name: &str| kind_of(name).is_some_and(|kind| kind != Kind::Null);
    let missing = prompt.arguments.iter().find(|it| it.required && !is_given(&it.name));
    run_if(missing.is_none(), || {
        let name = missing.map_or("", |argument| &argument.name);
        Failure::new(FailureKind::InvalidParams, format!("Missing argument: {name}"))
    })
}

fn complete(published: &Published, call: &Call) -> Plan {
    let catalog = published.catalog();
    let Detail::Completing(completing) = &call.detail else {
        return Plan::Answer(unknown_method());
    };
    let known = match &completing.reference {
        Reference::Prompt(name) => catalog.prompt(name).is_some(),
        Reference::Resource(uri) => {
            let is_template = |it: &crate::model::ResourceTemplate| it.uri_template.as_str() == uri;
            catalog.templates().iter().any(is_template) || catalog.locate(uri).is_some()
        }
    };
    run_if(known, || Failure::new(FailureKind::InvalidParams, "Unknown ref: nothing to complete"))
}

/// Which resource is missing, for programs (R24-RSRC-11).
fn about(uri: &str) -> Json {
    let mut data = Vec::new();
    let mut object = Object::begin(&mut data);
    object.string("uri", uri);
    object.end();
    Json::scanned(data.into())
}

/// A peer's text, short enough to be repeated to it.
fn shown(text: &str) -> &str {
    let end = (0..=120.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}
