//! Being asked: by requests of the server's, and by results.

use super::{Call, Core, Outgoing, Stage, Timer};
use crate::client::core::hearing::Place;
use crate::client::machine::{Declined, Event, Question};
use crate::client::{AskId, CallId, ClientError, ErrorKind};
use crate::frame::envelope::RequestId;
use crate::frame::writer::Object;
use crate::model::{
    AnswerAction, Answers, ClientCapabilities, InArguments, InputRequest, InputRequired, Json,
    RawQuestion, Reply, ReplyValue, View, method,
};
use crate::revision::Adapter;
use crate::time::Instant;
use core::time::Duration;

/// A question that waits for the application.
#[derive(Debug)]
pub(super) struct Asked {
    call: Option<CallId>,
    by: By,
    /// Bytes of the server's that it holds.
    size: usize,
    /// What an accepted form holds where the answer says nothing.
    defaults: Option<Json>,
}

/// A question by a request of the server's that waits until others are answered.
#[derive(Debug)]
pub(super) struct Unasked {
    call: Option<CallId>,
    id: RequestId,
    question: RawQuestion,
}

#[derive(Debug)]
enum By {
    /// By a request of the server's, with this id.
    Push(RequestId),
    /// By a call's result, under this key.
    Result(String),
}

/// The questions of one result.
#[derive(Debug)]
pub(super) struct Round {
    waiting: usize,
    /// In the order of the questions.
    answers: Vec<(String, Option<Json>)>,
    state: Option<Json>,
    manner: Manner,
}

/// How answers go back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// In members of their own (R26-MRTR-20).
    Members,
    /// Among a tool's arguments.
    Arguments,
}

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
pub(super) const INVALID_REQUEST: i64 = -32600;
const INTERNAL_ERROR: i64 = -32603;

impl Core {
    /// The server asks by a request.
    pub(super) fn asked(
        &mut self,
        adapter: &Adapter,
        id: RequestId,
        method: String,
        params: Option<Json>,
        place: Place,
    ) {
        let question = RawQuestion { method, params };
        let verdict = self.may_be_asked(&question).and_then(|()| {
            let is_asked =
                self.asks.values().any(|ask| matches!(&ask.by, By::Push(it) if *it == id));
            if is_asked || self.unasked.iter().any(|it| it.id == id) {
                return Err((INVALID_REQUEST, "this id is in use"));
            }
            match self.may_wait(&id, &question) {
                true => Ok(()),
                false => Err((INTERNAL_ERROR, "busy: too many questions are open")),
            }
        });
        if let Err((code, message)) = verdict {
            let body = self.notify(|out| adapter.write_refusal(out, &id, code, message));
            self.outgoing.push_back(Outgoing::Answer(body));
            return;
        }
        let call = match place {
            Place::Response(id, _) => self.call_of(id),
            Place::Stream => None,
        };
        self.unasked.push_back(Unasked { call, id, question });
        self.ask_on();
    }

    /// Whether one more question can be put, or wait for others to be answered. Together they hold
    /// no more than one message may.
    fn may_wait(&self, id: &RequestId, question: &RawQuestion) -> bool {
        let limits = &self.config.limits;
        let open = self.asks.values().map(|it| it.size);
        let held: usize =
            open.chain(self.unasked.iter().map(|it| size(&it.id, &it.question))).sum();
        let fits = held == 0 || held + size(id, question) <= limits.message;
        let has_place = self.asks.len() < limits.asks || self.unasked.len() < limits.unasked;
        has_place && fits
    }

    /// Puts questions that waited, as many as may be open.
    fn ask_on(&mut self) {
        while self.asks.len() < self.config.limits.asks {
            let Some(Unasked { call, id, question }) = self.unasked.pop_front() else { return };
            let size = size(&id, &question);
            self.ask(call, By::Push(id), size, question);
        }
    }

    /// What was not declared cannot be asked (R24-ROOT, R2511-ELIC: -32601 for what is unknown or
    /// undeclared, -32602 for an undeclared mode).
    fn may_be_asked(&self, question: &RawQuestion) -> Result<(), (i64, &'static str)> {
        let can = self.config.capabilities;
        let none = Err((METHOD_NOT_FOUND, "Method not found"));
        match question.method.as_str() {
            method::ELICIT => {
                let params = question.params.as_ref().and_then(|it| View::of(it.as_bytes()));
                let mode = params.and_then(|params| params.string("mode"));
                match mode.as_deref() {
                    _ if !can.elicitation_form && !can.elicitation_url => none,
                    None | Some("form") if can.elicitation_form => Ok(()),
                    Some("url") if can.elicitation_url => Ok(()),
                    _ => Err((INVALID_PARAMS, "this mode was not declared")),
                }
            }
            method::SAMPLE if can.sampling => Ok(()),
            method::LIST_ROOTS if can.roots => Ok(()),
            _ => none,
        }
    }

