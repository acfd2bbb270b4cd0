//! Calls: made, answered, ended.

use core::time::Duration;
use std::collections::BTreeSet;

use super::{Core, Life, Purpose, Timer, prompting};
use crate::client::machine::Event;
use crate::client::retry::Attempts;
use crate::client::{CallId, ClientError, ErrorKind, Ran};
use crate::model::mirror::MirroredParam;
use crate::model::{
    Description, Detail, Entries, Json, Operation, Reply, ReplyValue, Request, Text, Tool, View,
};
use crate::revision::{Adapter, MetaKey};
use crate::time::Instant;

/// A call that has not ended.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) request: Request,
    pub(super) stage: Stage,
    /// The server may have run something of it.
    pub(super) touched: bool,
    pub(super) rounds: u32,
    /// Headers were learned anew for it.
    pub(super) refreshed: bool,
    /// It was made again after the session was lost.
    pub(super) renewed: bool,
    pub(super) pages: Pages,
    pub(super) attempts: Attempts,
}

/// Where a call stands.
#[derive(Debug)]
pub(super) enum Stage {
    /// It waits to be sent.
    Waiting,
    /// It waits for the answer to this request.
    Sent(i64),
    /// It waits for answers of the application.
    Asking(super::asking::Round),
    /// It waits for a list of tools, asked for by this request.
    Refreshing(i64, Pages),
}

/// The pages of a list that have come.
#[derive(Debug, Default)]
pub(in crate::client) struct Pages {
    so_far: Option<Reply>,
    cursors: BTreeSet<String>,
    bytes: usize,
    /// When the first page is stale.
    until: Option<Instant>,
}

impl Call {
    /// Whether the server may have run any of it.
    pub(super) fn ran(&self) -> Ran {
        match (&self.stage, self.touched) {
            (Stage::Waiting | Stage::Refreshing(..), false) => Ran::Never,
            _ => Ran::Maybe,
        }
    }

    /// Back to where it waits to be sent for the first time; a list begins at its first page.
    pub(super) fn begin_anew(&mut self) {
        self.stage = Stage::Waiting;
        self.pages = Pages::default();
        if self.request.whole {
            self.request.detail = Detail::None;
        }
    }

    pub(super) fn waits(&self) -> bool {
        matches!(self.stage, Stage::Waiting)
    }
}

impl Core {
    pub(in crate::client) fn call(&mut self, now: Instant, mut request: Request) -> CallId {
        self.advance(now);
        let id = CallId(self.next_call);
        self.next_call += 1;
        let refused = match &self.life {
            Life::Closed(error) => Some(error.kind.clone()),
            _ if self.calls.len() >= self.config.limits.calls => Some(ErrorKind::TooManyCalls),
            _ => misuse(&request)
                .or_else(|| prompting::spell(&mut request).err())
                .map(ErrorKind::Misuse),
        };
        if let Some(kind) = refused {
            self.emit(Event::Ended(id, Err(ClientError::never(kind))));
            return id;
        }
        let longest = request.deadline.unwrap_or(self.config.limits.longest);
        let call = Call {
            request,
            stage: Stage::Waiting,
            touched: false,
            rounds: 0,
            refreshed: false,
            renewed: false,
            pages: Pages::default(),
            attempts: Attempts { made: 0, since: Some(self.now) },
        };
        self.calls.insert(id, call);
        self.timers.set(Timer::Longest(id), self.now + longest);
        self.dispatch(id);
        id
    }

    pub(in crate::client) fn cancel(&mut self, now: Instant, call: CallId) {
        self.advance(now);
        self.drop_call(call, ErrorKind::Cancelled, "the caller no longer wants it");
    }

    /// Ends a call from this side, and tells the server.
    pub(super) fn drop_call(&mut self, call: CallId, kind: ErrorKind, reason: &str) {
        let Some(found) = self.calls.get(&call) else { return };
        let error = ClientError { kind, ran: found.ran() };
        if let Stage::Sent(id) | Stage::Refreshing(id, _) = found.stage {
            self.forget(id, reason);
        }
        self.end(call, Err(error));
    }

    /// The one place where calls end.
    pub(super) fn end(&mut self, call: CallId, result: Result<Reply, ClientError>) {
        let Some(ended) = self.calls.remove(&call) else { return };
        self.timers.clear(Timer::Longest(call));
        self.timers.clear(Timer::Resume(call));
        if let Stage::Sent(id) | Stage::Refreshing(id, _) = ended.stage {
            self.settle(id);
        }
        self.withdraw_questions(call);
        if let Ok(reply) = &result {
            for note in &reply.left_out {
                self.warn(format!("left out: {note}"));
            }
        }
        self.emit(Event::Ended(call, result.map(Box::new)));
    }

