//! How a client spells its messages.

use std::borrow::Cow;

use crate::frame::envelope::{
    RequestId, write_error, write_notification, write_request, write_result,
};
use crate::frame::header_value;
use crate::frame::json;
use crate::frame::writer::Object;
use crate::model::mirror::MirroredParam;
use crate::model::{
    ClientCapabilities, Completing, Detail, Implementation, Json, LogLevel, Operation, Reference,
    Request,
};
use crate::revision::headers::mirrored_member;
use crate::revision::listen::write_filter;
use crate::revision::project::write_implementation;
use crate::revision::{Adapter, AskBy, meta_key, notification};

/// The client as its requests describe it.
#[derive(Clone, Debug)]
pub struct Speaker<'a> {
    /// Name and version; left out of requests where there are none (R26-META-09).
    pub info: Option<&'a Implementation>,
    /// What can be asked of it.
    pub capabilities: ClientCapabilities,
    /// Extensions and their settings, by identifier (R26-EXT-01).
    pub extensions: &'a [(String, Json)],
    /// The least severe log message that it wants, where requests say it (R26-LOG-03).
    pub log_level: Option<LogLevel>,
}

impl Adapter {
    /// The method of a call; `None` where this revision cannot be asked that.
    pub fn method_of<'a>(&self, request: &'a Request) -> Option<&'a str> {
        match request.operation {
            Operation::Extension => request.method.as_deref(),
            operation => self.method_for(operation),
        }
    }

    /// Appends a request. Where there is no handshake it describes its client (R26-META-07).
    pub fn write_call(
        &self,
        out: &mut Vec<u8>,
        id: &RequestId,
        request: &Request,
        speaker: &Speaker<'_>,
    ) {
        let method = self.method_of(request).unwrap_or_default();
        write_request(
            out,
            id,
            method,
            Some(|out: &mut Vec<u8>| {
                let mut params = Object::begin(out);
                self.members(&mut params, request);
                self.meta(&mut params, id, request, speaker);
                params.end();
            }),
        );
    }

    /// Appends the request that begins a handshake (R24-LIFE-01).
    pub fn write_initialize(&self, out: &mut Vec<u8>, id: &RequestId, speaker: &Speaker<'_>) {
        let method = self.method_for(Operation::Describe).unwrap_or_default();
        let nobody = Implementation::default();
        let params = |out: &mut Vec<u8>| {
            let mut params = Object::begin(out);
            params.string("protocolVersion", self.version);
            self.capabilities(params.value("capabilities"), speaker);
            let info = speaker.info.unwrap_or(&nobody);
            write_implementation(&self.fields, info, params.value("clientInfo"));
            params.end();
        };
        write_request(out, id, method, Some(params));
    }

    /// Appends the notification that ends a handshake (R24-LIFE-03).
    pub fn write_initialized(&self, out: &mut Vec<u8>) {
        let method = self.method_for(Operation::HandshakeComplete).unwrap_or_default();
        write_notification(out, method, None::<&str>);
    }

    /// Appends the notification that a request is no longer wanted (R24-CANC-09).
    pub fn write_cancelled(&self, out: &mut Vec<u8>, id: &RequestId, reason: Option<&str>) {
        let params = |out: &mut Vec<u8>| {
            let mut params = Object::begin(out);
            params.raw("requestId", id.as_json()).string_if("reason", reason);
            params.end();
        };
        write_notification(out, notification::CANCELLED, Some(params));
    }

    /// Appends the answer to a request of the server's.
    pub fn write_answer(&self, out: &mut Vec<u8>, id: &RequestId, result: &Json) {
        write_result(out, id, |out: &mut Vec<u8>| result.write(out));
    }

    /// Appends the refusal of a request of the server's.
    pub fn write_refusal(&self, out: &mut Vec<u8>, id: &RequestId, code: i64, message: &str) {
        write_error(out, Some(id), code, message, None::<&str>);
    }

    /// The headers that repeat parts of a request, where the revision repeats any (R26-HDR-01,
    /// R26-HDR-05 to R26-HDR-08). `mirrored` are the parameters of the tool that it calls.
    pub fn mirror(&self, request: &Request, mirrored: &[MirroredParam]) -> Vec<(String, String)> {
        if !self.mirrors_headers {
            return Vec::new();
        }
        let own = |name: &str, value: Cow<'_, str>| (name.to_owned(), value.into_owned());
        let mut headers = Vec::with_capacity(2 + mirrored.len());
        let method = self.method_of(request).unwrap_or_default();
        headers.push(own("Mcp-Method", Cow::Borrowed(method)));
        if let (Some(_), Some(target)) = (mirrored_member(request.operation), request.target()) {
            headers.push(own("Mcp-Name", header_value::encode(target)));
        }
        let arguments = request.arguments.as_ref().map_or(&b"{}"[..], Json::as_bytes);
        for param in mirrored {
            // An argument that occurs twice is the caller's own, and the server says so.
            if let Ok(Some(argument)) = param.argument(arguments) {
                headers.push(own(param.header(), argument.to_header()));
            }
        }
        headers
    }

    fn members(&self, params: &mut Object<'_>, request: &Request) {
        let Request { target, arguments, detail, answers, .. } = request;
        let target = target.as_deref();
        if let Some(member) = named_by(request.operation) {
            params.string_if(member, target);
        }
        if let Some(arguments) = arguments {
            arguments.write(params.value("arguments"));
        }
        match detail {
            Detail::Cursor(cursor) => {
                params.string("cursor", cursor);
            }
            Detail::Level(level) => {
                params.string("level", level.as_str());
            }
            Detail::Completing(completing) => self.completing(params, completing),
            Detail::Listen(filter) => {
                params.object("notifications", |members| write_filter(members, filter));
            }
            Detail::None | Detail::Requested(_) => {}
        }
        if let Some(answers) = answers {
            params.object("inputResponses", |responses| {
                for (key, response) in &answers.responses {
                    response.write(responses.value(key));
                }
            });
            if let Some(state) = &answers.state {
                params.raw("requestState", state.as_bytes());
            }
        }
        each_member(request.params.as_ref(), |name, value| {
            if name != "_meta" {
                json::compact(value, params.value(name));
            }
        });
    }

    fn completing(&self, params: &mut Object<'_>, completing: &Completing) {
        params.object("ref", |reference| {
            match &completing.reference {
                Reference::Prompt(name) => {
                    reference.string("type", "ref/prompt").string("name", name)
                }
                Reference::Resource(uri) => {
                    reference.string("type", "ref/resource").string("uri", uri)
                }
            };
        });
        params.object("argument", |argument| {
            argument.string("name", &completing.argument).string("value", &completing.value);
        });
        // R2506-CMPL-09
        if self.fields.title && !completing.context.is_empty() {
            params.object("context", |context| {
                context.object("arguments", |arguments| {
                    for (name, value) in &completing.context {
                        arguments.string(name, value);
                    }
                });
            });
        }
    }

    fn meta(&self, params: &mut Object<'_>, id: &RequestId, request: &Request, by: &Speaker<'_>) {
        let extension = request.params.as_ref().and_then(|params| {
            let text = params.as_bytes();
            json::members(text).get(text, "_meta").map(|span| span.of(text))
        });
        let own = [extension, request.meta.as_ref().map(Json::as_bytes)];
        if self.has_handshake && own == [None, None] && !request.progress {
            return;
        }
        let mut meta = Object::begin(params.value("_meta"));
        for text in own.into_iter().flatten() {
            for member in json::members(text).iter() {
                let name = member.decoded_name(text);
                if !is_ours(&name) {
                    json::compact(member.value.of(text), meta.value(&name));
                }
            }
        }
        if request.progress {
            meta.raw(meta_key::PROGRESS_TOKEN, id.as_json());
        }
        if !self.has_handshake {
            meta.string(meta_key::VERSION, self.version);
            if let Some(info) = by.info {
                write_implementation(&self.fields, info, meta.value(meta_key::CLIENT_INFO));
            }
            self.capabilities(meta.value(meta_key::CAPABILITIES), by);
            if let Some(level) = by.log_level {
                meta.string(meta_key::LOG_LEVEL, level.as_str());
            }
        }
        meta.end();
    }

    /// What of the client's capabilities this revision can say (R26-CAP-01).
    fn capabilities(&self, out: &mut Vec<u8>, by: &Speaker<'_>) {
        let elicits = self.ask_elicitation != AskBy::Arguments;
        let mut can = by.capabilities;
        can.elicitation_form &= elicits;
        can.elicitation_url &= elicits && self.input.modes;
        can.sampling_tools &= self.input.sampling_tools;
        can.sampling_context &= self.input.sampling_context_declared;
        let has_extensions = self.fields.extensions && !by.extensions.is_empty();
        if !has_extensions {
            return can.write(out);
        }
        let mut declared = Vec::new();
        can.write(&mut declared);
        let mut capabilities = Object::begin(out);
        for member in json::members(&declared).iter() {
            let name = member.decoded_name(&declared);
            capabilities.raw(&name, member.value.of(&declared));
        }
        capabilities.object("extensions", |extensions| {
            for (name, settings) in by.extensions {
                settings.write(extensions.value(name));
            }
        });
        capabilities.end();
    }
}

/// What a client wants to know of (R26-SUBS-02).
/// The parameter that names what an operation is about.
fn named_by(operation: Operation) -> Option<&'static str> {
    match operation {
        Operation::Subscribe | Operation::Unsubscribe => Some("uri"),
        operation => mirrored_member(operation),
    }
}

/// The members of `_meta` that the client writes itself.
fn is_ours(name: &str) -> bool {
    [
        meta_key::PROGRESS_TOKEN,
        meta_key::VERSION,
        meta_key::CLIENT_INFO,
        meta_key::CAPABILITIES,
        meta_key::LOG_LEVEL,
    ]
    .contains(&name)
}

fn each_member(object: Option<&Json>, mut then: impl FnMut(&str, &[u8])) {
    let Some(text) = object.map(Json::as_bytes) else { return };
    for member in json::members(text).iter() {
        then(&member.decoded_name(text), member.value.of(text));
    }
}
