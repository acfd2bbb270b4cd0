//! Everything that is said about a request before its body: the gate, who calls, what it is for.

use core::time::Duration;
use std::sync::Arc;

use super::stages::{Held, Stage};
use super::{HttpExchange, HttpRequest};
use crate::auth::{self, Principal, bearer};
use crate::effect::{Effect, Reply, Token};
use crate::frame::coding::Coding;
use crate::revision::{Adapter, HeaderValue, Mirrors};
use crate::server::HttpRefusal;
use crate::server::accept;
use crate::server::endpoint::{Endpoint, Route};
use crate::server::gate::Refused;
use crate::server::pending::Waiting;

/// For how long a browser need not ask again: two hours, which is the most that browsers keep.
const PREFLIGHT_SECONDS: &str = "7200";

/// The value of a field that is no list.
///
/// # Errors
/// Where the field is there more than once: a proxy in front may have judged another of its values
/// (RFC 9110, section 5.3).
pub(super) fn single<'a>(
    headers: &'a impl HttpRequest,
    name: &'static str,
) -> Result<Option<&'a [u8]>, HttpRefusal> {
    match HeaderValue::of(headers.get_all(name)) {
        HeaderValue::Absent => Ok(None),
        HeaderValue::Once(value) => Ok(Some(value)),
        HeaderValue::Repeated => Err(HttpRefusal::Repeated(name)),
    }
}

/// Whether it is known who calls.
#[derive(Debug)]
pub(super) enum Admission {
    /// Nobody asks, or it is known.
    Open,
    /// The verifier is asked.
    Verifying,
    /// The verifier knows the caller; what time it is decides whether the token still counts.
    Timing(Arc<Principal>),
}

impl<H: HttpRequest> HttpExchange<H> {
    pub(super) fn begin(&mut self) {
        let route = self.core.endpoint.route(self.head.path());
        if route == Some(Route::Metadata) {
            self.route = Route::Metadata;
            return self.tell_metadata();
        }
        let refused = match (self.core.endpoint.gate().check(&self.head), route) {
            (Err(Refused::Hosts), _) => Some(HttpRefusal::Repeated("Host")),
            (Err(Refused::Host), _) => Some(HttpRefusal::Host),
            (Err(Refused::Origin), _) => Some(HttpRefusal::Origin),
            (Ok(()), None) => Some(HttpRefusal::Path),
            (Ok(()), Some(_)) => None,
        };
        if let Some(refusal) = refused {
            return self.refuse(&refusal, None);
        }
        self.route = route.unwrap_or(Route::Mcp);
        self.add_cors();
        if self.is_preflight() {
            return self.preflight();
        }
        let token = match self.core.endpoint.authorization() {
            None => return self.admitted(None),
            Some(_) => bearer(self.head.get_all("authorization")).map(Token::new),
        };
        match token {
            Ok(token) => {
                self.admission = Admission::Verifying;
                self.core.emit(Effect::Verify(token), Waiting::Principal);
            }
            Err(refusal) => self.refuse_caller(refusal),
        }
    }

    pub(super) fn settle_admission(&mut self, reply: Option<Reply>) {
        let admission = core::mem::replace(&mut self.admission, Admission::Verifying);
        match (admission, reply) {
            (Admission::Verifying, Some(Reply::Principal(Ok(principal)))) => {
                self.admission = Admission::Timing(principal);
                self.core.emit(Effect::Wall, Waiting::Principal);
            }
            (Admission::Verifying, Some(Reply::Principal(Err(refusal)))) => {
                self.refuse_caller(refusal);
            }
            (Admission::Timing(principal), Some(Reply::Wall(now))) => {
                let principal = Arc::unwrap_or_clone(principal);
                let admit =
                    |it: &auth::Authorization| it.admit(principal, Duration::from_millis(now));
                match self.core.endpoint.authorization().map(admit) {
                    Some(Ok(principal)) => self.admitted(Some(Arc::new(principal))),
                    Some(Err(refusal)) => self.refuse_caller(refusal),
                    None => self.admitted(None),
                }
            }
            _ => self.refuse_caller(auth::Refusal::Unavailable),
        }
    }

    /// It is known who calls, if anybody asks: from here on the request is looked at.
    fn admitted(&mut self, principal: Option<Arc<Principal>>) {
        self.admission = Admission::Open;
        self.core.admit(principal);
        let method = self.head.method();
        match (self.route, method) {
            (Route::Mcp, "POST") => {
                let accepted = Coding::accepted(self.head.get_all("accept-encoding"));
                self.reply.set_coding(accepted);
                self.check_post(true);
            }
            (Route::Mcp, "GET") if self.has(Endpoint::has_stream) => self.listen(),
            (Route::Mcp, "DELETE") if self.has(Endpoint::has_end) => {
                self.find_session(Held::Delete);
            }
            (Route::SseStream, "GET") => self.open_sse(),
            (Route::SseMessages, "POST") => self.check_post(false),
            _ => self.refuse(&HttpRefusal::Method(self.allowed_methods(true)), None),
        }
        self.enter();
    }