    /// The header that the server would miss, since no header can hold its argument.
    fn unsayable<'a>(
        &self,
        adapter: &Adapter,
        request: &Request,
        mirrored: &'a [MirroredParam],
    ) -> Option<&'a str> {
        let arguments = request.arguments.as_ref()?.as_bytes();
        let mirrors = adapter.mirrors_headers && self.is_http();
        let mut mirrored = mirrored.iter().filter(|_| mirrors);
        mirrored.find(|param| param.is_unsayable(arguments)).map(MirroredParam::header)
    }

    /// Sends a call that waits, or answers it from what is known. Where the server is not there,
    /// it is looked for first.
    pub(super) fn dispatch(&mut self, call: CallId) {
        let Some(found) = self.calls.get(&call).filter(|found| found.waits()) else { return };
        let Some(server) = self.server.clone().filter(|_| self.is_open()) else {
            return self.connect(self.now);
        };
        let adapter = server.adapter;
        let mut request = found.request.clone();
        match request.operation {
            Operation::Ping if adapter.method_for(Operation::Ping).is_none() => {
                request.operation = Operation::Describe;
            }
            // The handshake has said it.
            Operation::Describe if adapter.has_handshake => {
                return self.end(call, Ok(described(&server.description)));
            }
            Operation::SetLogLevel => {
                if let Detail::Level(level) = request.detail {
                    self.set_level(level);
                }
                if !adapter.has_handshake {
                    return self.end(call, Ok(done()));
                }
            }
            _ => {}
        }
        if let Some(reply) = self.cached(&adapter, &request) {
            return self.end(call, Ok(reply));
        }
        if adapter.method_of(&request).is_none() {
            return self.end(call, Err(ClientError::never(ErrorKind::NotInRevision)));
        }
        let mirrored = match request.target() {
            Some(tool) if request.operation == Operation::CallTool => self.mirrored.get(tool),
            _ => None,
        };
        let mirrored = mirrored.cloned().unwrap_or_default();
        if let Some(header) = self.unsayable(&adapter, &request, &mirrored) {
            let kind = ErrorKind::Unmirrored { header: header.to_owned() };
            return self.end(call, Err(ClientError::never(kind)));
        }
        let id = self.send_call(&adapter, Purpose::Call(call), &request, &mirrored);
        if let Some(call) = self.calls.get_mut(&call) {
            call.stage = Stage::Sent(id);
        }
    }

    /// The carrier could not bring a request to its answer.
    pub(in crate::client) fn request_failed(&mut self, id: i64, error: ClientError) {
        let Some(sent) = self.settle(id) else { return };
        match sent.purpose {
            Purpose::Call(call) | Purpose::Refresh(call) => {
                let ran = if sent.purpose == Purpose::Call(call) { error.ran } else { Ran::Never };
                let error = ClientError { ran, ..error };
                if !self.calls_again(call, &error) {
                    self.fail(call, error);
                }
            }
            Purpose::Listen(listen) => self.listening_broke(listen, error),
            // Nobody refused it: it is subscribed to once more, with all that belongs to it.
            Purpose::Subscribe(listen) if error.is_transient() => {
                self.listening_broke(listen, error);
            }
            Purpose::Subscribe(listen) => self.subscribed_to(listen, id, false),
            Purpose::Negotiation | Purpose::Aside => {}
        }
    }

    /// A call fails; what ran of it before counts.
    pub(super) fn fail(&mut self, call: CallId, error: ClientError) {
        let touched = self.calls.get(&call).is_some_and(|call| call.touched);
        let ran = if touched { Ran::Maybe } else { error.ran };
        self.end(call, Err(ClientError { ran, ..error }));
    }

    /// The session that a call was made in is gone. It is made again, once (C58); `ran` says
    /// whether the server may have run it.
    pub(in crate::client) fn session_lost(&mut self, id: i64, ran: Ran) {
        let Some(sent) = self.settle(id) else { return };
        match sent.purpose {
            Purpose::Call(call) | Purpose::Refresh(call) => {
                let again = self.calls.get_mut(&call).filter(|it| ran == Ran::Never && !it.renewed);
                match again {
                    Some(again) => {
                        again.renewed = true;
                        again.begin_anew();
                    }
                    None => self.fail(call, ClientError { kind: ErrorKind::SessionLost, ran }),
                }
            }
            Purpose::Listen(_) | Purpose::Subscribe(_) | Purpose::Aside | Purpose::Negotiation => {}
        }
        self.renew();
        // The handshake may be over already.
        if let Purpose::Call(call) | Purpose::Refresh(call) = sent.purpose {
            self.dispatch(call);
        }
    }

    /// A reply to a call: one page of it, where it is a list.
    pub(super) fn replied(&mut self, call: CallId, adapter: &Adapter, reply: Reply) {
        if let ReplyValue::Tools(tools) = &reply.value {
            self.learn(&tools.entries);
        }
        let limits = self.config.limits.clone();
        let Some(found) = self.calls.get_mut(&call) else { return };
        if found.request.operation == Operation::Ping {
            return self.end(call, Ok(done()));
        }
        let until = self.now + Duration::from_millis(reply.cache.ttl_ms);
        if !found.request.whole {
            self.keep(call, adapter, &reply, until);
            return self.end(call, Ok(reply));
        }
        let until = found.pages.until.map_or(until, |earlier| earlier.min(until));
        found.pages.until = Some(until);
        match found.pages.add(reply, &limits) {
            Ok(Next::Page(cursor)) => {
                found.request.detail = Detail::Cursor(Text::from(cursor));
                let request = found.request.clone();
                let id = self.send_call(adapter, Purpose::Call(call), &request, &[]);
                if let Some(call) = self.calls.get_mut(&call) {
                    call.stage = Stage::Sent(id);
                }
            }
            Ok(Next::End(whole)) => {
                self.keep(call, adapter, &whole, until);
                self.end(call, Ok(*whole));
            }
            Err(kind) => self.end(call, Err(ClientError::maybe(kind))),
        }
    }

    /// A server that does not know how to list something has none of it. False where the call is
    /// no list, or has pages already.
    pub(super) fn lists_nothing(&mut self, call: CallId) -> bool {
        let Some(found) = self.calls.get(&call).filter(|found| found.pages.so_far.is_none()) else {
            return false;
        };
        let nothing = match found.request.operation {
            Operation::ListTools => ReplyValue::Tools(Entries::default()),
            Operation::ListResources => ReplyValue::Resources(Entries::default()),
            Operation::ListResourceTemplates => ReplyValue::Templates(Entries::default()),
            Operation::ListPrompts => ReplyValue::Prompts(Entries::default()),
            _ => return false,
        };
        self.end(call, Ok(reply(nothing)));
        true
    }

    /// What calls of these tools repeat in headers.
    fn learn(&mut self, tools: &[Tool]) {
        for tool in tools {
            if tool.mirrored.is_empty() {
                self.mirrored.remove(&tool.name);
            } else if self.mirrored.len() < self.config.limits.entries {
                self.mirrored.insert(tool.name.clone(), tool.mirrored.clone());
            }
        }
    }

    /// The server found a header that differs from the body. The tools are listed anew, and the
    /// call is made once more (R26-HDR-21).
    pub(super) fn refresh(&mut self, call: CallId, adapter: &Adapter) -> bool {
        let is_http = self.is_http();
        let Some(found) = self.calls.get_mut(&call) else { return false };
        if found.refreshed || found.request.operation != Operation::CallTool || !is_http {
            return false;
        }
        found.refreshed = true;
        self.refresh_page(call, adapter, Pages::default(), None);
        true
    }

    fn refresh_page(
        &mut self,
        call: CallId,
        adapter: &Adapter,
        pages: Pages,
        cursor: Option<String>,
    ) {
        let request = Request::page(Operation::ListTools, cursor);
        let id = self.send_call(adapter, Purpose::Refresh(call), &request, &[]);
        if let Some(found) = self.calls.get_mut(&call) {
            found.stage = Stage::Refreshing(id, pages);
        }
    }

    /// A page of tools that a call waits for.
    pub(super) fn refreshed(&mut self, call: CallId, adapter: &Adapter, reply: Reply) {
        if let ReplyValue::Tools(tools) = &reply.value {
            self.learn(&tools.entries);
        }
        let limits = self.config.limits.clone();
        let Some(found) = self.calls.get_mut(&call) else { return };
        let Stage::Refreshing(_, mut pages) = core::mem::replace(&mut found.stage, Stage::Waiting)
        else {
            return;
        };
        match pages.add(reply, &limits) {
            Ok(Next::Page(cursor)) => self.refresh_page(call, adapter, pages, Some(cursor)),
            Ok(Next::End(_)) => self.dispatch(call),
            Err(kind) => self.fail(call, ClientError::never(kind)),
        }
    }
}