    fn ask(&mut self, call: Option<CallId>, by: By, size: usize, question: RawQuestion) {
        let id = AskId(self.next_ask);
        self.next_ask += 1;
        let defaults = defaults_of(&question);
        self.asks.insert(id, Asked { call, by, size, defaults });
        let RawQuestion { method, params } = question;
        self.emit(Event::Ask(id, Question { call, method, params }));
    }

    /// A call's result asks (R26-MRTR-15).
    pub(super) fn questioned(
        &mut self,
        call: CallId,
        asks: InputRequired,
        manner: Manner,
        reply: impl FnOnce(InputRequired) -> Reply,
    ) {
        let limits = &self.config.limits;
        let answers = self.config.capabilities != ClientCapabilities::default();
        let (most_rounds, most_asks) = (limits.rounds, limits.asks);
        let Some(found) = self.calls.get_mut(&call) else { return };
        found.touched = true;
        found.rounds += 1;
        if found.rounds > most_rounds {
            return self.end(call, Err(ClientError::maybe(ErrorKind::TooManyRounds)));
        }
        if !answers && !asks.requests.is_empty() {
            return self.end(call, Ok(reply(asks)));
        }
        if asks.requests.len() > most_asks {
            return self.end(call, Err(ClientError::maybe(ErrorKind::TooMuch("questions"))));
        }
        if asks.requests.iter().any(|(_, question)| self.may_be_asked(question).is_err()) {
            let undeclared = ErrorKind::Protocol("it asks what the client did not declare".into());
            return self.end(call, Err(ClientError::maybe(undeclared)));
        }
        let round = Round {
            waiting: asks.requests.len(),
            answers: asks.requests.iter().map(|(key, _)| (key.clone(), None)).collect(),
            state: asks.state,
            manner,
        };
        if round.waiting == 0 {
            return self.go_on(call, round);
        }
        if let Some(found) = self.calls.get_mut(&call) {
            found.stage = Stage::Asking(round);
        }
        for (key, question) in asks.requests {
            // What a result asks is bounded by the result.
            self.ask(Some(call), By::Result(key), 0, question);
        }
    }

    /// Repeats a call with what was answered. With nothing but a state it may be repeated at once;
    /// a server that goes on so is asked ever more rarely (T-50).
    fn go_on(&mut self, call: CallId, round: Round) {
        let now = self.now;
        let Some(found) = self.calls.get_mut(&call) else { return };
        let had_questions = !round.answers.is_empty();
        let given = round.answers.into_iter();
        let given: Vec<_> = given.filter_map(|(key, answer)| Some((key, answer?))).collect();
        match round.manner {
            Manner::Members => {
                found.request.answers = Some(Answers { responses: given, state: round.state });
            }
            // What an earlier round added is replaced.
            Manner::Arguments => {
                let own = found.request.arguments.as_ref();
                let all = InArguments::with_answers(own, &given, round.state.as_ref());
                found.request.arguments = Some(all);
            }
        }
        found.stage = Stage::Waiting;
        if had_questions || found.rounds <= 1 {
            return self.dispatch(call);
        }
        let pause = FIRST_PAUSE * 2u32.saturating_pow(found.rounds.saturating_sub(2).min(8));
        self.timers.set(Timer::Resume(call), now + pause.min(LONGEST_PAUSE));
    }

    pub(in crate::client) fn answer(
        &mut self,
        now: Instant,
        ask: AskId,
        answer: Result<Json, Declined>,
    ) {
        self.advance(now);
        let Some(asked) = self.asks.remove(&ask) else { return };
        self.ask_on();
        let answer = answer.map(|answer| with_defaults(answer, asked.defaults.as_ref()));
        match asked.by {
            By::Push(id) => {
                let Some(adapter) = self.adapter() else { return };
                let body = self.notify(|out| match &answer {
                    Ok(result) => adapter.write_answer(out, &id, result),
                    Err(no) => adapter.write_refusal(out, &id, no.code, &no.message),
                });
                self.outgoing.push_back(Outgoing::Answer(body));
            }
            By::Result(key) => {
                let Some(call) = asked.call else { return };
                match answer {
                    Ok(answer) => self.answered(call, &key, answer),
                    // R26-MRTR-22: there is no form for it, so the call is not repeated.
                    Err(no) => {
                        let kind = ErrorKind::Unanswered(no.message);
                        self.end(call, Err(ClientError::maybe(kind)));
                    }
                }
            }
        }
    }