    fn check_post(&mut self, answers_here: bool) {
        if let Err(refusal) = self.judge_post(answers_here) {
            self.refuse(&refusal, None);
        }
    }

    fn judge_post(&self, answers_here: bool) -> Result<(), HttpRefusal> {
        let is_identity = |coding: &[u8]| coding.eq_ignore_ascii_case(b"identity");
        if !single(&self.head, "Content-Type")?.is_some_and(accept::is_json) {
            Err(HttpRefusal::MediaType)
        } else if !self.head.get_all("content-encoding").all(is_identity) {
            // Nothing here decodes bodies, so no small body can turn into a large one (C46).
            Err(HttpRefusal::ContentCoding)
        } else if answers_here && self.reply.accept().is_nothing() {
            Err(HttpRefusal::NotAcceptable)
        } else {
            Ok(())
        }
    }

    /// Goes on once the caller is known and the body is there.
    pub(super) fn enter(&mut self) {
        if matches!(self.admission, Admission::Open)
            && let Stage::Complete(body) = &mut self.stage
        {
            let body = core::mem::take(body);
            self.stage = Stage::Done;
            self.weight = body.len();
            self.read_message(body);
        }
    }

    /// The methods of this path, in the revisions that the request may be of; `GET` of the endpoint
    /// only where that `has_stream` (R26-HTTP-41).
    pub(super) fn allowed_methods(&self, has_stream: bool) -> &'static str {
        if let Route::SseStream | Route::Metadata = self.route {
            return "GET";
        } else if self.route == Route::SseMessages {
            return "POST";
        }
        match (has_stream && self.has(Endpoint::has_stream), self.has(Endpoint::has_end)) {
            (false, false) => "POST",
            (true, false) => "GET, POST",
            (true, true) => "GET, POST, DELETE",
            (false, true) => "POST, DELETE",
        }
    }

    /// Whether that is so for any revision that the request may be of.
    fn has(&self, what: fn(&Endpoint, &Adapter) -> bool) -> bool {
        let endpoint = &self.core.endpoint;
        let mut concerned = endpoint.adapters().concerned(self.pin(), &Mirrors::of(&self.head));
        concerned.any(|adapter| what(endpoint, adapter))
    }

    fn refuse_caller(&mut self, refusal: auth::Refusal) {
        let challenge = self.core.endpoint.authorization().and_then(|it| it.challenge(&refusal));
        if let Some(challenge) = challenge {
            self.reply.add_header("WWW-Authenticate", challenge);
        }
        self.refuse(&HttpRefusal::Auth(refusal), None);
    }

    /// Refuses a call for what its caller may not do (R2511-AUTH: insufficient scope).
    pub(super) fn refuse_scope(&mut self, missing: impl IntoIterator<Item = String>) {
        self.refuse_caller(auth::Refusal::InsufficientScope(missing.into_iter().collect()));
    }

    /// The protected resource's metadata: where a client without a token learns how to get one
    /// (RFC 9728). They are public, so any page may read them, under any host's name.
    fn tell_metadata(&mut self) {
        self.reply.add_header("Access-Control-Allow-Origin", "*");
        if self.asks_for_cors() {
            return self.preflight();
        }
        let document = self.core.endpoint.authorization().map(|it| it.metadata().clone());
        match (self.head.method(), document) {
            ("GET" | "HEAD", Some(document)) => {
                self.reply.document(document.as_bytes());
                self.finish();
            }
            _ => self.refuse(&HttpRefusal::Method("GET"), None),
        }
    }

    // ---- CORS ----

    /// CORS headers go to pages of listed origins, and to nobody else.
    fn add_cors(&mut self) {
        let gate = self.core.endpoint.gate();
        let listed = self.head.get("origin").filter(|origin| gate.lists(origin));
        let Some(origin) = listed.and_then(|origin| core::str::from_utf8(origin).ok()) else {
            return;
        };
        let origin = origin.to_owned();
        self.reply.add_header("Access-Control-Allow-Origin", origin);
        self.reply.add_header("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate");
        self.reply.add_header("Vary", "Origin");
    }

    fn is_preflight(&self) -> bool {
        let listed = |origin: &[u8]| self.core.endpoint.gate().lists(origin);
        self.asks_for_cors() && self.head.get("origin").is_some_and(listed)
    }

    fn asks_for_cors(&self) -> bool {
        self.head.method() == "OPTIONS" && self.head.get("access-control-request-method").is_some()
    }

    fn preflight(&mut self) {
        if let Err(refusal) = single(&self.head, "Access-Control-Request-Method") {
            return self.refuse(&refusal, None);
        }
        self.reply.add_header("Access-Control-Allow-Methods", self.allowed_methods(true));
        let lines: Vec<_> = self.head.get_all("access-control-request-headers").collect();
        let wanted = lines.join(&b", "[..]);
        let is_list = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_, ".contains(byte);
        if wanted.iter().all(is_list)
            && let Ok(wanted) = String::from_utf8(wanted)
        {
            self.reply.add_header("Access-Control-Allow-Headers", wanted);
        }
        self.reply.add_header("Access-Control-Max-Age", PREFLIGHT_SECONDS);
        self.reply.empty(204);
        self.finish();
    }
}