enum Next {
    Page(String),
    End(Box<Reply>),
}

impl Pages {
    /// Takes a page, and tells where to go on.
    fn add(&mut self, page: Reply, limits: &crate::client::Limits) -> Result<Next, ErrorKind> {
        self.bytes += page.raw.as_bytes().len();
        let mut whole = match self.so_far.take() {
            None => page,
            // A server that does not know its own cursor begins again.
            Some(so_far) if so_far.raw == page.raw => return Ok(circle(so_far)),
            Some(so_far) => joined(so_far, page),
        };
        let (count, next) = match &mut whole.value {
            ReplyValue::Tools(list) => list.progress(),
            ReplyValue::Resources(list) => list.progress(),
            ReplyValue::Templates(list) => list.progress(),
            ReplyValue::Prompts(list) => list.progress(),
            _ => (0, None),
        };
        let Some(cursor) = next else { return Ok(Next::End(Box::new(whole))) };
        if count > limits.entries {
            return Err(ErrorKind::TooMuch("entries of a list"));
        }
        if self.bytes > limits.listing {
            return Err(ErrorKind::TooMuch("bytes of a list"));
        }
        // What there is is worth more than an error.
        if !self.cursors.insert(cursor.clone()) {
            return Ok(circle(whole));
        }
        if self.cursors.len() >= limits.pages {
            return Err(ErrorKind::TooMuch("pages of a list"));
        }
        self.so_far = Some(whole);
        Ok(Next::Page(cursor))
    }
}