    fn answered(&mut self, call: CallId, key: &str, answer: Json) {
        let Some(Call { stage: Stage::Asking(round), .. }) = self.calls.get_mut(&call) else {
            return;
        };
        if let Some((_, slot)) = round.answers.iter_mut().find(|(it, _)| it == key) {
            *slot = Some(answer);
            round.waiting = round.waiting.saturating_sub(1);
        }
        if round.waiting > 0 {
            return;
        }
        let Some(found) = self.calls.get_mut(&call) else { return };
        if let Stage::Asking(round) = core::mem::replace(&mut found.stage, Stage::Waiting) {
            self.go_on(call, round);
        }
    }

    /// Whether an answer of ours is what the server may be waiting for.
    pub(super) fn is_asked(&self, call: CallId) -> bool {
        let is_about = |about: Option<CallId>| about.is_none_or(|about| about == call);
        self.asks.values().any(|ask| is_about(ask.call))
            || self.unasked.iter().any(|it| is_about(it.call))
    }

    /// The server takes a request of its own back; no answer goes out any more.
    pub(super) fn withdrawn(&mut self, id: &RequestId) -> bool {
        if let Some(index) = self.unasked.iter().position(|it| it.id == *id) {
            self.unasked.remove(index);
            return true;
        }
        let is_it = |ask: &Asked| matches!(&ask.by, By::Push(it) if it == id);
        let found = self.asks.iter().find(|(_, ask)| is_it(ask)).map(|(ask, _)| *ask);
        if let Some(ask) = found {
            self.asks.remove(&ask);
            self.emit(Event::Withdrawn(ask));
            self.ask_on();
        }
        found.is_some()
    }

    /// A call has ended: what was asked about it is asked no more.
    pub(super) fn withdraw_questions(&mut self, call: CallId) {
        self.unasked.retain(|it| it.call != Some(call));
        self.withdraw_those(|ask| ask.call == Some(call));
    }

    /// The session is gone: nobody waits for answers to what was asked in it by requests.
    pub(super) fn withdraw_pushed(&mut self) {
        self.unasked.clear();
        self.withdraw_those(|ask| matches!(ask.by, By::Push(_)));
    }

    fn withdraw_those(&mut self, is_one: impl Fn(&Asked) -> bool) {
        let gone: Vec<_> =
            self.asks.iter().filter(|(_, ask)| is_one(ask)).map(|(id, _)| *id).collect();
        for ask in gone {
            self.asks.remove(&ask);
            self.emit(Event::Withdrawn(ask));
        }
        self.ask_on();
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Bytes that a question holds while it is open or waits.
fn size(id: &RequestId, question: &RawQuestion) -> usize {
    id.as_json().len()
        + question.method.len()
        + question.params.as_ref().map_or(0, |params| params.as_bytes().len())
}

/// The questions as a value, for the caller to answer by calling again.
pub(super) fn unanswered(asks: InputRequired, raw: Json) -> Reply {
    Reply {
        value: ReplyValue::InputRequired(asks),
        cache: crate::model::CacheHint::default(),
        meta: None,
        raw,
        left_out: Vec::new(),
    }
}

/// The defaults of a form's fields, where it has any.
fn defaults_of(question: &RawQuestion) -> Option<Json> {
    match InputRequest::read_params(&question.method, question.params.as_ref()) {
        Ok(InputRequest::Elicit(form)) => {
            let has_some = form.schema.fields().iter().any(|field| field.default.is_some());
            has_some.then(|| form.schema.defaults())
        }
        _ => None,
    }
}

/// An accepted form with the defaults of what it leaves out (R2511-ELIC-08).
fn with_defaults(answer: Json, defaults: Option<&Json>) -> Json {
    let (Some(defaults), Some(given)) = (defaults, View::of(answer.as_bytes())) else {
        return answer;
    };
    if given.string("action").as_deref() != Some(AnswerAction::Accept.as_str()) {
        return answer;
    }
    let content = given.object("content");
    let mut out = Vec::new();
    let mut object = Object::begin(&mut out);
    for (name, value) in given.iter().filter(|(name, _)| name != "content") {
        object.raw(&name, value);
    }
    object.object("content", |all| {
        for (name, value) in content.iter().flat_map(View::iter) {
            all.raw(&name, value);
        }
        let is_left_out = |name: &str| content.as_ref().is_none_or(|it| it.get(name).is_none());
        for (name, value) in View::of(defaults.as_bytes()).iter().flat_map(View::iter) {
            if is_left_out(&name) {
                all.raw(&name, value);
            }
        }
    });
    object.end();
    Json::scanned(out.into())
}