impl<T> Entries<T> {
    /// How many there are, and the cursor, taken out.
    fn progress(&mut self) -> (usize, Option<String>) {
        (self.entries.len(), self.next.take())
    }

    fn append(&mut self, mut more: Self) {
        self.entries.append(&mut more.entries);
        self.next = more.next;
    }
}

/// The end of a list whose cursor came before.
fn circle(mut whole: Reply) -> Next {
    whole.left_out.push("what follows a cursor that the server gave twice".to_owned());
    Next::End(Box::new(whole))
}

/// Two pages as one; the later one's own members count, and the shorter time to keep it.
fn joined(mut so_far: Reply, page: Reply) -> Reply {
    match (&mut so_far.value, page.value) {
        (ReplyValue::Tools(list), ReplyValue::Tools(more)) => list.append(more),
        (ReplyValue::Resources(list), ReplyValue::Resources(more)) => list.append(more),
        (ReplyValue::Templates(list), ReplyValue::Templates(more)) => list.append(more),
        (ReplyValue::Prompts(list), ReplyValue::Prompts(more)) => list.append(more),
        _ => {}
    }
    so_far.left_out.extend(page.left_out);
    so_far.cache.ttl_ms = so_far.cache.ttl_ms.min(page.cache.ttl_ms);
    Reply { raw: page.raw, meta: page.meta, ..so_far }
}

fn is_list(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::ListTools
            | Operation::ListResources
            | Operation::ListResourceTemplates
            | Operation::ListPrompts
    )
}

/// What cannot be asked for by a call.
fn misuse(request: &Request) -> Option<&'static str> {
    let is_object = |json: &Option<crate::model::Json>| {
        json.as_ref().is_none_or(|json| json.kind() == crate::frame::json::Kind::Object)
    };
    match request.operation {
        Operation::Listen | Operation::Subscribe | Operation::Unsubscribe => {
            Some("changes are listened to by `listen`")
        }
        Operation::HandshakeComplete => Some("the machine makes its handshake itself"),
        operation if request.whole && !is_list(operation) => Some("this operation lists nothing"),
        _ if !is_object(&request.arguments) => Some("arguments are an object"),
        _ if !is_object(&request.params) => Some("parameters are an object"),
        _ if !is_object(&request.meta) => Some("`_meta` is an object"),
        _ if request.meta.as_ref().is_some_and(has_malformed_key) => {
            Some("a key of `_meta` is malformed: it is a name of letters, digits, `-`, `_` and `.`")
        }
        _ => None,
    }
}

fn has_malformed_key(meta: &Json) -> bool {
    let members = View::of(meta.as_bytes());
    members.iter().flat_map(View::iter).any(|(key, _)| MetaKey::of(&key) == MetaKey::Malformed)
}

fn done() -> Reply {
    reply(ReplyValue::Done)
}

fn described(description: &Description) -> Reply {
    reply(ReplyValue::Description(Box::new(description.clone())))
}

fn reply(value: ReplyValue) -> Reply {
    Reply {
        value,
        cache: crate::model::CacheHint::default(),
        meta: None,
        raw: crate::model::Json::scanned(bytes::Bytes::from_static(b"{}")),
        left_out: Vec::new(),
    }
}
